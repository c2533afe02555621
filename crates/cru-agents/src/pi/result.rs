//! Answers of tools: output, failure, exit code, files.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::brief;
use super::session::{PiSession, attachment};
use crate::call::open::OpenCall;
use crate::call::shell;
use crate::call::touched::TouchedFiles;
use crate::file::value::{blocks, flag, word};
use crate::stream::out::Out;
use cru_action::ToolKind;
use cru_session::FileRef;
use cru_session::event::{Attachment, CallResult, EventKind};

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
        let told = if failed || !attachments.is_empty() { None } else { brief::of(&call.tool, input, output, diff) };
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
            out.emit(EventKind::Interrupt { call: Some(Cow::Borrowed(&call.id)) });
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
                files.read(path, if pictures { None } else { brief::shown_lines(input, output) });
            }
            (ToolKind::Edit, Some(path)) => {
                files.wrote(FileRef { path, ..FileRef::default() }, &brief::changed(diff));
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

#[cfg(test)]
mod tests {
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
}
