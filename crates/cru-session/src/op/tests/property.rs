//! What holds for every note and every operation.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::*;
use crate::model::{Item, Task};
use crate::op::apply::apply_one_by_one;
use crate::op::unit::units;
use crate::read;
use crate::render::STEPS_HEADER;
use cru_note::Note;

/// Something that stands in a phase, written by a person or by `cru`.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1..400_u32).prop_map(|id| format!("**Tool calls:**\n- `Read {id}` → ok ^m-{id:03}\n- `Bash x{id}` → ✗ no (exit 1) ^m-{}\n", id + 400)),
        1 => (1..400_u32).prop_map(|id| format!("**Tool calls:**\n- `Read {id}`\n\n- `Bash {id}` → ok\n")),
        1 => Just("- `ls` → ok\n- mine\n".to_owned()),
        1 => Just("- `ls` → ok\n  wrapped\n\n^l-1\n".to_owned()),
        1 => Just("* `ls` → ok\n".to_owned()),
        1 => Just("1. first\n2. `b` → c\n".to_owned()),
        2 => "[a-z ]{1,20}".prop_map(|text| format!("Words {text}\n")),
        1 => "[a-z]{1,8}".prop_map(|text| format!("> [!error] {text}\n> It broke.\n")),
        1 => "[a-z]{1,8}".prop_map(|text| format!("> [!user]\n> \"{text}\"\n\n^u-{text}\n")),
        1 => Just("```rust\n- `a` → b\n# no\n```\n".to_owned()),
        1 => Just("| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()),
        1 => Just("<!-- remark -->\n".to_owned()),
        1 => Just("%% mine %%\n".to_owned()),
        1 => Just("#### Deep\n".to_owned()),
        1 => Just("> quoted\n".to_owned()),
        1 => Just("```tasks\n[{\"id\":\"T-1\",\"content\":\"One\",\"status\":\"pending\"}]\n```\n".to_owned()),
        1 => Just("```tasks\n[oh\n```\n".to_owned()),
    ]
}

fn note() -> impl Strategy<Value = String> {
    let head = of(select(vec![
        "---\ntype: session\ntitle: T\nstatus: active\n---\n",
        "---\ntitle: T # mine\nparticipants:\n  - a\n  - mine\n---\n\n",
        "\u{feff}",
    ]));
    let phase = (select(vec!["##", "##", "###"]), of(1..4_u32), vec(part(), 0..4));
    let tail = select(vec!["", "", "\n\n", "```\nopen\n", "%% open\n", "last words"]);
    (head, of(Just("# Title\n\n")), vec(part(), 0..2), vec(phase, 0..4), tail, any::<bool>(), any::<bool>()).prop_map(
        |(head, title, preface, phases, tail, windows, tight)| {
            let mut text = format!("{}{}", head.unwrap_or_default(), title.unwrap_or_default());
            text.push_str(&preface.join("\n"));
            for (index, (mark, id, parts)) in phases.into_iter().enumerate() {
                text.push_str(if tight || text.is_empty() { "" } else { "\n" });
                text.push_str(&format!("{mark} Part {index} @a\n"));
                if let Some(id) = id {
                    text.push_str(&format!(
                        "\n*2026-11-20T10:00:00Z* ^p-{:02}\n",
                        id + 10 * u32::try_from(index).unwrap()
                    ));
                }
                for part in parts {
                    text.push('\n');
                    text.push_str(&part);
                }
            }
            text.push_str(if tail.is_empty() { "" } else { "\n" });
            text.push_str(tail);
            if windows { text.replace('\n', "\r\n") } else { text }
        },
    )
}

fn phase_name() -> impl Strategy<Value = Option<String>> {
    of(select(vec!["p-01", "p-02", "p-03", "p-11", "p-12", "p-21", "p-99"]).prop_map(str::to_owned))
}

/// A text as `session::render::items` gives it; steps have ids of their own.
fn text() -> impl Strategy<Value = String> {
    // Lists stand apart, as they are rendered.
    let apart = |piece: String| if piece.starts_with("- a list") { format!("<!-- -->\n\n{piece}") } else { piece };
    (piece(), vec(piece().prop_map(apart), 0..2)).prop_map(|(first, more)| [vec![first], more].concat().join("\n"))
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => (1..60_u32, 1..3_u32).prop_map(|(id, count)| {
            let step = |at: u32| format!("- `Bash s{id}` → ok (10:05:00) ^n-{:03}\n    - reads: `a`\n", id * 10 + at);
            let steps = (0..count).map(step).collect::<Vec<_>>().concat();
            format!("**Tool calls:**\n{steps}")
        }),
        1 => (700..900_u32).prop_map(|id| format!("**Tool calls:**\n- `ls` ^n-{id}\n")),
        2 => "[a-z]{1,6}".prop_map(|text| format!("> [!error] {text}\n> It broke.\n> Why: x\n")),
        1 => "[a-z]{1,6}".prop_map(|text| format!("> [!decision] {text}\n> So.\n\n^d-{text}\n")),
        1 => "[a-z]{1,6}".prop_map(|text| format!("Prose {text}\n")),
        1 => Just("- a list\n- of mine\n".to_owned()),
        1 => Just("```\ncode\n```\n".to_owned()),
    ]
}

/// Whether the program makes such an operation: a block is replaced by one block, or has others put below it, and a task says
/// something.
fn is_made(op: &Op) -> bool {
    let blocks = |text: &str| pieces(text).into_iter().filter(|piece| piece != STEPS_HEADER).collect::<Vec<_>>();
    match op {
        Op::Replace { old, new, .. } => {
            let (old_blocks, new_blocks) = (blocks(old), blocks(new));
            let is_even = new_blocks.is_empty() || new_blocks.len() == old_blocks.len();
            !old.starts_with("```tasks") && (is_even || new_blocks.starts_with(&old_blocks))
        }
        Op::Tasks { rows, .. } => rows.iter().all(|row| !row.content.is_empty()),
        _ => true,
    }
}

fn adding() -> impl Strategy<Value = Op> {
    let block = select(vec!["m-001", "m-010", "m-401", "l-1", "n-010", "p-11", "none"]).prop_map(str::to_owned);
    prop_oneof![
        6 => (phase_name(), text()).prop_map(|(phase, text)| Op::Append { phase, text }),
        2 => (block, phase_name(), text()).prop_map(|(block, phase, text)| Op::InsertAfter { block, phase, text }),
        1 => text().prop_map(|text| Op::Preface { text }),
        1 => (30..40_u32, text()).prop_map(|(id, text)| Op::Phase { text: format!("## New @x\n\n*2026-11-20T11:00:00Z* ^p-{id}\n\n{text}") }),
    ]
}

fn task() -> impl Strategy<Value = Task> {
    ((1..4_u32), of("[a-z]{1,3}"), select(vec!["pending", "completed", ""])).prop_map(|(id, content, status)| Task {
        id: format!("T-{id}"),
        content: content.unwrap_or_default(),
        status: status.to_owned(),
        ..Task::default()
    })
}

fn changing() -> impl Strategy<Value = Op> {
    let json = || {
        of(prop_oneof![Just(json!("a")), Just(json!(1)), Just(json!(["a"])), Just(json!(["a", "b"])), Just(json!("T"))])
    };
    let key = select(vec!["title", "status", "participants", "new"]).prop_map(str::to_owned);
    prop_oneof![
        (phase_name(), part(), text()).prop_map(|(phase, old, new)| Op::Replace { phase, old, new }),
        // What comes below a block that has no id to be named by.
        (phase_name(), part(), text()).prop_filter_map("they stand apart", |(phase, old, text)| {
            let new = format!("{old}\n{text}");
            let apart = [pieces(&old), pieces(&text)].concat();
            (pieces(&new) == apart).then_some(Op::Replace { phase, old, new })
        }),
        (phase_name(), part()).prop_map(|(phase, old)| Op::Replace {
            phase,
            old: old.clone(),
            new: old.replace("ok", "fine").replace("broke.", "broke.\n> Resolution: x")
        }),
        (phase_name(), part()).prop_map(|(phase, old)| Op::Replace { phase, old, new: String::new() }),
        (phase_name(), part()).prop_map(|(phase, old)| Op::Replace {
            phase,
            old: old.replace("broke", "was broken").replace("ok", "well"),
            new: old.replace("broke.", "failed.\n> Resolution: x")
        }),
        (key, json(), json()).prop_map(|(key, old, new)| Op::Set { key, old, new }),
        (phase_name(), any::<bool>()).prop_map(|(phase, time)| Op::Identify {
            phase: phase.unwrap_or_else(|| "p-04".to_owned()),
            time: time.then(|| "2026-11-20T12:00:00Z".to_owned()),
        }),
        (vec(task(), 0..3), any::<bool>()).prop_map(|(rows, all)| Op::Tasks { rows, all }),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    // In boxes: the trees of values are too large for the stack of a test.
    prop_oneof![adding().boxed(), changing().boxed()]
}

fn pieces(text: &str) -> Vec<String> {
    let note = Note::parse(text);
    units(&note, true).iter().map(|unit| unit.text(&note).into_owned()).collect()
}

fn is_part(part: &[String], whole: &[String]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|wanted| whole.any(|piece| piece == wanted))
}

/// Steps and callouts as data, without their places.
fn items(text: &str) -> Vec<String> {
    let (session, _) = read::session(&Note::parse(text));
    let items = session.items().filter(|(_, item)| !matches!(item, Item::Prose(_) | Item::Tasks(_)));
    items
        .map(|(_, item)| {
            let mut value = serde_json::to_value(item).unwrap();
            value.as_object_mut().unwrap().remove("span");
            value.to_string()
        })
        .collect()
}

fn all_changes(applied: &Applied) -> Vec<Change> {
    applied.done.iter().flat_map(|done| done.edits.clone()).collect()
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// What was there stays, byte for byte and in order; what is new is there as it was rendered.
    #[test]
    fn adding_keeps_everything(note in note(), op in adding()) {
        let Ok(applied) = apply(note.as_bytes(), std::slice::from_ref(&op), Mode::First) else { return Ok(()) };
        let changes = all_changes(&applied);
        prop_assert!(changes.iter().all(|change| change.removed.is_empty()));
        let new = String::from_utf8(applied.bytes).unwrap();
        prop_assert!(is_part(&pieces(&note), &pieces(&new)), "{note}\n----\n{new}");
        let (Op::Append { text, .. } | Op::InsertAfter { text, .. } | Op::Preface { text } | Op::Phase { text }) = &op else {
            return Ok(());
        };
        // A day is known from the phase, so steps of another phase's day are left out by having none.
        let strip = |items: Vec<String>| -> Vec<String> { items.iter().map(|item| without_time(item)).collect() };
        let (before, added, after) = (strip(items(&note)), strip(items(&format!("\n{text}"))), strip(items(&new)));
        prop_assert_eq!(before.len() + added.len(), after.len(), "{}\n----\n{}", note, new);
        prop_assert!(is_part(&before, &after) && is_part(&added, &after), "{note}\n----\n{new}");
    }

    /// Many appends at once give what they give one by one.
    #[test]
    fn together_as_one_by_one(note in note(), phase in phase_name(), texts in vec(text(), 2..6), mode in select(vec![Mode::First, Mode::Again])) {
        let ops: Vec<Op> = texts.into_iter().map(|text| Op::Append { phase: phase.clone(), text }).collect();
        let together = apply(note.as_bytes(), &ops, mode);
        let single = apply_one_by_one(note.as_bytes(), &ops, mode);
        let shown = |applied: &Result<Applied, _>| applied.as_ref().map(|it| {
            let outcomes: Vec<_> = it.done.iter().map(|done| (done.outcome, done.edits.len())).collect();
            (String::from_utf8_lossy(&it.bytes).into_owned(), outcomes)
        }).map_err(Clone::clone);
        prop_assert_eq!(shown(&together), shown(&single));
        // Undone from the last on, each leaves the text that it met.
        if let (Ok(together), Ok(single)) = (together, single) {
            prop_assert_eq!(undo(&together.bytes, &all_changes(&together)), undo(&single.bytes, &all_changes(&single)));
        }
    }

    /// Undoing what was done gives what was there; so does the way the changes describe.
    #[test]
    fn undone_is_as_before(note in note(), ops in vec(any_op(), 1..6), mode in select(vec![Mode::First, Mode::Again])) {
        let Ok(applied) = apply(note.as_bytes(), &ops, mode) else { return Ok(()) };
        let changes = all_changes(&applied);
        let back = undo(&applied.bytes, &changes).map(|bytes| String::from_utf8(bytes).unwrap());
        prop_assert_eq!(back, Ok(note));
        let text = serde_json::to_string(&changes).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Change>>(&text).unwrap(), changes);
    }

    /// What a person wrote since stays when an operation is undone.
    #[test]
    fn undoing_leaves_later_words(note in note(), op in adding(), later in adding()) {
        let Ok(applied) = apply(note.as_bytes(), &[op], Mode::First) else { return Ok(()) };
        let Ok(second) = apply(&applied.bytes, &[later], Mode::First) else { return Ok(()) };
        if let Ok(back) = undo(&second.bytes, &all_changes(&applied)) {
            let back = String::from_utf8(back).unwrap();
            prop_assert!(is_part(&pieces(&note), &pieces(&back)), "{note}\n----\n{back}");
        }
    }

    /// Applied again, nothing changes.
    #[test]
    fn again_is_once(note in note(), mut ops in vec(any_op().prop_filter("made", is_made), 1..6)) {
        // One write changes a block once.
        let mut named = HashSet::new();
        ops.retain(|op| if let Op::Replace { old, .. } = op { named.insert(old.clone()) } else { true });
        let Ok(applied) = apply(note.as_bytes(), &ops, Mode::First) else { return Ok(()) };
        let Ok(again) = apply(&applied.bytes, &ops, Mode::Again) else { return Ok(()) };
        let (one, two) = (String::from_utf8(applied.bytes).unwrap(), String::from_utf8(again.bytes).unwrap());
        prop_assert!(one == two, "{}\n{:?} {:?}", diff(&one, &two), applied.done, again.done);
    }

    /// Any bytes, any operations: no panic, and the way back is known.
    #[test]
    fn nothing_panics(bytes in vec(any::<u8>(), 0..60), text in "(?s).{0,60}", note in note(), at in any::<prop::sample::Index>(), ops in vec(hostile(), 1..5), mode in select(vec![Mode::First, Mode::Again])) {
        let mut whole = note.into_bytes();
        let at = at.index(whole.len() + 1);
        whole.splice(at..at, bytes.into_iter().chain(text.bytes()));
        if let Ok(applied) = apply(&whole, &ops, mode) {
            prop_assert_eq!(applied.done.len(), ops.len());
            prop_assert_eq!(undo(&applied.bytes, &all_changes(&applied)), Ok(whole));
        }
    }
}

/// Operations with texts that nobody renders.
fn hostile() -> impl Strategy<Value = Op> {
    let odd = || prop_oneof![text(), part(), "(?s).{0,40}", "[-#>`*^ \n|~a:\\[\\]!%<]{0,30}"];
    let name = || prop_oneof!["p-0[0-9]", "(?s).{0,6}"];
    prop_oneof![
        any_op(),
        (of(name()), odd()).prop_map(|(phase, text)| Op::Append { phase, text }),
        (name(), odd()).prop_map(|(block, text)| Op::InsertAfter { block, phase: None, text }),
        odd().prop_map(|text| Op::Phase { text }),
        odd().prop_map(|text| Op::Preface { text }),
        (odd(), odd()).prop_map(|(old, new)| Op::Replace { phase: None, old, new }),
        (odd(), of(odd()), of(odd())).prop_map(|(key, old, new)| Op::Set {
            key,
            old: old.map(Into::into),
            new: new.map(Into::into)
        }),
        (name(), of(odd())).prop_map(|(phase, time)| Op::Identify { phase, time }),
        (odd(), odd(), any::<bool>())
            .prop_map(|(id, content, all)| Op::Tasks { rows: vec![Task { id, content, ..Task::default() }], all }),
    ]
}

fn without_time(item: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(item).unwrap();
    value.as_object_mut().unwrap().remove("time");
    value.to_string()
}
