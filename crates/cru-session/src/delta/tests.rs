//! Random sessions, cut at a random place and told again in whole: the note that was cut and brought up to date says
//! what the whole one says, and what a person wrote in between is still there.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::{There, delta, notes};
use crate::event::{
    Call, CallResult, DecisionEvent, Event, EventKind, Prompt, PromptOrigin, SessionFact, TitleRank, Usage,
};
use crate::fold::{Fold, Options};
use crate::op::{self, Mode, Op};
use crate::source::{Consumed, Header};
use crate::{Item, Session, Task, read, render};
use cru_note::Note;

/// What can happen, with as few choices as show everything.
#[derive(Clone, Debug)]
enum Happening {
    Prompt(&'static str),
    Reply(&'static str),
    Call(&'static str),
    Answer(bool),
    Wait,
    Compaction,
    Interrupt,
    Decision,
    Tasks(u8),
    Usage(u16),
    Title(&'static str),
    ApiError,
    Command,
}

fn happening() -> impl Strategy<Value = Happening> {
    let replies = prop_oneof![
        Just("Done."),
        Just("I looked at it.\n\n- one\n- two"),
        Just("- three\n- four"),
        Just("```rust\nfn main() {}\n```"),
        Just("## A heading of mine\n\nAnd words."),
        Just("Shall I go on?"),
    ];
    let prompts = prop_oneof![
        Just("Fix the login bug in src/auth.rs, then write a test that shows it and run all of them again"),
        Just("yes"),
        Just("no, not there"),
        Just("Add a table of prices to the README and explain in it how each of the prices is found today"),
    ];
    let calls = prop_oneof![Just("cargo test -p auth"), Just("ls"), Just("cat a\ncat b")];
    prop_oneof![
        3 => prompts.prop_map(Happening::Prompt),
        4 => replies.prop_map(Happening::Reply),
        6 => calls.prop_map(Happening::Call),
        6 => any::<bool>().prop_map(Happening::Answer),
        1 => Just(Happening::Wait),
        1 => Just(Happening::Compaction),
        1 => Just(Happening::Interrupt),
        1 => Just(Happening::Decision),
        1 => (0_u8..5).prop_map(Happening::Tasks),
        2 => (1_u16..999).prop_map(Happening::Usage),
        1 => prop_oneof![Just("One title"), Just("Another title")].prop_map(Happening::Title),
        1 => Just(Happening::ApiError),
        1 => Just(Happening::Command),
    ]
}

fn fold(happenings: &[Happening]) -> Session {
    let mut fold = Fold::new(Header::default(), "claude-code", Options::default());
    let mut time: Timestamp = "2026-11-20T09:00:00Z".parse().unwrap();
    let mut open: Vec<String> = Vec::new();
    for (at, happening) in happenings.iter().enumerate() {
        time += SignedDuration::from_secs(10);
        let said = |text: &'static str, origin| {
            EventKind::Prompt(Prompt { text: Cow::Borrowed(text), origin, attachments: Vec::new() })
        };
        let kind = match happening {
            Happening::Prompt(text) => said(text, PromptOrigin::Typed),
            Happening::Command => said("/review src", PromptOrigin::Command),
            Happening::Reply(text) => EventKind::Reply(Cow::Borrowed(text)),
            Happening::Call(args) => {
                open.push(format!("c{at}"));
                EventKind::Call(Call {
                    id: format!("c{at}").into(),
                    tool: "Bash".into(),
                    args: Cow::Borrowed(args),
                    input: Value::Null,
                })
            }
            Happening::Answer(failed) => {
                let Some(call) = open.pop() else { continue };
                let output = if *failed { "error: it broke" } else { "fine" };
                EventKind::Result(CallResult {
                    call: call.into(),
                    output: output.into(),
                    failed: *failed,
                    exit: failed.then_some(1),
                    ..CallResult::default()
                })
            }
            Happening::Wait => {
                time += SignedDuration::from_secs(1200);
                continue;
            }
            Happening::Compaction => EventKind::Compaction {
                trigger: Some("auto".into()),
                tokens_before: Some(9000),
                summary: Some("What was done so far.".into()),
            },
            Happening::Interrupt => EventKind::Interrupt { call: None, unnamed: false },
            Happening::Decision => EventKind::Decision(DecisionEvent {
                title: "Use tabs".into(),
                text: format!("Number {at}.").into(),
                why: None,
                rejected: Vec::new(),
                approval: false,
                call: None,
            }),
            Happening::Tasks(count) => {
                let row = |number: u8| Task {
                    id: number.to_string(),
                    content: format!("Part {number}"),
                    status: if usize::from(number) + at % 2 > 2 { "pending" } else { "completed" }.to_owned(),
                    ..Task::default()
                };
                EventKind::Tasks((1..=*count).map(row).collect())
            }
            Happening::Usage(output) => EventKind::Usage {
                message: format!("m{at}").into(),
                model: "claude-opus".into(),
                usage: Usage { input: 5, output: u64::from(*output), ..Usage::default() },
            },
            Happening::Title(text) => {
                EventKind::Meta(SessionFact::Title { rank: TitleRank::Host, text: (*text).into() })
            }
            Happening::ApiError => EventKind::ApiError("Overloaded".into()),
        };
        fold.event(Event { record: at as u64 + 1, time: Some(time), kind });
    }
    let mut draft = fold.finish(Consumed::default());
    draft.name("2026-11-20-a-session");
    draft.session
}

fn comparable(text: &str) -> (Vec<Value>, Vec<Task>, Value) {
    let (session, _) = read::session(&Note::parse(text));
    let mut phases: Vec<Value> = session.phases.iter().map(|phase| serde_json::to_value(phase).unwrap()).collect();
    phases.iter_mut().for_each(strip);
    phases.iter_mut().for_each(join_prose);
    let mut meta = serde_json::to_value(&session.meta).unwrap();
    strip(&mut meta);
    (phases, session.tasks().into_iter().cloned().collect(), meta)
}

/// Without places.
fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !matches!(key.as_str(), "span" | "heading_span"));
            map.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Prose that was added later may stand apart from the prose before it.
fn join_prose(phase: &mut Value) {
    let items = std::mem::take(phase["items"].as_array_mut().unwrap());
    let mut joined: Vec<Value> = Vec::new();
    for item in items {
        match joined.last_mut() {
            Some(last) if last["item"] == "prose" && item["item"] == "prose" => {
                let text = format!("{}\n\n{}", last["text"].as_str().unwrap(), item["text"].as_str().unwrap());
                last["text"] = text.into();
            }
            _ => joined.push(item),
        }
    }
    phase["items"] = joined.into();
}

fn apply(text: &str, ops: &[Op]) -> String {
    let applied = op::apply(text.as_bytes(), ops, Mode::First).unwrap();
    String::from_utf8(applied.bytes).unwrap()
}

/// What a person writes: a paragraph behind each block in turn, by number.
fn edited(text: &str, places: &[usize]) -> (String, Vec<String>) {
    let note = Note::parse(text);
    let ends: Vec<usize> = note
        .blocks()
        .iter()
        .filter(|block| block.content.end > note.split().body_start)
        .map(|block| block.id.map_or(0, |id| id.end).max(block.content.end))
        .collect();
    let mut edits: Vec<(usize, String)> = places
        .iter()
        .enumerate()
        .filter_map(|(number, place)| {
            let at = *ends.get(place % ends.len().max(1))?;
            Some((at, format!("My remark {number} @here, and it stays.")))
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (at, words) in edits.iter().rev() {
        out.insert_str(*at, &format!("\n\n{words}"));
    }
    (out, edits.into_iter().map(|(_, words)| words).collect())
}

fn steps(session: &Session) -> Vec<String> {
    // A remark under a heading takes the day from the times below it.
    session.steps().map(|(_, step)| format!("{:?} {} {} {:?}", step.id, step.tool, step.args, step.result)).collect()
}

fn users(session: &Session) -> Vec<String> {
    let words = session.items().filter_map(|(_, item)| match item {
        Item::User(user) => Some(format!("{:?} {}", user.callout.id, user.words)),
        _ => None,
    });
    words.collect()
}

/// The ids of a person's inputs, with the words that they name.
fn user_ids(session: &Session) -> Vec<(String, String)> {
    let inputs = session.items().filter_map(|(_, item)| match item {
        Item::User(user) => Some((user.callout.id.clone().unwrap_or_default(), user.words.clone())),
        _ => None,
    });
    inputs.collect()
}

proptest! {
    #[test]
    fn cut_and_brought_up_to_date_is_the_whole(all in vec(happening(), 1..40), cut in 0_usize..40) {
        let cut = cut % (all.len() + 1);
        let (old, mut new) = (fold(&all[..cut]), fold(&all));
        // When a session began is said once, also where it had done nothing yet.
        new.meta.started = old.meta.started.or(new.meta.started);
        let (before, after) = (render::note(&old), render::note(&new));
        let ops = delta(&old, &new);
        let grown = apply(&before, &ops);
        prop_assert_eq!(comparable(&grown), comparable(&after), "{}\n=====\n{}\n=====\n{:#?}", before, grown, ops);
        let (ids, part) = (user_ids(&new), user_ids(&old));
        prop_assert!(part.iter().all(|id| ids.contains(id)), "{:?} {:?}", part, ids);
        let names: HashSet<&str> = ids.iter().map(|(id, _)| id.as_str()).collect();
        prop_assert!(names.len() == ids.len() && !names.contains(""), "each has one of its own: {:?}", ids);
        let after_note = Note::parse(after.as_str());
        prop_assert_eq!(notes(&after_note, &after_note, None), Vec::new());
    }

    #[test]
    fn what_a_person_wrote_in_between_stays(
        all in vec(happening(), 1..40),
        cut in 0_usize..40,
        places in vec(0_usize..100, 0..4),
    ) {
        let cut = cut % (all.len() + 1);
        let (old, new) = (fold(&all[..cut]), fold(&all));
        let (before, after) = (render::note(&old), render::note(&new));
        let (theirs, remarks) = edited(&before, &places);
        let note = Note::parse(theirs.as_str());
        let (session, _) = read::session(&note);
        let there = There { note: &note, session: &session };
        let ops = notes(&Note::parse(before.as_str()), &Note::parse(after.as_str()), Some(there));
        let grown = apply(&theirs, &ops);
        for remark in &remarks {
            prop_assert_eq!(grown.matches(remark.as_str()).count(), 1, "{}\n{}\n{:#?}", theirs, grown, ops);
        }
        let (now, _) = read::session(&Note::parse(grown.as_str()));
        let (want, _) = read::session(&Note::parse(after.as_str()));
        prop_assert_eq!(sorted(steps(&now)), sorted(steps(&want)), "{}\n=====\n{}\n{:#?}", theirs, grown, ops);
        prop_assert_eq!(sorted(users(&now)), sorted(users(&want)), "{}\n=====\n{}\n{:#?}", theirs, grown, ops);
        prop_assert_eq!(now.phases.len(), want.phases.len());
        prop_assert!(!grown.contains("[!conflict]"), "{}\n=====\n{}\n{:#?}", theirs, grown, ops);
    }
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

#[test]
fn the_top_of_a_note_is_a_persons_once_they_changed_it() {
    let summary = |text: &str| {
        format!(
            "# T\n\n> [!summary] T\n> Result: {text}\n\n**Tasks:**\n- [ ] Mend ^task-1\n- [ ] Paint ^task-2\n\n## A @x\n\n*2026-11-20T09:00:00Z* ^p-01\n"
        )
    };
    let done = |text: &str| summary(text).replace("[ ] Mend", "[x] Mend").replace("[ ] Paint", "[/] Paint");
    let grown = |there: &str| {
        let (old, new, note) = (Note::parse(summary("a")), Note::parse(done("b")), Note::parse(there));
        let (session, _) = crate::read::session(&note);
        let ops = super::notes(&old, &new, Some(super::There { note: &note, session: &session }));
        apply(there, &ops)
    };
    assert_eq!(grown(&summary("a")), done("b"));
    let theirs = summary("mine");
    assert_eq!(grown(&theirs), done("mine"));
    let ticked = summary("a").replace("[ ] Paint", "[x] Paint");
    assert_eq!(grown(&ticked), done("b").replace("[/] Paint", "[x] Paint"));
    let without = summary("a").replace("> [!summary] T\n> Result: a\n\n", "");
    assert_eq!(grown(&without), done("b").replace("> [!summary] T\n> Result: b\n\n", ""));
}
