//! Steps of one state that go into a text that another state has written meanwhile.
//!
//! Both gave the next free ids. What is put back into the other's text gets new ids where it would have those of
//! something else, and what points at it in the same operations follows.

use std::collections::{HashMap, HashSet};

use super::heal::Todo;
use cru_session::op::{Mode, Op};

/// Gives what `todo` adds ids that nothing else in `text` has. What stands there word for word keeps its ids: it is
/// there.
pub(super) fn renumber(todo: &mut [Todo], text: &str) {
    let taken: HashMap<&str, &str> = text.lines().filter_map(id_of).collect();
    let mut ids: HashSet<String> = taken.keys().map(|&id| id.to_owned()).collect();
    let again = |it: &&mut Todo| it.mode == Mode::Again;
    ids.extend(
        todo.iter()
            .flat_map(|it| it.written_op.op.iter())
            .flat_map(added)
            .filter_map(id_of)
            .map(|(id, _)| id.to_owned()),
    );
    let mut names: HashMap<String, String> = HashMap::new();
    for it in todo.iter_mut().filter(again) {
        let Some(op) = &mut it.written_op.op else { continue };
        let clashes: Vec<String> = added(op)
            .filter_map(id_of)
            .filter(|(id, line)| taken.get(id).is_some_and(|other| other != line) && !names.contains_key(*id))
            .map(|(id, _)| id.to_owned())
            .collect();
        for id in clashes {
            names.extend(next(&id, &ids).map(|new| (id, new)));
            ids.extend(names.values().cloned());
        }
        if !names.is_empty() {
            rename(op, &names);
        }
    }
}

/// The lines that an operation adds.
fn added(op: &Op) -> impl Iterator<Item = &str> {
    let text = match op {
        Op::Append { text, .. } | Op::InsertAfter { text, .. } | Op::Preface { text } | Op::Phase { text } => text,
        _ => "",
    };
    text.lines()
}

/// The id at the end of a line, and the line.
fn id_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let id = line.rsplit(char::is_whitespace).next()?.strip_prefix('^')?;
    (!id.is_empty() && id.chars().all(is_of_id)).then_some((id, line))
}

/// The first id of the same kind that is free: `n-007` for `n-006`.
fn next(id: &str, ids: &HashSet<String>) -> Option<String> {
    let (kind, number) = id.rsplit_once('-')?;
    let width = number.len();
    let highest = ids.iter().filter_map(|id| id.rsplit_once('-')).filter(|(other, _)| *other == kind);
    let highest = highest.filter_map(|(_, number)| number.parse::<u64>().ok()).max()?;
    number.parse::<u64>().ok()?;
    Some(format!("{kind}-{:0width$}", highest.checked_add(1)?))
}

fn rename(op: &mut Op, names: &HashMap<String, String>) {
    let place = |id: &mut String| {
        if let Some(new) = names.get(id) {
            id.clone_from(new);
        }
    };
    match op {
        Op::Append { phase, text } => {
            phase.as_mut().map(place);
            *text = renamed(text, names);
        }
        Op::InsertAfter { block, phase, text } => {
            place(block);
            phase.as_mut().map(place);
            *text = renamed(text, names);
        }
        Op::Preface { text } | Op::Phase { text } => *text = renamed(text, names),
        Op::Replace { phase, old, new } => {
            phase.as_mut().map(place);
            (*old, *new) = (renamed(old, names), renamed(new, names));
        }
        Op::Set { .. } | Op::Identify { .. } | Op::Tasks { .. } | Op::Body { .. } | Op::Lines { .. } => {}
    }
}

/// A text with every id that has a new name under that.
fn renamed(text: &str, names: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_id) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_of_id(c)).unwrap_or(word.len());
        let (word, behind) = word.split_at(end);
        out.push_str(before);
        out.push_str(names.get(word).map_or(word, String::as_str));
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn is_of_id(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}
