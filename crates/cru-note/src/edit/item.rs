//! Changing a list by its items, so that items that stay keep their lines and the comments between them.

use crate::frontmatter::split::lines_from;
use crate::frontmatter::{Entry, Value, emit};
use crate::patch::Edit;
use cru_base::Span;

/// The edits that turn the block list of `entry` into the list `value`; `None` when either is no such list, or its
/// items cannot be told apart by lines.
pub(super) fn list(text: &str, entry: &Entry, value: &Value) -> Option<Vec<Edit>> {
    let (Value::List(old), Value::List(new)) = (&entry.value, value) else { return None };
    let (indent, spans) = items(text, entry)?;
    if new.is_empty() || spans.len() != old.len() || !entry.whole {
        return None;
    }
    let same_head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let tails = old[same_head..].iter().rev().zip(new[same_head..].iter().rev());
    let same_tail = tails.take_while(|(old, new)| old == new).count();
    let mut fresh = String::new();
    for value in &new[same_head..new.len() - same_tail] {
        emit::item(&mut fresh, value, indent);
    }
    let gone = &spans[same_head..old.len() - same_tail];
    let mut edits: Vec<Edit> = gone.iter().map(|&span| Edit { span, text: String::new() }).collect();
    match (edits.first_mut(), same_head.checked_sub(1)) {
        (Some(first), _) => first.text = fresh,
        (None, Some(before)) => edits.push(Edit { span: Span::at(spans[before].end), text: fresh }),
        (None, None) => edits.push(Edit { span: Span::at(spans.first()?.start), text: fresh }),
    }
    Some(edits)
}

/// The column of the dashes, and the lines of each item without the comments and blank lines that follow it.
fn items(text: &str, entry: &Entry) -> Option<(usize, Vec<Span>)> {
    let lines = entry.lines?;
    let mut indent = None;
    let mut spans: Vec<Span> = Vec::new();
    for line in lines_from(text, lines.start).skip(1).take_while(|line| line.end <= lines.end) {
        let content = line.of(text);
        let trimmed = content.trim_start_matches(' ');
        let column = content.len() - trimmed.len();
        let blank = trimmed.trim().is_empty() || trimmed.starts_with('#');
        let dash =
            trimmed.strip_prefix('-').is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '\r']) || rest.is_empty());
        if dash && column == *indent.get_or_insert(column) {
            spans.push(line);
        } else if let Some(last) = spans.last_mut() {
            if !blank {
                last.end = line.end;
            }
        } else if !blank {
            return None;
        }
    }
    Some((indent?, spans))
}
