//! Tool calls: a part holds the call and, once it is there, the answer.

use std::borrow::Cow;

use serde_json::Value;

use super::brief;
use super::state::OpenCodeSession;
use crate::call::question::{Answered, approval};
use crate::call::tools::{self, Answer};
use crate::call::touched::TouchedFiles;
use crate::call::{argument, shell, spilled, task_list};
use crate::file::value::{self, exit, filled, flag, list, millis, strings, trimmed, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_action::ToolKind;
use cru_action::action::MAX_FILES;
use cru_base::text;
use cru_session::FileRef;
use cru_session::event::{Attachment, DecisionEvent, EventKind, PromptOrigin, StreamKey, SubagentRun};

/// How the host begins its word that a person refused a call.
const REFUSED: &str = "The user rejected permission to use this specific tool call";
/// How it begins its word that a rule of its permissions refused a call.
const BY_RULE: &str = "The user has specified a rule which prevents you from using this specific tool call";
/// How it goes on where they said why.
const FEEDBACK: &str = " with the following feedback: ";

impl OpenCodeSession {
    /// Reads a tool part; the time of `out` is its message's.
    pub(super) fn tool(&mut self, part: &Value, out: &mut Out<'_>) {
        let (state, mut input) = (&part["state"], &part["state"]["input"]);
        let start = millis(&state["time"], "start").or(out.time);
        let mut tool = filled(part, "tool").unwrap_or("tool");
        let invalid = tool == "invalid";
        if invalid {
            (tool, input) = (filled(input, "tool").unwrap_or(tool), &Value::Null);
        }
        out.time = start;
        let args = telling(tool, input, &self.session.place);
        let mut name = tool;
        if self.by_person && tool == "bash" && !args.trim().is_empty() {
            name = "Shell";
            out.prompt(args.as_str(), PromptOrigin::Shell);
        }
        let mut id = word(part, "callID").to_owned();
        if id.is_empty() || self.session.calls.knows(&id) {
            id = format!("{id}@{}", out.record);
        }
        let asked = (args, input.clone());
        let told = tools::call_as(&mut self.session.calls, &self.session.place, [&id, ""], name, asked, out);
        let status = word(state, "status");
        if tool == "todowrite" && status == "completed" {
            out.emit(EventKind::Tasks(task_list::read(list(input, "todos"))));
        }
        out.time = millis(&state["time"], "end").or(start);
        // Else no answer is recorded.
        if matches!(status, "completed" | "error") {
            self.answered(&id, (tool, input, invalid), state, out);
            behind(&told, (tool, input, invalid), state, out);
        }
    }

    /// Tells an answer.
    fn answered(&mut self, id: &str, asked: (&str, &Value, bool), state: &Value, out: &mut Out<'_>) {
        let (tool, input, invalid) = asked;
        let (metadata, is_error) = (&state["metadata"], word(state, "status") == "error");
        let output = word(state, if is_error { "error" } else { "output" });
        let whole = if is_error { None } else { spilled::whole(output, None, &self.transcript) };
        let is_shell = ToolKind::of(tool) == ToolKind::Shell;
        let output = whole.as_deref().unwrap_or(output);
        let output = if is_shell { without_notes(output) } else { output };
        let by_rule = is_error && output.starts_with(BY_RULE);
        let refused =
            is_error && (output.starts_with(REFUSED) || output.starts_with("The user dismissed this question"));
        let exit = exit(metadata, "exit").filter(|code| is_error || (is_shell && *code != 0));
        let failed = is_error || invalid || exit.is_some();
        let is_agent = matches!(tool, "task" | "subagent");
        let answer = Answer {
            output: if is_agent { brief::answer(output) } else { output }.to_owned().into(),
            brief: if failed { None } else { brief::of(tool, input, state, output).map(Cow::Owned) },
            failed,
            denied: refused,
            denial: by_rule.then(|| output.lines().next().unwrap_or_default().to_owned().into()),
            exit,
            subagent: is_agent.then(|| self.started(input, metadata, output)),
            attachments: list(state, "attachments").iter().map(attachment).collect(),
            touched: if failed { None } else { self.files(id, input, metadata, output) },
            named: if is_shell && !failed { shell::named(tool, input, &self.session.place) } else { Vec::new() },
            ..Answer::default()
        };
        if answer.named.is_empty() {
            let touched = answer.touched.iter().flat_map(|touched| &touched.writes);
            self.changed.extend(touched.map(|file| file.path.clone()));
            self.session.answer(id, answer, out);
        } else {
            self.waiting.push((out.record, out.time, id.to_owned(), answer));
        }
    }

    /// Files that the success of a call proves to be read and written.
    fn files(&self, id: &str, input: &Value, metadata: &Value, output: &str) -> Option<TouchedFiles> {
        let (call, place) = (self.session.calls.get(id, ["", ""])?, &self.session.place);
        let mut files = TouchedFiles::default();
        let named = argument::path(&call.tool, input).map(|path| place.show(path).into_owned());
        match ToolKind::of_call(&call.tool, input) {
            ToolKind::Read => {
                let folder = word(metadata, "/display/type") == "directory";
                if let Some(path) = named.filter(|_| !folder) {
                    files.read(path, brief::shown_lines(output));
                }
            }
            ToolKind::Edit | ToolKind::Write => {
                let created = brief::created(metadata);
                if let Some(path) = named {
                    let file = FileRef { path, created, ..FileRef::default() };
                    tools::wrote(&call.tool, input, file, brief::diff(metadata), &mut files);
                }
            }
            _ => files = tools::files(call, input, output, place),
        }
        Some(files)
    }

    /// Tells the answers of shell commands that wait for what changed during their step: `files`, as the host found them in a
    /// folder that others work in, too. A command wrote those that it names as what it changes. Of files that no call names it is
    /// told that they are untold.
    pub(super) fn flush(&mut self, files: &[&str], out: &mut Out<'_>) {
        self.session.flush(out);
        let now = (out.record, out.time);
        let shown = files.iter().take(MAX_FILES).map(|path| self.session.place.show(path).into_owned());
        let mut left: Vec<(String, bool)> =
            shown.filter(|path| !self.changed.contains(path)).map(|path| (path, true)).collect();
        for (record, time, id, mut answer) in std::mem::take(&mut self.waiting) {
            let touched = answer.touched.get_or_insert_default();
            for (path, is_left) in left.iter_mut().filter(|(path, _)| shell::is_named(&answer.named, path)) {
                *is_left = false;
                if !touched.writes.iter().any(|file| file.path == *path) {
                    touched.wrote_paths([path.clone()]);
                }
            }
            (out.record, out.time) = (record, time);
            self.session.answer(&id, answer, out);
        }
        (out.record, out.time) = now;
        if files.len() > MAX_FILES || left.iter().any(|(_, is_left)| *is_left) {
            out.changes_untold();
        }
        self.changed.clear();
    }

    /// The sub-agent that a call started.
    fn started(&self, input: &Value, metadata: &Value, output: &str) -> SubagentRun<'static> {
        let named = filled(metadata, ["sessionId", "sessionID"]).or_else(|| id_in(output));
        let key = &self.session.key;
        let own = key.agent.as_ref().unwrap_or(&key.session);
        let owned = |key: &str| filled(input, key).map(|word| Cow::Owned(word.to_owned()));
        SubagentRun {
            stream: named.map(|id| StreamKey { session: own.clone(), agent: Some(id.to_owned()) }),
            agent: owned("subagent_type").or_else(|| owned("agent")),
            model: filled(metadata, "/model/modelID").map(|model| model.to_owned().into()),
            task: owned("description"),
            background: flag(metadata, "background") || flag(input, "background"),
        }
    }
}

/// What an answer tells beside itself; `call` is the id that events know the call by.
fn behind(call: &str, asked: (&str, &Value, bool), state: &Value, out: &mut Out<'_>) {
    let (tool, input, invalid) = asked;
    if word(state, "status") == "error" {
        let said = word(state, "error");
        if matches!(said.trim(), "Tool execution aborted" | "Aborted") {
            out.emit(EventKind::Interrupt { call: Some(call.into()), unnamed: false });
        }
        if let Some(words) = said.strip_prefix(REFUSED).and_then(|rest| rest.strip_prefix(FEEDBACK)) {
            out.prompt(words, PromptOrigin::Denial { call: call.to_owned().into() });
        }
    } else if tool == "question" && !invalid {
        for made in answers(input, &state["metadata"], call) {
            out.emit(EventKind::Decision(made));
        }
    } else if tool == "plan_exit" && !invalid {
        let said = text::truncate(word(state, "output").trim(), 400);
        out.emit(EventKind::Decision(approval("Plan approved", &said, Some(call))));
    }
}

/// The main argument of a call, in full; paths as a note writes them.
fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let told = argument::telling(tool, input, place);
    match trimmed(input, "subagent_type").or_else(|| trimmed(input, "agent")) {
        Some(agent) if matches!(tool, "task" | "subagent") && trimmed(input, "description").is_some() => {
            format!("@{agent} {told}")
        }
        _ => told,
    }
}

/// The session that an answer of a sub-agent names.
fn id_in(output: &str) -> Option<&str> {
    let marks = ["task_id: ", "session_id: ", "sessionID: ", "sessionID=\""];
    let rest = marks.into_iter().find_map(|mark| output.split_once(mark))?.1;
    rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().filter(|id| id.starts_with("ses"))
}

/// Output without what the host says about it.
fn without_notes(output: &str) -> &str {
    let tags = ["<bash_metadata>", "<shell_metadata>", "<metadata>"];
    let at = tags.iter().filter_map(|tag| output.rfind(tag)).max();
    let ends = output.trim_end().ends_with("metadata>");
    let output = at.filter(|at| ends && *at > 0).map_or(output, |at| output[..at].trim_end());
    if output.trim() == "(no output)" { "" } else { output }
}

/// A file that a tool answered with.
fn attachment(file: &Value) -> Attachment<'static> {
    let data = word(file, "url").split_once(";base64,").map_or("", |(_, data)| data);
    value::attachment(filled(file, "mime").unwrap_or(value::FILE), data)
}

/// Answered questions: one decision for each, with what was offered and not taken.
fn answers(input: &Value, metadata: &Value, call: &str) -> Vec<DecisionEvent<'static>> {
    let answered =
        |(question, answer)| Answered { question, taken: strings(Some(answer)), said: None, note: None }.decision(call);
    list(input, "questions").iter().zip(list(metadata, "answers")).filter_map(answered).collect()
}
