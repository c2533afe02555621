//! Applying operations to a text.

use std::borrow::Cow;
use std::rc::Rc;

use super::change::Change;
use super::draft::TextDraft;
use super::run::{Done, Mode, Outcome, Run};
use super::task_list::key;
use super::{Op, add, body, group, identify, key as property, presence, replace, task, undo};
use crate::model::Task;
use cru_note::Note;
use cru_note::edit::EditError;

/// The new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// One for each operation, in order.
    pub done: Vec<Done>,
}

/// Applies operations in order. Error: one that cannot be applied without harm (the note then stays as it is), with its
/// index.
///
/// Neighbouring [`Op::Append`]s to one phase are put together and cost as much as one; the result is the same.
pub fn apply(bytes: &[u8], ops: &[Op], mode: Mode) -> Result<Applied, (usize, EditError)> {
    run(Run::new(TextDraft::new(bytes), ops, mode))
}

/// [`apply`] to a note that is read already.
pub fn apply_to(note: &Rc<Note>, ops: &[Op], mode: Mode) -> Result<Applied, (usize, EditError)> {
    run(Run::new(TextDraft::of(note), ops, mode))
}

fn run(mut run: Run<'_>) -> Result<Applied, (usize, EditError)> {
    let ops = run.ops;
    while run.done.len() < ops.len() {
        let from = run.done.len();
        let count = ops[from..].iter().take_while(|op| is_append_to(op, &ops[from])).count();
        if count > 1 {
            run.appends(from, count)?;
        } else {
            run.one(from)?;
        }
    }
    Ok(Applied { bytes: run.draft.into_bytes(), done: run.done })
}

/// Makes the lines of the text what they were before `back`.
fn put_back(draft: &mut TextDraft, back: &[Change]) -> Outcome {
    match undo(draft.bytes(), back) {
        Ok(new) if new == draft.bytes() => Outcome::Present,
        Ok(new) => {
            draft.become_text(new);
            Outcome::Done
        }
        Err(_) => Outcome::Gone,
    }
}

/// Applies operations with no two put together.
#[cfg(test)]
pub(super) fn apply_one_by_one(bytes: &[u8], ops: &[Op], mode: Mode) -> Result<Applied, (usize, EditError)> {
    let mut run = Run::new(TextDraft::new(bytes), ops, mode);
    for index in 0..ops.len() {
        run.one(index)?;
    }
    Ok(Applied { bytes: run.draft.into_bytes(), done: run.done })
}

fn is_append_to(op: &Op, first: &Op) -> bool {
    matches!((op, first), (Op::Append { phase, .. }, Op::Append { phase: other, .. }) if phase == other)
}

impl Run<'_> {
    fn one(&mut self, index: usize) -> Result<(), (usize, EditError)> {
        let ops = self.ops;
        let result = match &ops[index] {
            Op::Append { phase, text } => {
                self.add(index, text, 0, |draft, text| add::append(draft, phase.as_deref(), text))
            }
            Op::InsertAfter { block, phase, text } => {
                self.add(index, text, 0, |draft, text| add::insert_after(draft, block, phase.as_deref(), text))
            }
            Op::Preface { text } => self.add(index, text, 0, add::preface),
            Op::Phase { text } => self.phase(index, text),
            Op::Replace { phase, old, new } => replace::replace(self, index, phase.as_deref(), old, new),
            Op::Set { key, old, new } => property::set(self, index, key, old.as_ref(), new.as_ref()),
            Op::Identify { phase, time } => identify::identify(&mut self.draft, phase, time.as_deref()),
            Op::Body { old, new } => Ok(body::replace(&mut self.draft, old, new)),
            Op::Lines { back } => Ok(put_back(&mut self.draft, back)),
            Op::Tasks { rows, all } => {
                let rows = if *all { self.with_later_tasks(index, rows) } else { Cow::Borrowed(rows.as_slice()) };
                task::tasks(&mut self.draft, &rows, *all)
            }
        };
        let outcome = result.map_err(|error| (index, error))?;
        self.done.push(Done { outcome, edits: self.draft.take_changes() });
        Ok(())
    }

    /// The rows that are all there are, with those that later operations may have added already.
    fn with_later_tasks<'r>(&mut self, index: usize, rows: &'r [Task]) -> Cow<'r, [Task]> {
        let later: &[Op] = if self.mode == Mode::Again { &self.ops[index + 1..] } else { &[] };
        if later.is_empty() {
            return Cow::Borrowed(rows);
        }
        let (session, _) = crate::read::session(self.draft.note());
        let is_there = |task: &&Task| session.tasks().iter().any(|there| key(there) == key(task));
        let is_new = |task: &&Task| rows.iter().all(|row| key(row) != key(task));
        let later = later.iter().filter_map(|op| if let Op::Tasks { rows, .. } = op { Some(rows) } else { None });
        // Without a status and a priority a row stays as it is.
        let kept = later.flatten().filter(is_there).filter(is_new);
        let kept = kept.map(|task| {
            let content = if task.id.is_empty() { task.content.clone() } else { String::new() };
            Task { id: task.id.clone(), content, ..Task::default() }
        });
        Cow::Owned(rows.iter().cloned().chain(kept).collect())
    }

    fn phase(&mut self, index: usize, text: &str) -> Result<Outcome, EditError> {
        let Some(presence) = &self.presence else { return self.add(index, text, 0, add::phase) };
        let (id, head) = presence::phase_of(text);
        let here = match &id {
            Some(id) => presence.has_id(id),
            None => text.trim_start().lines().next().is_some_and(|heading| presence.has_text(heading.trim_end())),
        };
        if !here {
            return self.add(index, text, head, add::phase);
        }
        let rest = presence::behind(text, head);
        self.add(index, &rest, 0, |draft, text| add::append(draft, id.as_deref(), text))
    }

    /// Appends to one phase: all at once; where that cannot be, in halves.
    fn appends(&mut self, from: usize, count: usize) -> Result<(), (usize, EditError)> {
        if count == 1 {
            return self.one(from);
        }
        let ops = self.ops;
        let texts: Vec<Option<String>> = (from..from + count)
            .map(|index| match &ops[index] {
                Op::Append { text, .. } => self.wanted(index, text, 0),
                _ => None,
            })
            .collect();
        self.put_all(from, &texts)
    }

    fn put_all(&mut self, from: usize, texts: &[Option<String>]) -> Result<(), (usize, EditError)> {
        let Some(Op::Append { phase, .. }) = self.ops.get(from) else { return Ok(()) };
        let wanted: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        let whole = match wanted.as_slice() {
            [] => Some((Outcome::Present, Vec::new())),
            [text] => {
                let at = texts.iter().position(Option::is_some).unwrap_or_default();
                let outcome =
                    add::append(&mut self.draft, phase.as_deref(), text).map_err(|error| (from + at, error))?;
                Some((outcome, vec![self.draft.take_changes()]))
            }
            texts => group::put(&mut self.draft, phase.as_deref(), texts),
        };
        let Some((outcome, changes)) = whole else {
            let half = texts.len() / 2;
            self.put_all(from, &texts[..half])?;
            return self.put_all(from + half, &texts[half..]);
        };
        let mut changes = changes.into_iter();
        self.done.extend(texts.iter().map(|text| match text {
            Some(_) => Done { outcome, edits: changes.next().unwrap_or_default() },
            None => Done { outcome: Outcome::Present, edits: Vec::new() },
        }));
        Ok(())
    }
}
