//! Taking back what was written, as one more write.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::attempt::{Job, New};
use super::heal;
use super::{Plan, Writer};
use crate::VaultPath;
use crate::operations::{Operations, Record, Undo, WrittenOperation};
use cru_base::{Error, Result};
use cru_note::Note;
use cru_session::op::{Change, Op};

/// Which writes are to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// So many of the newest that stand; writes that undid something do not count, and those that bring in what a host
    /// did only where there are no others.
    Newest(usize),
    /// The one that made this revision; that of an undoing brings back what it had taken.
    Revision(u64),
}

/// A write of the past.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Past {
    /// The revision that it made.
    pub revision: u64,
    /// When.
    pub time: Timestamp,
    /// What for.
    pub label: String,
    /// What it did, in a few words each.
    pub what: Vec<String>,
    /// Whether it was undone.
    pub undone: bool,
    /// The note's path in the vault then.
    #[serde(skip)]
    pub note: String,
    /// Whether it took others back.
    #[serde(skip)]
    pub is_undo: bool,
    /// Of an undoing, what the write was for that it took back at last; else [`Past::label`].
    #[serde(skip)]
    pub root_label: String,
}

/// What was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The writes, newest first.
    pub writes: Vec<Past>,
    /// The note before.
    pub before: String,
    /// The note after, but for its revision.
    pub after: String,
    /// The revision of the undoing; `None` when it was only looked at.
    pub revision: Option<u64>,
}

/// What the write of a host's events is called.
const OF_HOST: &str = "flush";

impl Past {
    /// Whether a person, or an agent with a command, did it, and it stands.
    pub fn may_be_meant(&self) -> bool {
        !self.undone && !self.is_undo && !self.is_of_host()
    }

    /// Whether it brought in what a host did.
    pub fn is_of_host(&self) -> bool {
        self.label == OF_HOST
    }
}

impl Writer<'_> {
    /// What was written to a session, oldest first.
    pub fn history(&self, key: &str) -> Result<Vec<Past>> {
        let records = Operations::at(self.state.operations(key)).all()?;
        Ok(past(&records))
    }

    /// Takes back what `which` means; where a person has edited those bytes, nothing, with [`Error::No`]. With `dry`,
    /// only looks what it would do.
    pub fn undo(&self, key: &str, note: &VaultPath, which: Which, dry: bool) -> Result<Undone> {
        let mut undone: Option<Undone> = None;
        let written = self.run(key, note, &mut |note: &Note, _, log: &Operations| {
            // A second attempt: it is in the log already.
            if undone.is_some() {
                return Ok(Job::default());
            }
            let records = log.all()?;
            let (writes, undos) = choose(&records, which)?;
            let before = note.text().to_owned();
            let after = take_back(note, &undos)?;
            undone = Some(Undone { writes, before, after, revision: None });
            // What was generated last is not in the note any more: the next who needs it generates it again.
            let is_renewal = undos.iter().any(|undo| is_renewal(&records, undo));
            let base = is_renewal.then(String::new);
            let plan = Plan { label: "undo".to_owned(), base, ..Plan::default() };
            Ok(Job { plan, new: undos.into_iter().map(New::Undo).collect(), dry })
        })?;
        let mut undone = undone.ok_or_else(|| Error::no("nothing to undo"))?;
        undone.revision = (!dry).then_some(written.revision);
        Ok(undone)
    }
}

/// Whether a note was written anew by what is undone.
fn is_renewal(records: &[Record], undo: &Undo) -> bool {
    let mut ops = records.iter().filter(|record| record.revision == undo.revision).flat_map(Record::new_operations);
    ops.any(|written_op| matches!(written_op.op, Some(Op::Body { .. })))
}

/// The text without what is undone, to be shown.
fn take_back(note: &Note, undos: &[Undo]) -> Result<String> {
    let mut bytes = note.bytes().to_vec();
    for undo in undos {
        bytes = cru_session::op::undo(&bytes, &undo.changes).map_err(|error| {
            Error::no(format!("r{} cannot be undone: {error}", undo.revision))
                .with_hint("take it out by hand; `cru undo --list` shows what was written")
        })?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The writes that are meant, newest first, and how each is taken back.
fn choose(records: &[Record], which: Which) -> Result<(Vec<Past>, Vec<Undo>)> {
    let written_ops = heal::written_ops(records);
    let undone = heal::undone(&written_ops, u64::MAX);
    let mut chosen = Vec::new();
    let all = past(records);
    let any_meant = all.iter().any(Past::may_be_meant);
    for past in all.into_iter().rev() {
        let from = written_ops.partition_point(|written_op| written_op.first < past.revision);
        let own: Vec<&WrittenOperation> =
            written_ops[from..].iter().take_while(|written_op| written_op.first == past.revision).collect();
        let meant = match which {
            Which::Newest(count) => {
                !past.is_undo && !past.undone && chosen.len() < count && (past.may_be_meant() || !any_meant)
            }
            Which::Revision(revision) => past.revision == revision,
        };
        if !meant {
            continue;
        }
        if past.undone {
            return Err(Error::no(format!("r{} is undone already", past.revision))
                .with_hint("`cru undo --list` shows which write undid it"));
        }
        let own: Vec<&WrittenOperation> =
            own.into_iter().filter(|written_op| !undone.contains(written_op.id.as_str())).collect();
        let changes: Vec<Change> = own.iter().flat_map(|written_op| written_op.changes.clone()).collect();
        let of = own.iter().map(|written_op| written_op.id.clone()).collect();
        chosen.push((Undo { revision: past.revision, of, changes }, past));
    }
    if chosen.is_empty() {
        return Err(match which {
            Which::Newest(_) => Error::no("nothing to undo"),
            Which::Revision(revision) => Error::no(format!("there is no write r{revision}"))
                .with_hint("`cru undo --list` shows what was written"),
        });
    }
    let (undos, writes) = chosen.into_iter().unzip();
    Ok((writes, undos))
}

/// The writes that did something new.
fn past(records: &[Record]) -> Vec<Past> {
    let written_ops = heal::written_ops(records);
    let undone = heal::undone(&written_ops, u64::MAX);
    let by_revision: BTreeMap<u64, &Record> = records.iter().map(|record| (record.revision, record)).collect();
    let root_label = |record: &Record| {
        let mut root = record;
        // Each takes back an earlier one.
        while let Some(undo) = root.new_operations().find_map(|written_op| written_op.undo.as_ref()) {
            match by_revision.get(&undo.revision) {
                Some(earlier) if earlier.revision < root.revision => root = earlier,
                _ => break,
            }
        }
        root.label.clone()
    };
    let of = |record: &Record| {
        let own: Vec<&WrittenOperation> = record.new_operations().collect();
        (!own.is_empty()).then(|| Past {
            revision: record.revision,
            time: record.time,
            label: record.label.clone(),
            what: own.iter().map(|written_op| what(written_op)).collect(),
            undone: own.iter().all(|written_op| undone.contains(written_op.id.as_str())),
            note: record.note.clone(),
            is_undo: own.iter().all(|written_op| written_op.undo.is_some()),
            root_label: root_label(record),
        })
    };
    records.iter().filter_map(of).collect()
}

/// What an operation did, for people: the first words of what it wrote.
fn what(written_op: &WrittenOperation) -> String {
    let first = |text: &str| text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
    match (&written_op.op, &written_op.undo) {
        (Some(Op::Append { text, .. } | Op::InsertAfter { text, .. }), _) => {
            first(text.trim_start_matches("**Tool calls:**"))
        }
        (Some(Op::Preface { text } | Op::Phase { text }), _) => first(text),
        (Some(Op::Replace { old, new, .. }), _) if new.trim().is_empty() => format!("removed: {}", first(old)),
        (Some(Op::Replace { new, .. }), _) => format!("replaced: {}", first(new)),
        (Some(Op::Set { key, new: Some(value), .. }), _) => format!("{key}: {value}"),
        (Some(Op::Set { key, new: None, .. }), _) => format!("without {key}"),
        (Some(Op::Identify { phase, .. }), _) => format!("^{phase}"),
        (Some(Op::Lines { back }), _) => {
            format!("lines: {}", first(&String::from_utf8_lossy(back.first().map_or(&[], |it| &it.removed))))
        }
        (Some(Op::Body { .. }), _) => "the note, written anew".to_owned(),
        (Some(Op::Tasks { rows, .. }), _) => {
            let ids: Vec<&str> = rows.iter().map(|task| task.id.as_str()).collect();
            format!("tasks: {}", ids.join(", "))
        }
        (None, Some(undo)) => format!("took back r{}", undo.revision),
        (None, None) => String::new(),
    }
}
