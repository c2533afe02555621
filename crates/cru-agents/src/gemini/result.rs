//! Answers of tools: output, failure, refusal, exit code, and one line that says it better.

use std::borrow::Cow;

use serde_json::Value;

use crate::call::tools::Answer;
use crate::call::touched;
use crate::file::value::{count, filled, list, word};
use cru_action::ToolKind;
use cru_base::text::plural;
use cru_session::LineAnchor;

/// Reads the answer in a call, and whether it made a file that was not there before.
pub(super) fn of(call: &Value) -> (Answer<'static>, bool) {
    let tool = word(call, "name");
    let (said, is_error) = said(call);
    let created = said.starts_with("Successfully created");
    let (output, exit) = match ToolKind::of(tool) {
        ToolKind::Shell => shell(&said),
        _ => (said.into_owned(), None),
    };
    let exit = exit.filter(|code| *code != 0);
    // What was cancelled was stopped; whether a person refused it, the words say.
    let failed = matches!(word(call, "status"), "error" | "cancelled") || is_error || exit.is_some();
    let brief = if failed { None } else { brief(tool, call, &output, created) };
    (Answer { output: output.into(), brief: brief.map(Into::into), failed, exit, ..Answer::default() }, created)
}

/// The words of an answer, and whether they are those of a failure.
fn said(call: &Value) -> (Cow<'_, str>, bool) {
    let answers = list(call, "result").iter().filter_map(|part| part.get("functionResponse")?.get("response"));
    for response in answers {
        if let Some(output) = response.get("output").and_then(Value::as_str) {
            return (output.into(), false);
        }
        if let Some(error) = filled(response, "error") {
            return (error.into(), true);
        }
        if !response.is_null() {
            return (response.to_string().into(), false);
        }
    }
    let error = filled(call, "error").or_else(|| call.get("error").and_then(|error| filled(error, "message")));
    if let Some(error) = error {
        return (error.into(), true);
    }
    (word(call, "resultDisplay").into(), false)
}

/// What a command printed, and how it ended; the host writes both between names of its own.
pub(crate) fn shell(said: &str) -> (String, Option<i32>) {
    let ends =
        ["\nExit Code: ", "\nError: ", "\nSignal: ", "\nBackground PIDs: ", "\nProcess Group PGID: ", "\nStderr: "];
    let field = |name: &str, ends: &[&str]| {
        let start = if said.starts_with(name) { Some(name.len()) } else { None };
        let start = start.or_else(|| Some(said.find(&format!("\n{name}"))? + name.len() + 1))?;
        let rest = &said[start..];
        let end = ends.iter().filter_map(|end| rest.rfind(end)).min().unwrap_or(rest.len());
        Some(rest[..end].trim())
    };
    let spoken =
        |words: Option<&str>| words.filter(|words| !matches!(*words, "(empty)" | "(none)" | "")).map(str::to_owned);
    let known = said.starts_with("Command: ") || said.starts_with("Output: ");
    if !known {
        return (said.to_owned(), None);
    }
    let output = spoken(field("Output: ", &ends).or_else(|| field("Stdout: ", &ends)));
    let errors = spoken(field("Stderr: ", &ends)).or_else(|| spoken(field("Error: ", &ends)));
    let exit = field("Exit Code: ", &["\n"]).and_then(|code| code.lines().next()?.trim().parse().ok());
    let both = [output, errors].into_iter().flatten().collect::<Vec<_>>().join("\n");
    (both, exit)
}

fn brief(tool: &str, call: &Value, output: &str, created: bool) -> Option<String> {
    let input = &call["args"];
    let lines = |text: &str| plural(text.lines().count() as u64, "line");
    match ToolKind::of(tool) {
        ToolKind::Shell => output.trim().is_empty().then(|| "no output".to_owned()),
        ToolKind::Read => match output.split_once("Status: Showing lines ") {
            Some((_, rest)) => {
                let (shown, rest) = rest.split_once(" of ")?;
                let (from, to) = shown.split_once('-')?;
                let all: u64 = rest.split_whitespace().next()?.parse().ok()?;
                let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
                Some(format!("{} of {all}", plural(to.saturating_sub(from).saturating_add(1), "line")))
            }
            None => (!output.trim().is_empty()).then(|| lines(output)),
        },
        ToolKind::Write => {
            let verb = if created { "created" } else { "written" };
            Some(format!("{verb}, {}", lines(word(input, "content"))))
        }
        ToolKind::Edit => Some(change(&call["resultDisplay"], input)),
        ToolKind::Search | ToolKind::Fetch if tool != "web_fetch" => {
            let shown = word(call, "resultDisplay").trim().trim_end_matches('.').to_lowercase().replace("(s)", "s");
            (!shown.is_empty() && shown.len() < 60 && !shown.contains('\n')).then_some(shown)
        }
        _ => None,
    }
}

/// The lines of a file that an answer shows: all of it, or the part that the host names.
pub(super) fn lines(output: &str) -> Option<LineAnchor> {
    const PART: &str = "Status: Showing lines ";
    let Some((_, rest)) = output.split_once(PART) else {
        return touched::split_lines(1, output, true);
    };
    let (range, _) = rest.split_once(" of ")?;
    let (from, to) = range.split_once('-')?;
    let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    let text = rest.split_once("--- FILE CONTENT (truncated) ---\n")?.1;
    let count = text.split('\n').count() as u64;
    LineAnchor::of(Some(from), text.split('\n')).filter(|_| to.checked_sub(from).is_some_and(|it| it + 1 == count))
}

/// `+3 −1` as the host counted, else the lines of what was replaced.
fn change(display: &Value, input: &Value) -> String {
    if let Some(counted) = display.get("diffStat").filter(|counted| counted.get("model_added_lines").is_some()) {
        return format!("+{} −{}", count(counted, "model_added_lines"), count(counted, "model_removed_lines"));
    }
    let (old, new) = (word(input, "old_string"), word(input, "new_string"));
    if old.is_empty() && new.is_empty() {
        return "changed".to_owned();
    }
    format!("+{} −{}", new.lines().count(), old.lines().count())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, status: &str, response: &Value) -> (Answer<'static>, bool) {
        let result = json!([{ "functionResponse": { "response": response } }]);
        of(&json!({ "name": tool, "status": status, "args": {"content": "a\nb\n"}, "result": result }))
    }

    #[test]
    fn how_commands_end() {
        let output = "Command: ls\nDirectory: (root)\nOutput: a\nError: b\nfile\nError: (none)\nExit Code: 2\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 1";
        assert_eq!(shell(output).1, Some(2));
        assert!(shell(output).0.starts_with('a'));
        assert_eq!(
            shell(
                "Command: x\nDirectory: (root)\nStdout: out\nStderr: err\nError: (none)\nExit Code: 1\nSignal: (none)"
            ),
            ("out\nerr".into(), Some(1))
        );
        assert_eq!(shell("clean"), ("clean".into(), None));
        assert_eq!(shell("Output: (empty)\nExit Code: 0\nProcess Group PGID: 1"), (String::new(), Some(0)));
    }

    #[test]
    fn how_calls_end() {
        let (quiet, _) =
            call("run_shell_command", "success", &json!({"output": "Command: rm x\nOutput: (empty)\nExit Code: 0"}));
        assert_eq!((quiet.brief.as_deref(), quiet.failed, quiet.exit), (Some("no output"), false, None));
        let (failed, _) = call("run_shell_command", "success", &json!({"output": "Output: no\nExit Code: 3"}));
        assert_eq!((&*failed.output, failed.failed, failed.exit), ("no", true, Some(3)));
        let (made, created) =
            call("write_file", "success", &json!({"output": "Successfully created and wrote to new file: /a."}));
        assert_eq!((made.brief.as_deref(), created), (Some("created, 2 lines"), true));
        let (stopped, _) = call("replace", "cancelled", &json!({"output": "[Operation Cancelled] Reason: x"}));
        assert_eq!((stopped.denied, stopped.failed), (false, true));
        let (wrong, _) = of(&json!({"name": "replace", "status": "error", "error": "no match"}));
        assert_eq!((&*wrong.output, wrong.failed), ("no match", true));
        assert_eq!(of(&json!({"name": 3, "result": "x"})).0.output, "");
    }
}
