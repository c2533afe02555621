//! Patches as the models of some hosts write them.

use super::{BEGIN, END, FilePatch, Hunk, MAX_FILES, PatchLine};

/// Reads the files of all patches in a text. A text without marks is read from its first `*** … File:` on.
pub(super) fn read(text: &str) -> Vec<FilePatch<'_>> {
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    let marked = text.contains(BEGIN);
    let mut inside = !marked;
    for line in text.lines() {
        let is_of_file = inside && line.starts_with(['+', '-', ' ']);
        if marked && ((line.contains(BEGIN) && !is_of_file) || line.starts_with(END)) {
            inside = !line.starts_with(END);
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(file) = head(line) {
            if files.len() >= MAX_FILES {
                break;
            }
            files.push(file);
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            file.new_path = Some(path.trim());
        } else if let Some(heading) = line.strip_prefix("@@") {
            file.hunks.push(Hunk { heading: heading.trim(), ..Hunk::default() });
        } else if !line.starts_with("*** ") {
            let line = match line.as_bytes().first() {
                Some(b'+') => PatchLine::Added(&line[1..]),
                Some(b'-') => PatchLine::Removed(&line[1..]),
                Some(b' ') => PatchLine::Kept(&line[1..]),
                _ => PatchLine::Kept(line),
            };
            if file.hunks.is_empty() {
                let start = file.is_created().then_some(1);
                file.hunks.push(Hunk { new_start: start, ..Hunk::default() });
            }
            if let Some(hunk) = file.hunks.last_mut() {
                hunk.lines.push(line);
            }
        }
    }
    files
}

fn head(line: &str) -> Option<FilePatch<'_>> {
    let rest = line.strip_prefix("*** ")?;
    let path = |mark| rest.strip_prefix(mark).map(str::trim);
    if let Some(path) = path("Add File: ") {
        return Some(FilePatch { new_path: Some(path), ..FilePatch::default() });
    }
    if let Some(path) = path("Delete File: ") {
        return Some(FilePatch { old_path: Some(path), ..FilePatch::default() });
    }
    path("Update File: ").map(|path| FilePatch { old_path: Some(path), new_path: Some(path), ..FilePatch::default() })
}
