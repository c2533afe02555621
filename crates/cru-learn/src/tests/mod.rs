//! Handmade sessions through extraction and every export.

mod faults;
mod judged;
mod needs;
mod property;
mod read;
mod whole;

use insta::assert_snapshot;

use super::*;
use cru_session::{Agent, Callout, Error, Item, Link, Meta, Phase, Prose, Session, Status, Step, StepStatus, User};

pub(super) fn step(id: &str, line: &str, result: &str) -> Item {
    let (tool, args) = line.split_once(' ').unwrap_or((line, ""));
    let failed = result.strip_prefix("✗ ");
    Item::Step(Step {
        id: (!id.is_empty()).then(|| id.to_owned()),
        tool: tool.into(),
        args: args.into(),
        result: Some(failed.unwrap_or(result).to_owned()),
        status: failed.map_or(StepStatus::Complete, StepStatus::of_crossed),
        exit: failed.map(|_| 101),
        ..Step::default()
    })
}

pub(super) fn user(title: &str, words: &str, interpretation: Option<&str>) -> Item {
    Item::User(User {
        callout: Callout { kind: "user".into(), title: title.into(), ..Callout::default() },
        words: words.into(),
        interpretation: interpretation.map(str::to_owned),
        correction: title == "Correction",
    })
}

pub(super) fn prose(text: &str) -> Item {
    Item::Prose(Prose { text: text.into(), ..Prose::default() })
}

fn error(title: &str, text: &str, step: Option<&str>, resolution: Option<(&str, &[&str])>) -> Item {
    Item::Error(Error {
        callout: Callout { kind: "error".into(), title: title.into(), id: Some("e-01".into()), ..Callout::default() },
        text: text.into(),
        resolution: resolution.map(|(text, _)| text.to_owned()),
        resolved_by: resolution.map(|(_, ids)| ids.iter().map(|id| Link::to_block(*id)).collect()).unwrap_or_default(),
        steps: step.map(Link::to_block).into_iter().collect(),
    })
}

fn phase(id: &str, title: &str, items: Vec<Item>) -> Phase {
    Phase {
        id: id.into(),
        title: title.into(),
        level: 2,
        agent: Some(Agent::parse("coder@2.0")),
        channel: Some("dev".into()),
        items,
        ..Phase::default()
    }
}

/// A session with a puzzle told by a callout, one told by steps alone, and two corrections.
fn tokens() -> Session {
    Session {
        meta: Meta {
            session_id: Some("2026-11-20-refresh-tokens".into()),
            title: Some("Refresh tokens".into()),
            status: Some(Status::Completed),
            model: Some("claude-opus-4-5".into()),
            host: Some("claude-code".into()),
            tags: vec!["auth".into(), "jwt".into()],
            ..Meta::default()
        },
        phases: vec![
            phase(
                "p-01",
                "Build",
                vec![
                    user("", "Add refresh tokens to the login, and commit them.", None),
                    prose("I read the code first."),
                    step("n-001", "Read src/auth.rs", "412 lines"),
                    step("n-002", "Bash cargo test -p auth", "✗ 2 of 41 failed"),
                    error(
                        "Flaky clock in the token test",
                        "Expiry was compared with the wall clock.",
                        Some("n-002"),
                        Some(("inject a clock, as `FixedClock`; see [[#^n-003]].", &["n-003"])),
                    ),
                    step("n-003", "Edit src/clock.rs", "+12 −3"),
                    step("n-004", "Bash cargo test -p auth", "41 passed"),
                    step("n-005", "Bash npx tsc --noEmit", "✗ error: 'token' is never read"),
                    step("n-006", "Edit web/login.ts", "+0 −1"),
                    step("n-007", "Bash npx tsc --noEmit", "no output"),
                    step("n-008", "Write web/store.ts", "created, 30 lines"),
                    prose("The tokens are in `localStorage` now."),
                    user("", "don't store them in localStorage", Some("switched to httpOnly cookies.")),
                    step("n-009", "Edit web/store.ts", "+8 −20"),
                    step("n-010", "Bash git push --force", "✗ denied by user"),
                    user("Correction", "never force-push: make a new commit", None),
                    prose("I make a new commit."),
                    step("n-011", "Bash git commit -m fix", "1 file changed"),
                ],
            ),
            phase(
                "p-02",
                "Review",
                vec![
                    step("n-012", "Bash cargo deny check", "✗ error: 1 advisory found"),
                    error("Advisory for an old crate", "", Some("n-012"), None),
                    user("", "no, leave it", None),
                ],
            ),
        ],
        ..Session::default()
    }
}

/// The turns of a session with its calls.
pub(super) fn with_calls<T>(items: Vec<Item>, calls: &Calls, look: impl Fn(&find::turns::Turns<'_>) -> T) -> T {
    let session = Session { phases: vec![phase("p-01", "Build", items)], ..Session::default() };
    look(&find::turns::Turns::of(Note { calls: Some(calls), ..note(&session) }))
}

fn note(session: &Session) -> Note<'_> {
    Note { path: "sessions/2026-11-20-refresh-tokens.md", text: "", session, calls: None }
}

fn cases(session: &Session) -> Extraction {
    extract(&[note(session)], &Kind::IN_SESSIONS, &Family::default())
}

fn text(export: &Whole, name: &str) -> String {
    let file = export.files.iter().find(|file| file.name == name).expect("the export has the file");
    String::from_utf8(file.bytes.clone()).expect("exports are UTF-8")
}

fn pretty(jsonl: &str) -> String {
    let rows = jsonl.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a row is JSON"));
    rows.map(|row| serde_json::to_string_pretty(&row).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn without_metadata(row: &str) -> String {
    let mut row: serde_json::Value = serde_json::from_str(row).expect("a row is JSON");
    row.as_object_mut().and_then(|row| row.remove("metadata"));
    row.to_string()
}

const OPTIONS: export::Options<'static> = export::Options {
    train: 1.0,
    ..export::Options::new(export::Layouts {
        name: "templates/case.md",
        case: TEMPLATE,
        prompt: "You are a coding agent.",
    })
};

/// All cases are kept to evaluate with.
const ASKED: export::Options<'static> = export::Options { train: 0.0, ..OPTIONS };

#[test]
fn what_is_found() {
    let session = tokens();
    let extraction = cases(&session);
    let lines = |case: &Case| format!("{} | {} | {} | {:?}", case.id, case.title, case.answer_from(), case.gap());
    assert_snapshot!(extraction.cases.iter().map(lines).collect::<Vec<_>>().join("\n"));
    assert!(extraction.left_out.is_empty());
}

#[test]
fn sessions_kept_from_training() {
    let mut session = tokens();
    session.meta.export = Some(false);
    let extraction = cases(&session);
    assert_eq!((extraction.cases.len(), extraction.left_out[0].reason), (0, Reason::ExportFalse));
    session.meta.export = None;
    session.meta.tags.push("no-train".into());
    assert_eq!(cases(&session).left_out[0].reason, Reason::NoTrain);
}

#[test]
fn ids_stay_when_the_note_is_edited_elsewhere() {
    let mut session = tokens();
    let before: Vec<(String, String)> = cases(&session).cases.into_iter().map(|c| (c.id, c.content_hash)).collect();
    session.phases[0].items.insert(1, prose("A line more."));
    let after: Vec<(String, String)> = cases(&session).cases.into_iter().map(|c| (c.id, c.content_hash)).collect();
    assert!(before.iter().zip(&after).all(|(before, after)| before.0 == after.0));
    assert_ne!(before, after);
}

#[test]
fn rows_for_tuning() {
    let extraction = cases(&tokens());
    let export = export::folder(&extraction.cases, Format::Jsonl, OPTIONS).expect("rows");
    let names: Vec<(&str, usize)> = export.files.iter().map(|file| (file.name.as_str(), file.rows)).collect();
    assert_eq!(names, [("README.md", 0), ("completion/train.jsonl", 2)], "what the record proves alone");
    let mut accepted = extraction.cases.clone();
    accepted.iter_mut().filter(|case| case.kind() == Kind::Correction).for_each(|case| case.accepted = true);
    let export = export::folder(&accepted, Format::Jsonl, OPTIONS).expect("rows");
    let names: Vec<(&str, usize)> = export.files.iter().map(|file| (file.name.as_str(), file.rows)).collect();
    assert_eq!(
        names,
        [("README.md", 0), ("completion/train.jsonl", 4), ("kto/train.jsonl", 4), ("preference/train.jsonl", 2)]
    );
    let first = text(&export, "completion/train.jsonl").lines().next().unwrap_or_default().to_owned();
    assert_snapshot!(pretty(&first));
    let pair = text(&export, "preference/train.jsonl").lines().next_back().unwrap_or_default().to_owned();
    assert_snapshot!(pretty(&without_metadata(&pair)));
    let card = text(&export, "README.md");
    // The features are those of the rows, which loaders check.
    let card: Vec<&str> = card.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_snapshot!(card.join("\n"));
    let left_out: Vec<(&str, Reason)> = export.left_out.iter().map(|it| (it.title.as_str(), it.reason)).collect();
    let expected = [("Advisory for an old crate", Reason::Unresolved), ("no, leave it", Reason::Unanswered)];
    assert_eq!(left_out, expected);
}

#[test]
fn samples_for_evaluation() {
    let extraction = extract(&[note(&tokens())], &[Kind::Puzzle], &Family::default());
    let export = export::stream(&extraction.cases, Format::Puzzle, ASKED).expect("samples");
    let rows = text(&export, "puzzles.jsonl");
    assert_eq!(rows.lines().count(), 2);
    assert_snapshot!(pretty(rows.lines().next().unwrap_or_default()));
}

#[test]
fn notes_to_read() {
    let extraction = cases(&tokens());
    let export = export::folder(&extraction.cases[..1], Format::Markdown, OPTIONS).expect("a note");
    let name = export.files[0].name.clone();
    assert_snapshot!(name);
    assert_snapshot!(text(&export, &name));
    let export = export::stream(&extraction.cases[3..4], Format::Markdown, OPTIONS).expect("a document");
    assert_snapshot!(text(&export, "cases.md"));
}

#[test]
fn a_vault_may_have_its_own_layout() {
    let extraction = cases(&tokens());
    let export = export::stream(
        &extraction.cases[..1],
        Format::Markdown,
        export::Options::new(export::Layouts { name: "mine", case: "{{ kind }}: {{ title }}", prompt: "" }),
    )
    .expect("one");
    assert_eq!(text(&export, "cases.md"), "puzzle: Flaky clock in the token test\n");
}

#[test]
fn what_waits_in_a_file_comes_out_the_same() {
    let extraction = cases(&tokens());
    for format in Format::ALL {
        let drafter = Drafter::new(format, Place::Folder, ASKED).expect("a layout");
        let made = |memory: usize| {
            let mut pile = Pile::new(memory);
            for case in &extraction.cases {
                pile.add(drafter.draft(case).expect("a draft")).expect("room");
            }
            pile.export(&drafter).and_then(Export::whole).expect("an export")
        };
        // A case of a stretch is no task.
        let is_empty = format == Format::Task;
        assert!(made(0) == made(usize::MAX) && made(0).files.is_empty() == is_empty, "{format:?}");
    }
}

#[test]
fn dialects_that_take_one_message() {
    let session = tokens();
    let call = Call::new("Write", serde_json::json!({ "file_path": "web/store.ts", "content": "a b" }), Some("ok"));
    let calls = session.steps().filter_map(|(_, step)| Some((step.id.clone()?, call.clone()?))).collect();
    let mut extraction =
        extract(&[Note { calls: Some(&calls), ..note(&session) }], &Kind::IN_SESSIONS, &Family::default());
    extraction.cases.iter_mut().filter(|case| case.kind() == Kind::Correction).for_each(|case| case.accepted = true);
    let made = |dialect| {
        export::folder(&extraction.cases, Format::Jsonl, export::Options { dialect, ..OPTIONS }).expect("rows")
    };
    let rows = |export: &Whole, name: &str| -> Vec<serde_json::Value> {
        text(export, name).lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
    };
    let openai = made(Dialect::Openai);
    for row in rows(&openai, "preference/train.jsonl") {
        let keys: Vec<&str> = row.as_object().expect("a row").keys().map(String::as_str).collect();
        assert_eq!(keys, ["input", "preferred_output", "non_preferred_output"]);
        assert_eq!(
            (row["preferred_output"].as_array().map(Vec::len), row["input"]["tools"].is_null()),
            (Some(1), true)
        );
    }
    let (tuned, aside) = (rows(&openai, "completion/train.jsonl"), rows(&openai, "completion/train.metadata.jsonl"));
    assert_eq!((tuned.len(), tuned[0]["metadata"].is_null()), (aside.len(), true));
    assert!(tuned[0]["tools"].as_array().is_some_and(|tools| !tools.is_empty()) && aside[0]["id"].is_string());
    let told = text(&openai, "completion/train.jsonl");
    assert!(
        told.contains(r#""role":"tool""#)
            && !told.contains(r#""role":"tool","content":"ok","tool_call_id":"call_0","name""#)
    );
    for name in ["preference/train.jsonl", "kto/train.jsonl"] {
        for row in rows(&made(Dialect::Axolotl), name) {
            assert!(!row.to_string().contains("tool_calls"), "{row}");
            assert_ne!(row["metadata"]["tool_fidelity"], "full");
        }
    }
}

/// A session of one turn in which something failed.
fn failed(items: Vec<Item>) -> Session {
    let words = std::iter::once(user("", "Make it build, please.", None));
    Session { phases: vec![phase("p-01", "Build", words.chain(items).collect())], ..Session::default() }
}

#[test]
fn a_failure_that_says_nothing_solves_nothing() {
    let gap = |result: &str, text: &str| {
        let mark = error("make failed", text, Some("n-001"), Some(("[[#^n-002]]", &["n-002", "n-003"])));
        let items = vec![
            step("n-001", "Bash make", result),
            mark,
            step("n-002", "Edit a.c", "+1"),
            step("n-003", "Bash make", "done"),
        ];
        cases(&failed(items)).cases[0].gap()
    };
    assert_eq!(gap("✗ Checked 286 files in 156ms. Nothing fixed.", ""), Some(Reason::Silent));
    assert_eq!(gap("✗ a.c:3: error: missing semicolon", ""), None);
    assert_eq!(gap("✗ Checked 286 files", "The linker was missing."), None);
    assert_eq!(
        gap("✗ So it works here, but should we redirect instead?", ""),
        Some(Reason::Silent),
        "words of a person"
    );
    assert_eq!(gap("✗ не удалось собрать", ""), None, "only what can be read is judged");
}

#[test]
fn after_many_attempts_the_last_one_counts() {
    let mut items = vec![
        step("n-000", "Bash make", "✗ error: first of all"),
        error("error: first of all", "", Some("n-000"), None),
    ];
    for at in 1..20 {
        items.push(step(&format!("n-{at:03}"), &format!("Edit a{at}.c"), "+1"));
    }
    items.push(step("n-020", "Bash make", "✗ error: last of all"));
    for at in 21..40 {
        items.push(step(&format!("n-{at:03}"), &format!("Edit b{at}.c"), "+1"));
    }
    items.push(step("n-040", "Bash make", "done"));
    if let Item::Error(error) = &mut items[1] {
        error.resolution = Some("[[#^n-040]]".into());
        error.resolved_by = vec![Link::to_block("n-040")];
    }
    let extraction = cases(&failed(items));
    let Story::Puzzle(puzzle) = &extraction.cases[0].story else { panic!("a puzzle") };
    assert!(puzzle.step.as_ref().is_some_and(|step| step.text().contains("last of all")), "{puzzle:?}");
    assert_eq!((puzzle.fix.len(), puzzle.verified), (20, true));
}

#[test]
fn no_to_an_offer_is_an_answer() {
    let corrections = |offer: &str, words: &str| {
        let items = vec![step("n-001", "Edit a.c", "+1"), prose(offer), user("", words, None), prose("As you like.")];
        cases(&failed(items)).cases.iter().filter(|case| case.kind() == Kind::Correction).count()
    };
    assert_eq!(corrections("Done. Want me to add links as well?", "No, look at the rules now."), 0);
    assert_eq!(corrections("Done. Want me to add links as well?", "Don't, and undo the edit."), 1);
    assert_eq!(corrections("Is it what you meant?", "No, look at the rules now."), 1);
    assert_eq!(corrections("Want me to go on? I did it.", "No, look at the rules now."), 1);
    let stopped = |words: &str| {
        let offer = prose("Ready to move on to hooks.md or rpc.md?\n\n*Interrupted by the user.*");
        let items = vec![step("n-001", "Edit a.c", "+1"), offer, user("", words, None), prose("As you like.")];
        cases(&failed(items)).cases.iter().filter(|case| case.kind() == Kind::Correction).count()
    };
    assert_eq!((stopped("hooks"), stopped("that table is of the wrong release")), (0, 1));
}
