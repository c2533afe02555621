//! What a note lacks of what was written to it: all pure.
//!
//! A text of revision `N` has every operation that was first written up to `N`; where one is missing, a person took it
//! out. It has none of those that came later, so these are applied again. What was undone since is taken out again.

use std::collections::{HashMap, HashSet};

use crate::operations::{Record, WrittenOperation};
use cru_session::op::{self, Mode, Op, Outcome};

/// Something to do once more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Todo {
    /// What.
    pub(super) written_op: WrittenOperation,
    /// How, for an operation.
    pub(super) mode: Mode,
}

/// What is missing in a text of revision `disk`. `records` reach back to that revision, and to the beginning where
/// something was undone since ([`undoes`]).
pub(super) fn missing(records: &[Record], disk: u64) -> Vec<Todo> {
    let written_ops = written_ops(records);
    let (then, now) = (undone(&written_ops, disk), undone(&written_ops, u64::MAX));
    let mut brought_back = HashSet::new();
    let mut todo: Vec<Todo> = Vec::new();
    for written_op in written_ops.iter().filter(|written_op| written_op.op.is_some()) {
        let id = written_op.id.as_str();
        let was = written_op.first <= disk && !then.contains(id);
        let is = !now.contains(id);
        if is && !was {
            todo.push(Todo { written_op: written_op.clone(), mode: Mode::Again });
        } else if was && !is {
            brought_back.insert(id);
        }
    }
    for written_op in
        written_ops.iter().filter(|written_op| written_op.first > disk && !now.contains(written_op.id.as_str()))
    {
        if written_op.undo.iter().flat_map(|undo| &undo.of).any(|id| brought_back.contains(id.as_str())) {
            todo.push(Todo { written_op: written_op.clone(), mode: Mode::Again });
        }
    }
    todo
}

/// [`missing`], of a text that was displaced by the write that made revision `displaced`: it cannot have what was first
/// written then or later, though it may have the same text from elsewhere.
pub(super) fn missing_since(records: &[Record], disk: u64, displaced: u64) -> Vec<Todo> {
    let mut todo = missing(records, disk);
    for it in todo.iter_mut().filter(|it| it.written_op.first >= displaced && it.written_op.op.is_some()) {
        it.mode = Mode::First;
    }
    todo
}

/// What the newest write was about to do to the very text that is still there.
pub(super) fn once_more(record: &Record) -> Vec<Todo> {
    let mode = |written_op: &WrittenOperation| if written_op.again { Mode::Again } else { Mode::First };
    record.ops.iter().map(|written_op| Todo { written_op: written_op.clone(), mode: mode(written_op) }).collect()
}

/// Whether the newest write, which was refused, says all that a text of revision `disk` lacks: it was computed for one.
/// That another text stood there when it was last tried tells nothing. Texts without a revision may differ in what they
/// have, so it must then say all that was ever written.
pub(super) fn is_base(records: &[Record], newest: &Record, disk: Option<u64>) -> bool {
    let all = || {
        let ids: HashSet<&str> = newest.ops.iter().map(|written_op| written_op.id.as_str()).collect();
        records.iter().flat_map(|record| &record.ops).all(|written_op| ids.contains(written_op.id.as_str()))
    };
    newest.from == disk && (disk.is_some() || all())
}

/// Whether something was undone after revision `disk`.
pub(super) fn undoes(records: &[Record], disk: u64) -> bool {
    records.iter().flat_map(|record| &record.ops).any(|written_op| written_op.undo.is_some() && written_op.first > disk)
}

/// The revision of a text that has lost it: that of the newest operation whose text is there, 0 where none is.
pub(super) fn guess(records: &[Record], bytes: &[u8]) -> u64 {
    let written_ops = written_ops(records);
    let now = undone(&written_ops, u64::MAX);
    let newest = written_ops.iter().map(|written_op| written_op.first).max().unwrap_or_default();
    // What has no text of its own may stand there for another reason.
    let tells =
        |op: &Op| matches!(op, Op::Append { .. } | Op::InsertAfter { .. } | Op::Preface { .. } | Op::Phase { .. });
    let told: Vec<(&WrittenOperation, &Op)> = written_ops
        .iter()
        .filter_map(|written_op| Some((written_op, written_op.op.as_ref()?)))
        .filter(|(written_op, op)| tells(op) && !now.contains(written_op.id.as_str()))
        .collect();
    let ops: Vec<Op> = told.iter().map(|(_, op)| (*op).clone()).collect();
    // Nothing can be added to such a text, so nothing could be applied again either.
    let Ok(applied) = op::apply(bytes, &ops, Mode::Again) else { return newest };
    let mut absent = HashSet::new();
    let mut revision = 0;
    for ((written_op, op), done) in told.iter().zip(&applied.done) {
        let text = serde_json::to_string(op).unwrap_or_default();
        if done.outcome == Outcome::Present && !absent.contains(&text) {
            revision = revision.max(written_op.first);
        } else {
            absent.insert(text);
        }
    }
    if told.is_empty() { newest } else { revision }
}

/// All operations in the order of their first writing, each as it was last applied.
pub(super) fn written_ops(records: &[Record]) -> Vec<WrittenOperation> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut written_ops: Vec<WrittenOperation> = Vec::new();
    for written_op in records.iter().flat_map(|record| &record.ops) {
        if let Some(&place) = places.get(written_op.id.as_str()) {
            written_ops[place] = written_op.clone();
        } else {
            places.insert(&written_op.id, written_ops.len());
            written_ops.push(written_op.clone());
        }
    }
    written_ops.sort_by_key(|written_op| written_op.first);
    written_ops
}

/// Ids of what was undone up to a revision; an undoing that was undone itself counts no more.
pub(super) fn undone(written_ops: &[WrittenOperation], revision: u64) -> HashSet<&str> {
    let mut undone = HashSet::new();
    for written_op in written_ops.iter().rev().filter(|written_op| written_op.first <= revision) {
        if let Some(undo) = written_op.undo.as_ref().filter(|_| !undone.contains(written_op.id.as_str())) {
            undone.extend(undo.of.iter().map(String::as_str));
        }
    }
    undone
}
