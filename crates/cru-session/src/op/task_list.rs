//! Tasks in a list of checkboxes: those that change change, in the bytes they must.

use std::collections::{HashMap, HashSet};

use super::draft::TextDraft;
use super::remove;
use super::run::Outcome;
use crate::model::Task;
use crate::task_line::{self, TaskLine};
use cru_base::Span;
use cru_note::edit::{EditError, end_of_line, same, same_frontmatter};
use cru_note::patch::Edit;
use cru_note::{Block, BlockKind, Note, Patch};

/// A list below its line.
pub(crate) struct TaskList {
    /// Index of the list among the blocks; the line stands before it.
    pub(crate) top: usize,
    /// Indices of the items that are tasks.
    pub(crate) tasks: Vec<(usize, Task)>,
}

/// What a row is about: the task with an id, else the one that says this.
pub(crate) fn key(task: &Task) -> (bool, &str) {
    if task.id.is_empty() { (false, &task.content) } else { (true, &task.id) }
}

/// The lists of tasks of a note.
pub(crate) fn lists(note: &Note) -> Vec<TaskList> {
    let tops = (1..note.blocks().len()).filter(|top| is_list(note, *top));
    let tasks = |top: usize| {
        let items = note.blocks()[top].children.iter().enumerate();
        items.filter_map(|(index, item)| Some((index, task(note, item)?))).collect()
    };
    tops.map(|top| TaskList { top, tasks: tasks(top) }).collect()
}

/// Whether the block at `top` is a list of tasks below its line.
pub(crate) fn is_list(note: &Note, top: usize) -> bool {
    let Some([header, list]) = top.checked_sub(1).and_then(|above| note.blocks().get(above..=top)) else {
        return false;
    };
    let is_task = |item: &Block| matches!(item.kind, BlockKind::ListItem { task: Some(_), .. });
    matches!(header.kind, BlockKind::Paragraph)
        && matches!(list.kind, BlockKind::List { .. })
        && task_line::is_header(header.content.of(note.text()))
        && list.children.iter().any(is_task)
}

/// The task of an item; `None` where it has no box.
pub(crate) fn task(note: &Note, item: &Block) -> Option<Task> {
    let BlockKind::ListItem { text, task } = item.kind else { return None };
    Some(task_line::parse(task?, text.of(note.text()), note.id(item)))
}

/// Sets rows of the lists; with `all` the others go.
pub(super) fn set(draft: &mut TextDraft, lists: &[TaskList], rows: &[Task], all: bool) -> Result<Outcome, EditError> {
    let note = draft.note();
    let [first, ..] = lists else { return Ok(Outcome::Present) };
    let items = &note.blocks()[first.top].children;
    // What a person put below a task stays, and so does the task.
    let is_bare = |item: &Block| !item.content.of(note.text()).trim_end().contains('\n');
    if all && rows.is_empty() && lists.len() == 1 && first.tasks.len() == items.len() && items.iter().all(is_bare) {
        let patch = remove::blocks(note, first.top - 1, first.top + 1)?;
        draft.apply(&patch);
        return Ok(Outcome::Done);
    }
    let known: HashMap<_, _> = lists
        .iter()
        .flat_map(|list| {
            list.tasks.iter().map(|(item, task)| (key(task), (&note.blocks()[list.top].children[*item], task)))
        })
        .collect();
    let last: HashMap<_, _> = rows.iter().map(|task| (key(task), task)).collect();
    let mut edits = Vec::new();
    let mut fresh = String::new();
    let mut seen = HashSet::new();
    let eol = note.split().line_end.as_str();
    for wanted in rows.iter().map(key).filter(|key| seen.insert(*key)) {
        let Some(&task) = last.get(&wanted) else { continue };
        match known.get(&wanted) {
            Some((item, old)) => edits.extend(change(note, item, old, task)),
            None => fresh.push_str(&[eol, "- ", &task_line::lossy(task).line()].concat()),
        }
    }
    if all {
        let gone = known.iter().filter(|(key, (item, _))| !seen.contains(*key) && is_bare(item));
        edits.extend(gone.map(|(_, (item, _))| {
            let start = memchr::memrchr(b'\n', &note.bytes()[..item.content.start]).map_or(0, |end| end + 1);
            Edit { span: Span::new(start, end_of_line(note, item.content.end)), text: String::new() }
        }));
    }
    if !fresh.is_empty() {
        let end = note.blocks()[first.top]
            .children
            .last()
            .map_or(0, |item| item.id.map_or(0, |id| id.end).max(item.content.end));
        edits.push(Edit { span: Span::at(end), text: fresh });
    }
    edits.sort_by_key(|edit| edit.span.start);
    let patch = Patch::new(edits)?;
    if patch.is_empty() {
        return Ok(Outcome::Present);
    }
    let after = Note::parse(patch.apply(note.bytes()));
    let is_ours = |top: usize| lists.iter().any(|list| list.top == top);
    let kept = same_frontmatter(note, &after)
        && note.blocks().len() == after.blocks().len()
        && note.blocks().iter().zip(after.blocks()).enumerate().all(|(top, (old, new))| {
            is_ours(top) || same(note, std::slice::from_ref(old), &after, std::slice::from_ref(new))
        });
    if !kept {
        return Err(EditError::Merge);
    }
    draft.apply(&patch);
    Ok(Outcome::Done)
}

/// The parts of one line that change.
fn change(note: &Note, item: &Block, old: &Task, new: &Task) -> Vec<Edit> {
    let BlockKind::ListItem { text, .. } = item.kind else { return Vec::new() };
    let merged = Task {
        id: old.id.clone(),
        content: if new.content.is_empty() { old.content.clone() } else { new.content.clone() },
        status: if new.status.is_empty() { old.status.clone() } else { new.status.clone() },
        priority: new.priority.clone().or_else(|| old.priority.clone()),
        ..Task::default()
    };
    let [was, is]: [TaskLine; 2] = [task_line::lossy(old), task_line::lossy(&merged)];
    let mut edits = Vec::new();
    let head = Span::new(item.content.start, text.start);
    if let Some(open) = head.of(note.text()).rfind('[').filter(|_| was.mark != is.mark) {
        let at = head.start + open + 1;
        let length = note.text()[at..].chars().next().map_or(0, char::len_utf8);
        edits.push(Edit { span: Span::new(at, at + length), text: is.mark.to_string() });
    }
    if was.text != is.text {
        edits.push(Edit { span: text, text: is.text });
    }
    edits
}
