//! Much of it: what many operations cost, counted in bytes that are read.

use std::fmt::Write as _;

use super::*;
use cru_note::counted;

/// A note with about so many bytes of steps and prose.
fn large(bytes: usize) -> String {
    let mut text = NOTE.to_owned();
    let mut id = 0;
    while text.len() < bytes {
        let _ = write!(text, "\n## Phase {id}\n\n");
        for _ in 0..40 {
            id += 1;
            let _ = writeln!(text, "- `Read file{id}` → 12 lines (09:00:00) ^m-{id}\n    - reads: `file{id}`");
        }
        let _ = writeln!(text, "\nWords of somebody about file {id}.");
    }
    text
}

fn read_for(note: &str, ops: &[Op], mode: Mode) -> usize {
    let before = counted::READ.get();
    let applied = apply(note.as_bytes(), ops, mode).unwrap();
    assert_eq!(applied.done.len(), ops.len());
    counted::READ.get() - before
}

#[test]
fn a_thousand_appends_read_the_note_a_few_times() {
    let note = large(1 << 20);
    let ops: Vec<Op> = (0..1_000)
        .map(|index| {
            let text = if index % 7 == 3 { format!("> [!error] E {index}\n> x\n") } else { step(index + 100) };
            append("p-01", &text)
        })
        .collect();
    for mode in [Mode::First, Mode::Again] {
        let read = read_for(&note, &ops, mode);
        assert!(read < 8 * note.len(), "{mode:?}: {} times", read / note.len());
    }
}

#[test]
fn twice_as_many_rows_cost_twice_as_much() {
    let rows = |count: usize| -> Vec<crate::Task> {
        (0..count)
            .map(|at| crate::Task { id: format!("T-{at}"), status: "pending".to_owned(), ..Default::default() })
            .collect()
    };
    let cost = |count: usize| {
        let first = Op::Tasks { rows: rows(count), all: true };
        let mut done = rows(count);
        for task in &mut done {
            "completed".clone_into(&mut task.status);
        }
        read_for(NOTE, &[first, Op::Tasks { rows: done, all: true }], Mode::First)
    };
    let (one, two) = (cost(500), cost(1_000));
    assert!(two < one * 3, "{one} {two}");
}
