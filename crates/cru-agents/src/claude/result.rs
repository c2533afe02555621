//! Answers of tools: output, also where the host put it aside for its size, failure, refusal, files, sub-agents, and the decisions
//! and tasks they prove.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use super::agents::Agents;
use super::denial::{self, Denial};
use super::stream::ClaudeStream;
use super::{brief, decision, proof, record};
use crate::call::open::OpenCall;
use crate::call::touched::TouchedFiles;
use crate::call::{shell, spilled, task_list};
use crate::file::value::{blocks, exit, filled, flag, number, object, word};
use crate::stream::out::Out;
use crate::wrapper;
use cru_action::ToolKind;
use cru_session::Task;
use cru_session::event::{Attachment, CallResult, EventKind, PromptOrigin, StreamKey, SubagentRun};

impl ClaudeStream {
    /// Reads one answer. `alone`: it is the line's only one, so that the line's details are its own.
    pub(super) fn result(
        &mut self,
        block: &Value,
        record: &Value,
        alone: bool,
        out: &mut Out<'_>,
        agents: &mut Agents,
    ) -> Option<&'static str> {
        let host_id = word(block, "tool_use_id");
        let made_by = [word(record, "sourceToolAssistantUUID"), word(record, "parentUuid")];
        let (words, attachments) = flatten(&block["content"]);
        let denial = match (flag(block, "is_error"), alone) {
            (true, true) => denial::read(&words, word(record, "toolDenialKind"), filled(record, "userFeedback")),
            (true, false) => denial::read(&words, "", None),
            (false, _) => None,
        };
        let refusal = match &denial {
            Some(Denial::Person(words)) => words.map(str::to_owned),
            _ => None,
        };
        let Some(call) = self.calls.close(host_id, made_by) else {
            let known = self.calls.knows(host_id);
            refusal_words(refusal, host_id, out);
            self.unmet.extend((!known && !out.told).then(|| host_id.to_owned()));
            return (!out.told).then_some(self.calls.unmet(host_id));
        };
        let detail = if alone { &record["toolUseResult"] } else { &Value::Null };
        let persisted = persisted(&words, detail, &self.transcript);
        let words = persisted.as_ref().map_or(words.as_ref(), |persisted| persisted.text.as_str());
        let denied = matches!(denial, Some(Denial::Person(_) | Denial::Host(_)));
        let by_host = match denial {
            Some(Denial::Host(reason)) => Some(reason),
            _ => None,
        };
        let (output, exit) = unwrapped(words, ToolKind::of(&call.tool) == ToolKind::Subagent, flag(block, "is_error"));
        let failed = flag(block, "is_error") || flag(detail, "interrupted");
        let subagent = self.subagent(&call, detail, failed, agents);
        let brief = if failed { None } else { brief::of(&call.tool, call.input.as_ref(), detail, output) };
        let brief = persisted.as_ref().and_then(|it| it.brief.clone()).filter(|_| !failed).or(brief);
        let files = if failed { TouchedFiles::default() } else { self.files(&call, detail, output) };
        let commit = filled(&detail["gitOperation"]["commit"], "sha");
        let refused = (denial.is_some() && by_host.is_none()).then(|| call.id.clone());
        out.emit(EventKind::Result(CallResult {
            call: Cow::Borrowed(&call.id),
            output: Cow::Borrowed(output),
            brief: brief.map(Cow::Owned),
            failed,
            denied,
            denial: by_host.map(Cow::Borrowed),
            exit,
            duration_ms: duration(detail),
            subagent,
            attachments,
            commits: commit.map(Cow::Borrowed).into_iter().collect(),
            unstated: filled(detail, "backgroundTaskId").is_some(),
            ..files.into()
        }));
        self.background(&call, detail, out);
        self.workflow(&call, word(detail, "runId"), words, out, agents);
        if denial == Some(Denial::Interrupted) {
            out.emit(EventKind::Interrupt { call: Some(Cow::Borrowed(&call.id)), unnamed: false });
        } else if refused.is_some() {
            self.refused = refused;
        }
        refusal_words(refusal, &call.id, out);
        if !failed {
            self.consequences(&call, detail, out);
        }
        None
    }

    /// What an answer says of a command in the background: that it is there, or how it ended.
    fn background(&mut self, call: &OpenCall, detail: &Value, out: &mut Out<'_>) {
        if let Some(task) = filled(detail, "backgroundTaskId") {
            self.background.insert(task.to_owned(), (call.id.clone(), call.effects.writes.clone()));
            return;
        }
        let told = object(detail, "task").unwrap_or(detail);
        let stopped = filled(told, "message").map(|_| "killed");
        let status = filled(told, "status").or(stopped).unwrap_or("running");
        if let Some(task) = filled(told, ["task_id", "shellId", "shell_id"]) {
            let output = filled(told, ["output", "stdout", "stderr"]).unwrap_or(status);
            self.ended(task, status, exit(told, "exitCode"), output, out);
        }
    }

    /// A command in the background has that status: where it ended, its own step says how. Whether the command is known.
    pub(super) fn ended(
        &mut self,
        task: &str,
        status: &str,
        exit: Option<i32>,
        output: &str,
        out: &mut Out<'_>,
    ) -> bool {
        if matches!(status, "running" | "pending") {
            return false;
        }
        let Some((call, writes)) = self.background.remove(task) else { return false };
        let failed = status != "completed" || exit.is_some_and(|exit| exit != 0);
        shell::ended(call, writes, (exit, failed), output, out);
        true
    }

    fn files(&self, call: &OpenCall, detail: &Value, output: &str) -> TouchedFiles {
        let mut files = proof::of(&call.tool, call.path.as_deref(), call.input.as_ref(), detail, output, &self.place);
        // A command that was sent to the background has not written yet.
        if filled(detail, "backgroundTaskId").is_none() {
            shell::touched(&call.effects, output, &mut files);
        }
        files
    }

    fn subagent(
        &self,
        call: &OpenCall,
        detail: &Value,
        failed: bool,
        agents: &mut Agents,
    ) -> Option<SubagentRun<'static>> {
        if !matches!(call.tool.as_str(), "Task" | "Agent") {
            return None;
        }
        let input = |key: &str| call.input.as_ref()?.get(key)?.as_str().map(str::to_owned);
        let told = filled(detail, "agentId").map(str::to_owned);
        let agent_id = told
            .or_else(|| call.sidechain.clone())
            .or_else(|| agents.asked(&self.key.session, &input("prompt").unwrap_or_default()));
        let agent = filled(detail, "agentType").map(str::to_owned).or_else(|| input("subagent_type"));
        let task = input("description");
        // A call that failed before it began has no sub-agent.
        if failed && agent_id.is_none() {
            return None;
        }
        let key = agent_id.map(|id| StreamKey { session: self.key.session.clone(), agent: Some(id) });
        let has_stream = key
            .as_ref()
            .is_some_and(|key| agents.started(key, &self.key, agent.as_deref(), task.as_deref()).has_stream);
        let model = filled(detail, "resolvedModel").map(str::to_owned).or_else(|| input("model"));
        let background = flag(detail, "isAsync") || word(detail, "status") == "async_launched";
        Some(SubagentRun {
            // By the stream its coming back is joined, also where its own file is not at hand.
            stream: key.filter(|_| has_stream || background),
            agent: agent.map(Cow::Owned),
            model: model.map(Cow::Owned),
            task: task.map(Cow::Owned),
            background,
        })
    }

    /// What an answer says beyond itself: decisions and tasks.
    fn consequences(&self, call: &OpenCall, detail: &Value, out: &mut Out<'_>) {
        let input = call.input.as_ref();
        match (call.tool.as_str(), input) {
            ("AskUserQuestion", Some(input)) => {
                let made = decision::answers(input, detail, &call.id);
                for decision in made {
                    out.emit(EventKind::Decision(decision));
                }
            }
            // In a sub-agent it is its parent that approves.
            ("ExitPlanMode", Some(input)) if self.key.agent.is_none() => {
                let plan = input.get("plan").and_then(Value::as_str).map(str::to_owned);
                let plan = plan.or_else(|| filled(detail, "plan").map(str::to_owned));
                out.emit(EventKind::Decision(decision::approved(&plan.unwrap_or_default(), Some(&call.id))));
            }
            ("TodoWrite", Some(input)) => out.emit(EventKind::Tasks(task_list::of_call(input))),
            ("TaskCreate", Some(input)) => {
                let id = filled(&detail["task"], "id");
                if let Some(id) = id {
                    out.emit(EventKind::Task(task(id, input, "pending")));
                }
            }
            ("TaskUpdate", Some(input)) => {
                if let Some(id) = input.get("taskId").and_then(Value::as_str) {
                    out.emit(EventKind::Task(task(id, input, "")));
                }
            }
            _ => {}
        }
    }
}

/// Tells what a person said when refusing.
fn refusal_words(words: Option<String>, call: &str, out: &mut Out<'_>) {
    let Some(text) = words else { return };
    out.prompt(text, PromptOrigin::Denial { call: Cow::Borrowed(call) });
}

/// The text of an answer and the pictures in it.
fn flatten(content: &Value) -> (Cow<'_, str>, Vec<Attachment<'static>>) {
    if let Value::String(words) = content {
        return (words.into(), Vec::new());
    }
    let (mut words, mut attachments) = (Vec::new(), Vec::new());
    let parts = blocks(content);
    for part in &parts {
        let key = if word(part, "type") == "tool_reference" { "tool_name" } else { "text" };
        match record::attachment(part) {
            Some(sent) => attachments.push(sent),
            None => words.extend(part[key].as_str()),
        }
    }
    (words.join("\n").into(), attachments)
}

/// The output without what the host put around it, and the exit code it wrote before it.
fn unwrapped(text: &str, of_agent: bool, is_error: bool) -> (&str, Option<i32>) {
    let text = wrapper::answer(super::IMPORTER.id, text, of_agent);
    if !is_error {
        return (text, None);
    }
    if let Some(inside) = text.strip_prefix("<tool_use_error>") {
        return (inside.strip_suffix("</tool_use_error>").unwrap_or(inside), None);
    }
    let Some(rest) = text.strip_prefix("Exit code ") else { return (text, None) };
    let (number, output) = rest.split_once('\n').unwrap_or((rest, ""));
    number.trim().parse().map_or((text, None), |exit| (output, Some(exit)))
}

fn duration(detail: &Value) -> Option<u64> {
    let seconds = || detail["durationSeconds"].as_f64().filter(|seconds| *seconds >= 0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let from_seconds = || seconds().map(|seconds| (seconds * 1000.0) as u64);
    number(detail, ["durationMs", "totalDurationMs"]).or_else(from_seconds)
}

fn task(id: &str, input: &Value, status: &str) -> Task {
    let get = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let given = get("status");
    Task {
        id: id.to_owned(),
        content: get("subject"),
        status: if given.is_empty() { status.to_owned() } else { given },
        ..Task::default()
    }
}

const OPEN: &str = "<persisted-output>";
/// How the host begins where the answer of a server is too long.
const TOO_LONG: &str = "Error: result (";
const CLOSE: &str = "</persisted-output>";

/// An answer that the host put aside, and what it comes to where the file is gone.
pub(super) struct Persisted {
    pub(super) text: String,
    pub(super) brief: Option<String>,
}

/// The answer, where the host put it aside.
fn persisted(text: &str, detail: &Value, transcript: &Path) -> Option<Persisted> {
    let named = filled(detail, "persistedOutputPath");
    let inside = text.trim_start().strip_prefix(OPEN);
    if inside.is_none() && named.is_none() && !text.trim_start().starts_with(TOO_LONG) {
        return None;
    }
    if let Some(text) = spilled::whole(text, named, transcript) {
        return Some(Persisted { text: words_of(&text).unwrap_or(text), brief: None });
    }
    let (head, preview) = shown(inside?);
    let size = head.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(size, _)| size);
    let kept = if preview.is_empty() { "not in the transcript" } else { "in the transcript only its beginning" };
    let size = if size.is_empty() { "too much" } else { size };
    let brief = format!("{size} of output, {kept}");
    Some(Persisted { text: preview.to_owned(), brief: Some(brief) })
}

/// What the host says of the size, and the beginning that it left.
fn shown(inside: &str) -> (&str, &str) {
    let inside = inside.split_once(CLOSE).map_or(inside, |(inside, _)| inside).trim();
    let (head, rest) = inside.split_once('\n').unwrap_or((inside, ""));
    let rest = rest.trim_start();
    let preview = match rest.split_once('\n') {
        Some((line, preview)) if line.starts_with("Preview (") => preview,
        _ => rest,
    };
    (head, preview.trim_end().strip_suffix("...").unwrap_or(preview).trim_end())
}

/// The words of an answer that was put aside as JSON: a list of blocks.
fn words_of(text: &str) -> Option<String> {
    let value = crate::file::value::read(text.trim_start().starts_with('[').then_some(text)?.as_bytes())?;
    let words = value.as_array()?.iter().map(|block| block.get("text")?.as_str().map(Cow::Borrowed));
    words.collect::<Option<Vec<_>>>().filter(|words| !words.is_empty()).map(|words| words.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappings_of_the_host() {
        assert_eq!(unwrapped("Exit code 101\n2 failed", false, true), ("2 failed", Some(101)));
        assert_eq!(unwrapped("Exit code 1", false, true), ("", Some(1)));
        assert_eq!(unwrapped("Exit code 1\nx", false, false), ("Exit code 1\nx", None));
        assert_eq!(unwrapped("Exit code of it", false, true), ("Exit code of it", None));
        assert_eq!(unwrapped("<tool_use_error>No such file</tool_use_error>", false, true), ("No such file", None));
        assert_eq!(unwrapped("text\n<system-reminder>a</system-reminder>\n", false, false), ("text", None));
        assert_eq!(unwrapped("</system-reminder>", false, false), ("</system-reminder>", None));
    }

    #[test]
    fn what_is_left_where_the_file_is_gone() {
        let text = "<persisted-output>\nOutput too large (80KB). Full output saved to: /x/tool-results/b.txt\n\nPreview (first 2KB):\nline 0\nline 1\n...\n</persisted-output>";
        let left = persisted(text, &Value::Null, Path::new("/nowhere/s.jsonl")).unwrap();
        assert_eq!(left.text, "line 0\nline 1");
        assert_eq!(left.brief.as_deref(), Some("80KB of output, in the transcript only its beginning"));
        assert!(persisted("line 0 <persisted-output>", &Value::Null, Path::new("/nowhere/s.jsonl")).is_none());
        assert_eq!(words_of(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).as_deref(), Some("a\nb"));
        assert_eq!(words_of("[1, 2]"), None);
    }
}
