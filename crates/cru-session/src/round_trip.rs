//! What `render` writes, `read` reads back: the same session but for the places it stands at.

use cru_action::Verdict;
use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_note::Note;
use cru_secrets::mask;
use cru_testing::nasty;

/// Places are not the same, and a callout's body and fields only repeat what its typed parts say.
fn comparable(session: &Session) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.remove("span");
                map.remove("heading_span");
                if map.get("kind").and_then(Value::as_str).is_some_and(|kind| callout::fields(kind).is_some()) {
                    map.remove("body");
                    map.remove("fields");
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(session).unwrap();
    strip(&mut value);
    value
}

/// No session holds a secret.
fn block() -> impl Strategy<Value = String> {
    nasty().prop_map(|text| mask(sanitise(&text).trim()).into_owned())
}

fn line() -> impl Strategy<Value = String> {
    nasty().prop_map(|text| mask(&fold_whitespace(&sanitise(&text))).into_owned())
}

fn short() -> impl Strategy<Value = String> {
    line().prop_map(|text| truncate(&text, 100).into_owned())
}

/// A value of a field: text without blank lines outside code, here without any.
fn value() -> impl Strategy<Value = Option<String>> {
    of(block().prop_map(|text| {
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.join("\n").trim().to_owned()
    }))
    .prop_map(|value| value.filter(|value| !value.is_empty()))
}

fn some(strategy: impl Strategy<Value = String>) -> impl Strategy<Value = Option<String>> {
    of(strategy).prop_map(|text| text.filter(|text| !text.is_empty()))
}

fn time() -> impl Strategy<Value = Timestamp> {
    (0_i64..200_000).prop_map(|offset| Timestamp::from_second(1_795_000_000 + offset).unwrap())
}

fn id(prefix: &'static str) -> impl Strategy<Value = Option<String>> {
    of((1..999_u32).prop_map(move |number| format!("{prefix}-{number:03}")))
}

fn link() -> impl Strategy<Value = Link> {
    prop_oneof![
        (1..99_u32).prop_map(|number| Link::to_block(format!("n-{number:03}"))),
        Just(Link::to_note("2026-11-20-refresh-tokens")),
        Just(Link { target: "a note".into(), heading: Some("A part".into()), ..Link::default() }),
    ]
}

fn agent() -> impl Strategy<Value = Agent> {
    ("[a-z][a-z0-9_.-]{0,8}", of("[0-9][0-9.]{0,3}")).prop_map(|(name, version)| Agent { name, version })
}

fn file() -> impl Strategy<Value = FileRef> {
    let path = prop_oneof![
        "[a-z./@, `()-]{1,12}".prop_filter("a path", |path| !path.trim().is_empty()),
        Just("odd@0123abcd".to_owned()),
        Just("odd@-".to_owned()),
        Just("odd:12".to_owned())
    ];
    let lines = (of(1..9_000_u64), 1..500_u64, "[0-9a-f]{8}");
    let lines = vec(lines.prop_map(|(first, count, hash)| LineAnchor { first, count, hash }), 0..3);
    let marks = prop_oneof![Just((false, false)), Just((true, false)), Just((false, true))];
    (path, of("[0-9a-f]{8}"), lines, marks).prop_map(|(path, hash, lines, (created, deleted))| FileRef {
        path,
        hash,
        lines,
        created,
        deleted,
    })
}

/// Each file once: lines behind a file are of that file.
fn files() -> impl Strategy<Value = Vec<FileRef>> {
    vec(file(), 0..3).prop_map(|mut files| {
        files.dedup_by(|a, b| a.path == b.path);
        files
    })
}

fn step(with_id: bool) -> impl Strategy<Value = Item> {
    let status = prop_oneof![
        4 => Just(StepStatus::Complete),
        1 => Just(StepStatus::Failed),
        1 => Just(StepStatus::Running),
        1 => Just(StepStatus::Pending),
        1 => Just(StepStatus::Denied),
        1 => Just(StepStatus::Interrupted),
        1 => Just(StepStatus::NoResult),
    ];
    let check = of(proptest::sample::select(vec![Verdict::Passed, Verdict::Failed, Verdict::Unknown]));
    let head = (id("n"), "[A-Za-z_`]{1,6}", line(), of(block()), some(short()), status);
    let facts = (of(time()), of(any::<i32>()), of(0..900_000_u64));
    let files = (files(), files(), vec(link(), 0..2), of(link()));
    let fields = vec(("(kind|model|note)", line()), 0..2);
    (head, facts, files, (fields, check))
        .prop_map(move |(head, facts, files, (fields, check))| {
            let (id, tool, args, command, result, status) = head;
            let result = match status.words() {
                None => result.filter(|_| status != StepStatus::Pending),
                Some(words) => {
                    let told = result.map_or_else(|| words.to_owned(), |result| format!("{words}: {result}"));
                    Some(cru_base::text::truncate(&told, step_line::LONGEST_RESULT).trim_end().to_owned())
                }
            };
            Item::Step(Step {
                id: id.filter(|_| with_id),
                tool,
                args,
                command: command.filter(|command| !command.is_empty()),
                result,
                status,
                time: facts.0,
                exit: facts.1,
                duration_ms: facts.2.map(step_line::written_duration),
                reads: files.0,
                writes: files.1.into_iter().collect(),
                after: files.2,
                replays: files.3,
                fields,
                check,
                ..Step::default()
            })
        })
        .prop_map(|mut item| {
            if let Item::Step(step) = &mut item {
                step.reads.iter_mut().for_each(|file| (file.created, file.deleted) = (false, false));
            }
            item
        })
}

fn shell(kind: &'static str, with_id: bool) -> impl Strategy<Value = Callout> {
    (id("c"), line(), of(any::<bool>()), of(time())).prop_map(move |(id, title, folded, at)| Callout {
        kind: kind.to_owned(),
        id: id.filter(|_| with_id),
        title,
        folded,
        at,
        ..Callout::default()
    })
}

fn callouts(with_id: bool) -> impl Strategy<Value = Item> {
    let decision = (shell("decision", with_id), block(), value(), value(), value(), vec(link(), 0..3)).prop_map(
        |(callout, text, why, rejected, impact, rests_on)| {
            Item::Decision(Decision { callout, text, why, rejected, impact, rests_on })
        },
    );
    let error = (shell("error", with_id), block(), value(), vec(link(), 0..3)).prop_map(
        |(callout, text, resolution, steps)| {
            let steps = steps.into_iter().filter(|link| !text.contains(&link.to_string())).collect();
            Item::Error(Error { callout, text, resolution, resolved_by: Vec::new(), steps })
        },
    );
    let user = (shell("user", with_id), block(), some(line()), any::<bool>()).prop_map(
        |(mut callout, words, interpretation, correction)| {
            callout.title = if correction { "Correction".into() } else { String::new() };
            let correction = correction || (interpretation.is_some() && crate::correction::opens_correction(&words));
            Item::User(User { callout, words, interpretation, correction })
        },
    );
    let kind = prop_oneof![Just("checkpoint"), Just("lesson"), Just("my-kind"), Just("summary")];
    let other = kind.prop_flat_map(move |kind| (shell(kind, with_id), block())).prop_map(|(mut callout, body)| {
        callout.at = None;
        callout.body = body;
        Item::Callout(callout)
    });
    prop_oneof![decision, error, user, other]
}

fn tasks() -> impl Strategy<Value = Item> {
    let task =
        (line(), line()).prop_map(|(id, content)| Task { id, content, status: "pending".into(), ..Task::default() });
    vec(task, 0..3).prop_map(|tasks| Item::Tasks(Tasks { tasks, ..Tasks::default() }))
}

fn prose(with_id: bool) -> impl Strategy<Value = Item> {
    (id("x"), block())
        .prop_map(move |(id, text)| Item::Prose(Prose { id: id.filter(|_| with_id), text, ..Prose::default() }))
}

fn subagent() -> impl Strategy<Value = Item> {
    let work = vec(prop_oneof![step(false), callouts(false), tasks(), prose(false)], 0..5);
    let mode = prop_oneof![Just(SubagentMode::Inline), Just(SubagentMode::Link), Just(SubagentMode::Embed)];
    let parts = (shell("subagent", true), agent(), some(line()), mode, value(), value(), work);
    parts.prop_map(|(mut callout, agent, model, mode, task, summary, items)| {
        callout.title = String::new();
        let inline = mode == SubagentMode::Inline;
        let link = Link { embed: mode == SubagentMode::Embed, ..Link::to_note("2026-11-20-reviewer") };
        let link = (!inline).then_some(link);
        let items = if inline { together(items) } else { Vec::new() };
        Item::Subagent(Subagent {
            callout,
            agent: Some(agent),
            model,
            mode,
            link,
            task,
            summary,
            text: String::new(),
            items,
        })
    })
}

/// Prose that stands together is one item, and empty prose is none.
fn together(items: Vec<Item>) -> Vec<Item> {
    let mut out: Vec<Item> = Vec::new();
    for item in items {
        let keep = match (&item, out.last()) {
            (Item::Prose(prose), _) if prose.text.is_empty() => false,
            (Item::Prose(_), Some(Item::Prose(before))) => before.id.is_some(),
            _ => true,
        };
        if keep {
            out.push(item);
        }
    }
    out
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let item = prop_oneof![4 => step(true), 4 => callouts(true), 1 => tasks(), 4 => prose(true), 2 => subagent()];
    vec(item, 0..6).prop_map(together)
}

fn session() -> impl Strategy<Value = Session> {
    let phase =
        (some(line()), of(agent()), of("[a-z][a-z0-9/_-]{0,6}"), of(time()), vec(link(), 0..2), of(link()), items());
    let phases = vec(phase, 0..4).prop_map(|phases| {
        let numbered = phases.into_iter().enumerate();
        let phases = numbered.map(|(index, (title, agent, channel, started, after, from, items))| Phase {
            id: format!("p-{:02}", index + 1),
            id_written: true,
            level: 2,
            title: title.unwrap_or_else(|| "Work".into()),
            agent,
            channel,
            started,
            after,
            from,
            items,
            ..Phase::default()
        });
        phases.collect::<Vec<_>>()
    });
    (line(), items(), phases, some(block())).prop_map(|(title, preface, phases, memory)| Session {
        meta: Meta { kind: Some("session".into()), session_id: Some("s".into()), ..Meta::default() },
        heading: Some(if title.is_empty() { "s".into() } else { title }),
        preface,
        phases,
        memory: memory.into_iter().map(|body| Fence { info: "yaml memory".into(), body, ..Fence::default() }).collect(),
    })
}

/// Titles of callouts that are said by their parts.
fn settle(mut session: Session) -> Session {
    fn each(items: &mut [Item]) {
        for item in items {
            if let Item::Subagent(it) = item {
                let agent = it.agent.as_ref().map(|agent| format!("@{agent}")).unwrap_or_default();
                it.callout.title = it.model.as_ref().map_or(agent.clone(), |model| format!("{agent} ({model})"));
                each(&mut it.items);
            }
        }
    }
    each(&mut session.preface);
    for phase in &mut session.phases {
        each(&mut phase.items);
    }
    read::inherit(&mut session.phases);
    session
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_comes_back(session in session()) {
        let session = settle(session);
        let written = render::note(&session);
        let (mut read, _) = read::session(&Note::parse(written.clone()));
        for item in read.preface.iter_mut().chain(read.phases.iter_mut().flat_map(|phase| &mut phase.items)) {
            if let Item::Callout(callout) = item {
                callout.fields.clear();
                callout.at = None;
            }
            if let Item::Subagent(it) = item {
                for item in &mut it.items {
                    if let Item::Callout(callout) = item {
                        callout.fields.clear();
                        callout.at = None;
                    }
                }
            }
        }
        let shown = |session: &Session| serde_json::to_string_pretty(&comparable(session)).unwrap();
        let (is, was) = (shown(&read), shown(&session));
        let difference = similar::TextDiff::from_lines(&was, &is);
        let difference = difference.unified_diff().context_radius(2).to_string();
        prop_assert!(is == was, "{difference}\n{written}");
        let again = render::note(&read);
        prop_assert!(again == written, "{again}\n---- was\n{written}");
    }
}

#[test]
fn numbers_are_steps_only_below_their_line() {
    let body = "1. you open `/a`\n2. `/a` → serves `/a/index.html`\n";
    let read = |above: &str| read::session(&Note::parse(format!("## Do @coder\n\n{above}{body}"))).0;
    let points = read("");
    assert_eq!(points.steps().count(), 0);
    assert_eq!(render::body(&points), format!("# untitled\n\n## Do @coder\n\n{body}"));
    assert_eq!(read("**Tool calls:**\n\n").steps().count(), 1);
}
