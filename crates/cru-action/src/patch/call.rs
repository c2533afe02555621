//! What a call of an edit, a write or a patch does to files, read from its arguments as a patch.

use serde_json::{Map, Value};

use super::{FilePatch, Hunk, PatchLine, is_patch, read};
use crate::tool;

/// What a call changes, file by file: a text and the one that takes its place as one hunk, a whole file as lines that
/// come, and every patch among its arguments. A file that the call does not name has an empty path. Tools that are not
/// known are read by the names of arguments that many tools share. Linear in the arguments.
pub fn of_call<'v>(tool: &str, input: &'v Map<String, Value>) -> Vec<FilePatch<'v>> {
    let path = tool::argument(tool, input, tool::Role::Path).and_then(|(_, value)| value.as_str()).unwrap_or("");
    let mut files = Vec::new();
    // What is written into a file is its text, also where it shows a patch.
    let is_text = matches!(tool::ToolKind::of(tool), tool::ToolKind::Edit | tool::ToolKind::Write);
    add(input, path, is_text, &mut files);
    files
}

/// Arguments are as deep as a reader of JSON lets them be (128).
fn add<'v>(input: &'v Map<String, Value>, path: &'v str, is_text: bool, files: &mut Vec<FilePatch<'v>>) {
    let (mut lines, mut added) = (Vec::new(), Vec::new());
    for (name, value) in input {
        let Some(text) = value.as_str() else { continue };
        let Some(is_new) = tool::is_new_text(name).filter(|_| is_text || !is_patch(text)) else { continue };
        if is_new {
            added.extend(text.lines().map(PatchLine::Added));
        } else {
            lines.extend(text.lines().map(PatchLine::Removed));
        }
    }
    lines.append(&mut added);
    if !lines.is_empty() {
        let hunks = vec![Hunk { lines, ..Hunk::default() }];
        files.push(FilePatch { old_path: Some(path), new_path: Some(path), hunks });
    }
    for value in input.values() {
        add_value(value, path, is_text, files);
    }
}

fn add_value<'v>(value: &'v Value, path: &'v str, is_text: bool, files: &mut Vec<FilePatch<'v>>) {
    match value {
        Value::String(text) if !is_text && is_patch(text) => files.extend(read(text)),
        Value::Array(items) => items.iter().for_each(|item| add_value(item, path, is_text, files)),
        Value::Object(map) => add(map, tool::shared_path(map).unwrap_or(path), is_text, files),
        _ => {}
    }
}
