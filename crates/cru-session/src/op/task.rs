//! Rows of the tasks: those that change change, in the bytes they must. A `tasks` fence here, checkboxes in
//! [`super::task_list`].

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::draft::TextDraft;
use super::place::{self, Spot};
use super::remove;
use super::row::{self, Row};
use super::run::Outcome;
use super::task_list::{self, key};
use crate::model::Task;
use crate::render;
use cru_base::Span;
use cru_note::edit::{EditError, same, same_frontmatter};
use cru_note::patch::Edit;
use cru_note::{BlockKind, Note, Patch};

/// A fence whose rows can be read.
struct RowFence {
    top: usize,
    body: Span,
    rows: Vec<Row>,
    tasks: Vec<Task>,
}

/// Sets rows; with `all` the others go.
pub(super) fn tasks(draft: &mut TextDraft, rows: &[Task], all: bool) -> Result<Outcome, EditError> {
    let note = draft.note();
    let lists = task_list::lists(note);
    if !lists.is_empty() {
        let known: HashSet<_> = lists.iter().flat_map(|list| list.tasks.iter().map(|(_, task)| key(task))).collect();
        let fenced = |block: &cru_note::Block| matches!(block.kind, BlockKind::Fence { info, .. } if info.of(note.text()).trim() == "tasks");
        if !note.blocks().iter().any(fenced) {
            return task_list::set(draft, &lists, rows, all);
        }
        // Both forms: each task changes where it stands.
        let (ours, others): (Vec<Task>, Vec<Task>) = rows.iter().cloned().partition(|task| known.contains(&key(task)));
        if !ours.is_empty() {
            task_list::set(draft, &lists, &ours, false)?;
        }
        return if others.is_empty() { Ok(Outcome::Done) } else { in_fences(draft, &others, false) };
    }
    in_fences(draft, rows, all)
}

fn in_fences(draft: &mut TextDraft, rows: &[Task], all: bool) -> Result<Outcome, EditError> {
    let note = draft.note();
    let mut broken = None;
    let mut fences: Vec<RowFence> = Vec::new();
    for (top, block) in note.blocks().iter().enumerate() {
        let BlockKind::Fence { info, body, .. } = block.kind else { continue };
        if info.of(note.text()).trim() != "tasks" {
            continue;
        }
        match read(note, top, body) {
            Some(fence) => fences.push(fence),
            None => broken = Some(top),
        }
    }
    if fences.is_empty() {
        return if rows.is_empty() { Ok(Outcome::Present) } else { make(draft, rows, broken) };
    }
    if let Some(patch) = empty(note, &fences, rows, all) {
        draft.apply(&patch);
        return Ok(Outcome::Done);
    }
    let patch = Patch::new(edits(note, &fences, rows, all))?;
    if patch.is_empty() {
        return Ok(Outcome::Present);
    }
    let after = Note::parse(patch.apply(note.bytes()));
    let kept = same_frontmatter(note, &after)
        && note.blocks().len() == after.blocks().len()
        && note.blocks().iter().zip(after.blocks()).all(|(old, new)| {
            let fence = fences.iter().any(|fence| old.content.encloses(fence.body));
            fence || same(note, std::slice::from_ref(old), &after, std::slice::from_ref(new))
        });
    if !kept {
        return Err(EditError::Merge);
    }
    draft.apply(&patch);
    Ok(Outcome::Done)
}

fn read(note: &Note, top: usize, body: Span) -> Option<RowFence> {
    let text = body.of(note.text());
    if note.bytes().get(body.range()) != Some(text.as_bytes()) {
        return None;
    }
    let tasks: Vec<Task> = if text.trim().is_empty() { Vec::new() } else { serde_json::from_str(text).ok()? };
    let rows = row::rows(note.text(), body);
    (rows.len() == tasks.len()).then_some(RowFence { top, body, rows, tasks })
}

/// The patch that takes out the only fence, where it would be left with no row in the place where it would be made.
fn empty(note: &Note, fences: &[RowFence], rows: &[Task], all: bool) -> Option<Patch> {
    let [fence] = fences else { return None };
    let goes = all && rows.is_empty() && !fence.rows.is_empty() && fence.top < Spot::preface(note).before;
    goes.then(|| remove::block(note, fence.top).ok()).flatten()
}

/// A fence of its own: behind a broken one, else in the preface.
fn make(draft: &mut TextDraft, rows: &[Task], broken: Option<usize>) -> Result<Outcome, EditError> {
    let text = render::tasks(rows);
    if let Some(top) = broken
        && let Ok(patch) = place::insert(draft.note(), top + 1, &text)
    {
        draft.apply(&patch);
        return Ok(Outcome::Done);
    }
    let spot = broken.map_or_else(|| Spot::preface(draft.note()), |top| Spot { before: top, floor: 0, moved: false });
    place::put(draft, spot, &text)?;
    Ok(Outcome::Done)
}

fn edits(note: &Note, fences: &[RowFence], wanted: &[Task], all: bool) -> Vec<Edit> {
    // The last row of a task is the one that counts, on both sides.
    let last: HashMap<_, _> = wanted.iter().map(|task| (key(task), task)).collect();
    let mut places = HashMap::new();
    for (at, fence) in fences.iter().enumerate() {
        places.extend(fence.tasks.iter().enumerate().map(|(index, task)| (key(task), (at, index))));
    }
    let mut edits = Vec::new();
    let mut added: Vec<&Task> = Vec::new();
    let mut seen = HashSet::new();
    for key in wanted.iter().map(key).filter(|key| seen.insert(*key)) {
        let Some(&task) = last.get(&key) else { continue };
        match places.get(&key) {
            Some(&(at, index)) => edits.extend(change(note, &fences[at].rows[index], &fences[at].tasks[index], task)),
            None => added.push(task),
        }
    }
    for (at, fence) in fences.iter().enumerate() {
        let gone: Vec<bool> = fence.tasks.iter().map(|task| all && !seen.contains(&key(task))).collect();
        let fresh: &[&Task] = if at == 0 { &added } else { &[] };
        edits.extend(rows(note, fence, &gone, fresh));
    }
    edits
}

/// The fields of one row that change.
fn change(note: &Note, row: &Row, old: &Task, new: &Task) -> Vec<Edit> {
    let text = |name: &'static str, value: &str| (!value.is_empty()).then(|| (name.to_owned(), Json::from(value)));
    let wanted = [
        text("content", &new.content),
        text("status", &new.status),
        text("priority", new.priority.as_deref().unwrap_or_default()),
    ];
    let old = serde_json::to_value(old).unwrap_or_default();
    let extra = new.extra.iter().map(|(name, value)| (name.clone(), value.clone()));
    let mut edits = Vec::new();
    let mut fresh = String::new();
    let end = row.fields.last().map_or(row.span.start + 1, |(_, value)| value.end);
    let spaced = row
        .fields
        .first()
        .is_some_and(|(_, value)| Span::new(row.span.start, value.start).of(note.text()).ends_with(' '));
    for (name, value) in wanted.into_iter().flatten().chain(extra) {
        match row.fields.iter().find(|(field, _)| *field == name) {
            Some(_) if old.get(&name) == Some(&value) => {}
            Some((_, span)) => edits.push(Edit { span: *span, text: row::spell(&value) }),
            None => {
                let (comma, colon) = if spaced { (", ", ": ") } else { (",", ":") };
                let comma = if row.fields.is_empty() && fresh.is_empty() { "" } else { comma };
                fresh.push_str(&[comma, &row::spell(&Json::from(name)), colon, &row::spell(&value)].concat());
            }
        }
    }
    if !fresh.is_empty() {
        edits.push(Edit { span: Span::at(end), text: fresh });
    }
    edits
}

/// Rows that go, and rows that come behind the last.
fn rows(note: &Note, fence: &RowFence, gone: &[bool], fresh: &[&Task]) -> Vec<Edit> {
    let text = note.text();
    let eol = note.split().line_end.as_str();
    let spelled: Vec<String> = fresh.iter().filter_map(|task| serde_json::to_string(task).ok()).collect();
    let Some(list) = row::inside(text, fence.body, b'[') else {
        // An empty fence.
        let body = ["[", eol, "  ", &spelled.join(&[",", eol, "  "].concat()), eol, "]", eol].concat();
        let edit = Edit { span: Span::at(fence.body.start), text: body };
        return if spelled.is_empty() { Vec::new() } else { vec![edit] };
    };
    let mut edits = Vec::new();
    let last_kept = gone.iter().rposition(|gone| !gone);
    for (index, row) in fence.rows.iter().enumerate().filter(|(index, _)| gone[*index]) {
        // With what stands between it and its neighbour: the one behind, for the last ones the one before.
        let span = match (last_kept, fence.rows.get(index + 1)) {
            (Some(kept), Some(next)) if index < kept => Span::new(row.span.start, next.span.start),
            (Some(_), _) => Span::new(fence.rows[index - 1].span.end, row.span.end),
            (None, next) => {
                let start = if index == 0 { list.start } else { row.span.start };
                Span::new(start, next.map_or(list.end, |next| next.span.start))
            }
        };
        edits.push(Edit { span, text: String::new() });
    }
    if spelled.is_empty() {
        return edits;
    }
    let at = last_kept.map_or(list.end, |index| fence.rows[index].span.end);
    let own_lines = fence.rows.is_empty() || Span::new(list.start, fence.rows[0].span.start).of(text).contains('\n');
    let indent = fence.rows.first().map_or("  ", |row| indent(text, row.span.start));
    let (lead, between) = if own_lines {
        ([eol, indent].concat(), [",", eol, indent].concat())
    } else {
        (String::new(), if text[list.start..list.end].contains("}, ") { ", " } else { "," }.to_owned())
    };
    let joined = spelled.join(&between);
    let new = match last_kept {
        Some(_) => between + &joined,
        None if own_lines => {
            // Between brackets that hold nothing else.
            let blank = Edit { span: list, text: [&lead, &joined, eol].concat() };
            return vec![blank];
        }
        None => return vec![Edit { span: list, text: joined }],
    };
    edits.push(Edit { span: Span::at(at), text: new });
    edits
}

fn indent(text: &str, at: usize) -> &str {
    let line = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1);
    let head = &text[line..at];
    if head.trim().is_empty() { head } else { "" }
}
