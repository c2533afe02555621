//! Patches of `diff -u` and `git diff`.

use super::{FilePatch, Hunk, MAX_FILES, PatchLine};

/// Reads the files of a diff. The counts of a hunk say where it ends, so a removed line that looks like a head is none.
pub(super) fn read(text: &str) -> Vec<FilePatch<'_>> {
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    let (mut old_left, mut new_left) = (0_u64, 0_u64);
    let mut old_path: Option<&str> = None;
    // The file of the last `diff --git`, which `---` and `+++` do not begin again.
    let mut open = false;
    for line in text.lines() {
        if (old_left > 0 || new_left > 0)
            && let Some(hunk) = files.last_mut().and_then(|file| file.hunks.last_mut())
        {
            let first = line.as_bytes().first();
            let taken = match first {
                Some(b'+') if new_left > 0 => {
                    new_left -= 1;
                    Some(PatchLine::Added(&line[1..]))
                }
                Some(b'-') if old_left > 0 => {
                    old_left -= 1;
                    Some(PatchLine::Removed(&line[1..]))
                }
                Some(b' ') | None => {
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                    Some(PatchLine::Kept(line.get(1..).unwrap_or("")))
                }
                Some(b'\\') => continue,
                _ => None,
            };
            if let Some(taken) = taken {
                hunk.lines.push(taken);
                continue;
            }
            // It was cut off.
            (old_left, new_left) = (0, 0);
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            if files.len() >= MAX_FILES {
                break;
            }
            let (old, new) = git_names(names);
            files.push(FilePatch { old_path: old, new_path: new, ..FilePatch::default() });
            open = true;
        } else if let Some(path) = line.strip_prefix("--- ") {
            old_path = Some(path_of(path));
        } else if let Some(path) = line.strip_prefix("+++ ") {
            if files.len() >= MAX_FILES {
                break;
            }
            let (old, new) = pair(old_path.take().unwrap_or("/dev/null"), path_of(path));
            match files.last_mut().filter(|_| open) {
                Some(file) => (file.old_path, file.new_path) = (old, new),
                None => files.push(FilePatch { old_path: old, new_path: new, ..FilePatch::default() }),
            }
            open = false;
        } else if line.starts_with("@@ ") {
            let Some(file) = files.last_mut() else { continue };
            open = false;
            if let Some(([old, new], heading)) = counts(line) {
                (old_left, new_left) = (old.1, new.1);
                let hunk = Hunk { old_start: Some(old.0), new_start: Some(new.0), heading, lines: Vec::new() };
                file.hunks.push(hunk);
            }
        } else if let Some(file) = files.last_mut().filter(|_| open) {
            if line.starts_with("new file mode") {
                file.old_path = None;
            } else if line.starts_with("deleted file mode") {
                file.new_path = None;
            } else if let Some(path) = line.strip_prefix("rename from ") {
                file.old_path = Some(path);
            } else if let Some(path) = line.strip_prefix("rename to ") {
                file.new_path = Some(path);
            }
        }
    }
    files
}

/// A path without the time behind it.
fn path_of(text: &str) -> &str {
    text.split('\t').next().unwrap_or(text).trim().trim_matches('"')
}

/// The two paths of a file. `a/` and `b/` are taken off where both have them.
fn pair<'a>(old: &'a str, new: &'a str) -> (Option<&'a str>, Option<&'a str>) {
    let path = |path: &'a str, side: &str| (path != "/dev/null").then(|| path.strip_prefix(side).unwrap_or(path));
    let sided = |path: &str, side: &str| path == "/dev/null" || path.starts_with(side);
    if sided(old, "a/") && sided(new, "b/") {
        (path(old, "a/"), path(new, "b/"))
    } else {
        (path(old, "\0"), path(new, "\0"))
    }
}

/// `a/x b/x`
fn git_names(names: &str) -> (Option<&str>, Option<&str>) {
    match names.split_once(" b/") {
        Some((old, new)) => (Some(old.strip_prefix("a/").unwrap_or(old)), Some(new)),
        None => match names.split_once(' ') {
            Some((old, new)) => (Some(old), Some(new)),
            None => (Some(names), Some(names)),
        },
    }
}

/// `@@ -1,2 +3,4 @@ heading`: the first line and the number of lines of both sides.
fn counts(line: &str) -> Option<([(u64, u64); 2], &str)> {
    let (ranges, heading) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, len)) => Some((start.parse().ok()?, len.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    Some(([range(old)?, range(new)?], heading.trim()))
}
