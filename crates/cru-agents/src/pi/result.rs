//! Answers of tools: output, failure, exit code, files.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::session::{PiSession, attachment};
use crate::call::brief::change;
use crate::call::open::OpenCall;
use crate::call::shell;
use crate::call::touched::{self, TouchedFiles};
use crate::file::value::{blocks, flag, word};
use crate::stream::out::Out;
use cru_action::ToolKind;
use cru_action::patch::{Hunk, PatchLine};
use cru_base::text::{plural, thousands};
use cru_session::event::{Attachment, CallResult, EventKind};
use cru_session::{FileRef, LineAnchor};

impl PiSession {
    /// Reads one answer; `parent` is the id of the entry it hangs on.
    pub(super) fn result(&mut self, message: &Value, parent: &str, out: &mut Out<'_>) -> Option<&'static str> {
        let host_id = word(message, "toolCallId");
        let Some(call) = self.calls.close(host_id, [parent, ""]) else { return Some(self.calls.unmet(host_id)) };
        let (said, attachments) = flatten(&message["content"]);
        let details = &message["details"];
        let failed = flag(message, "isError") || word(details, "status") == "error";
        let (output, end) = if failed && ToolKind::of(&call.tool) == ToolKind::Shell {
            ended(&said)
        } else {
            (said.as_str(), End::Unsaid)
        };
        let none = Map::new();
        let input = call.input.as_ref().and_then(Value::as_object).unwrap_or(&none);
        let diff = word(details, "diff");
        let told = if failed || !attachments.is_empty() { None } else { brief(&call.tool, input, output, diff) };
        let pictures = !attachments.is_empty();
        let files = if failed { TouchedFiles::default() } else { self.files(&call, output, diff, pictures) };
        let subagent = call.input.as_ref().and_then(|input| self.started.run(&call.tool, input));
        out.emit(EventKind::Result(CallResult {
            call: Cow::Borrowed(&call.id),
            output: Cow::Borrowed(output),
            brief: told.map(Cow::Owned),
            failed,
            exit: match end {
                End::Code(code) => Some(code),
                _ => None,
            },
            attachments,
            subagent,
            ..files.into()
        }));
        if end == End::Stopped || (failed && output.trim() == "Operation aborted") {
            out.emit(EventKind::Interrupt { call: Some(Cow::Borrowed(&call.id)), unnamed: false });
        }
        None
    }

    /// Files that the answer of a call proves to be read and written.
    fn files(&self, call: &OpenCall, output: &str, diff: &str, pictures: bool) -> TouchedFiles {
        let mut files = TouchedFiles::default();
        let none = Value::Null;
        let input = call.input.as_ref().unwrap_or(&none);
        let named = call.path.as_deref().map(|path| self.place.show(path).into_owned());
        match (ToolKind::of(&call.tool), named) {
            (ToolKind::Read, Some(path)) => {
                files.read(path, if pictures { None } else { shown_lines(input, output) });
            }
            (ToolKind::Edit, Some(path)) => {
                files.wrote(FileRef { path, ..FileRef::default() }, &changed(diff));
            }
            (ToolKind::Write, Some(path)) => {
                let file = FileRef { path, ..FileRef::default() };
                files.wrote_text(file, input.get("content").and_then(Value::as_str).unwrap_or_default());
            }
            (ToolKind::Read | ToolKind::Edit | ToolKind::Write, None) => {}
            _ => shell::touched(&call.effects, output, &mut files),
        }
        files
    }
}

/// The text of an answer and the pictures in it.
fn flatten(content: &Value) -> (String, Vec<Attachment<'static>>) {
    let (mut words, mut attachments) = (Vec::new(), Vec::new());
    for block in blocks(content) {
        if word(&block, "type") == "image" {
            attachments.push(attachment(&block));
        } else if let Some(piece) = block["text"].as_str() {
            words.push(piece.to_owned());
        }
    }
    (words.join("\n"), attachments)
}

/// How a failed command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// With this code.
    Code(i32),
    /// A person stopped it.
    Stopped,
    /// The host does not say.
    Unsaid,
}

/// The output of a failed command without the line that the host put below it.
fn ended(text: &str) -> (&str, End) {
    let (output, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    let quiet = |output: &'_ str| output.trim() == "(no output)";
    let output = if quiet(output) { "" } else { output.trim_end() };
    if last == "Command aborted" {
        return (output, End::Stopped);
    }
    let code = last.strip_prefix("Command exited with code ").and_then(|code| code.parse().ok());
    code.map_or((text, End::Unsaid), |code| (output, End::Code(code)))
}

/// The brief of a successful answer; `None` leaves it to the output's first words.
fn brief(tool: &str, input: &Map<String, Value>, output: &str, diff: &str) -> Option<String> {
    match ToolKind::of(tool) {
        ToolKind::Shell => return matches!(output.trim(), "" | "(no output)").then(|| "no output".to_owned()),
        ToolKind::Read => return read(input, output),
        ToolKind::Edit => return Some(change(diff).unwrap_or_else(|| "changed".to_owned())),
        ToolKind::Write => {
            let lines = input.get("content").and_then(Value::as_str).map(|text| text.lines().count());
            return lines.map(|lines| format!("written, {}", plural(lines as u64, "line")));
        }
        _ => {}
    }
    match tool {
        "ls" => listed(output, "entry", "entries"),
        "find" => listed(output, "file", "files"),
        "grep" => listed(output, "line", "lines"),
        _ => None,
    }
}

/// How many lines of a file were read, and of how many where the host says that there are more.
fn read(input: &Map<String, Value>, output: &str) -> Option<String> {
    let (text, more) = without_note(output);
    if output.trim().is_empty() {
        return None;
    }
    // Before the host's note the last line may be an empty one.
    let lines = if more.is_some() { text.split('\n').count() } else { output.lines().count() } as u64;
    let first = input.get("offset").and_then(Value::as_u64).unwrap_or(1).max(1);
    let of = more.map(|more| match more {
        More::Behind(behind) => first.saturating_sub(1).saturating_add(lines).saturating_add(behind),
        More::All(all) => all,
    });
    Some(format!("{}{}", plural(lines, "line"), of.map(|of| format!(" of {}", thousands(of))).unwrap_or_default()))
}

/// What was read of a file, and what the host says of the rest of it.
pub(super) fn without_note(output: &str) -> (&str, Option<More>) {
    let found = output.trim_end().rsplit_once("\n\n[");
    match found.and_then(|(text, note)| Some((text, more(note)?))) {
        Some((text, more)) => (text, Some(more)),
        None => (output, None),
    }
}

/// What the host says of the rest of a file.
pub(super) enum More {
    /// So many lines stand behind what was read.
    Behind(u64),
    /// It has so many.
    All(u64),
}

/// `127 more lines in file. Use offset=550 to continue]`, `Showing lines 1-200 of 327 …`.
fn more(note: &str) -> Option<More> {
    let note = note.strip_suffix(']')?;
    if let Some((number, _)) = note.split_once(" more lines") {
        return number.parse().ok().map(More::Behind);
    }
    let (_, rest) = note.strip_prefix("Showing lines ")?.split_once(" of ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok().map(More::All)
}

/// `12 files` for one line each.
fn listed(output: &str, one: &str, many: &str) -> Option<String> {
    let text = output.trim();
    if text.is_empty() || text.starts_with("No ") || text.starts_with("(empty") || text.contains("\n\n") {
        return None;
    }
    let count = text.lines().count() as u64;
    Some(format!("{} {}", thousands(count), if count == 1 { one } else { many }))
}

/// The lines of a file that were read. The host splits it at `\n`, so a last `\n` is there where the end is reached.
pub(super) fn shown_lines(input: &Value, output: &str) -> Option<LineAnchor> {
    let first = input.get("offset").and_then(Value::as_u64).unwrap_or(1).max(1);
    let (text, more) = without_note(output);
    // A note that stands alone says why nothing is shown.
    let is_note = text.starts_with('[') && text.trim_end().ends_with(']') && text.lines().count() == 1;
    touched::split_lines(first, text, more.is_none()).filter(|_| !is_note)
}

/// The hunks of the diff that the host shows: each line behind its sign and its number, those that are left out as
/// `...`. Kept and removed lines have their number before, those that come the one after.
pub(super) fn changed(diff: &str) -> Vec<Hunk<'_>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let (mut open, mut old, mut new) = (false, 0_u64, 0_u64);
    for line in diff.lines() {
        let (sign, rest) = match line.as_bytes().first() {
            Some(b'+' | b'-' | b' ') => line.split_at(1),
            _ => continue,
        };
        let Some((number, text)) = touched::number_of(rest, &[" ", ""]) else {
            open = false;
            continue;
        };
        if !open {
            hunks.push(Hunk::default());
            (open, old, new) = (true, 0, 0);
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        if sign == "+" {
            hunk.new_start = hunk.new_start.or_else(|| number.checked_sub(new));
        } else {
            hunk.old_start = hunk.old_start.or_else(|| number.checked_sub(old));
        }
        old += u64::from(sign != "+");
        new += u64::from(sign != "-");
        hunk.lines.push(match sign {
            "+" => PatchLine::Added(text),
            "-" => PatchLine::Removed(text),
            _ => PatchLine::Kept(text),
        });
    }
    hunks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn how_commands_end() {
        assert_eq!(ended("2 failed\n\n\nCommand exited with code 1"), ("2 failed", End::Code(1)));
        assert_eq!(ended("(no output)\n\nCommand exited with code 128"), ("", End::Code(128)));
        assert_eq!(ended("Command aborted"), ("", End::Stopped));
        assert_eq!(
            ended("a\n\nCommand timed out after 5 seconds"),
            ("a\n\nCommand timed out after 5 seconds", End::Unsaid)
        );
        assert_eq!(ended(""), ("", End::Unsaid));
    }

    fn check(tool: &str, input: &Value, output: &str, diff: &str, wanted: Option<&str>) {
        assert_eq!(brief(tool, input.as_object().unwrap(), output, diff).as_deref(), wanted, "{tool} {output}");
    }

    #[test]
    fn figures_of_each_tool() {
        check("bash", &json!({}), "(no output)", "", Some("no output"));
        check("bash", &json!({}), "ok", "", None);
        check("read", &json!({}), "a\nb\n", "", Some("2 lines"));
        check(
            "read",
            &json!({"offset": 11}),
            "a\nb\n\n[1200 more lines in file. Use offset=13 to continue]",
            "",
            Some("2 lines of 1,212"),
        );
        check(
            "read",
            &json!({}),
            "a\n\n[Showing lines 1-1 of 327. Use offset=2 to continue.]",
            "",
            Some("1 line of 327"),
        );
        check("read", &json!({}), "a\n\n\n[2 more lines in file. Use offset=3 to continue]", "", Some("2 lines of 4"));
        check("read", &json!({}), "a\n\n[a link]", "", Some("3 lines"));
        check("edit", &json!({}), "Successfully replaced", " 1 a\n+2 b\n-2 c\n+3 d", Some("+2 −1"));
        check("edit", &json!({}), "Successfully replaced", "", Some("changed"));
        check("write", &json!({"content": "a\nb\n"}), "Successfully wrote", "", Some("written, 2 lines"));
        check("ls", &json!({}), "a\nb", "", Some("2 entries"));
        check("find", &json!({}), "a", "", Some("1 file"));
        check("grep", &json!({}), "No matches found", "", None);
        check("other", &json!({}), "x", "", None);
    }

    #[test]
    fn what_was_read() {
        let of = |input: Value, output: &str| shown_lines(&input, output).map(|it| it.place());
        assert_eq!(of(json!({}), "a\nb\n").as_deref(), Some("1-2"));
        let note = "a\n\n\n[7 more lines in file. Use offset=7 to continue.]";
        assert_eq!(of(json!({"offset": 5}), note).as_deref(), Some("5-6"));
        assert_eq!(of(json!({}), "a\n\n[not a note]").as_deref(), Some("1-3"));
        assert_eq!(of(json!({}), "[Line 1 is 60KB, exceeds 50KB limit.]"), None);
    }

    #[test]
    fn what_was_changed() {
        let diff = "    ...\n 21 a\n 22 \n+23 new\n+24 \n 23 b\n-24 gone\n+26 come\n    ...\n 80 z\n+83 end";
        let hunks = changed(diff);
        let runs: Vec<_> = hunks.iter().flat_map(cru_session::evidence_patch::written).collect();
        let runs: Vec<_> = runs.iter().map(|run| (run.first, run.lines.join("|"))).collect();
        assert_eq!(runs, [(Some(23), "new|".to_owned()), (Some(26), "come".to_owned()), (Some(83), "end".to_owned())]);
        assert_eq!((hunks[0].old_start, hunks[0].new_start), (Some(21), Some(21)));
        assert_eq!(changed("nothing"), []);
    }
}
