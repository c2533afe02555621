//! One session while it is told: its messages and calls as events.

use jiff::Timestamp;
use serde_json::Value;

use super::reason;
use super::result;
use super::said::{self, GeminiSaid, Ran};
use crate::call::touched::TouchedFiles;
use crate::call::{argument, task_list, tools};
use crate::file::value::{count, filled, list, time, word};
use crate::record::RecordHost;
use crate::record::session::{RecordSession, usage_with_cache};
use crate::stream::out::Out;
use crate::stream::teller::Teller;
use crate::unknown::unknown;
use cru_action::ToolKind;
use cru_session::FileRef;
use cru_session::event::{CallResult, EventKind, PromptOrigin, StreamKey, SubagentRun};

pub(super) const HOST: RecordHost = RecordHost { id: super::IMPORTER.id, ..RecordHost::PLAIN };

/// Tells what a message says but its calls; why something of it is left out, where it is.
pub(super) fn message(
    session: &mut RecordSession,
    message: &Value,
    words: &str,
    out: &mut Out<'_>,
) -> Option<&'static str> {
    match word(message, "type") {
        "user" if said::is_answer(message) => Some("answer of a tool, as its call tells it"),
        "user" => match said::tell(words) {
            GeminiSaid::Ran(ran) => {
                shell_line(session, &ran, out);
                None
            }
            GeminiSaid::Summary(summary) => session.compact(None, summary, out),
            GeminiSaid::Words => session.prompt(words, said::attachments(message), out),
        },
        "gemini" => {
            agent(session, message, words, out);
            None
        }
        "info" | "warning" => match said::compressed(words) {
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
    let works = !answer.failed && !answer.denied;
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
