//! What is logged is what the note then says, whatever the words, in whatever order, one by one or all at once.

use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;
use crate::entry::{self, Entry};
use cru_base::text::{fold_whitespace, sanitise};
use cru_base::{Diagnostic, Severity};
use cru_note::Note;
use cru_session::op::{self, Mode};
use cru_session::seal::Seals;
use cru_session::{Item, Session, Status, StepStatus, render};
use cru_testing::nasty;

const EMPTY: &str = "---\ntype: session\nsession_id: s\ntitle: S\nstarted: 2026-11-20T09:00:00Z\nstatus: active\n\
                     channel: dev\nparticipants:\n  - coder@2.0\ncru_cursor: r1 0 - -\n---\n# S\n";

fn at(index: usize) -> Timestamp {
    Timestamp::from_second(1_795_167_000 + i64::try_from(index).unwrap() * 7).unwrap()
}

/// The note with one group of entries written.
fn write(note: &str, entries: &[(usize, Entry)]) -> String {
    let defaults = Defaults::default();
    let parsed = Note::parse(note);
    // All that stands there was written by a command.
    let seals = Seals::parse(&Seals::first(&parsed, &parsed));
    let mut page = Page::of(&parsed, || seals, &defaults, std::iter::empty());
    for (index, entry) in entries {
        page.entry(&format!("{index}"), at(*index), entry);
    }
    let (ops, _) = page.finish();
    let applied = op::apply(note.as_bytes(), &ops, Mode::First);
    String::from_utf8(applied.unwrap_or_else(|error| panic!("{error:?} in {ops:#?}")).bytes).unwrap()
}

fn grouped(entries: &[Entry]) -> String {
    write(EMPTY, &entries.iter().cloned().enumerate().collect::<Vec<_>>())
}

fn one_by_one(entries: &[Entry]) -> String {
    let numbered = entries.iter().cloned().enumerate();
    numbered.fold(EMPTY.to_owned(), |note, entry| write(&note, &[entry]))
}

fn read(note: &str) -> (Session, Vec<Diagnostic>) {
    cru_session::read::session(&Note::parse(note))
}

fn entries(lines: &str) -> Vec<Entry> {
    lines.lines().map(|line| Entry::parse(line.trim()).unwrap()).collect()
}

fn body(note: &str) -> &str {
    note.split_once("\n# S\n").unwrap().1
}

#[test]
fn a_step_without_phase_opens_one() {
    let note = grouped(&entries(r#"{"event":"tool","tool":"Bash","args":"ls","result":"ok","exit":0}"#));
    insta::assert_snapshot!(body(&note), @r"
    ## Work @coder@2.0 #dev

    *2026-11-20T09:30:00Z* ^p-01

    **Tool calls:**
    - `Bash ls` → `ok` (09:30:00, exit 0) ^n-001
    ");
}

#[test]
fn callouts_stand_behind_what_they_rest_on() {
    let note = one_by_one(&entries(
        r#"{"event":"tool","tool":"Read","args":"a"}
        {"event":"tool","tool":"Read","args":"b"}
        {"event":"note","text":"So far."}
        {"event":"tool","tool":"Read","args":"c"}
        {"event":"decision","title":"Behind the first list","rests_on":["n-001"]}
        {"event":"decision","title":"At the end","rests_on":["n-003"]}
        {"event":"decision","title":"At the end, later","after":"n-003"}
        {"event":"phase","title":"Next"}
        {"event":"error","title":"In the phase before","step":["n-003"]}"#,
    ));
    insta::assert_snapshot!(body(&note), @"
    ## Work @coder@2.0 #dev

    *2026-11-20T09:30:00Z* ^p-01

    **Tool calls:**
    - `Read a` → (09:30:00) ^n-001
    - `Read b` → (09:30:07) ^n-002

    > [!decision] Behind the first list
    > Rests on: [[#^n-001]]

    ^d-01

    So far.

    **Tool calls:**
    - `Read c` → (09:30:21) ^n-003

    > [!decision] At the end
    > Rests on: [[#^n-003]]

    ^d-02

    > [!decision] At the end, later

    ^d-03

    > [!error] In the phase before
    > Step: [[#^n-003]]

    ^e-001

    ## Next @coder@2.0 #dev

    *2026-11-20T09:30:49Z* ^p-02
    ");
}

#[test]
fn a_persons_text_in_a_callout_stays() {
    let note = EMPTY
        .replace("# S\n", "# S\n\n## Do @coder\n\n>[!ERROR]+   Odd *title*\n> their words\n>   and - more\n\n^e-007\n");
    let note = write(
        &note,
        &[(0, Entry::parse(r#"{"event":"resolve","error":"e-007","text":"mended, see [[#^n-001]]"}"#).unwrap())],
    );
    insta::assert_snapshot!(body(&note), @"
    ## Do @coder

    >[!ERROR]+   Odd *title*
    > their words
    >   and - more
    > Resolution: mended, see [[#^n-001]]

    ^e-007
    ");
}

#[test]
fn words_beside_the_usage_stay() {
    let used = |index| (index, Entry::parse(r#"{"event":"usage","model":"m","input":10,"cost":0.1}"#).unwrap());
    let note = write(EMPTY, &[used(0)])
        .replace("> [!usage] 10 tokens", "> [!usage] 10 tokens billed to ACME")
        .replace("> | m | 10 |", "> | mine | as agreed |\n> | m | 10 |")
        .replace("Cost: 0.10 USD", "Cost: 0.10 USD\n> Cost: paid by Mia");
    let note = write(&note, &[used(1)]);
    for words in ["> [!usage] 20 tokens billed to ACME", "> | m | 20 |", "| mine | as agreed |", "Cost: paid by Mia"] {
        assert_eq!(note.matches(words).count(), 1, "{words}: {note}");
    }
}

#[test]
fn usage_is_one_table_and_moves_to_the_end() {
    let note = one_by_one(&entries(
        r#"{"event":"phase","title":"A"}
        {"event":"usage","model":"m","input":10,"output":1,"cost":0.1}
        {"event":"tool","tool":"x"}
        {"event":"usage","model":"m","input":10,"cost":0.2}
        {"event":"usage","model":"k","cache_read":5}
        {"event":"status","status":"completed","reason":"all done"}"#,
    ));
    insta::assert_snapshot!(note, @r"
    ---
    type: session
    session_id: s
    title: S
    started: 2026-11-20T09:00:00Z
    ended: 2026-11-20T09:30:35Z
    tokens_used: 21
    cost_usd: 0.3
    status: completed
    channel: dev
    participants:
      - coder@2.0
    model: m
    cru_cursor: r1 0 - -
    ---
    # S

    ## A @coder@2.0 #dev

    *2026-11-20T09:30:00Z* ^p-01

    **Tool calls:**
    - `x` → (09:30:14) ^n-001

    > [!summary] Completed
    > all done

    > [!usage] 21 tokens
    > | Model | Input | Output | Cache write | Cache read |
    > | --- | ---: | ---: | ---: | ---: |
    > | m | 20 | 1 | 0 | 0 |
    > | k | 0 | 0 | 0 | 5 |
    >
    > Cost: 0.30 USD
    ");
}

#[test]
fn what_a_person_made_of_a_property_stays() {
    let defaults = Defaults::default();
    let log = |note: &str, seals: &str, lines: &str| {
        let mut page = Page::of(&Note::parse(note), || Seals::parse(seals), &defaults, std::iter::empty());
        for (index, entry) in entries(lines).iter().enumerate() {
            page.entry(&index.to_string(), at(index), entry);
        }
        let applied = op::apply(note.as_bytes(), &page.finish().0, Mode::First).unwrap();
        String::from_utf8(applied.bytes).unwrap()
    };
    let lines = r#"{"event":"phase","title":"A"}
        {"event":"usage","model":"m","output":20,"cost":0.5}
        {"event":"status","status":"paused"}"#;
    let first = log(EMPTY, "", lines);
    let parsed = Note::parse(first.as_str());
    let seals = Seals::first(&parsed, &parsed);
    let grown = log(&first, &seals, lines);
    assert!(grown.contains("tokens_used: 40") && !grown.contains("cost_usd: 0.5"), "{grown}");
    let mine = [("tokens_used: 20", "tokens_used: 5555"), ("cost_usd: 0.5", "cost_usd: 99"), ("  - coder", "  - mine")];
    let edited = mine.iter().fold(first, |text, (old, new)| text.replacen(old, new, 1));
    let logged = log(&edited, &seals, lines);
    for (_, new) in mine {
        assert!(logged.contains(new), "{new}: {logged}");
    }
    assert!(!logged.contains("  - coder") && !logged.contains("[!conflict]"), "{logged}");
    // Without seals the table of usage tells whose the sums are, and where to go on is brought up to date.
    let old = log(&log(EMPTY, "", lines), "", lines);
    assert!(
        old.contains("tokens_used: 40") && old.contains("cost_usd: 1\n") && old.contains("resume_point: p-02"),
        "{old}"
    );
    let old = log(&edited, "", lines);
    assert!(old.contains("tokens_used: 5555") && old.contains("cost_usd: 99"), "{old}");
    // A session is taken up again.
    let ended = edited.replace("status: paused", "status: completed\nended: 2026-11-20");
    let again = log(&ended, &seals, r#"{"event":"status","status":"active"}"#);
    assert!(again.contains("status: active") && again.contains("ended: 2026-11-20"), "{again}");
    // What was taken out of it does not come back.
    let gone = edited.replace("tokens_used: 5555\n", "").replace("cost_usd: 99\n", "");
    let logged = log(&gone, &seals, lines);
    assert!(!logged.contains("tokens_used") && !logged.contains("cost_usd"), "{logged}");
}

#[test]
fn a_life() {
    let life = |states: &[&str]| {
        let line = |status: &&str| format!(r#"{{"event":"status","status":"{status}"}}"#);
        let lines: Vec<String> = states.iter().map(line).collect();
        let (session, _) = read(&one_by_one(&entries(&lines.join("\n"))));
        (session.meta.status.unwrap(), session.meta.ended.is_some(), session.meta.resume_point.is_some())
    };
    assert_eq!(life(&["paused"]), (Status::Paused, false, false), "without a phase nothing can be pointed at");
    assert_eq!(life(&["paused", "active"]), (Status::Active, false, false));
    assert_eq!(life(&["completed"]), (Status::Completed, true, false));
    assert_eq!(life(&["failed", "active"]), (Status::Active, false, false));
    let twice = one_by_one(&entries(
        "{\"event\":\"status\",\"status\":\"paused\",\"reason\":\"a\"}\n{\"event\":\"status\",\"status\":\"paused\",\"reason\":\"b\"}",
    ));
    assert!(twice.contains("> a\n") && !twice.contains("> b\n"));
}

#[test]
fn a_phase_without_id_gets_one_when_work_pauses_there() {
    let note = EMPTY.replace("# S\n", "# S\n\n## Do @coder\n\n- `ls` → ok\n");
    let note = write(&note, &[(0, Entry::parse(r#"{"event":"status","status":"paused"}"#).unwrap())]);
    let (session, diagnostics) = read(&note);
    assert_eq!(diagnostics, []);
    assert_eq!(session.meta.resume_point.as_deref(), Some("p-01"));
    assert!(session.phases[0].id_written);
}

#[test]
fn logging_takes_a_paused_session_up_again() {
    let note =
        write(&EMPTY.replace("active", "paused"), &[(0, Entry::parse(r#"{"event":"note","text":"x"}"#).unwrap())]);
    assert_eq!(read(&note).0.meta.status, Some(Status::Active));
}

#[test]
fn numbers_are_not_given_again() {
    let defaults = Defaults::default();
    let mut page = Page::of(&Note::parse(EMPTY), Seals::default, &defaults, ["n-041"].into_iter());
    page.entry("a", at(0), &Entry::parse(r#"{"event":"tool","tool":"x"}"#).unwrap());
    assert_eq!(page.finish().1["a"], "n-042", "41 was given, though somebody has deleted it since");
}

#[test]
fn what_is_not_there_is_told() {
    let note = grouped(&entries(
        "{\"event\":\"tool\",\"tool\":\"x\"}\n{\"event\":\"error\",\"title\":\"Broken\"}\n{\"event\":\"task\",\"content\":\"Write docs\"}",
    ));
    let defaults = Defaults::default();
    let page = Page::of(&Note::parse(note), Seals::default, &defaults, std::iter::empty());
    let said = |line: &str| match page.missing(&Entry::parse(line).unwrap()) {
        Some(missing) => format!("{}; {}", missing.message, missing.hint),
        None => "fine".to_owned(),
    };
    insta::assert_snapshot!(
        [
            r#"{"event":"tool","tool":"x","after":["n-001","other#^n-099"]}"#,
            r#"{"event":"tool","tool":"x","after":["n-009"]}"#,
            r#"{"event":"tool","tool":"x","after":["n-002"]}"#,
            r#"{"event":"resolve","error":"last","text":"x"}"#,
            r#"{"event":"resolve","error":"broken","text":"x"}"#,
            r#"{"event":"resolve","error":"whole","text":"x"}"#,
            r#"{"event":"answer","question":"last","text":"x"}"#,
            r#"{"event":"task","task":"docs","status":"completed"}"#,
            r#"{"event":"task","task":"TASK-007","status":"completed"}"#,
        ]
        .map(said)
        .join("\n"),
        @"
        fine
        no block 'n-009' in this session; its only step is n-001
        a step cannot come after itself: n-002 is what this one will be; its only step is n-001
        fine
        fine
        no error 'whole' in this session; errors:
          e-001 Broken
        no question 'last' in this session; it has no questions
        fine
        no task 'TASK-007' in this session; open tasks:
          TASK-001 Write docs
        "
    );
}

#[test]
fn a_thousand_entries_are_few_operations() {
    let step = Entry::parse(r#"{"event":"tool","tool":"Bash","args":"ls","result":"ok"}"#).unwrap();
    let defaults = Defaults::default();
    let mut page = Page::of(&Note::parse(EMPTY), Seals::default, &defaults, std::iter::empty());
    for index in 0..1_000 {
        page.entry(&index.to_string(), at(index), &step);
    }
    let (ops, made) = page.finish();
    assert_eq!((ops.len(), made["999"].as_str()), (2, "n-1000"), "a phase and a list");
}

fn text() -> impl Strategy<Value = String> {
    nasty().prop_map(|text| if sanitise(&text).trim().is_empty() { "words".to_owned() } else { text })
}

fn line() -> impl Strategy<Value = String> {
    text().prop_map(|text| {
        let line = fold_whitespace(&sanitise(&text));
        if line.is_empty() { "words".to_owned() } else { line }
    })
}

fn after() -> impl Strategy<Value = Option<String>> {
    of(
        prop_oneof![3 => (1..9_u32).prop_map(|number| format!("n-{number:03}")), 1 => Just("e-001".to_owned()), 1 => nasty()],
    )
}

/// Any entry, the usual ones more often.
fn entry() -> impl Strategy<Value = Entry> {
    let paths = || vec(prop_oneof!["[a-z/.]{1,8}", nasty()], 0..3);
    let tool = (
        line(),
        nasty(),
        of(nasty()),
        any::<bool>(),
        of(any::<i32>()),
        of((0..1_000_000_u32).prop_map(|eighths| f64::from(eighths) / 8.0)),
        (paths(), paths(), vec(after(), 0..2)),
    );
    let tool = tool.prop_map(|(tool, args, result, failed, exit, duration, (reads, writes, after))| {
        let after = after.into_iter().flatten().collect();
        Entry::Tool(entry::Tool {
            tool,
            args,
            result,
            failed,
            exit,
            duration,
            reads,
            writes,
            after,
            ..Default::default()
        })
    });
    let phase =
        (line(), of("[a-z@#0-9.]{0,6}"), of(nasty()), any::<bool>()).prop_map(|(title, agent, channel, sub)| {
            Entry::Phase(entry::Phase { title, agent, channel, sub, ..Default::default() })
        });
    let decision =
        (text(), nasty(), of(nasty()), of(nasty()), after()).prop_map(|(title, text, why, rejected, after)| {
            let rests_on = after.into_iter().collect();
            Entry::Decision(entry::Decision { title, text, why, rejected, rests_on, ..Default::default() })
        });
    let error = (text(), nasty(), of(nasty()), after()).prop_map(|(title, text, resolution, after)| {
        Entry::Error(entry::Error { title, text, resolution, after, ..Default::default() })
    });
    let name = || prop_oneof![Just("last".to_owned()), Just("e-001".to_owned()), Just("q-001".to_owned()), text()];
    let resolve =
        (name(), text()).prop_map(|(error, text)| Entry::Resolve(entry::Resolve { error, text, ..Default::default() }));
    let user = (text(), of(nasty()), any::<bool>(), after()).prop_map(|(words, action, correction, after)| {
        Entry::User(entry::User { words, action, correction, after, ..Default::default() })
    });
    let done = (line(), of(nasty()), of(nasty()), of(any::<u32>())).prop_map(|(agent, summary, text, tokens)| {
        let mode = Some(cru_session::SubagentMode::Inline);
        let tokens = tokens.map(u64::from);
        Entry::SubagentDone(entry::SubagentDone { agent, mode, summary, tokens, text, ..Default::default() })
    });
    let linked = (line(), of(nasty())).prop_map(|(agent, task)| {
        let session = Some("s-child".to_owned());
        Entry::Subagent(entry::Subagent { agent, task, session, ..Default::default() })
    });
    let linked_done = of(nasty()).prop_map(|summary| {
        let session = Some("s-child".to_owned());
        Entry::SubagentDone(entry::SubagentDone { session, summary, tokens: Some(7), ..Default::default() })
    });
    let task =
        (of(prop_oneof![Just("1".to_owned()), line()]), of(line()), of(proptest::sample::select(entry::TASK_STATES)))
            .prop_map(|(task, content, status)| {
                let content = content.or_else(|| task.is_none().then(|| "something".to_owned()));
                Entry::Task(entry::Task { task, content, status: status.map(str::to_owned), ..Default::default() })
            });
    let lesson = (text(), of(nasty()), after())
        .prop_map(|(text, level, after)| Entry::Lesson(entry::Lesson { text, level, after, ..Default::default() }));
    let note =
        (text(), after()).prop_map(|(text, after)| Entry::Note(entry::Note { text, after, ..Default::default() }));
    let question = (text(), after())
        .prop_map(|(text, after)| Entry::Question(entry::Question { text, after, ..Default::default() }));
    let answer = (name(), text())
        .prop_map(|(question, text)| Entry::Answer(entry::Answer { question, text, ..Default::default() }));
    let checkpoint = (of(nasty()), nasty(), of(nasty())).prop_map(|(kind, title, blocked)| {
        Entry::Checkpoint(entry::Checkpoint { kind, title, blocked, ..Default::default() })
    });
    let usage = (
        prop_oneof![Just("m".to_owned()), line()],
        0..100_u64,
        of((0..100_u32).prop_map(|eighths| f64::from(eighths) / 8.0)),
    )
        .prop_map(|(model, output, cost)| Entry::Usage(entry::Usage { model, output, cost, ..Default::default() }));
    let status = (proptest::sample::select(entry::STATES), of(nasty())).prop_map(|(status, reason)| {
        Entry::Status(entry::Status { status: status.to_owned(), reason, ..Default::default() })
    });
    prop_oneof![
        6 => tool, 2 => phase, 2 => decision, 2 => error, 1 => resolve, 2 => user, 1 => done, 1 => linked, 1 => linked_done,
        1 => task, 1 => lesson, 2 => note, 1 => question, 1 => answer, 1 => checkpoint, 1 => usage, 1 => status,
    ]
}

/// Every word of an entry that the note must say, as the model gives it back.
fn check(session: &Session, all: &[Entry]) -> Result<(), TestCaseError> {
    let count = |wanted: fn(&Item) -> bool| session.items().filter(|(_, item)| wanted(item)).count();
    let logged = |wanted: fn(&Entry) -> bool| all.iter().filter(|entry| wanted(entry)).count();
    prop_assert_eq!(session.steps().count(), logged(|it| matches!(it, Entry::Tool(_))));
    prop_assert_eq!(count(|it| matches!(it, Item::User(_))), logged(|it| matches!(it, Entry::User(_))));
    prop_assert_eq!(count(|it| matches!(it, Item::Decision(_))), logged(|it| matches!(it, Entry::Decision(_))));
    for entry in all {
        match entry {
            Entry::User(it) => {
                let words = sanitise(&it.words).trim().to_owned();
                prop_assert!(session.items().any(|(_, item)| matches!(item, Item::User(user) if user.words == words)));
            }
            Entry::Decision(it) if !it.title.contains('\n') => {
                let title = fold_whitespace(&sanitise(&it.title));
                let text = sanitise(&it.text).trim().to_owned();
                let is = |item: &Item| matches!(item, Item::Decision(it) if it.callout.title == title && it.text.trim() == text);
                prop_assert!(session.items().any(|(_, item)| is(item)), "{title:?} {text:?}");
            }
            Entry::Tool(it) => {
                let args = sanitise(&it.args).trim().to_owned();
                let is = |step: &cru_session::Step| {
                    let whole = step.command.clone().unwrap_or_else(|| step.args.clone());
                    let failed = it.failed || it.exit.is_some_and(|code| code != 0);
                    let whole = if step.command.is_some() { whole == args } else { whole == fold_whitespace(&args) };
                    whole && (step.status == StepStatus::Failed) == failed && step.exit == it.exit
                };
                prop_assert!(session.steps().any(|(_, step)| is(step)), "{args:?}");
            }
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_logged_is_what_the_note_says(all in vec(entry(), 1..7)) {
        let note = grouped(&all);
        let (session, diagnostics) = read(&note);
        let bad: Vec<_> = diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
        prop_assert!(bad.is_empty(), "{bad:?}\n{note}");
        check(&session, &all).map_err(|error| TestCaseError::fail(format!("{error}\n{note}")))?;
        // Nothing stands there that the model does not hold.
        let again = render::body(&session);
        let (twice, _) = read(&format!("---\ntype: session\n---\n{again}"));
        prop_assert_eq!(render::body(&twice), again);
    }

    #[test]
    fn together_is_the_same_as_one_by_one(mut all in vec(entry(), 1..6)) {
        // The table of a group stands behind the group.
        all.retain(|entry| !matches!(entry, Entry::Usage(_)));
        prop_assert_eq!(grouped(&all), one_by_one(&all));
    }

    #[test]
    fn entries_go_through_the_journal(entry in entry()) {
        let text = serde_json::to_string(&entry).unwrap();
        prop_assert_eq!(Entry::parse(&text), Ok(entry));
    }
}

/// What an agent names may hold the mark of a comment: nothing behind it is hidden by that.
#[test]
fn names_and_links_begin_no_comment() {
    let all = entries(
        "{\"event\":\"decision\",\"title\":\"Two keys\",\"rests_on\":[\"%%private\",\"old%%note#n-001\"]}\n\
         {\"event\":\"tool\",\"tool\":\"A [!user]-\",\"args\":\"\",\"after\":[\"%%private\"]}\n\
         {\"event\":\"subagent\",\"agent\":\"%%private\\\\\\\"\",\"session\":\"s-child\"}",
    );
    let note = grouped(&all);
    let (session, diagnostics) = read(&note);
    assert!(diagnostics.iter().all(|it| it.severity != Severity::Error), "{diagnostics:?}\n{note}");
    assert!(!note.contains("%%") && note.contains("[[old%note#^n-001]]"), "{note}");
    check(&session, &all).unwrap();
    assert_eq!(
        render::body(&read(&format!("---\ntype: session\n---\n{}", render::body(&session))).0),
        render::body(&session)
    );
}

/// A task that is made and changed in one write stands once.
#[test]
fn a_task_stands_once_in_one_write() {
    let note = grouped(&entries(
        "{\"event\":\"tool\",\"tool\":\"ls\"}\n{\"event\":\"task\",\"content\":\"Paint it\"}\n\
         {\"event\":\"task\",\"task\":\"1\",\"status\":\"completed\",\"priority\":\"high\"}",
    ));
    assert_eq!(note.matches("^task-001").count(), 1, "{note}");
    assert!(note.contains("- [x] Paint it") && !note.contains("```tasks"), "{note}");
}
