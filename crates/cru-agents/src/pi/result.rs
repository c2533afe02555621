//! Answers of tools: output, failure, exit code, files.

use serde_json::Value;

use super::session::PiSession;
use crate::call::brief::ended;
use crate::call::open::OpenCall;
use crate::call::tools::{self, Answer};
use crate::call::touched::{self, TouchedFiles};
use crate::file::value::{flag, word};
use crate::record::message::flat;
use crate::stream::out::Out;
use cru_action::ToolKind;
use cru_action::patch::{Hunk, PatchLine};
use cru_base::text::{plural, thousands};
use cru_session::event::EventKind;
use cru_session::{FileRef, LineAnchor};

impl PiSession {
    /// Reads one answer; `parent` is the id of the entry it hangs on.
    pub(super) fn result(&mut self, message: &Value, parent: &str, out: &mut Out<'_>) -> Option<&'static str> {
        let host_id = word(message, "toolCallId");
        let calls = &mut self.session.calls;
        let Some(call) = calls.close(host_id, [parent, ""]) else { return Some(calls.unmet(host_id)) };
        let (said, attachments) = flat(&message["content"]);
        let details = &message["details"];
        let failed = flag(message, "isError") || word(details, "status") == "error";
        let is_shell = ToolKind::of(&call.tool) == ToolKind::Shell;
        let (mut output, mut exit) = (said.as_str(), None);
        let mut stopped = failed && output.trim() == "Operation aborted";
        if is_shell && failed {
            (output, exit) = ended(output, "Command exited with code ", "");
            if let Some(before) = output.trim_end().strip_suffix("Command aborted") {
                (output, stopped) = (before.trim_end(), true);
            }
        }
        if is_shell && output.trim() == "(no output)" {
            output = "";
        }
        let input = call.input.as_ref().unwrap_or(&Value::Null);
        let (good, diff) = (!failed && attachments.is_empty(), word(details, "diff"));
        let answer = Answer {
            output: output.into(),
            brief: if good { brief(&call.tool, input, output).map(Into::into) } else { None },
            diff,
            failed,
            exit,
            touched: if failed { None } else { self.files(&call, output, diff, !attachments.is_empty()) },
            attachments,
            subagent: self.session.started.run(&call.tool, input),
            ..Answer::default()
        };
        tools::answer(&call, answer, &self.session.place, out);
        if stopped {
            out.emit(EventKind::Interrupt { call: Some(call.id.as_str().into()), unnamed: false });
        }
        None
    }

    /// Files that the answer of a call proves to be read and written, where it says more than that it succeeded.
    fn files(&self, call: &OpenCall, output: &str, diff: &str, pictures: bool) -> Option<TouchedFiles> {
        let mut files = TouchedFiles::default();
        let path = call.path.as_deref().map(|path| self.session.place.show(path).into_owned())?;
        match ToolKind::of(&call.tool) {
            ToolKind::Read => {
                let input = call.input.as_ref().unwrap_or(&Value::Null);
                files.read(path, if pictures { None } else { shown_lines(input, output) });
            }
            ToolKind::Edit if !diff.is_empty() => files.wrote(FileRef { path, ..FileRef::default() }, &changed(diff)),
            _ => return None,
        }
        Some(files)
    }
}

/// The brief of a successful answer, where the host says more than others.
fn brief(tool: &str, input: &Value, output: &str) -> Option<String> {
    match tool {
        "ls" => listed(output, "entry", "entries"),
        "find" => listed(output, "file", "files"),
        _ if ToolKind::of(tool) == ToolKind::Read => read(input, output),
        _ => None,
    }
}

/// How many lines of a file were read, and of how many where the host says that there are more.
fn read(input: &Value, output: &str) -> Option<String> {
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
fn without_note(output: &str) -> (&str, Option<More>) {
    let found = output.trim_end().rsplit_once("\n\n[");
    match found.and_then(|(text, note)| Some((text, more(note)?))) {
        Some((text, more)) => (text, Some(more)),
        None => (output, None),
    }
}

/// What the host says of the rest of a file.
enum More {
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
fn shown_lines(input: &Value, output: &str) -> Option<LineAnchor> {
    let first = input.get("offset").and_then(Value::as_u64).unwrap_or(1).max(1);
    let (text, more) = without_note(output);
    // A note that stands alone says why nothing is shown.
    let is_note = text.starts_with('[') && text.trim_end().ends_with(']') && text.lines().count() == 1;
    touched::split_lines(first, text, more.is_none()).filter(|_| !is_note)
}

/// The hunks of the diff that the host shows: each line behind its sign and its number, those that are left out as
/// `...`. Kept and removed lines have their number before, those that come the one after.
fn changed(diff: &str) -> Vec<Hunk<'_>> {
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

    fn check(tool: &str, input: &Value, output: &str, wanted: Option<&str>) {
        assert_eq!(brief(tool, input, output).as_deref(), wanted, "{tool} {output}");
    }

    #[test]
    fn figures_of_each_tool() {
        check("read", &json!({}), "a\nb\n", Some("2 lines"));
        check(
            "read",
            &json!({"offset": 11}),
            "a\nb\n\n[1200 more lines in file. Use offset=13 to continue]",
            Some("2 lines of 1,212"),
        );
        check("read", &json!({}), "a\n\n[Showing lines 1-1 of 327. Use offset=2 to continue.]", Some("1 line of 327"));
        check("read", &json!({}), "a\n\n\n[2 more lines in file. Use offset=3 to continue]", Some("2 lines of 4"));
        check("read", &json!({}), "a\n\n[a link]", Some("3 lines"));
        check("ls", &json!({}), "a\nb", Some("2 entries"));
        check("find", &json!({}), "a", Some("1 file"));
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
