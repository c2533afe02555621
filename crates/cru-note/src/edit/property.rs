//! Setting and removing frontmatter keys by changing their lines alone.
//!
//! The changed text is read again before the patch is handed out: every other key must say what it said, and the key
//! must have the wanted value; else the change is refused.

use std::collections::BTreeMap;

use super::EditError;
use super::{item, order};
use crate::frontmatter::{self, Entry, Split, Value, Values, emit, split};
use crate::patch::{Edit, Patch};
use cru_base::{Severity, Span};

/// YAML readers take no longer key.
const MAX_KEY: usize = 1000;

/// Sets `key` to `value`: in its place, else at the end of the frontmatter, which is made where there is none. A value
/// that is there already gives an empty patch.
pub fn set_key(text: &str, key: &str, value: &Value) -> Result<Patch, EditError> {
    set_keys(text, &[(key, Some(value.clone()))])
}

/// As [`set_key`]; a key that is new stands where `order` has it: directly behind the nearest key of `order` that stands
/// before it there, with all of its value, else before the next one, with the comments above that. At the end where
/// `order` does not tell, or where it cannot stand there.
pub fn set_key_at(text: &str, key: &str, value: &Value, order: &[&str]) -> Result<Patch, EditError> {
    let changes = [(key, Some(value.clone()))];
    match change(text, &changes, order) {
        Err(EditError::SideEffect { .. }) => set_keys(text, &changes),
        result => result,
    }
}

/// Removes `key` with its lines; comments around it stay. An empty patch where there is no such key.
pub fn remove_key(text: &str, key: &str) -> Result<Patch, EditError> {
    set_keys(text, &[(key, None)])
}

/// Sets and removes (`None`) several keys in one patch; new ones go to the end in the order given. A key may stand
/// once in `changes`.
pub fn set_keys(text: &str, changes: &[(&str, Option<Value>)]) -> Result<Patch, EditError> {
    change(text, changes, &[])
}

fn change(text: &str, changes: &[(&str, Option<Value>)], order: &[&str]) -> Result<Patch, EditError> {
    let split = split(text);
    if let Some(diagnostic) = split.diagnostics.first() {
        return Err(EditError::Frontmatter(diagnostic.message.clone()));
    }
    let mut edits = Vec::new();
    // The new keys, by where they go.
    let mut new: BTreeMap<usize, String> = BTreeMap::new();
    let end = split.block.map_or(split.body_start, |bounds| bounds.yaml.end);
    let values = split.block.map(|bounds| frontmatter::read(text, &bounds).0).unwrap_or_default();
    if values.has_stray_text() {
        return Err(EditError::Frontmatter("it is no list of properties".to_owned()));
    }
    for (at, (key, value)) in changes.iter().enumerate() {
        if key.len() > MAX_KEY || changes[..at].iter().any(|(other, _)| other == key) {
            return Err(EditError::Key((*key).to_owned()));
        }
        let mut found = values.entries().iter().filter(|entry| entry.key == *key);
        match (found.next(), value) {
            (None, None) => {}
            (None, Some(value)) => {
                let place = split.block.and_then(|bounds| order::place(text, bounds.yaml, &values, key, order));
                emit::entry(new.entry(place.unwrap_or(end)).or_default(), key, value, 0);
            }
            (Some(entry), _) => {
                if found.next().is_some() {
                    return Err(EditError::RepeatedKey((*key).to_owned()));
                }
                let lines = entry.lines.ok_or_else(|| EditError::Key((*key).to_owned()))?;
                match value {
                    None => edits.push(Edit { span: lines, text: String::new() }),
                    Some(value) if entry.value == *value && entry.whole => {}
                    Some(value) => edits.extend(replace(text, entry, lines, value)),
                }
            }
        }
    }
    edits.extend(new.into_iter().map(|(at, lines)| {
        let text = if split.block.is_some() { lines } else { format!("---\n{lines}---\n") };
        Edit { span: Span::at(at), text }
    }));
    for edit in &mut edits {
        edit.text = split.line_end.apply(&edit.text);
    }
    let patch = Patch::new(edits)?;
    verify(text, &split, &values, changes, &patch)?;
    Ok(patch)
}

/// The edits that give `entry`, which stands on `lines`, the value.
fn replace(text: &str, entry: &Entry, lines: Span, value: &Value) -> Vec<Edit> {
    let old = entry.span.of(text);
    if old.contains('\n') {
        if let Some(edits) = item::list(text, entry, value) {
            return edits;
        }
    } else if emit::fits_one_line(value) {
        return vec![splice(text, entry.span, lines, &emit::one_line(value))];
    }
    // All lines of the key, but for the key itself and comments.
    let key_end = entry.span.start - blanks_before(text, lines.start, entry.span.start);
    let mut fresh = String::new();
    emit::entry(&mut fresh, "k", value, 0);
    let (first, more) = fresh.strip_prefix("k:").and_then(|rest| rest.split_once('\n')).unwrap_or(("", ""));
    let mut new = first.to_owned();
    let comments = comments(text, Span::new(key_end, lines.end), entry);
    if let Some(comment) = comments.first().filter(|(own_line, _)| !own_line) {
        new.push(' ');
        new.push_str(comment.1);
    }
    new.push('\n');
    new.push_str(more);
    for (_, comment) in comments.iter().filter(|(own_line, _)| *own_line) {
        new.push_str(comment);
        new.push('\n');
    }
    vec![Edit { span: Span::new(key_end, lines.end), text: new }]
}

/// One line's value replaced, with the blanks it needs around it.
fn splice(text: &str, span: Span, lines: Span, value: &str) -> Edit {
    let before = blanks_before(text, lines.start, span.start);
    let rest = Span::new(span.end, lines.end).of(text);
    let ends_here = rest.trim().is_empty();
    let comment_follows = rest.starts_with('#');
    match (value.is_empty(), before) {
        (true, _) if ends_here => Edit { span: Span::new(span.start - before, span.end), text: String::new() },
        (false, 0) => Edit { span, text: format!(" {value}{}", if comment_follows { " " } else { "" }) },
        (false, _) if comment_follows => Edit { span, text: format!("{value} ") },
        _ => Edit { span, text: value.to_owned() },
    }
}

/// How many bytes of blanks stand before `at`, not looking before `from`.
fn blanks_before(text: &str, from: usize, at: usize) -> usize {
    let head = Span::new(from, at).of(text);
    head.len() - head.trim_end_matches([' ', '\t']).len()
}

/// The comments in the lines of a value that is to be replaced: whether on a line of its own, and its text.
fn comments<'a>(text: &'a str, span: Span, entry: &Entry) -> Vec<(bool, &'a str)> {
    let value = entry.span.of(text);
    let mut found = Vec::new();
    let mut lines = span.of(text).lines();
    let first = lines.next().unwrap_or("");
    let indicator = value.starts_with(['|', '>']);
    let one_line = !value.contains('\n');
    let behind_value =
        if one_line { Span::new(entry.span.end, span.end).of(text).lines().next().unwrap_or("") } else { first };
    let bare = value.is_empty() || value.starts_with(['\n', '\r', '#']) || indicator;
    if (one_line || bare)
        && let Some(at) = behind_value.find('#').filter(|&at| behind_value[..at].ends_with([' ', '\t']) || at == 0)
    {
        found.push((false, behind_value[at..].trim_end()));
    }
    if !indicator && !one_line && (bare || value.starts_with(['[', '{'])) {
        found.extend(lines.map(str::trim).filter(|line| line.starts_with('#')).map(|line| (true, line)));
    }
    found
}

fn verify(
    text: &str,
    old: &Split,
    before: &Values,
    changes: &[(&str, Option<Value>)],
    patch: &Patch,
) -> Result<(), EditError> {
    if patch.is_empty() {
        return Ok(());
    }
    let name = || changes.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
    let broken = |changed: &str| EditError::SideEffect { key: name(), changed: changed.to_owned() };
    let new_text = patch.apply_to(text);
    let new = split(&new_text);
    if new_text.get(new.body_start..) != text.get(old.body_start..) || new.bom != old.bom {
        return Err(broken("the body of the note"));
    }
    let (after, diagnostics) = new.block.map(|bounds| frontmatter::read(&new_text, &bounds)).unwrap_or_default();
    let changed = |entry: &&Entry| changes.iter().any(|(key, _)| *key == entry.key);
    let mut kept = before.entries().iter().filter(|entry| !changed(entry));
    for entry in after.entries().iter().filter(|entry| !changed(entry)) {
        let same =
            kept.next().is_some_and(|old| (&old.key, &old.value, old.whole) == (&entry.key, &entry.value, entry.whole));
        if !same {
            return Err(broken(&entry.key));
        }
    }
    if let Some(lost) = kept.next() {
        return Err(broken(&lost.key));
    }
    for (key, wanted) in changes {
        let mut found = after.entries().iter().filter(|entry| entry.key == *key);
        let entry = found.next();
        let right = entry.is_none_or(|entry| entry.whole) && entry.map(|entry| &entry.value) == wanted.as_ref();
        if !right || found.next().is_some() {
            return Err(broken(key));
        }
    }
    let errors = |found: &[cru_base::Diagnostic]| found.iter().filter(|it| it.severity == Severity::Error).count();
    let had = old.block.map_or(0, |bounds| errors(&frontmatter::read(text, &bounds).1));
    if errors(&diagnostics) > had { Err(broken("the frontmatter as a whole")) } else { Ok(()) }
}
