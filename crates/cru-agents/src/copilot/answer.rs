//! Calls that run, their answers, and the decisions that some of these prove.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::format::is_agent;
use super::session::CopilotSession;
use crate::call::brief;
use crate::call::open::OpenCall;
use crate::call::question::{Answered, approval};
use crate::call::tools::{self, Answer};
use crate::call::touched::{TouchedFiles, numbered};
use crate::file::value::{filled, trimmed, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_action::ToolKind;
use cru_session::event::{DecisionEvent, EventKind, PromptOrigin, SubagentRun};

/// The tool by which the agent tells the host what to show as its state.
const INTENT: &str = "report_intent";

impl CopilotSession {
    /// A call begins to run.
    pub(super) fn started(&mut self, mut record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        let id = word(&record, "/data/toolCallId").to_owned();
        let tool = word(&record, "/data/toolName").to_owned();
        // What a person runs is told when they ask for it.
        if tool == INTENT {
            self.silent.insert(id);
            return Some("line of state");
        }
        if self.told.calls.knows(&id) {
            return Some("repeated call");
        }
        let input = record.pointer_mut("/data/arguments").map(Value::take).unwrap_or_default();
        tools::call(&mut self.told.calls, &self.told.place, &id, &tool, input, out);
        None
    }

    /// A call has ended.
    pub(super) fn completed(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let host_id = word(record, "/data/toolCallId");
        if self.silent.contains(host_id) {
            return Some("line of state");
        }
        let Some(call) = self.told.calls.close(host_id, ["", ""]) else { return Some(self.told.calls.unmet(host_id)) };
        let shell = ToolKind::of(&call.tool) == ToolKind::Shell;
        let failed = record.pointer("/data/success") == Some(&Value::Bool(false));
        let output = output(record);
        let (output, exit) = if shell { brief::ended(output, "<exited with exit code ", ">") } else { (output, None) };
        let subagent = is_agent(&call.tool).then(|| self.run(&call, host_id));
        let denied = self.denied.remove(host_id);
        let brief = if failed { None } else { shorter(&call.tool, output) };
        let answer = Answer {
            output: Cow::Borrowed(output),
            touched: if brief.is_none() { seen(&call, record, output, &self.told.place) } else { None },
            brief,
            diff: word(record, "/data/result/detailedContent"),
            failed: failed || exit.is_some_and(|code| code != 0),
            denied: denied.is_some(),
            denial: denied
                .filter(|by_person| !by_person)
                .map(|_| Cow::Borrowed(output.lines().next().unwrap_or_default())),
            exit: exit.filter(|code| *code != 0),
            duration_ms: self.allowed.remove(host_id).and_then(|from| between(from, out.time?)),
            subagent,
            ..Answer::default()
        };
        tools::answer(&call, answer, &self.told.place, out);
        if !failed {
            let decision = match call.tool.as_str() {
                "ask_user" => answered(&call, output),
                "exit_plan_mode" => approved(&call, output),
                _ => None,
            };
            if let Some(decision) = decision {
                out.emit(EventKind::Decision(decision));
            }
        }
        None
    }

    /// How a person answered when they were asked for leave.
    pub(super) fn permission(&mut self, data: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let (call, kind) = (word(data, "/toolCallId"), word(data, "/result/kind"));
        if !kind.starts_with("denied-") {
            // How long a person took to allow it is no part of how long it ran.
            self.allowed.extend(out.time.map(|time| (call.to_owned(), time)));
            return Some("question of the host");
        }
        let by_person = kind == "denied-interactively-by-user";
        self.denied.insert(call.to_owned(), by_person);
        if let Some(feedback) = filled(&data["result"], "feedback").filter(|_| by_person) {
            out.prompt(feedback, PromptOrigin::Denial { call: call.into() });
        }
        out.told = true;
        None
    }

    /// Calls that were refused are answered as that, where the host breaks off and writes no answer.
    pub(super) fn end_refused(&mut self, out: &mut Out<'_>) {
        for id in self.denied.keys().cloned().collect::<Vec<_>>() {
            self.completed(&json!({ "data": { "toolCallId": id, "success": false } }), out);
        }
        self.denied.clear();
    }

    fn run(&self, call: &OpenCall, host_id: &str) -> SubagentRun<'static> {
        let said = |key: &str| call.input.as_ref().and_then(|input| trimmed(input, key)).map(str::to_owned);
        let worked = self.told.run(&call.tool, host_id).filter(|_| self.agents.contains_key(host_id));
        let name = self.agents.get(host_id).filter(|name| !name.is_empty()).cloned();
        SubagentRun {
            stream: worked.and_then(|run| run.stream),
            agent: name.or_else(|| said("agent_type")).map(Cow::Owned),
            model: said("model").map(Cow::Owned),
            task: said("description").map(Cow::Owned),
            background: said("mode").as_deref() == Some("background"),
        }
    }
}

/// What the host says in the place of an answer, in fewer words.
fn shorter(tool: &str, output: &str) -> Option<Cow<'static, str>> {
    let too_large = ["Output too large to read at once", "File too large to read at once"];
    let size = |head: &&str| output.strip_prefix(head)?.trim_start().split_once(')');
    if let Some((size, _)) = too_large.iter().find_map(size) {
        return Some(format!("too large to read at once {size})").into());
    }
    (tool == "skill" && output.contains("loaded successfully")).then_some("loaded".into())
}

/// The file that a call looked at: its lines are numbered, and newer versions say what it is. A folder is looked at by the
/// same tool.
fn seen(call: &OpenCall, record: &Value, output: &str, place: &Place) -> Option<TouchedFiles> {
    let path = call.path.as_deref().filter(|_| call.tool == "view")?;
    let lines = numbered(output.lines(), &[". "]);
    let mut touched = TouchedFiles::default();
    if lines.is_some() || word(record, "/data/toolTelemetry/properties/viewType") == "file" {
        touched.read(place.show(path).into_owned(), lines);
    }
    Some(touched)
}

/// Milliseconds between two times.
fn between(from: Timestamp, to: Timestamp) -> Option<u64> {
    u64::try_from(to.as_millisecond().checked_sub(from.as_millisecond())?).ok()
}

/// The text of an answer: what the agent was given, else why there is none.
fn output(record: &Value) -> &str {
    filled(record, ["/data/result/content", "/data/result", "/data/error/message", "/data/error"]).unwrap_or("")
}

/// An answered question, with what was offered and not taken.
fn answered(call: &OpenCall, output: &str) -> Option<DecisionEvent<'static>> {
    let answer = ["User selected: ", "User responded: "].iter().find_map(|head| output.strip_prefix(head))?;
    Answered { question: call.input.as_ref()?, taken: vec![answer], said: None, note: None }.decision(&call.id)
}

/// A plan that a person approved.
fn approved(call: &OpenCall, output: &str) -> Option<DecisionEvent<'static>> {
    let plan = trimmed(call.input.as_ref()?, ["summary", "plan"]).unwrap_or("");
    output.starts_with("Plan approved").then(|| approval("Plan approved", plan, Some(&call.id)))
}
