//! `OpenHands`: its conversations as events. An event is a file, a line or an item of a list; what it is called differs
//! between the program of before and the one of now.

use std::path::Path;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::document::items;
use crate::file::jsonl::beginning;
use crate::file::value::{dollars, exit, filled, list, number, usage_with_cache, word};
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::record::{self, EachSession, RecordHost, message};
use crate::stream::out::Out;
use crate::wrapper;
use cru_session::event::PromptOrigin;
use cru_session::source::Bundle;

pub(super) const HOST: RecordHost = RecordHost {
    id: "openhands",
    recognise: |path, head| {
        let head = String::from_utf8_lossy(head);
        let first = items(&head).first().and_then(crate::file::document::Piece::value);
        first.is_some_and(|event| is_event(&event)) || (HOST.lines)(path) && record::has_line(head.as_bytes(), is_event)
    },
    session: |path| {
        let number = crate::bundles::stem(path);
        let number = number.trim_start_matches("event-").split('-').next().and_then(|digits| digits.parse().ok());
        if record::above(path, 1) == "events" {
            return (record::above(path, 2).to_owned(), number.unwrap_or(0));
        }
        let first = beginning(&Bundle::default(), path, 1).unwrap_or_default();
        let id = first.first().map_or("", |event| word(event, "/id"));
        (if id.is_empty() { crate::bundles::stem(path) } else { id.to_owned() }, 0)
    },
    beside: |path| {
        let state = path.ancestors().nth(2).filter(|_| record::above(path, 1) == "events");
        let state = state.map(|folder| record::neighbour(&folder.join("base_state.json"))).unwrap_or_default();
        let mut head = spent(&state["stats"]["usage_to_metrics"]);
        head["cwd"] = state["workspace"]["working_dir"].clone();
        head["title"] = state["title"].clone();
        head["model"] = state["agent"]["llm"]["model"].clone();
        head
    },
    lines: |path| record::holds_lines(path) || record::above(path, 1) == "events",
    document,
    ids: &["id"],
    times: &["timestamp"],
    tell: |session, event, out| {
        if event.get("kind").is_some() { tell(session, event, out) } else { tell_old(session, event, out) }
    },
    ..RecordHost::PLAIN
};

fn is_event(event: &Value) -> bool {
    let source = matches!(word(event, "/source"), "user" | "agent" | "environment" | "hook");
    let kind = word(event, "/kind");
    let named = kind.ends_with("Event")
        || matches!(kind, "UserRejectObservation" | "Condensation" | "CondensationRequest")
        || event.get("action").is_some()
        || event.get("observation").is_some();
    source && named && event.get("timestamp").is_some()
}

/// A list of events.
fn document(path: &Path, whole: &str, each: &mut EachSession<'_>) {
    let session = (HOST.session)(path).0;
    let records = record::values(whole);
    each(record::header(path, session, None), (HOST.beside)(path), records);
}

fn tell(session: &mut RecordSession, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    match word(event, "/kind") {
        "MessageEvent" if word(event, "/source") == "environment" => Some(HOST_WORDS),
        "MessageEvent" => message::tell(session, &event["llm_message"], out),
        "ActionEvent" => {
            let thought = word(event, "/reasoning_content");
            session.think(thought, out);
            let words = list(event, "/thought").iter().map(|part| word(part, "/text")).collect::<Vec<_>>().join("\n\n");
            // Some models write their thoughts among their words as well.
            let words = words.split_once("</think>").map_or(words.as_str(), |(_, rest)| rest);
            session.reply(words, out);
            let mut input = event.get("action").cloned().unwrap_or_default();
            if input["kind"] == "FinishAction" {
                session.reply(word(&input, "/message"), out);
                return None;
            }
            if let Some(input) = input.as_object_mut() {
                input.retain(|name, value| name != "kind" && !value.is_null());
            }
            session.call(word(event, "/tool_call_id"), word(event, "/tool_name"), &input, out);
            None
        }
        "ObservationEvent" => {
            let seen = &event["observation"];
            if seen["kind"] == "FinishObservation" {
                return Some("said twice");
            }
            let (output, attachments) =
                message::flat(seen.get("content").or_else(|| seen.get("output")).unwrap_or(seen));
            let exit = exit(seen, ["exit_code", "/metadata/exit_code"]).filter(|code| *code >= 0);
            let failed = seen["is_error"] == true;
            session.answer(
                word(event, "/tool_call_id"),
                Answer { output: output.into(), attachments, exit, failed, ..Answer::default() },
                out,
            )
        }
        "UserRejectObservation" => {
            let (call, reason) = (word(event, "/tool_call_id").to_owned(), word(event, "/rejection_reason"));
            if word(event, "/rejection_source") == "hook" {
                let (output, denial) = (reason.to_owned().into(), Some(reason.to_owned().into()));
                return session.answer(&call, Answer { output, denial, denied: true, ..Answer::default() }, out);
            }
            let left = refused(session, event, "rejection_reason", true, out);
            if wrapper::means(HOST.id, reason).is_none() && !reason.trim().is_empty() {
                out.prompt(reason.to_owned(), PromptOrigin::Denial { call: call.into() });
            }
            left
        }
        "AgentErrorEvent" => refused(session, event, "error", false, out),
        "ConversationErrorEvent" => session.fail(filled(event, ["detail", "error", "code"]).unwrap_or("failed"), out),
        "PauseEvent" | "InterruptEvent" => session.stop(out),
        "Condensation" | "CondensationSummaryEvent" => session.compact(None, word(event, "/summary"), out),
        "ConversationStateUpdateEvent" => {
            let metrics =
                event.pointer("/value/usage_to_metrics").or_else(|| event.pointer("/value/stats/usage_to_metrics"));
            let Some(metrics) = metrics.filter(|it| it.is_object()) else { return Some("state of the host") };
            session.head(&spent(metrics), out);
            out.told = true;
            None
        }
        "SystemPromptEvent" => Some("system prompt"),
        kind => Some(session.left_out("unknown record type", kind)),
    }
}

/// An answer that says why there is none.
fn refused(
    session: &mut RecordSession,
    event: &Value,
    why: &str,
    denied: bool,
    out: &mut Out<'_>,
) -> Option<&'static str> {
    let output = filled(event, why).unwrap_or_default().to_owned().into();
    session.answer(word(event, "/tool_call_id"), Answer { output, failed: !denied, denied, ..Answer::default() }, out)
}

/// Tokens and cost of all messages so far, by what asked the models, as [`RecordSession::head`] takes them; a later count takes
/// the place of an earlier one.
fn spent(metrics: &Value) -> Value {
    let all = || metrics.as_object().into_iter().flat_map(|all| all.values());
    let names = ["prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens"];
    let used = all().map(|metrics| {
        let usage = usage_with_cache(&metrics["accumulated_token_usage"], names);
        json!({
            "model": metrics["model_name"], "input": usage.input, "output": usage.output,
            "cache_read": usage.cache_read, "cache_write": usage.cache_write,
        })
    });
    let cost: f64 = all().filter_map(|metrics| dollars(metrics, "accumulated_cost")).sum();
    json!({ "used": used.collect::<Vec<_>>(), "cost": cost })
}

/// An event of the program of before.
fn tell_old(session: &mut RecordSession, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if let Some(metrics) = event.get("llm_metrics") {
        session.head(&spent(&json!({ "default": metrics })), out);
    }
    let args = &event["args"];
    let id = number(event, "id").map(|id| id.to_string()).unwrap_or_default();
    match (word(event, "/action"), word(event, "/observation")) {
        ("message", _) if word(event, "/source") == "user" => session.prompt(word(args, "/content"), Vec::new(), out),
        ("message" | "finish" | "think", _) => {
            let words = filled(args, ["content", "final_thought", "thought"]).unwrap_or_default();
            if event["action"] == "think" {
                session.think(words, out);
            } else {
                session.reply(words, out);
            }
            None
        }
        ("system" | "recall" | "change_agent_state" | "condensation_request", _) => Some("state of the host"),
        ("condensation", _) => session.compact(None, word(args, "/summary"), out),
        ("", "agent_state_changed" | "recall" | "think" | "null" | "condense") => Some("state of the host"),
        ("", "") => Some("no record type"),
        ("", "error") if event.get("cause").is_none() => session.fail(word(event, "/content"), out),
        ("", kind) => {
            let extras = &event["extras"];
            let answer = Answer {
                output: word(event, "/content").to_owned().into(),
                diff: filled(extras, "diff").unwrap_or_default(),
                failed: kind == "error",
                denied: kind == "user_rejected",
                exit: exit(extras, "/metadata/exit_code").filter(|code| *code >= 0),
                ..Answer::default()
            };
            let cause = number(event, "cause").map(|id| id.to_string()).unwrap_or_default();
            session.answer(&cause, answer, out)
        }
        (action, _) => {
            session.reply(filled(args, "thought").unwrap_or_default(), out);
            let tool = filled(&event["tool_call_metadata"], "function_name").unwrap_or(match action {
                "run" => "bash",
                action => action,
            });
            let mut input = args.clone();
            if let Some(input) = input.as_object_mut() {
                input.retain(|name, value| name != "thought" && !value.is_null());
            }
            session.call(&id, tool, &input, out);
            None
        }
    }
}
