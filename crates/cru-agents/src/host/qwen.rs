//! Qwen Code: its sessions as events. Lines in a tree, with the parts of messages as Gemini CLI has them; documents of
//! before 0.4 are Gemini CLI's.

use std::path::Path;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::jsonl::beginning;
use crate::file::value::{attachment, count, filled, flag, list, usage_with_cache, word};
use crate::gemini::result::shell;
use crate::record::session::RecordSession;
use crate::record::{self, RecordHost, message};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_action::ToolKind;
use cru_session::event::{EventKind, SessionFact, SubagentRun, TitleRank};
use cru_session::source::Bundle;

pub(super) const HOST: RecordHost = RecordHost {
    id: "qwen",
    recognise: |_, head| record::has_line(head, |line| is_message(line) || line.get("systemPayload").is_some()),
    header: |path, session| record::header(path, session, origin(path).as_deref()),
    beside: |path| {
        let origin = origin(path).filter(|id| path.with_file_name(format!("{id}.jsonl")).is_file());
        json!({ "origin": origin })
    },
    aside: |own, line| {
        let agent = filled(line, "agentId").filter(|_| flag(line, "isSidechain") || line.get("agentName").is_some())?;
        Some(record::agent_header(Path::new(""), &own.session, agent, word(line, "/agentName")))
    },
    ids: &["uuid"],
    times: &["timestamp"],
    tell,
    hooked: true,
    ..RecordHost::PLAIN
};

fn is_message(line: &Value) -> bool {
    filled(line, "sessionId").is_some() && line.pointer("/message/parts").is_some_and(Value::is_array)
}

/// The session that the first records of a file were copied from, or that started it.
fn origin(path: &Path) -> Option<String> {
    let first = beginning(&Bundle::default(), path, 20).unwrap_or_default();
    let named = |line| filled(line, ["/forkedFrom/sessionId", "/systemPayload/parentSessionId"]).map(str::to_owned);
    let is_other = |id: &String| path.file_stem().is_none_or(|own| own != id.as_str());
    first.iter().find_map(named).filter(is_other)
}

fn tell(session: &mut RecordSession, line: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    out.folder(&mut session.place, word(line, "/cwd"));
    for (key, fact) in [("gitBranch", SessionFact::Branch as fn(_) -> _), ("version", SessionFact::HostVersion)] {
        out.facts(filled(line, key).map(|word| fact(word.into())));
    }
    go_on(session, line, out);
    if filled(&line["forkedFrom"], "sessionId").is_some_and(|origin| origin == session.origin) {
        return Some("copied from another session");
    }
    match word(line, "/type") {
        "user" => match word(line, "/subtype") {
            "" | "agent_launch_prompt" | "mid_turn_user_message" | "realtime_message" => {
                parts(session, line, true, out)
            }
            kind => Some(session.left_out("unknown record type", kind)),
        },
        "assistant" => {
            let left = parts(session, line, false, out);
            if let Some(counts) = line.get("usageMetadata") {
                tokens(session, word(line, "/model"), counts, out);
            }
            left
        }
        "tool_result" => answers(session, line, out),
        "system" => system(session, line, out),
        "" => Some("no record type"),
        kind => Some(unknown("unknown record type", kind)),
    }
}

/// Where a person went back, their words stand behind another record than the last.
fn go_on(session: &mut RecordSession, line: &Value, out: &mut Out<'_>) {
    let before = word(line, "/parentUuid");
    if word(line, "/type") == "user" && before != session.last && !session.last.is_empty() {
        let to = if before.is_empty() { Some(0) } else { session.records.get(before).copied() };
        if let Some(to) = to.filter(|to| to + 1 < out.record) {
            session.flush(out);
            out.quiet(EventKind::Rewind { to });
        }
    }
    word(line, "/uuid").clone_into(&mut session.last);
    session.records.insert(session.last.clone(), out.record);
}

fn parts(session: &mut RecordSession, line: &Value, is_person: bool, out: &mut Out<'_>) -> Option<&'static str> {
    let (mut words, mut sent, mut left) = (Vec::new(), Vec::new(), None);
    for part in list(line, "/message/parts") {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            match (is_person, flag(part, "thought")) {
                (true, _) => words.push(text),
                (false, true) => session.think(text, out),
                (false, false) => session.reply(text, out),
            }
        } else if let Some(call) = part.get("functionCall") {
            session.call(word(call, "/id"), word(call, "/name"), &call["args"], out);
        } else if let Some(data) = part.get("inlineData").or_else(|| part.get("fileData")) {
            sent.push(attachment(word(data, "/mimeType"), word(data, "/data")));
        } else {
            let kind = part.as_object().and_then(|part| part.keys().next()).map_or("", String::as_str);
            left = Some(unknown("unknown part", kind));
        }
    }
    if !is_person {
        return left;
    }
    // What was typed, where the model was sent more.
    let typed = filled(&line["systemPayload"], "displayText").map_or_else(|| words.join("\n\n"), str::to_owned);
    if sent.is_empty() {
        sent.extend(list(line, "/systemPayload/attachmentReferences").iter().map(message::sent));
    }
    session.prompt(&typed, sent, out).or(left)
}

/// Thoughts are counted among the output, or beside it: the sum tells.
fn tokens(session: &mut RecordSession, model: &str, counts: &Value, out: &mut Out<'_>) {
    let names = ["promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", ""];
    let of = |name: &str| crate::file::value::count(counts, name);
    let mut usage = usage_with_cache(counts, names);
    let thoughts = of("thoughtsTokenCount");
    if of(names[0]).saturating_add(usage.output).saturating_add(thoughts) == of("totalTokenCount") {
        usage.output = usage.output.saturating_add(thoughts);
    }
    session.usage("", model, usage, out);
}

fn answers(session: &mut RecordSession, line: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let mut left = None;
    let status = word(line, "/toolCallResult/status");
    let display = line.pointer("/toolCallResult/resultDisplay").unwrap_or(&Value::Null);
    for response in list(line, "/message/parts").iter().filter_map(|part| part.get("functionResponse")) {
        let tool = word(response, "/name");
        let error = word(response, "/response/error");
        let said = if error.is_empty() { word(response, "/response/output") } else { error };
        let (output, exit) = match ToolKind::of(tool) {
            ToolKind::Shell => shell(said),
            _ => (said.to_owned(), None),
        };
        let owned = |key: &str| filled(display, key).map(|word| word.to_owned().into());
        let subagent = owned("subagentName").map(|agent| {
            let task = owned("taskDescription");
            SubagentRun { agent: Some(agent), task, ..SubagentRun::default() }
        });
        let answer = Answer {
            output: output.into(),
            diff: filled(display, "fileDiff").unwrap_or_default(),
            failed: status == "error" || !error.is_empty() || filled(display, "status") == Some("failed"),
            denied: status == "cancelled" || filled(display, "status") == Some("cancelled"),
            exit,
            subagent,
            ..Answer::default()
        };
        left = session.answer(word(response, "/id"), answer, out).or(left);
    }
    left
}

fn system(session: &mut RecordSession, line: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let payload = &line["systemPayload"];
    match word(line, "/subtype") {
        "ui_telemetry" => telemetry(session, &payload["uiEvent"], out),
        "chat_compression" => {
            let summary = list(payload, "/compressedHistory").first().map_or("", |first| word(first, "/parts/0/text"));
            session.compact(Some(count(payload, "/info/originalTokenCount")), summary, out)
        }
        "slash_command" if word(payload, "/phase") == "invocation" => {
            session.prompt(word(payload, "/rawCommand"), Vec::new(), out)
        }
        "slash_command" => Some("answer of the host to a command"),
        "custom_title" => {
            let rank = if word(payload, "/titleSource") == "auto" { TitleRank::Host } else { TitleRank::Custom };
            let text = word(payload, "/customTitle").to_owned().into();
            out.emit(EventKind::Meta(SessionFact::Title { rank, text }));
            None
        }
        "session_model" => {
            out.model(filled(payload, "modelId"));
            out.told = true;
            None
        }
        kind => Some(session.left_out("unknown record type", kind)),
    }
}

/// Counts stand with the messages, too; that a call was stopped, and that the service failed, stands here alone.
fn telemetry(session: &mut RecordSession, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let error = word(event, "/error");
    // What a sub-agent called has its name in it.
    let is_own = !word(event, "/prompt_id").contains('#') || word(event, "/prompt_id").contains("########");
    match word(event, "/event.name") {
        "qwen-code.api_error" if is_own && matches!(word(event, "/error_type"), "APIUserAbortError" | "AbortError") => {
            session.stop(out)
        }
        "qwen-code.api_error" if is_own => {
            session.fail(filled(event, ["error_message", "error"]).unwrap_or("failed"), out)
        }
        "qwen-code.tool_call"
            if is_own && (error.ends_with("by the user.") || word(event, "/status") == "cancelled") =>
        {
            let answer = Answer { output: error.to_owned().into(), denied: true, ..Answer::default() };
            session.answer_next(word(event, "/function_name"), answer, out)
        }
        _ => Some("counts of the host"),
    }
}
