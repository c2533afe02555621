//! Files that a record proves were read or written, the hashes and the lines that it proves.
//!
//! The hash of a whole file is claimed only where the record holds its exact bytes: what Write put there, and the file
//! before and after an Edit. Under Windows none is claimed, since the host turns `\r\n` into `\n` in its records. Lines
//! have no ends, so theirs are claimed everywhere.

use serde_json::Value;

use super::tabs::{self, KnownText};
use crate::call::tools;
use crate::call::touched::{self, TouchedFiles};
use crate::file::value::{flag, list, number, object, word};
use crate::stream::place::Place;
use cru_action::ToolKind;
use cru_action::patch::{self, PatchLine};
use cru_session::{FileRef, LineAnchor};

/// What a successful call with a path argument proves; `output` is its answer.
pub(super) fn of(
    tool: &str,
    path: Option<&str>,
    input: Option<&Value>,
    detail: &Value,
    output: &str,
    place: &Place,
) -> TouchedFiles {
    let mut files = TouchedFiles::default();
    let Some(path) = path else { return files };
    let file = |hash: Option<String>, created: bool| FileRef {
        path: place.show(path).into_owned(),
        hash,
        created,
        ..FileRef::default()
    };
    let patched = || list(detail, "structuredPatch").iter().filter(|hunk| hunk.is_object());
    let is_untold = patched().next().is_none() && detail["content"].is_null() && detail["originalFile"].is_null();
    let hunks = || -> Vec<patch::Hunk<'_>> { patched().map(hunk).collect() };
    let (before, content) = (detail["originalFile"].as_str(), detail["content"].as_str());
    match ToolKind::of(tool) {
        ToolKind::Read => {
            let lines = match (object(detail, "file"), word(detail, "type")) {
                (Some(read), "text") => shown(read),
                (None, "") => of_output(output),
                _ => None,
            };
            files.read(place.show(path).into_owned(), lines);
        }
        ToolKind::Write | ToolKind::Edit if is_untold && input.is_some() => {
            if ToolKind::of(tool) == ToolKind::Edit {
                files.reads.push(file(None, false));
            }
            tools::exchange(tool, input.unwrap_or(&Value::Null), file(None, false), &mut files);
        }
        ToolKind::Write => {
            let created = word(detail, "type") == "create";
            if let Some(before) = before.filter(|_| !created) {
                files.reads.push(file(Some(hash(before)).filter(|_| !place.is_windows()), false));
            }
            let after = content.filter(|_| !place.is_windows()).map(hash);
            // What an existing file had before is in the patch alone.
            let mut hunks = hunks();
            let known = KnownText { before, after: content, ..KnownText::default() };
            let unsure = tabs::restore(&mut hunks, &known);
            if hunks.is_empty() {
                hunks.push(content.map(touched::whole_text).unwrap_or_default());
            }
            files.wrote_but(file(after, created), &hunks, &unsure);
        }
        ToolKind::Edit => {
            let after = before.and_then(|before| edited(before, detail));
            let claimed = |text: Option<&str>| text.filter(|_| !place.is_windows()).map(hash);
            // An edit with an empty old text makes the file.
            let created = detail["oldString"] == "" && before.is_none_or(str::is_empty);
            if !created {
                files.reads.push(file(claimed(before), false));
            }
            let mut hunks = hunks();
            let mut parts = vec![word(detail, "oldString"), word(detail, "newString")];
            // Several edits of one call stand in its arguments.
            let several = input.and_then(|input| input.get("edits")?.as_array()).into_iter().flatten();
            let both = |edit| ["old_string", "new_string"].map(|name| word(edit, name));
            parts.extend(several.flat_map(both));
            let known = KnownText { before, after: after.as_deref(), parts };
            let unsure = tabs::restore(&mut hunks, &known);
            files.wrote_but(file(claimed(after.as_deref()), created), &hunks, &unsure);
        }
        _ => {}
    }
    files
}

/// A hunk of the record. What says that the last line has no end is no line.
fn hunk(hunk: &Value) -> patch::Hunk<'_> {
    fn line(line: &str) -> Option<PatchLine<'_>> {
        match line.as_bytes().first() {
            Some(b'+') => Some(PatchLine::Added(&line[1..])),
            Some(b'-') => Some(PatchLine::Removed(&line[1..])),
            Some(b' ') => Some(PatchLine::Kept(&line[1..])),
            Some(b'\\') => None,
            _ => Some(PatchLine::Kept(line)),
        }
    }
    patch::Hunk {
        old_start: number(hunk, "oldStart"),
        new_start: number(hunk, "newStart"),
        heading: "",
        lines: list(hunk, "lines").iter().filter_map(Value::as_str).filter_map(line).collect(),
    }
}

/// The lines of a file that were read. The host splits it at `\n` and counts what stands behind the last one.
fn shown(read: &Value) -> Option<LineAnchor> {
    let first = number(read, "startLine").unwrap_or(1);
    let text = read["content"].as_str()?;
    let end = first.checked_add(number(read, "numLines")?)?;
    let reaches_end = number(read, "totalLines").is_none_or(|total| end > total);
    touched::split_lines(first, text, reaches_end).filter(|_| first > 0)
}

/// The same of the answer that the model got, where the record holds nothing else.
fn of_output(output: &str) -> Option<LineAnchor> {
    let text = output.split("\n<system-reminder>").next()?.trim_end_matches('\n');
    touched::numbered(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)), &["→", "\t"])
}

/// The file after the edit, where the record says all that is needed.
fn edited(before: &str, detail: &Value) -> Option<String> {
    let old = detail["oldString"].as_str().filter(|old| !old.is_empty())?;
    let new = detail["newString"].as_str()?;
    // Taking text out may take the end of its line with it; the record does not say.
    if new.is_empty() && !old.ends_with('\n') {
        return None;
    }
    let mut after = String::with_capacity(before.len() + new.len());
    let mut kept = 0;
    let limit = if flag(detail, "replaceAll") { usize::MAX } else { 1 };
    for (at, _) in before.match_indices(old).take(limit) {
        after.push_str(&before[kept..at]);
        after.push_str(new);
        kept = at + old.len();
    }
    // Nothing was found: the record is not of this file.
    (kept > 0).then(|| after + &before[kept..])
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prove(tool: &str, detail: &str, cwd: &str) -> TouchedFiles {
        let mut place = Place::default();
        place.see(cwd);
        of(tool, Some(&format!("{cwd}/a.txt")), None, &serde_json::from_str(detail).unwrap(), "", &place)
    }

    #[test]
    fn written_whole() {
        let files = prove("Write", r#"{"type":"create","content":"one\n\"two\"\n"}"#, "/home/mia/api");
        let lines = LineAnchor::of_text(Some(1), "one\n\"two\"\n").into_iter().collect();
        let wanted =
            FileRef { path: "a.txt".into(), hash: Some(hash("one\n\"two\"\n")), lines, created: true, deleted: false };
        assert_eq!((files.reads, files.writes), (vec![], vec![wanted]));
        assert_eq!(files.changes[0].diff, "@@ -0,0 +1,2 @@\n+one\n+\"two\"\n");
    }

    #[test]
    fn lines_of_reads_and_edits() {
        let place = |files: &[FileRef]| files[0].lines.iter().map(LineAnchor::place).collect::<Vec<_>>().join(" ");
        let read = |file: &str| prove("Read", &format!(r#"{{"type":"text","file":{{{file}}}}}"#), "/x/y").reads;
        assert_eq!(place(&read(r#""content":"a\nb\n","numLines":3,"startLine":1,"totalLines":3"#)), "1-2");
        assert_eq!(place(&read(r#""content":"a\nb\n","numLines":3,"startLine":7,"totalLines":90"#)), "7-9");
        assert_eq!(place(&read(r#""content":"","numLines":1,"startLine":1,"totalLines":1"#)), "");
        assert_eq!(place(&prove("Read", r#"{"type":"image","file":{"content":"a"}}"#, "/x/y").reads), "");
        let output =
            of("Read", Some("a"), None, &Value::Null, "     3→x\n     4→\n<system-reminder>y", &Place::default());
        assert_eq!(place(&output.reads), "3-4");
        let patch = r#"{"structuredPatch":[{"oldStart":4,"newStart":4,"lines":[" a","-b","+c","+d"," e","\\ No newline at end of file"]}]}"#;
        let edit = prove("Edit", patch, r"C:\x");
        assert_eq!(place(&edit.writes), "5-6");
        assert_eq!(edit.writes[0].lines, Vec::from_iter(LineAnchor::of_text(Some(5), "c\nd")));
    }

    #[test]
    fn edited_before_and_after() {
        let detail = r#"{"oldString":"b","newString":"x","originalFile":"a b b\n","replaceAll":false}"#;
        let files = prove("Edit", detail, "/home/mia/api");
        assert_eq!(files.reads[0].hash, Some(hash("a b b\n")));
        assert_eq!(files.writes[0].hash, Some(hash("a x b\n")));
        let all = detail.replace("false", "true");
        assert_eq!(prove("Edit", &all, "/home/mia/api").writes[0].hash, Some(hash("a x x\n")));
    }

    #[test]
    fn no_hash_where_bytes_are_not_sure() {
        let gone = r#"{"oldString":"b","newString":"","originalFile":"a b\n"}"#;
        assert_eq!(prove("Edit", gone, "/home/mia/api").writes[0].hash, None);
        assert_eq!(
            prove("Edit", r#"{"oldString":"b","newString":"c","originalFile":null}"#, "/x/y").writes[0].hash,
            None
        );
        assert_eq!(prove("Write", r#"{"type":"create","content":"x"}"#, r"C:\x").writes[0].hash, None);
        assert_eq!(prove("Read", r#"{"type":"text","file":{"content":"x"}}"#, "/x/y").reads[0].hash, None);
    }
}
