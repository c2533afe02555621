//! Kimi: sessions of its older command line and of Kimi Code as events. Both write lines of what went on; where these say
//! nothing, the lines of the model's context are told.

use std::path::Path;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::jsonl::beginning;
use crate::file::value::{filled, flag, list, number, usage, word};
use crate::record::session::{HOST_WORDS, RecordSession, code_behind};
use crate::record::{self, RecordHost, message};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::EventKind;
use cru_session::source::Bundle;

pub(super) const HOST: RecordHost = RecordHost {
    id: "kimi",
    recognise: |_, head| {
        record::has_line(head, |line| {
            line.get("protocol_version").is_some() && line["type"] == "metadata"
                || line.pointer("/message/payload").is_some() && line.get("timestamp").is_some()
                || matches!(word(line, "/role"), "_system_prompt" | "_checkpoint" | "_usage")
                || matches!(word(line, "/type"), "context.append_message" | "context.append_loop_event" | "turn.prompt")
        })
    },
    session: |path| {
        let is_main = agent(path) == "main";
        (record::above(path, if is_new(path) { 3 } else { 1 }).to_owned(), u64::from(!is_main))
    },
    passes: |bundle, path| {
        let wire = path.with_file_name("wire.jsonl");
        let is_context = record::name(path).starts_with("context") && bundle.files.contains(&wire);
        (is_context && says_something(bundle, &wire)).then_some("context that other lines tell")
    },
    header: |path, session| match agent(path) {
        "main" => record::header(path, session, filled(&state(path), "forkedFrom")),
        agent => record::agent_header(path, &session, agent, ""),
    },
    aside: |own, line| {
        let payload = line.pointer("/message/payload").filter(|_| word(line, "/message/type") == "SubagentEvent")?;
        let call = filled(payload, ["parent_tool_call_id", "task_tool_call_id"])?;
        Some(record::agent_header(Path::new(""), &own.session, call, word(payload, "/subagent_type")))
    },
    beside: |path| {
        let state = state(path);
        let named = ["titleKind", "title_generated", "isCustomTitle"].map(|key| state.get(key));
        let named =
            named[0] == Some(&json!("custom")) || named[1] == Some(&json!(false)) || named[2] == Some(&json!(true));
        json!({
            "cwd": filled(&state, ["cwd", "workDir"]).map_or_else(|| folder(path), str::to_owned),
            "title": filled(&state, ["title", "custom_title"]), "named": named, "started": state["createdAt"],
        })
    },
    times: &["time", "timestamp", "created_at"],
    tell: |session, line, out| match (line.get("message"), line.get("role")) {
        (Some(event), _) if event.get("payload").is_some() => wire(session, event, out),
        (_, Some(_)) => message::tell(session, line, out),
        _ => code(session, line, out),
    },
    hooked: true,
    ..RecordHost::PLAIN
};

/// Whether a file lies as those of Kimi Code do: `agents/main/wire.jsonl`.
fn is_new(path: &Path) -> bool {
    record::above(path, 2) == "agents"
}

fn agent(path: &Path) -> &str {
    if is_new(path) { record::above(path, 1) } else { "main" }
}

/// What the host says of the session of a file.
fn state(path: &Path) -> Value {
    let folder = path.ancestors().nth(if is_new(path) { 3 } else { 1 });
    folder.map(|folder| record::neighbour(&folder.join("state.json"))).unwrap_or_default()
}

/// The folder of the work, which the older host names by its hash; a list beside the sessions has it for the last of each.
fn folder(path: &Path) -> String {
    let Some(home) = path.ancestors().nth(4) else { return String::new() };
    let known = record::neighbour(&home.join("kimi.json"));
    let mut rows = list(&known, "/work_dirs").iter();
    let own = rows.find(|row| word(row, "/last_session_id") == record::above(path, 1));
    own.map_or_else(String::new, |row| word(row, "/path").to_owned())
}

fn says_something(bundle: &Bundle, wire: &Path) -> bool {
    beginning(bundle, wire, 20).unwrap_or_default().iter().any(|line| line["type"] != "metadata")
}

/// An event of the older host.
fn wire(session: &mut RecordSession, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let payload = &event["payload"];
    match word(event, "/type") {
        "SubagentEvent" => wire(session, &payload["event"], out),
        "TurnBegin" | "SteerInput" => {
            message::tell(session, &json!({"role": "user", "content": payload["user_input"]}), out)
        }
        "ContentPart" if payload["type"] == "think" => {
            session.more(true, word(payload, "/think"), out);
            None
        }
        "ContentPart" if payload["type"] == "text" => {
            session.more(false, word(payload, "/text"), out);
            None
        }
        "ContentPart" => Some(unknown("unknown part", word(payload, "/type"))),
        "ToolCall" => {
            session.flush(out);
            let word = |at: &str| word(payload, at).to_owned();
            session.asked = Some((word("/id"), word("/function/name"), word("/function/arguments"), out.time));
            out.told = true;
            None
        }
        "ToolCallPart" => match &mut session.asked {
            Some((_, _, input, _)) => {
                input.push_str(word(payload, "/arguments_part"));
                out.told = true;
                None
            }
            None => Some("arguments without their call"),
        },
        "ToolResult" => {
            let (id, value) = (word(payload, "/tool_call_id"), &payload["return_value"]);
            // Another call may still be written while this one is answered.
            let later = session.asked.take_if(|(asked, ..)| asked != id);
            session.flush(out);
            let tool = session.waiting.iter().find(|(open, _)| open == id).map(|(_, tool)| tool.clone());
            let (mut output, attachments) = message::flat(&value["output"]);
            let (failed, said) = (flag(value, "is_error"), word(value, "/message"));
            let exit = code_behind(said, "Command failed with exit code: ").filter(|_| failed);
            // Why it failed; of a command the code says all of it.
            if output.is_empty() || failed && exit.is_none() {
                output = format!("{said}\n{output}");
            }
            let subagent = tool.and_then(|tool| session.run(&tool, id));
            let output = output.trim().to_owned().into();
            let denied = failed && said.contains("rejected by the user");
            let answer = Answer { output, failed, denied, exit, attachments, subagent, ..Answer::default() };
            let left = session.answer(id, answer, out);
            let said = said.split_once("rejected by the user. User feedback: ");
            if let Some((_, words)) = said.filter(|_| failed) {
                session.prompt(words, Vec::new(), out);
            }
            session.asked = later;
            left
        }
        "BtwBegin" | "BtwEnd" => {
            // The turn goes on beside it.
            let later = session.asked.take();
            let left = if let Some(question) = filled(payload, "question") {
                session.prompt(&format!("/btw {question}"), Vec::new(), out)
            } else {
                session.reply(word(payload, "/response"), out);
                None
            };
            session.asked = later;
            left
        }
        "StatusUpdate" => {
            tokens(session, word(payload, "/message_id"), "", &payload["token_usage"], out);
            out.told |= payload["token_usage"].is_object();
            Some("state of the host")
        }
        "CompactionEnd" => session.compact(None, "", out),
        // A service that failed gives it as well as a person.
        "StepInterrupted" => {
            session.flush(out);
            out.emit(EventKind::Interrupt { call: None, unnamed: true });
            None
        }
        "StepRetry" => session.fail(word(payload, "/error_type"), out),
        kind => {
            if matches!(kind, "StepBegin" | "TurnEnd") {
                session.flush(out);
            }
            Some(session.left_out("unknown record type", kind))
        }
    }
}

/// Tokens, by the names that both hosts have.
fn tokens(session: &mut RecordSession, id: &str, model: &str, counts: &Value, out: &mut Out<'_>) {
    let names = [
        ["input_other", "output", "input_cache_read", "input_cache_creation"],
        ["inputOther", "output", "inputCacheRead", "inputCacheCreation"],
    ];
    let names = if counts.get(names[0][0]).is_some() { names[0] } else { names[1] };
    session.usage(id, model, usage(counts, names), out);
}

/// A line of Kimi Code.
fn code(session: &mut RecordSession, line: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    match word(line, "/type") {
        "context.append_message" => {
            let message = &line["message"];
            let kind = filled(&message["origin"], ["kind", "type"]).unwrap_or("user");
            match (word(message, "/role"), command(&message["origin"])) {
                ("user", Some(command)) => session.prompt(&command, Vec::new(), out),
                ("user", None) if !matches!(kind, "user" | "task") => Some(HOST_WORDS),
                // The events of the loop tell the same.
                ("assistant" | "tool", _) if !session.last.is_empty() => Some("message that events tell"),
                _ => message::tell(session, message, out),
            }
        }
        "context.append_loop_event" => {
            let event = &line["event"];
            match word(event, "/type") {
                "content.part" => {
                    "events".clone_into(&mut session.last);
                    let is_thought = event["part"]["type"] == "think";
                    session.more(is_thought, filled(&event["part"], ["text", "think"]).unwrap_or_default(), out);
                    None
                }
                "tool.call" => {
                    "events".clone_into(&mut session.last);
                    session.call(word(event, "/toolCallId"), word(event, "/name"), &event["args"], out);
                    None
                }
                "tool.result" => {
                    let result = &event["result"];
                    let content = if result.get("content").is_some() { "content" } else { "output" };
                    session.answer(word(event, "/toolCallId"), message::answer(result, content), out)
                }
                kind => {
                    session.flush(out);
                    Some(session.left_out("unknown record type", kind))
                }
            }
        }
        "context.apply_compaction" => session.compact(number(line, "tokensBefore"), word(line, "/summary"), out),
        "usage.record" => {
            tokens(session, "", word(line, "/model"), &line["usage"], out);
            out.told = line["usage"].is_object();
            Some("state of the host")
        }
        "config.update" | "profile.bind" => {
            let folder = filled(line, ["cwd", "/environmentDisclosure/cwd"]);
            session.head(&json!({"cwd": folder, "model": line["modelAlias"]}), out);
            out.told = true;
            None
        }
        "turn.cancel" => session.stop(out),
        "permission.record_approval_result" if line["result"]["decision"] == "rejected" => {
            let words = word(line, "/result/feedback");
            let answer = Answer { output: words.to_owned().into(), denied: true, ..Answer::default() };
            let left = session.answer(word(line, "/toolCallId"), answer, out);
            session.prompt(words, Vec::new(), out);
            left
        }
        kind => {
            if kind.starts_with("turn.") {
                session.flush(out);
            }
            Some(session.left_out("unknown record type", kind))
        }
    }
}

/// The command by which a person started a skill, or what a plugin brings: the words of the message are the host's.
fn command(origin: &Value) -> Option<String> {
    let name = filled(origin, ["skillName", "commandName"])?;
    let plugin = filled(origin, "pluginId").map(|plugin| format!("{plugin}:")).unwrap_or_default();
    let words = filled(origin, ["skillArgs", "commandArgs"]).unwrap_or_default();
    matches!(word(origin, "trigger"), "" | "user-slash").then(|| format!("/{plugin}{name} {words}"))
}
