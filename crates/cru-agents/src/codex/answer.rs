//! Answers of tools: the text out of the wrappings that the host gave it over the versions, and what these say of how it
//! went.

use std::borrow::Cow;

use serde_json::Value;

use crate::file::value::{self, attachment, blocks, exit, filled, number, object};
use crate::wrapper::{self, Means};
use cru_session::event::Attachment;

/// An answer, unwrapped.
#[expect(clippy::struct_excessive_bools, reason = "the wrapping says each by itself")]
#[derive(Debug, Default, PartialEq)]
pub(super) struct CodexAnswer<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) exit: Option<i32>,
    pub(super) duration_ms: Option<u64>,
    /// Whether the wrapping says that it went wrong.
    pub(super) failed: bool,
    /// Whether a person refused the call.
    pub(super) denied: bool,
    /// Whether the host's policy refused the call, and asked nobody.
    pub(super) denied_by_host: bool,
    /// Whether a person stopped it while it ran.
    pub(super) stopped: bool,
    /// The number of the command, where it still runs.
    pub(super) running: Option<String>,
    /// Whether it is that of a script, which says how the script ended and nothing of its commands.
    pub(super) is_of_script: bool,
    pub(super) attachments: Vec<Attachment<'static>>,
}

/// What the host says where its policy refuses a call.
const BY_POLICY: &[&str] =
    &["rejected by user approval settings", "rejected: blocked by policy", "approval required by policy"];

/// Reads an answer: a text, parts, or an object with one.
pub(super) fn read(output: &Value) -> CodexAnswer<'_> {
    if let Value::String(text) = output {
        return unwrapped(text);
    }
    let parts = blocks(output);
    let (sent, said): (Vec<_>, Vec<_>) = parts.iter().partition(|part| filled(part, "image_url").is_some());
    let words: Vec<&str> = said.iter().filter_map(|part| part["text"].as_str().or(part["content"].as_str())).collect();
    let mut answer = owned(unwrapped(&words.join("\n")));
    answer.failed |= said.iter().any(|part| part["success"] == false);
    answer.attachments =
        sent.iter().filter_map(|part| filled(part, "image_url").map(|url| attachment("", url))).collect();
    answer
}

fn owned(answer: CodexAnswer<'_>) -> CodexAnswer<'static> {
    CodexAnswer { text: Cow::Owned(answer.text.into_owned()), ..answer }
}

fn unwrapped(text: &str) -> CodexAnswer<'_> {
    scripted(text).or_else(|| boxed(text)).or_else(|| headed(text)).unwrap_or_else(|| plain(text))
}

/// What a script said, behind how it ended, its time and `Output:`. Where it shows the answer of one command, that says more.
fn scripted(text: &str) -> Option<CodexAnswer<'_>> {
    let (state, rest) = text.strip_prefix("Script ")?.split_once("\nWall time ")?;
    let (time, said) = rest.split_once("\nOutput:")?;
    let running = state.strip_prefix("running with cell ID ");
    if time.contains('\n') || !(running.is_some() || matches!(state, "completed" | "failed" | "terminated")) {
        return None;
    }
    let said = said.trim_start_matches('\n');
    let mut answer = match said.rsplit_once("Script error:\n").filter(|_| state == "failed") {
        Some(("", error)) => plain(error),
        Some((_, error)) => CodexAnswer { text: said.into(), ..plain(error) },
        None => shown(said)
            .or_else(|| of_one(said))
            .unwrap_or_else(|| CodexAnswer { text: said.into(), ..CodexAnswer::default() }),
    };
    answer.is_of_script = true;
    // A script may catch what a patch says.
    let caught = said.strip_prefix("Error: ").unwrap_or(said).starts_with("apply_patch verification failed");
    answer.failed |= caught || matches!(state, "failed" | "terminated");
    if answer.failed && answer.text.is_empty() {
        answer.text = text.lines().next().unwrap_or_default().into();
    }
    answer.running = running.map(|cell| format!("{CELL}{cell}")).or(answer.running);
    answer.duration_ms = time.split_whitespace().next().and_then(|time| seconds(time.parse().ok()));
    Some(answer)
}

/// Before the number of a script that still runs: commands have numbers of their own.
pub(super) const CELL: &str = "cell ";

/// The object that a command answers a script with, where it is all that the script shows.
fn shown(text: &str) -> Option<CodexAnswer<'static>> {
    let whole = value::read(text.starts_with('{').then_some(text)?.as_bytes())?;
    let (output, exit) = (whole["output"].as_str()?, exit(&whole, "exit_code"));
    let running = number(&whole, "session_id").filter(|_| exit.is_none()).map(|number| number.to_string());
    (exit.is_some() || running.is_some()).then(|| CodexAnswer {
        text: Cow::Owned(output.to_owned()),
        exit,
        failed: exit.is_some_and(|exit| exit != 0),
        running,
        ..CodexAnswer::default()
    })
}

/// The answer of a command within that of a script, where no second one follows.
fn of_one(text: &str) -> Option<CodexAnswer<'_>> {
    headed(text).filter(|answer| !answer.text.contains("\nWall time: "))
}

/// An answer without a wrapping.
fn plain(text: &str) -> CodexAnswer<'_> {
    const LOOKED_AT: usize = 2000;
    let head = &text[..cru_base::lines::floor_char_boundary(text, LOOKED_AT)];
    let own = wrapper::is(super::IMPORTER.id, Means::Failed, head);
    let rejected = own || head.starts_with("exec command rejected") || head.starts_with("rejected by user");
    let denied_by_host = rejected && BY_POLICY.iter().any(|words| head.contains(words));
    let denied = rejected && head.contains("rejected by user") && !denied_by_host;
    let stopped = head.trim_start().starts_with("aborted by user") || head.trim() == "aborted";
    let (said, exit) = sandboxed(text);
    CodexAnswer {
        text: Cow::Borrowed(said),
        exit,
        failed: own || denied || stopped,
        denied,
        denied_by_host,
        stopped,
        ..CodexAnswer::default()
    }
}

/// `{"output": "…", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}`
fn boxed(text: &str) -> Option<CodexAnswer<'static>> {
    if !text.starts_with('{') || !text.contains("\"metadata\"") {
        return None;
    }
    let whole = value::read(text.as_bytes())?;
    let (output, metadata) = (whole["output"].as_str()?, object(&whole, "metadata")?);
    let exit = exit(metadata, "exit_code");
    Some(CodexAnswer {
        text: Cow::Owned(without_count(output).to_owned()),
        exit,
        duration_ms: seconds(metadata["duration_seconds"].as_f64()),
        failed: exit.is_some_and(|exit| exit != 0),
        ..CodexAnswer::default()
    })
}

/// Lines of figures, then `Output:` and what the tool said.
fn headed(text: &str) -> Option<CodexAnswer<'_>> {
    const LINES: usize = 8;
    let mut answer = CodexAnswer::default();
    let mut rest = text;
    for known in 0..LINES {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.trim_end();
        if line == "Output:" {
            answer.text = Cow::Borrowed(without_count(after));
            answer.failed = answer.exit.is_some_and(|exit| exit != 0);
            return (known > 0).then_some(answer);
        }
        if let Some(code) = line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code ")) {
            answer.exit = code.trim().parse().ok();
        } else if let Some(time) = line.strip_prefix("Wall time: ") {
            answer.duration_ms = time.split_whitespace().next().and_then(|time| seconds(time.parse().ok()));
        } else if let Some(number) = line.strip_prefix("Process running with session ID ") {
            answer.running = Some(number.trim().to_owned());
        } else if !["Chunk ID: ", "Original token count: ", "Total output lines: "]
            .iter()
            .any(|head| line.starts_with(head))
        {
            return None;
        }
        rest = after;
    }
    None
}

/// What a command said that the sandbox stopped: `failed in sandbox …, exit code: 1, stdout: …, stderr: …`.
fn sandboxed(text: &str) -> (&str, Option<i32>) {
    if !text.starts_with("failed in sandbox") {
        return (text, None);
    }
    let Some((_, rest)) = text.split_once("exit code: ") else { return (text, None) };
    let (code, rest) = rest.split_once(", stdout: ").unwrap_or((rest, ""));
    (rest.trim_start_matches(", stderr: "), code.trim().parse().ok())
}

/// Without the line that counts the lines of a shortened output.
fn without_count(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("Total output lines: ") else { return text };
    rest.split_once('\n').map_or("", |(_, rest)| rest.trim_start_matches('\n'))
}

/// Milliseconds of a time in seconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(super) fn seconds(time: Option<f64>) -> Option<u64> {
    time.filter(|time| *time >= 0.0).map(|time| (time * 1000.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, Option<i32>, bool) {
        let answer = unwrapped(text);
        (answer.text.into_owned(), answer.exit, answer.failed)
    }

    #[test]
    fn wrappings_of_all_times() {
        let rows: &[(&str, &str, Option<i32>, bool)] = &[
            (r#"{"output":"ok\n","metadata":{"exit_code":0,"duration_seconds":1.5}}"#, "ok\n", Some(0), false),
            (r#"{"output":"no","metadata":{"exit_code":2}}"#, "no", Some(2), true),
            (r#"{"output":1,"metadata":{}}"#, r#"{"output":1,"metadata":{}}"#, None, false),
            ("Exit code: 1\nWall time: 0 seconds\nOutput:\nbad", "bad", Some(1), true),
            ("Exit code: 0\nWall time: 1 seconds\nTotal output lines: 9\nOutput:\n\nx", "\nx", Some(0), false),
            (
                "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\nOutput:\n",
                "Output:\n",
                Some(0),
                false,
            ),
            ("Output:\nx", "Output:\nx", None, false),
            (
                "failed in sandbox L with execution error: denied, exit code: 128, stdout: , stderr: fatal: x",
                "fatal: x",
                Some(128),
                true,
            ),
            ("error: invalid hunk at line 4", "error: invalid hunk at line 4", None, true),
            ("aborted by user after 29.7s", "aborted by user after 29.7s", None, true),
            ("Plan updated", "Plan updated", None, false),
            ("Script completed\nWall time 1.2 seconds\nOutput:\n\nfine", "fine", None, false),
            (
                "Script completed\nWall time 1.2 seconds\nOutput:\n\n{\"exit_code\":2,\"output\":\"no\"}",
                "no",
                Some(2),
                true,
            ),
            (
                "Script completed\nWall time 2 seconds\nOutput:\n\nExit code: 0\nWall time: 1 seconds\nOutput:\na",
                "a",
                Some(0),
                false,
            ),
            (
                "Script completed\nWall time 2 seconds\nOutput:\nExit code: 1\nWall time: 1 seconds\nOutput:\na",
                "a",
                Some(1),
                true,
            ),
            (
                "Script completed\nWall time 2 seconds\nOutput:\nExit code: 0\nWall time: 1 seconds\nOutput:\na\nExit code: 1\nWall time: 1 seconds\nOutput:\nb",
                "Exit code: 0\nWall time: 1 seconds\nOutput:\na\nExit code: 1\nWall time: 1 seconds\nOutput:\nb",
                None,
                false,
            ),
            ("Script failed\nWall time 0.1 seconds\nOutput:\n\nScript error:\nno lamp", "no lamp", None, true),
            (
                "Script failed\nWall time 0.1 seconds\nOutput:\nfirst\nScript error:\nx",
                "first\nScript error:\nx",
                None,
                true,
            ),
            (
                "Script completed\nWall time 1.2 seconds\nOutput:\nError: apply_patch verification failed: x",
                "Error: apply_patch verification failed: x",
                None,
                true,
            ),
            ("Script terminated\nWall time 9.0 seconds\nOutput:\n", "Script terminated", None, true),
            (
                "Script kiddies\nWall time 9.0 seconds\nOutput:\n",
                "Script kiddies\nWall time 9.0 seconds\nOutput:\n",
                None,
                false,
            ),
        ];
        for (text, wanted, exit, failed) in rows {
            assert_eq!(of(text), ((*wanted).to_owned(), *exit, *failed), "{text}");
        }
        assert_eq!(unwrapped("Wall time: 2.5 seconds\nOutput:\nx").duration_ms, Some(2500));
        assert_eq!(
            unwrapped("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n").running.as_deref(),
            Some("7")
        );
    }

    #[test]
    fn refusals() {
        assert!(unwrapped("exec command rejected by user").denied);
        assert!(unwrapped("exec_command failed for `rm x`: Rejected(\"rejected by user\")").denied);
        assert!(unwrapped("patch rejected by user").denied);
        for words in [
            "patch rejected: rejected by user approval settings",
            "exec_command failed for `rm x`: Rejected(\"`rm x` rejected: blocked by policy\")",
        ] {
            let answer = unwrapped(words);
            assert_eq!((answer.denied, answer.denied_by_host), (false, true), "{words}");
        }
        assert!(!unwrapped("the log says: exec command rejected by user").denied);
        let words = "exec_command failed for `rm x`: Rejected(\"rejected by user\")";
        assert!(unwrapped(&format!("Script failed\nWall time 1.0 seconds\nOutput:\n\nScript error:\n{words}")).denied);
    }
}
