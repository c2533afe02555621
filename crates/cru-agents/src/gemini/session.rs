//! One session while it is told: its messages, what the host put around their words, and calls as events.

use jiff::Timestamp;
use serde_json::Value;

use super::{reason, result};
use crate::call::touched::TouchedFiles;
use crate::call::{argument, task_list, tools};
use crate::file::value::{self, attachment, count, filled, flag, list, time, usage_with_cache, word};
use crate::record::RecordHost;
use crate::record::session::RecordSession;
use crate::stream::out::Out;
use crate::stream::teller::Teller;
use crate::unknown::unknown;
use crate::wrapper::{self, Means};
use cru_action::ToolKind;
use cru_session::FileRef;
use cru_session::event::{Attachment, CallResult, EventKind, PromptOrigin, StreamKey, SubagentRun};

pub(super) const HOST: RecordHost = RecordHost { id: super::IMPORTER.id, ..RecordHost::PLAIN };

/// Tells what a message says but its calls; why something of it is left out, where it is.
pub(super) fn message(
    session: &mut RecordSession,
    message: &Value,
    words: &str,
    out: &mut Out<'_>,
) -> Option<&'static str> {
    match word(message, "type") {
        "user" if is_answer(message) => Some("answer of a tool, as its call tells it"),
        "user" => match tell(words) {
            GeminiSaid::Ran(ran) => {
                shell_line(session, &ran, out);
                None
            }
            GeminiSaid::Summary(summary) => session.compact(None, summary, out),
            GeminiSaid::Words => session.prompt(words, attachments(message), out),
        },
        "gemini" => {
            agent(session, message, words, out);
            None
        }
        "info" | "warning" => match compressed(words) {
            Some(tokens) => {
                let tokens_before = Some(tokens).filter(|tokens| *tokens > 0);
                out.emit(EventKind::Compaction { trigger: Some("manual".into()), tokens_before, summary: None });
                None
            }
            None if words.trim() == "Request cancelled." => session.stop(out),
            None => Some(reason::NOTICE),
        },
        "error" => session.fail(words.trim().trim_start_matches("[API Error: ").trim_end_matches(']'), out),
        "" => Some("no record type"),
        kind => Some(unknown("unknown record type", kind)),
    }
}

/// A shell command that the person ran in the host.
fn shell_line(session: &mut RecordSession, ran: &Ran<'_>, out: &mut Out<'_>) {
    let Ran { command, output, exit, stopped } = *ran;
    out.prompt(command, PromptOrigin::Shell);
    let failed = stopped || exit.is_some();
    let brief = match (output.trim().is_empty(), stopped, failed) {
        (true, true, _) => Some("stopped".into()),
        (true, false, false) => Some("no output".into()),
        _ => None,
    };
    let result = CallResult { output: output.into(), brief, failed, exit, ..CallResult::default() };
    tools::shell_line(&mut session.calls, command, result, out);
}

/// Thoughts, words and tokens of the agent.
fn agent(session: &mut RecordSession, message: &Value, words: &str, out: &mut Out<'_>) {
    let at = out.time;
    for thought in list(message, "thoughts") {
        let (subject, said) = (word(thought, "subject").trim(), word(thought, "description").trim());
        let text = if subject.is_empty() { said.to_owned() } else { format!("**{subject}**\n\n{said}") };
        out.time = time(thought, "timestamp").or(at);
        session.think(&text, out);
    }
    out.time = at;
    session.reply(words, out);
    if let Some(tokens) = message.get("tokens").filter(|tokens| tokens.is_object()) {
        // Those of the cache are counted among the input, thoughts beside the output.
        let mut usage = usage_with_cache(tokens, ["input", "output", "cached", ""]);
        usage.input = usage.input.saturating_add(count(tokens, "tool"));
        usage.output = usage.output.saturating_add(count(tokens, "thoughts"));
        session.usage("", filled(message, "model").unwrap_or("unknown"), usage, out);
        out.told = true;
    }
    out.told |= !list(message, "toolCalls").is_empty();
}

/// Whether a call may still change.
pub(super) fn is_open(call: &Value) -> bool {
    matches!(word(call, "status"), "validating" | "scheduled" | "executing" | "awaiting_approval" | "pending")
}

/// Tells a call and its answer; `at` is its message's time.
pub(super) fn call(
    session: &mut RecordSession,
    call: &Value,
    record: u64,
    at: Option<Timestamp>,
    told: &mut Teller<'_>,
) {
    let tool = filled(call, "name").unwrap_or("tool");
    let input = &call["args"];
    if tool == "write_todos" {
        return told.emit(record, at, EventKind::Tasks(task_list::of_call(input)));
    }
    session.call(word(call, "id"), tool, input, &mut told.out(record, at));
    if is_open(call) {
        return;
    }
    let (mut answer, created) = result::of(call);
    let works = !answer.failed;
    if let Some(whole) = told.spilled(&answer.output).filter(|_| !answer.failed) {
        answer.output = whole.into();
    }
    let session_id = told.own_id().to_owned();
    let out = &mut told.out(record, time(call, "timestamp").or(at));
    if works {
        find_place(session, tool, input, &answer.output, out);
        answer.touched = touched(session, tool, call, &answer.output, created);
    }
    answer.subagent = filled(call, "agentId").map(|agent| SubagentRun {
        stream: Some(StreamKey { session: session_id, agent: Some(agent.to_owned()) }),
        agent: Some(tool.to_owned().into()),
        task: filled(input, "objective").map(|task| task.to_owned().into()),
        ..SubagentRun::default()
    });
    let id = session.waiting.last().map(|(id, _)| id.clone()).unwrap_or_default();
    session.answer(&id, answer, out);
}

/// Files that an answer proves to be read and written.
fn touched(session: &RecordSession, tool: &str, call: &Value, output: &str, created: bool) -> Option<TouchedFiles> {
    let input = &call["args"];
    let path = session.place.show(argument::path(tool, input)?).into_owned();
    let mut files = TouchedFiles::default();
    match ToolKind::of_call(tool, input) {
        ToolKind::Read => files.read(path, result::lines(output)),
        ToolKind::Write | ToolKind::Edit => {
            let file = FileRef { path, created, ..FileRef::default() };
            let diff = call.get("resultDisplay").map_or("", |display| word(display, "fileDiff"));
            tools::wrote(tool, input, file, diff, &mut files);
        }
        _ => return None,
    }
    Some(files)
}

/// The folder of the work, where an answer names a file whole that the call named from there.
fn find_place(session: &mut RecordSession, tool: &str, input: &Value, output: &str, out: &mut Out<'_>) {
    let Some(path) = argument::path(tool, input).filter(|_| session.place.start().is_empty()) else { return };
    let Some((_, rest)) = output.lines().next().and_then(|line| line.split_once("file: ")) else { return };
    let root = rest.trim_end_matches('.').strip_suffix(path).and_then(|root| root.strip_suffix(['/', '\\']));
    if let Some(root) = root.filter(|root| !path.starts_with('/') && root.len() > 1) {
        out.folder(&mut session.place, root);
    }
}

/// The rows of the table of wrappers.
const AGENT: &str = super::IMPORTER.id;

/// How a summary begins that takes the place of what was said.
const SUMMARY: &str = "<state_snapshot>";

/// A shell command that a person ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran<'a> {
    pub(super) command: &'a str,
    pub(super) output: &'a str,
    /// Its exit code, where that is not 0.
    pub(super) exit: Option<i32>,
    /// Whether it was stopped.
    pub(super) stopped: bool,
}

/// What stands under a person's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GeminiSaid<'a> {
    /// Words, theirs or the host's.
    Words,
    /// A shell command and its output.
    Ran(Ran<'a>),
    /// A summary of what was said before.
    Summary(&'a str),
}

/// Reads the words of a user message.
pub(super) fn tell(words: &str) -> GeminiSaid<'_> {
    let words = words.trim();
    let is_summary = words.starts_with('<') && words.contains("</state_snapshot>");
    if let Some(at) = words.find(SUMMARY).filter(|_| is_summary) {
        let inner = &words[at + SUMMARY.len()..];
        return GeminiSaid::Summary(inner.split("</state_snapshot>").next().unwrap_or(inner).trim());
    }
    let is_line = wrapper::means(AGENT, words) == Some(Means::Shell);
    is_line.then(|| ran(words)).flatten().map_or(GeminiSaid::Words, GeminiSaid::Ran)
}

/// A command that the person ran: it stands in a fence, and what it printed in a second one.
fn ran(words: &str) -> Option<Ran<'_>> {
    let (command, rest) = words.split_once("```sh\n")?.1.split_once("\n```")?;
    let output = rest.split_once("```\n").map_or("", |(_, output)| output);
    let output = output.trim_end().trim_end_matches("```").trim_end();
    // How it ended stands in the first line, where it did not end well.
    let first = output.lines().next().unwrap_or("");
    let behind = |head: &str| first.strip_prefix(head).map(|rest| rest.trim_end_matches('.'));
    let exit = behind("Command exited with code ").and_then(|code| code.parse().ok());
    let stopped = behind("Command was cancelled").is_some() || behind("Command terminated by signal: ").is_some();
    let output = if exit.is_some() || stopped { output[first.len()..].trim_start() } else { output };
    Some(Ran { command, output, exit, stopped })
}

/// The words of a message, without thoughts: what was shown, else what was sent.
pub(super) fn words(message: &Value) -> String {
    let shown = message.get("displayContent").map(joined).filter(|words| !words.trim().is_empty());
    shown.unwrap_or_else(|| message.get("content").map(joined).unwrap_or_default())
}

fn joined(content: &Value) -> String {
    match content {
        Value::String(words) => words.clone(),
        Value::Array(parts) => {
            let mut words = String::new();
            for part in parts {
                words.push_str(
                    part.as_str().unwrap_or_else(|| if flag(part, "thought") { "" } else { word(part, "text") }),
                );
            }
            words
        }
        part => word(part, "text").to_owned(),
    }
}

/// Pictures and documents in a message.
pub(super) fn attachments(message: &Value) -> Vec<Attachment<'static>> {
    let sent = |part: &Value| {
        let data = part.get("inlineData")?;
        Some(attachment(filled(data, "mimeType").unwrap_or(value::FILE), word(data, "data")))
    };
    list(message, "content").iter().filter_map(sent).collect()
}

/// Whether a message holds nothing but answers of tools, which their calls tell, as parts or written out as a text.
pub(super) fn is_answer(message: &Value) -> bool {
    let (parts, words) = (list(message, "content"), words(message));
    let is_part = parts.iter().any(|part| part.get("functionResponse").is_some());
    is_part && words.trim().is_empty() || words.starts_with("[Function Response: ")
}

/// Tokens before a compaction that the host tells of, 0 where it does not say: `Chat history compressed from 1200 to
/// 300 tokens.`
pub(super) fn compressed(words: &str) -> Option<u64> {
    let (_, rest) = words.split_once("history compressed from ")?;
    Some(rest.split_whitespace().next().and_then(|number| number.replace([',', '.'], "").parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn persons_and_hosts() {
        assert_eq!(tell(" fix it "), GeminiSaid::Words);
        let ran =
            "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.rs\n```";
        assert_eq!(tell(ran), GeminiSaid::Ran(Ran { command: "ls", output: "a.rs", ..Ran::default() }));
        let failed = "I ran the following shell command:\n```sh\nmake\n```\n\nThis produced the following result:\n```\nCommand exited with code 2.\nno rule\n```";
        assert_eq!(
            tell(failed),
            GeminiSaid::Ran(Ran { command: "make", output: "no rule", exit: Some(2), stopped: false })
        );
        assert_eq!(tell("<state_snapshot>\nall\n</state_snapshot>"), GeminiSaid::Summary("all"));
    }

    #[test]
    fn contents() {
        assert_eq!(words(&json!({"content": [{"text": "a"}, "b", {"text": "no", "thought": true}, 3]})), "ab");
        assert_eq!(words(&json!({"content": "long", "displayContent": "short"})), "short");
        assert_eq!(words(&json!({"content": {"text": "x"}})), "x");
        assert!(is_answer(&json!({"content": [{"functionResponse": {}}]})));
        assert!(is_answer(&json!({"content": "[Function Response: read_many_files]--- a.rs ---"})));
        assert_eq!(compressed("Chat history compressed from 12345 to 300 tokens."), Some(12345));
        assert_eq!(compressed("hello"), None);
    }
}
