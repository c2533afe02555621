//! Of operations that bring a note up to what would be generated now, those that take nothing that a person wrote.

use serde_json::Value as Json;

use super::{Seals, tasks, text};
use crate::model::{Session, Status, Task};
use crate::op::Op;
use crate::op::task_list::key;
use crate::op::unit::{alone, units};
use crate::read;
use cru_note::Note;
use cru_note::frontmatter::{self, Entry, Values, emit};

/// Leaves out what would change or take out a text that has no seal. `base` is what counts as generated last, `note` the note
/// as it is, which says what is `there`. Whether all is left.
pub fn keep_proven(ops: &mut Vec<Op>, seals: &Seals, base: &Note, note: &Note, there: &Session) -> bool {
    let bounds = note.frontmatter();
    let values = bounds.map(|bounds| frontmatter::read(note.text(), &bounds).0).unwrap_or_default();
    let count = ops.len();
    let mut is_all = true;
    ops.retain_mut(|op| match op {
        Op::Replace { old, new, .. } => takes_only_sealed(old, new, seals),
        Op::Set { key, old, new: None } => {
            may_set(key, old.as_ref(), seals, &values)
                && !values.entry(key).is_some_and(|entry| has_comment(note, entry))
        }
        Op::Set { key, old, .. } => may_set(key, old.as_ref(), seals, &values),
        Op::Tasks { rows, all } => {
            is_all &= keep_rows(rows, *all, seals, base, there);
            true
        }
        Op::Append { .. }
        | Op::InsertAfter { .. }
        | Op::Preface { .. }
        | Op::Phase { .. }
        | Op::Identify { .. }
        | Op::Body { .. }
        | Op::Lines { .. } => true,
    });
    is_all && ops.len() == count
}

/// Whether every block of `old` that is not in `new` as it is was generated.
fn takes_only_sealed(old: &str, new: &str, seals: &Seals) -> bool {
    let [old, new] = [old, new].map(alone);
    let stay: Vec<_> = units(&new, false).iter().map(|unit| text(&new, unit).into_owned()).collect();
    let all = units(&old, false);
    let mut texts = all.iter().map(|unit| text(&old, unit));
    texts.all(|text| stay.iter().any(|it| *it == text) || seals.has_block(&text))
}

fn may_set(key: &str, old: Option<&Json>, seals: &Seals, there: &Values) -> bool {
    // A session of the time before seals goes on and ends.
    let goes_on = || matches!(old?.as_str().map(Status::parse)?, Status::Active | Status::Paused).then_some(());
    seals.is_own(key, old)
        || old.is_none() && there.get(key).is_some()
        || key == "status" && !seals.is_whole() && goes_on().is_some()
}

/// Whether the lines of a property hold more than its value as `cru` writes it.
pub(crate) fn has_comment(note: &Note, entry: &Entry) -> bool {
    let lines = entry.lines.map(|lines| lines.of(note.text())).unwrap_or_default();
    let marks = |text: &str| text.matches('#').count();
    marks(lines) > 0 && marks(lines) > marks(&emit(&[(&entry.key, entry.value.clone())]))
}

/// Gives the rows that a person changed, and of which nothing proves that they were generated, what they say in the note.
/// Whether none was.
fn keep_rows(rows: &mut Vec<Task>, all: bool, seals: &Seals, base: &Note, there: &Session) -> bool {
    let (before, own) = (tasks(&read::written(base).0), tasks(there));
    let is_proven = |task: &Task| {
        let was = before.iter().find(|was| key(was) == key(task));
        seals.has_task(task) || was.is_some_and(|was| seals.has_task(was))
    };
    let mut is_all = true;
    for task in own.iter().filter(|task| !is_proven(task)) {
        match rows.iter_mut().find(|row| key(row) == key(task)) {
            Some(row) if row == task => {}
            Some(row) => {
                *row = task.clone();
                is_all = false;
            }
            None if all => {
                rows.push(task.clone());
                is_all = false;
            }
            None => {}
        }
    }
    is_all
}
