//! Answers of calls: how it went, which files, sub-agents and decisions they prove.

use std::borrow::Cow;

use serde_json::Value;

use super::answer::{self, CodexAnswer};
use super::call::CodexTold;
use super::stream::{CodexStream, Hint};
use crate::call::argument;
use crate::call::patch::{self, PatchedFile};
use crate::call::question::Answered;
use crate::call::shell;
use crate::call::touched::TouchedFiles;
use crate::file::value::{self, filled, list, trimmed, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_session::FileRef;
use cru_session::event::{CallResult, DecisionEvent, EventKind, StreamKey, SubagentRun};

/// A shorter time says nothing, in milliseconds.
const NOTICEABLE_MS: u64 = 50;

impl CodexStream {
    /// Reads an answer.
    pub(super) fn answer(&mut self, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let host_id = match (filled(item, "call_id"), filled(item, "name")) {
            (Some(id), _) => id.to_owned(),
            (None, name) => format!("{}@", name.unwrap_or("tool")),
        };
        let Some(call) = self.calls.close(&host_id, ["", ""]) else { return Some(self.calls.unmet(&host_id)) };
        let called = self.open.remove(&call.id).unwrap_or_default();
        let hint = self.hints.remove(&host_id).unwrap_or_default();
        let told = old(item).unwrap_or_else(|| answer::read(&item["output"]));
        let CodexAnswer { text, exit, duration_ms, denied, denied_by_host, stopped, running, attachments, .. } = told;
        let is_of_script = told.is_of_script;
        let exit = exit.or(hint.exit);
        let mut failed = told.failed || hint.failed || exit.is_some_and(|exit| exit != 0);
        let mut brief: Option<Cow<'_, str>> = None;
        let mut files = TouchedFiles::default();
        let is_spawned = called.name == "spawn_agent" && !failed && running.is_none();
        let subagent = is_spawned.then(|| self.spawned(&called.input, &hint, &text));
        let mut unstated = false;
        let awaited = called.waits_for();
        let waits = awaited.is_some();
        if let Some(number) = awaited {
            if running.is_some() && !failed {
                brief = Some("still running".into());
            } else if exit.is_some() || (is_of_script && number.starts_with(answer::CELL)) {
                brief = exit.map(|code| format!("exited with {code}").into());
                // That the command failed is told of the command; waiting for it worked.
                failed &= !self.ended(&number, (exit, failed), &text, out);
            }
        } else if let Some(number) = running {
            unstated = true;
            brief = Some("still running".into());
            if called.may_run() {
                self.running.insert(number, (call.id.clone(), called.clone()));
            }
        } else if !failed {
            unstated = called.is_command() && is_of_script && exit.is_none();
            brief = patch::brief(&called.files).map(Cow::Owned);
            self.touches(&called, &hint, (&text, unstated), &mut files);
        }
        if stopped {
            brief = Some(text.lines().next().unwrap_or("stopped").to_owned().into());
        }
        out.emit(EventKind::Result(CallResult {
            call: Cow::Borrowed(&call.id),
            output: Cow::Borrowed(&text),
            brief,
            failed,
            denied: denied || denied_by_host,
            denial: denied_by_host.then(|| text.lines().next().unwrap_or_default().into()),
            exit: exit.filter(|_| !waits || failed),
            duration_ms: hint.duration_ms.or(duration_ms).filter(|millis| *millis >= NOTICEABLE_MS),
            subagent,
            attachments,
            unstated,
            ..files.into()
        }));
        match called.name.as_str() {
            _ if denied => out.emit(EventKind::Decision(refused(&called.shown(), &call.id))),
            "wait" | "wait_agent" | "close_agent" if !failed && !waits => self.joined(&text, out),
            "request_user_input" if !failed => {
                for decision in answered(&called.input, &text, &call.id) {
                    out.emit(EventKind::Decision(decision));
                }
            }
            _ => {}
        }
        None
    }

    /// The files that the success of a call proves to be read and written; `unstated`: the command may have failed.
    fn touches(&self, called: &CodexTold, hint: &Hint, (text, unstated): (&str, bool), files: &mut TouchedFiles) {
        // Of a script that does not say how its command ended, what was read is seen in what it printed.
        let writes = called.effects.writes.iter().filter(|_| !unstated).cloned().collect();
        shell::touched(&shell::Effects { writes, ..called.effects.clone() }, text, files);
        for path in called.files.iter().filter(|file| !file.deleted).filter_map(|file| file.before.clone()) {
            files.read(path, None);
        }
        patch::written(&placed(&called.files, &hint.diffs, &self.place), files);
        if called.name == "read_file" {
            let path = argument::path(&called.name, &called.input);
            files.reads.extend(path.map(|path| FileRef { path: self.place.show(path).into(), ..FileRef::default() }));
        }
    }

    /// A command that ran in the background ended: its own step says how. Whether the command is known.
    fn ended(&mut self, number: &str, end: (Option<i32>, bool), output: &str, out: &mut Out<'_>) -> bool {
        let Some((call, told)) = self.running.remove(number) else { return false };
        // Of a script that ended, the end of its command is not known.
        let writes = if end.0.is_some() { told.effects.writes } else { Vec::new() };
        shell::ended(call, writes, end, output, out);
        true
    }

    /// The sub-agent that a call started.
    fn spawned(&self, input: &Value, hint: &Hint, output: &str) -> SubagentRun<'static> {
        let said = |places: [&str; 2]| trimmed(input, places).map(str::to_owned);
        let (role, task) = (said(["agent_type", "task_name"]), said(["message", "task_name"]));
        let value = value::read(output.as_bytes()).unwrap_or_default();
        let told = ["agent_id", "thread_id", "id"].iter().find_map(|key| value.get(*key)?.as_str()).map(str::to_owned);
        let (id, part) = match &hint.agent {
            Some((id, part)) => (Some(id.clone()), part.clone()),
            None => (told, None),
        };
        let nickname = value.get("nickname").and_then(Value::as_str).map(str::to_owned);
        let role = role.or(part).or(nickname);
        if let Some(id) = &id {
            let spawned = &mut self.family.borrow_mut().spawned;
            spawned.entry(id.clone()).or_insert_with(|| (role.clone(), task.clone()));
        }
        SubagentRun {
            stream: id.map(|id| self.child(&id)),
            agent: role.map(Cow::Owned),
            model: trimmed(input, "model").map(|model| model.to_owned().into()),
            task: task.map(Cow::Owned),
            background: true,
        }
    }

    /// The stream of a sub-agent that this session started.
    pub(super) fn child(&self, id: &str) -> StreamKey {
        StreamKey { session: self.id.clone(), agent: Some(id.to_owned()) }
    }

    /// Sub-agents that came back.
    fn joined(&self, output: &str, out: &mut Out<'_>) {
        let value = value::read(output.as_bytes()).unwrap_or_default();
        let all = ["status", "statuses"].iter().find_map(|key| value.get(*key)?.as_object());
        for (id, status) in all.into_iter().flatten() {
            let said = |key: &str| status.get(key).and_then(Value::as_str).map(str::to_owned);
            let (summary, failed) = match (said("completed"), said("errored")) {
                (Some(text), _) => (text, false),
                (None, Some(text)) => (text, true),
                _ => continue,
            };
            out.emit(EventKind::SubagentDone { stream: self.child(id), summary: Some(summary.into()), failed });
        }
    }
}

/// The answer of a form that has its output and exit code in an object.
fn old(item: &Value) -> Option<CodexAnswer<'_>> {
    let value = item.get("result").filter(|result| !result.is_null())?;
    let exit = value::exit(value, ["exitCode", "exit_code"]);
    let (stdout, stderr) = (word(value, "stdout"), word(value, "stderr"));
    let text = match value.as_str() {
        Some(text) => text.to_owned(),
        None if stderr.is_empty() => stdout.to_owned(),
        None => format!("{stdout}\n{stderr}"),
    };
    Some(CodexAnswer { text: text.into(), exit, failed: exit.is_some_and(|exit| exit != 0), ..CodexAnswer::default() })
}

/// The files of a patch with the places of their lines, where the host told them beside it.
fn placed(files: &[PatchedFile], diffs: &[(String, String)], place: &Place) -> Vec<PatchedFile> {
    let mut files = files.to_vec();
    for file in &mut files {
        // Of a file that is changed twice in one patch, the diff is of both.
        let told = diffs.iter().find(|(path, _)| place.show(path) == file.path);
        if let Some((_, diff)) = told {
            file.place(diff);
        }
    }
    files
}

/// A call that a person refused.
fn refused(what: &str, call: &str) -> DecisionEvent<'static> {
    DecisionEvent {
        title: format!("Refused: {what}").into(),
        call: Some(call.to_owned().into()),
        ..DecisionEvent::default()
    }
}

/// Questions that a person answered: one decision for each, with what was offered and not taken.
fn answered(asked: &Value, output: &str, call: &str) -> Vec<DecisionEvent<'static>> {
    let value = value::read(output.as_bytes()).unwrap_or_default();
    let Some(answers) = value.get("answers").and_then(Value::as_object) else { return Vec::new() };
    let made = list(asked, "questions").iter().filter_map(|question| {
        let answer = answers.get(trimmed(question, "id")?)?;
        let taken: Vec<&str> = match answer.get("answers").unwrap_or(answer) {
            Value::String(text) => vec![text.as_str()],
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        Answered { question, taken, said: None, note: None }.decision(call)
    });
    made.collect()
}
