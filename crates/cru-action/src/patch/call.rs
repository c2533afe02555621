//! What a call of an edit, a write or a patch does to files, read from its arguments as a patch.

use serde_json::{Map, Value};

use super::{FilePatch, Hunk, PatchLine, is_patch, read};
use crate::tool::{self, ToolKind};

/// What a call changes, file by file: a text and the one that takes its place as one hunk, a whole file as lines that
/// come, and every patch among its arguments. A file that the call does not name has an empty path. Tools that are not
/// known are read by the names of arguments that many tools share. Linear in the arguments.
pub fn of_call<'v>(tool: &str, input: &'v Map<String, Value>) -> Vec<FilePatch<'v>> {
    let path = tool::argument(tool, input, tool::Role::Path).and_then(|(_, value)| value.as_str()).unwrap_or("");
    let mut files = Vec::new();
    add(input, path, ToolKind::of(tool), &mut files);
    files
}

/// Arguments are as deep as a reader of JSON lets them be (128).
fn add<'v>(input: &'v Map<String, Value>, path: &'v str, kind: ToolKind, files: &mut Vec<FilePatch<'v>>) {
    // What is written into a file is its text, also where it shows a patch.
    let is_text = matches!(kind, ToolKind::Edit | ToolKind::Write);
    let has_blocks = matches!(kind, ToolKind::Edit | ToolKind::Patch)
        && !input.keys().any(|name| tool::is_new_text(name) == Some(false));
    let of_path = |hunk| FilePatch { old_path: Some(path), new_path: Some(path), hunks: vec![hunk] };
    let (mut lines, mut added) = (Vec::new(), Vec::new());
    for (name, value) in input {
        let Some(text) = value.as_str() else { continue };
        let known = files.len();
        files.extend(if has_blocks { blocks(text) } else { Vec::new() }.into_iter().map(of_path));
        if files.len() > known {
            continue;
        }
        let Some(is_new) = tool::is_new_text(name).filter(|_| is_text || !is_patch(text)) else { continue };
        if is_new {
            added.extend(text.lines().map(PatchLine::Added));
        } else {
            lines.extend(text.lines().map(PatchLine::Removed));
        }
    }
    lines.append(&mut added);
    if !lines.is_empty() {
        files.push(of_path(Hunk { lines, ..Hunk::default() }));
    }
    for value in input.values() {
        add_value(value, path, kind, files);
    }
}

fn add_value<'v>(value: &'v Value, path: &'v str, kind: ToolKind, files: &mut Vec<FilePatch<'v>>) {
    match value {
        Value::String(_) if matches!(kind, ToolKind::Edit | ToolKind::Write) => {}
        Value::String(text) if is_patch(text) => files.extend(read(text)),
        Value::Array(items) => items.iter().for_each(|item| add_value(item, path, kind, files)),
        Value::Object(map) => add(map, tool::shared_path(map).unwrap_or(path), kind, files),
        _ => {}
    }
}

/// The blocks of a text of which each has what is looked for and what takes its place: `<<<<<<< SEARCH`, `=======`,
/// `>>>>>>> REPLACE`, or the same in other signs.
pub(crate) fn blocks(text: &str) -> Vec<Hunk<'_>> {
    let is_mark = |line: &str, signs: [char; 2], word: &str| {
        let behind = line.trim_start_matches(signs);
        line.len() - behind.len() >= 5 && behind.trim() == word
    };
    let (mut hunks, mut is_old) = (Vec::<Hunk<'_>>::new(), None);
    for line in text.lines() {
        if is_mark(line, ['<', '-'], "SEARCH") {
            hunks.push(Hunk::default());
            is_old = Some(true);
            continue;
        }
        let (Some(old), Some(hunk)) = (is_old, hunks.last_mut()) else { continue };
        if old
            && is_mark(line, ['-', '-'], "")
            && hunk.lines.iter().all(|line| matches!(line, PatchLine::Removed(text) if text.starts_with(':')))
        {
            // Some tools say before it in which line it begins.
            hunk.lines.clear();
        } else if old && is_mark(line, ['=', '='], "") {
            is_old = Some(false);
        } else if is_mark(line, ['>', '+'], "REPLACE") {
            is_old = None;
        } else {
            hunk.lines.push(if old { PatchLine::Removed(line) } else { PatchLine::Added(line) });
        }
    }
    hunks
}
