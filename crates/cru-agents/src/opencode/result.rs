//! Answers of tools: output, failure, refusal, exit code, files, decisions, and the sub-agent that did the work.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use super::brief;
use super::session::OpenCodeSession;
use super::tool::Asked;
use crate::call::question::{Answered, approval};
use crate::call::touched::TouchedFiles;
use crate::call::{argument, patch, shell, tools};
use crate::file::value::{self, filled, flag, list, strings, word};
use cru_action::ToolKind;
use cru_base::text;
use cru_session::FileRef;
use cru_session::event::{Attachment, CallResult, DecisionEvent, EventKind, PromptOrigin, StreamKey, SubagentRun};

/// Files that one command is said to have changed; a command that changes more is said to have changed these.
const FILES: usize = 20;

/// How the host begins its word that a person refused a call.
const REFUSED: &str = "The user rejected permission to use this specific tool call";
/// How it begins its word that a rule of its permissions refused a call.
const BY_RULE: &str = "The user has specified a rule which prevents you from using this specific tool call";
/// How it goes on where they said why.
const FEEDBACK: &str = " with the following feedback: ";

impl OpenCodeSession<'_> {
    /// Tells an answer.
    pub(super) fn answer(
        &mut self,
        record: u64,
        time: Option<Timestamp>,
        asked: &Asked<'_>,
        state: &Value,
        is_error: bool,
    ) {
        let metadata = &state["metadata"];
        let output = if is_error { word(state, "error") } else { word(state, "output") };
        let whole = if is_error { None } else { self.told.spilled(output) };
        let output = whole.as_deref().unwrap_or(output);
        let stopped = is_error && matches!(output.trim(), "Tool execution aborted" | "Aborted");
        let refusal = output.strip_prefix(REFUSED).filter(|_| is_error);
        let by_rule = is_error && output.starts_with(BY_RULE);
        let dismissed = is_error && output.starts_with("The user dismissed this question");
        let is_shell = ToolKind::of(asked.tool) == ToolKind::Shell;
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        let exit = metadata.get("exit").and_then(Value::as_f64).map(|code| code as i32);
        let failed = is_error || asked.invalid || (is_shell && exit.is_some_and(|code| code != 0));
        let output = if is_shell { without_notes(output) } else { output };
        let files = if failed { TouchedFiles::default() } else { self.files(asked, metadata, output) };
        let attachments = list(state, "attachments").iter().map(attachment).collect();
        let said = if failed { None } else { brief::of(asked.tool, asked.input, state, output) };
        let result = CallResult {
            call: asked.id.clone().into(),
            output: if asked.is_subagent() { brief::answer(output) } else { output }.to_owned().into(),
            brief: said.map(Cow::Owned),
            failed: failed && refusal.is_none() && !dismissed && !by_rule,
            denied: refusal.is_some() || dismissed || by_rule,
            denial: by_rule.then(|| output.lines().next().unwrap_or_default().to_owned().into()),
            exit: exit.filter(|_| failed),
            subagent: self.started(asked, metadata, output),
            attachments,
            ..files.into()
        };
        // What changed while a command only looked, somebody else changed.
        if is_shell && !failed && !shell::only_looks(asked.tool, asked.input, &self.place) {
            self.waiting.push((record, time, result));
        } else {
            self.told.emit(record, time, EventKind::Result(result));
        }
        self.behind(record, time, asked, metadata, output, Ended { failed, stopped, refusal });
    }

    /// What an answer tells beside itself.
    fn behind(
        &mut self,
        record: u64,
        time: Option<Timestamp>,
        asked: &Asked<'_>,
        metadata: &Value,
        output: &str,
        ended: Ended<'_>,
    ) {
        let call = asked.id.as_str();
        if ended.stopped {
            self.told.emit(record, time, EventKind::Interrupt { call: Some(call.into()), unnamed: false });
        }
        if let Some(words) = ended.refusal.and_then(|rest| rest.strip_prefix(FEEDBACK)) {
            let origin = PromptOrigin::Denial { call: call.to_owned().into() };
            self.told.out(record, time).prompt(words, origin);
        }
        if ended.failed {
            return;
        }
        match asked.tool {
            "question" => {
                for made in answers(asked.input, metadata, call) {
                    self.told.emit(record, time, EventKind::Decision(made));
                }
            }
            "plan_exit" => self.told.emit(
                record,
                time,
                EventKind::Decision(approval("Plan approved", &text::truncate(output.trim(), 400), Some(call))),
            ),
            _ => {}
        }
    }

    /// Files that the answer proves to be read and written.
    fn files(&mut self, asked: &Asked<'_>, metadata: &Value, output: &str) -> TouchedFiles {
        let mut files = TouchedFiles::default();
        let named = argument::path(asked.tool, asked.input).map(|path| self.place.show(path).into_owned());
        match ToolKind::of_call(asked.tool, asked.input) {
            ToolKind::Read => {
                let folder = metadata.get("display").is_some_and(|display| word(display, "type") == "directory");
                if let Some(path) = named.filter(|_| !folder) {
                    files.read(path, brief::shown_lines(output));
                }
            }
            ToolKind::Edit | ToolKind::Write => {
                let created = brief::created(metadata);
                if let Some(path) = named {
                    let file = FileRef { path, created, ..FileRef::default() };
                    tools::wrote(asked.tool, asked.input, file, brief::diff(metadata), &mut files);
                }
            }
            ToolKind::Patch => {
                patch::written(&argument::patched(asked.tool, asked.input, &self.place), &mut files);
            }
            ToolKind::Shell => {
                shell::touched(&shell::effects(asked.tool, asked.input, &self.place), output, &mut files);
                return files;
            }
            _ => {}
        }
        self.changed.extend(files.writes.iter().map(|file| file.path.clone()));
        files
    }

    /// Tells the answers of shell commands that wait for what their step changed: `files`, as the host found them.
    pub(super) fn flush(&mut self, files: &[&str]) {
        let alone = self.waiting.len() == 1;
        for (record, time, mut result) in std::mem::take(&mut self.waiting) {
            if alone {
                for path in files.iter().take(FILES).map(|path| self.place.show(path).into_owned()) {
                    let known = self.changed.contains(&path) || result.writes.iter().any(|file| file.path == path);
                    if !known {
                        result.writes.push(FileRef { path, ..FileRef::default() });
                    }
                }
            }
            self.told.emit(record, time, EventKind::Result(result));
        }
        self.changed.clear();
    }

    /// The sub-agent that a call started.
    fn started(&self, asked: &Asked<'_>, metadata: &Value, output: &str) -> Option<SubagentRun<'static>> {
        if !asked.is_subagent() {
            return None;
        }
        let named = filled(metadata, ["sessionId", "sessionID"]);
        let session = named.or_else(|| id_in(output));
        let own = self.told.own_id().to_owned();
        let stream = session.map(|id| StreamKey { session: own, agent: Some(id.to_owned()) });
        let owned = |key: &str| filled(asked.input, key).map(|word| Cow::Owned(word.to_owned()));
        let model = metadata.get("model").and_then(|model| filled(model, "modelID"));
        Some(SubagentRun {
            stream,
            agent: owned("subagent_type").or_else(|| owned("agent")),
            model: model.map(|model| model.to_owned().into()),
            task: owned("description"),
            background: flag(metadata, "background") || flag(asked.input, "background"),
        })
    }
}

/// How a call ended.
#[derive(Clone, Copy)]
struct Ended<'o> {
    failed: bool,
    stopped: bool,
    /// What stands behind the host's word that a person refused it.
    refusal: Option<&'o str>,
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

fn attachment(file: &Value) -> Attachment<'static> {
    let data = word(file, "url").split_once(";base64,").map_or("", |(_, data)| data);
    value::attachment(filled(file, "mime").unwrap_or(value::FILE), data)
}

/// Answered questions: one decision for each, with what was offered and not taken.
pub(super) fn answers(input: &Value, metadata: &Value, call: &str) -> Vec<DecisionEvent<'static>> {
    let answered =
        |(question, answer)| Answered { question, taken: strings(Some(answer)), said: None, note: None }.decision(call);
    list(input, "questions").iter().zip(list(metadata, "answers")).filter_map(answered).collect()
}
