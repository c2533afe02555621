//! Whatever operation meets whatever note: the way back is known, and what `cru` renders stands there once however
//! often it is applied again.

#![cfg_attr(fuzzing, no_main)]

use cru::session::op::{Applied, Change, Mode, Op, apply, undo};
use cru::session::{Callout, Item, Step, Task, render};
use libfuzzer_sys::fuzz_target;

const NOTE: &str = "---\ntype: session\nstatus: active\n---\n# S\n\n```tasks\n[{\"id\":\"TASK-001\",\"content\":\"a\"}]\n```\n\n\
                    ## A @a #b\n\n*2026-11-20T09:31:10Z* ^p-01\n\n**Tool calls:**\n- `Bash a` → b (09:31:42) ^n-001\n\n\
                    > [!decision] D\n> d\n\n## B\n\ntext ^p-02\n";

/// A kind of operation, and two texts for it.
type Chosen<'a> = (u8, &'a str, &'a str);

fuzz_target!(|input: (&[u8], u16, Vec<Chosen<'_>>)| {
    let (bytes, at, kinds) = input;
    let mut note = NOTE.as_bytes().to_vec();
    match at {
        u16::MAX => note = bytes.to_vec(),
        at => {
            let at = usize::from(at) % (note.len() + 1);
            note.splice(at..at, bytes.iter().copied());
        }
    }
    let ops: Vec<Op> = kinds.iter().take(6).map(|(kind, one, two)| op(*kind, one, two)).collect();
    for mode in [Mode::First, Mode::Again] {
        let Ok(applied) = apply(&note, &ops, mode) else { continue };
        assert_eq!(applied.done.len(), ops.len());
        assert_eq!(undo(&applied.bytes, &changes(&applied)).as_ref(), Ok(&note), "{ops:?}");
        let rendered = kinds.iter().take(6).all(|(kind, ..)| kind & 1 == 0);
        if mode == Mode::First
            && rendered
            && let Ok(again) = apply(&applied.bytes, &ops, Mode::Again)
        {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(text(&again.bytes), text(&applied.bytes), "{ops:?}");
        }
    }
});

fn changes(applied: &Applied) -> Vec<Change> {
    applied.done.iter().flat_map(|done| done.edits.iter().cloned()).collect()
}

/// Odd kinds hold texts that nobody rendered.
fn op(kind: u8, one: &str, two: &str) -> Op {
    let phase = match kind >> 6 {
        0 => Some("p-01".to_owned()),
        1 => Some("p-02".to_owned()),
        2 => Some(two.to_owned()),
        _ => None,
    };
    let text = if kind & 1 == 1 { one.to_owned() } else { rendered(kind, one, two) };
    let some = |text: &str| (!text.is_empty()).then(|| text.into());
    match kind >> 1 & 7 {
        0 => Op::Append { phase, text },
        1 => Op::InsertAfter { block: "n-001".to_owned(), phase, text },
        2 => Op::Preface { text },
        3 if kind & 1 == 1 => Op::Phase { text },
        3 => Op::Phase {
            text: render::phase(&cru::session::Phase { title: one.to_owned(), level: 2, ..Default::default() }),
        },
        4 => Op::Replace { phase, old: "> [!decision] D\n> d\n".to_owned(), new: text },
        5 => {
            Op::Set { key: if kind & 1 == 1 { two.to_owned() } else { "title".to_owned() }, old: None, new: some(one) }
        }
        6 => Op::Identify { phase: "p-02".to_owned(), time: Some("2026-11-20T10:02:00Z".to_owned()) },
        _ => {
            let id = if kind & 1 == 1 { two } else { "TASK-001" };
            Op::Tasks { rows: vec![Task { id: id.to_owned(), content: one.to_owned(), ..Task::default() }], all: false }
        }
    }
}

fn rendered(kind: u8, one: &str, two: &str) -> String {
    let item = if kind & 16 == 0 {
        let result = Some(two.to_owned());
        Item::Step(Step {
            tool: "Bash".to_owned(),
            args: one.to_owned(),
            result,
            id: Some("n-002".to_owned()),
            ..Step::default()
        })
    } else {
        Item::Callout(Callout {
            kind: "lesson".to_owned(),
            title: one.to_owned(),
            body: two.to_owned(),
            ..Callout::default()
        })
    };
    render::items(&[item], None)
}
