//! Cline, Roo Code and Kilo Code: their tasks as events. A task is a folder with the messages that the model was sent; what
//! a person was shown lies beside it and has the times, tokens and cost. Newer versions of Cline have both in one document.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::call::question::Answered;
use crate::file::document::{self, items, member, members};
use crate::file::value::{self, dollars, filled, moment, number, usage_with_cache, word};
use crate::record::session::{HOST_WORDS, RecordSession, code_behind, exit_of};
use crate::record::{self, EachSession, RecordHost, message};
use crate::stream::out::Out;
use crate::wrapper;
use cru_action::ToolKind;
use cru_session::event::{EventKind, SessionFact};
use cru_session::source::Bundle;

/// The messages of a task, in a folder of its name.
const HISTORY: &str = "api_conversation_history.json";

/// Elements that the host puts around a person's words.
const WORDS: [&str; 4] = ["<task>", "<feedback>", "<user_message>", "<answer>"];

pub(super) const HOST: RecordHost = RecordHost {
    id: "cline",
    recognise: |path, head| {
        let head = String::from_utf8_lossy(head);
        let root = members(&head);
        let has = |name: &str| member(&root, name).is_some();
        let is_new =
            has("sessionId") && has("messages") && has("agent") && !record::name(path).contains(".compaction.");
        is_new || record::name(path) == HISTORY && head.trim_start().starts_with('[')
    },
    session: |path| {
        if record::name(path) == HISTORY {
            return (record::above(path, 1).to_owned(), 0);
        }
        let stem = crate::bundles::stem(path);
        let beside = manifest(path, &stem);
        (filled(&beside, "session_id").unwrap_or_else(|| stem.trim_end_matches(".messages")).to_owned(), 0)
    },
    document,
    ids: &["id"],
    times: &["ts", "timestamp"],
    tell,
    ..RecordHost::PLAIN
};

/// What describes a session of the newer versions.
fn manifest(path: &Path, stem: &str) -> Value {
    record::neighbour(&path.with_file_name(format!("{}.json", stem.trim_end_matches(".messages"))))
}

fn document(path: &Path, whole: &str, each: &mut EachSession<'_>) {
    let root = members(whole);
    let inner = member(&root, "messages").map_or(whole, |list| list.text);
    let mut messages = record::values(inner);
    let session = (HOST.session)(path).0;
    if record::name(path) == HISTORY {
        let item = item(path, &session);
        let shown = shown(path);
        for line in &shown {
            let at =
                line.get("conversationHistoryIndex").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
            let message = at.and_then(|at| messages.get_mut(at)?.as_mut().ok()?.as_object_mut());
            if let Some(message) = message {
                message.entry("ts").or_insert_with(|| line["ts"].clone());
            }
        }
        let parent = filled(&item, "parentTaskId");
        let head = task_head(path, &item, &shown, &messages, whole);
        return each(record::header(path, session.clone(), parent), head, messages);
    }
    let about = manifest(path, &crate::bundles::stem(path));
    let parent = about.pointer("/metadata/fork/forkedFromSessionId").and_then(Value::as_str);
    // A title may be the beginning of the first words.
    let title = word(&about, "/metadata/title");
    let first = messages.first().and_then(|it| it.as_ref().ok()).map(|it| message::flat(&it["content"]).0);
    let says = !first.unwrap_or_default().starts_with(title.trim_end_matches(" (fork)"));
    let head = json!({
        "cwd": filled(&about, ["workspace_root", "cwd"]), "model": about["model"],
        "title": if says { title } else { "" }, "copied": about["metadata"]["fork"]["forkedAt"],
    });
    each(record::header(path, session, parent), head, messages);
}

/// What the list of tasks says of one, or a file in its folder.
fn item(path: &Path, task: &str) -> Value {
    let own = record::neighbour(&path.with_file_name("history_item.json"));
    let list = path.ancestors().nth(3).map(|folder| record::neighbour(&folder.join("state/taskHistory.json")));
    let listed = || list?.as_array()?.iter().find(|item| word(item, "/id") == task).cloned();
    if own.is_null() { listed().unwrap_or_default() } else { own }
}

/// What a person was shown of a task.
fn shown(path: &Path) -> Vec<Value> {
    let shown = document::read(&Bundle::default(), &path.with_file_name("ui_messages.json")).ok().flatten();
    items(&shown.unwrap_or_default()).iter().filter_map(document::Piece::value).collect()
}

fn task_head(
    path: &Path,
    item: &Value,
    shown: &[Value],
    messages: &[std::result::Result<Value, &str>],
    whole: &str,
) -> Value {
    let requests = shown.iter().filter(|line| word(line, "/say") == "api_req_started");
    let requests: Vec<Value> = requests.filter_map(|line| value::read(word(line, "/text").as_bytes())).collect();
    let cost: f64 = requests.iter().filter_map(|it| dollars(it, "cost")).sum();
    // Messages have them, too; what was written to a cache and read from it is one number there.
    let used = messages.iter().flatten().filter(|it| requests.is_empty() && it["metrics"]["tokens"].is_object());
    let used = used.map(|message| {
        let tokens = &message["metrics"]["tokens"];
        json!({"model": message["modelInfo"]["modelId"], "input": tokens["prompt"], "output": tokens["completion"], "cache_read": tokens["cached"]})
    });
    let used: Vec<Value> = used.collect();
    let rows = if requests.is_empty() { std::slice::from_ref(item) } else { &requests };
    let sum = |name: &str| rows.iter().filter_map(|it| number(it, name)).fold(0, u64::saturating_add);
    let usage = || json!({"input": sum("tokensIn"), "output": sum("tokensOut"), "cache_read": sum("cacheReads"), "cache_write": sum("cacheWrites")});
    let usage = used.is_empty().then(usage);
    let model = shown
        .iter()
        .rev()
        .chain(messages.iter().rev().flatten())
        .find_map(|it| it.pointer("/modelInfo/modelId")?.as_str())
        .or_else(|| filled(item, "modelId"));
    // The host tells the model where it works.
    let told = ["# Current Working Directory (", "# Current Workspace Directory ("];
    let told = || told.iter().find_map(|mark| whole.split_once(mark)?.1.split_once(')')).map(|(folder, _)| folder);
    let folder = filled(item, ["workspace", "cwdOnTaskInitialization"]).or_else(told);
    let program = [("rooveterinaryinc", "Roo Code"), ("kilocode", "Kilo Code")];
    let program = program
        .iter()
        .find(|(part, _)| path.to_string_lossy().contains(part))
        .map(|(_, name)| json!({ "program": name }));
    // A task may be called by the milliseconds that it began at.
    let named = record::above(path, 1).parse::<u64>().ok().filter(|at| *at >= 1_000_000_000_000).map(Value::from);
    let started = shown.first().and_then(|line| line.get("ts")).or_else(|| item.get("ts")).or(named.as_ref());
    json!({
        "cwd": folder.map(|folder| folder.replace("\\\\", "\\")), "model": model, "usage": usage, "used": used, "more": program, "started": started,
        "cost": if cost > 0.0 { json!(cost) } else { item["totalCost"].clone() },
    })
}

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if record["metadata"]["kind"] == "compaction" || record["isSummary"] == true {
        let before = number(&record["metadata"]["usageBefore"], "inputTokens");
        return session.compact(before, &message::flat(&record["content"]).0, out);
    }
    if record["isTruncationMarker"] == true {
        return Some("mark of messages that are no longer sent");
    }
    if matches!(word(record, "/type"), "reasoning") {
        return Some("thinking without its text");
    }
    if !record.is_object() {
        return Some("not an object");
    }
    let mut record = record.clone();
    let is_person = word(&record, "/role") == "user";
    let said = record.get_mut("content").map(Value::take).unwrap_or_default();
    let blocks = match said {
        Value::Array(blocks) => blocks,
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        _ => Vec::new(),
    };
    let (blocks, left) = if is_person {
        person(session, blocks, out)
    } else {
        // A message answers the calls of the one before it; what is open of earlier ones gets no answer any more.
        session.waiting.clear();
        (agent(blocks), None)
    };
    record["content"] = Value::Array(blocks);
    let left = message::tell(session, &record, out).or(left);
    if let Some(metrics) = record.get("metrics") {
        let names = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
        session.usage("", word(&record, "/modelInfo/id"), usage_with_cache(metrics, names), out);
        if let Some(cost) = dollars(metrics, "cost") {
            out.quiet(EventKind::Meta(SessionFact::Cost(cost)));
        }
    }
    out.time = moment(&record, "ts").or(out.time);
    left
}

/// A person's message without the answers of tools, which are told: what they said to these is among their words. Why
/// something of it is left out, where it is.
fn person(session: &mut RecordSession, blocks: Vec<Value>, out: &mut Out<'_>) -> (Vec<Value>, Option<&'static str>) {
    let (mut kept, mut left) = (Vec::new(), None);
    // A message that the host put together has a person's words in elements, and only there.
    let is_framed = blocks.iter().any(|block| word(block, "/text").trim_start().starts_with("<environment_details>"));
    let mut blocks = blocks.into_iter().peekable();
    while let Some(block) = blocks.next() {
        let text = word(&block, "/text");
        let answered = result_of(text).map(|(tool, rest)| (session.next_call(tool), rest));
        // Words of a person may look so as well.
        if let Some((id, rest)) = answered.filter(|(id, _)| id.is_some() || is_framed) {
            let next = blocks.next_if(|next| rest.trim().is_empty() && goes_on(word(next, "/text").trim_start()));
            let output = json!({ "content": next.as_ref().map_or(rest.trim(), |it| word(it, "/text")) });
            left = answer(session, &id.unwrap_or_default(), &output, &mut kept, out).or(left);
        } else if word(&block, "/type") == "tool_result" {
            left = answer(session, word(&block, "/tool_use_id"), &block, &mut kept, out).or(left);
        } else if let Some((words, _)) =
            verdict(text).filter(|(it, rest)| it["status"] == "guidance" && rest.is_empty())
        {
            kept.extend(words["feedback"].as_str().map(feedback));
        } else if wrapper::means(HOST.id, text).is_some() {
            // The host may tell what a person said when they went on with a task.
            let words = text.find("<user_message>").map(|at| &text[at..]);
            left = left.or(Some(HOST_WORDS).filter(|_| words.is_none()));
            kept.extend(words.map(|words| json!({"type": "text", "text": words})));
        } else {
            kept.push(block);
        }
    }
    let is_said = |block: &Value| WORDS.iter().any(|tag| word(block, "/text").contains(tag));
    if is_framed && !kept.iter().any(is_said) {
        let count = kept.len();
        kept.retain(|block| word(block, "/type") != "text");
        left = left.or(Some(HOST_WORDS).filter(|_| kept.len() < count));
    }
    (kept, left)
}

/// Whether a text is the answer that the one before announced.
fn goes_on(text: &str) -> bool {
    !text.is_empty() && !text.starts_with("<environment_details>") && result_of(text).is_none()
}

/// Tells the answer of a call, in words or as a block. What a person said to it goes to their words; where they were
/// asked, it is what they decided.
fn answer(
    session: &mut RecordSession,
    id: &str,
    block: &Value,
    words: &mut Vec<Value>,
    out: &mut Out<'_>,
) -> Option<&'static str> {
    let mut answer = message::answer(block, "content");
    let text = std::mem::take(&mut answer.output);
    let (verdict, output) = verdict(&text).unwrap_or((Value::Null, &text));
    let status = word(&verdict, "/status");
    answer.denied |= status == "denied";
    answer.failed |= status == "error";
    let call = session.calls.get(id, ["", ""]);
    let kind = call.map(|call| ToolKind::of(&call.tool));
    if kind == Some(ToolKind::Shell) && output.starts_with("Command ") {
        let head = output.lines().take(2).collect::<Vec<_>>().join("\n");
        answer.exit = exit_of(&head).or_else(|| code_behind(&head, "Command failed with exit code "));
        answer.failed |= head.contains("erminated by signal ");
    }
    let said = said(output, kind.is_none_or(ToolKind::waits_for_person)).map(|at| &output[at..]);
    let own = wrapper::own_words(HOST.id, said.unwrap_or_default());
    let decided = call.filter(|_| kind == Some(ToolKind::Ask)).and_then(|call| {
        Answered { question: call.input.as_ref()?, taken: vec![&own], said: None, note: None }.decision(&call.id)
    });
    let given = verdict["feedback"].as_str().map(feedback);
    let given = given.or_else(|| Some(json!({"type": "text", "text": said?})).filter(|_| decided.is_none()));
    let has_words = given.is_some();
    words.extend(given);
    let shown = filled(&verdict, ["error", "message"]).filter(|_| output.is_empty()).unwrap_or(output);
    answer.output = if decided.is_some() { own } else { shown.into() };
    let left = session.answer(id, answer, out);
    if let Some(decision) = decided {
        out.emit(EventKind::Decision(decision));
    }
    // The call may be told as words that it said.
    left.filter(|_| !has_words)
}

/// What a person decided on a call, or how it ended, as newer versions put it before or in the place of an answer.
fn verdict(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let first = values.next()?.ok()?;
    let is_verdict = match word(&first, "/status") {
        "denied" => first["feedback"].is_string() || word(&first, "/message").starts_with("The user denied"),
        "approved" | "guidance" => first["feedback"].is_string(),
        status => status == "error" && first["message"].is_string(),
    };
    is_verdict.then(|| (first, text[values.byte_offset()..].trim_start()))
}

/// A person's words in the element that the host puts around them.
fn feedback(words: &str) -> Value {
    // Words that would end it stand as they are.
    let is_closing = words.contains("</feedback>");
    let text = if is_closing { words.to_owned() } else { format!("<feedback>\n{words}\n</feedback>") };
    json!({"type": "text", "text": text})
}

/// Where an answer has what a person said to it; `asked`: the whole answer may be that.
fn said(output: &str, asked: bool) -> Option<usize> {
    let (mut at, mut before) = (0, "");
    for line in output.split_inclusive('\n') {
        let is_element = WORDS.iter().any(|tag| line.starts_with(tag));
        let is_told = before.contains("he user ") && before.contains("provided ");
        if is_element && (is_told || asked && before.is_empty()) {
            return Some(at);
        }
        at += line.len();
        before = if line.trim().is_empty() { before } else { line };
    }
    None
}

/// The tool whose answer a text is, and the answer: `[execute_command for 'make'] Result:`. A command or question that
/// stands there may have several lines.
fn result_of(text: &str) -> Option<(&str, &str)> {
    let (head, rest) = text.trim_start().strip_prefix('[')?.split_once("] Result:")?;
    let tool = head.split(' ').next()?;
    // The one tool that the host calls otherwise there.
    let tool = if tool == "subagents" { "use_subagents" } else { tool };
    (tool.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')).then_some((tool, rest))
}

/// An agent's message with the calls that stand in its words as elements, and with what it says at the end as words.
fn agent(blocks: Vec<Value>) -> Vec<Value> {
    let mut told = Vec::new();
    for mut block in blocks {
        match word(&block, "/type") {
            "text" => split(word(&block, "/text"), &mut told),
            "tool_use" => {
                if let Some(path) = block.pointer("/input/files/0/path").cloned() {
                    block["input"]["path"] = path;
                }
                finish(block, &mut told);
            }
            _ => told.push(block),
        }
    }
    told
}

/// A call; one that only says something is no call.
fn finish(block: Value, told: &mut Vec<Value>) {
    let says = match word(&block, "/name") {
        "attempt_completion" => filled(&block["input"], "result"),
        "plan_mode_respond" => filled(&block["input"], "response"),
        _ => None,
    };
    told.push(says.map(|words| json!({"type": "text", "text": words})).unwrap_or(block));
}

/// The name with which a text begins, as an element has it, and what stands behind: `path>a.rs`.
fn element(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-'))?;
    Some((text.get(..end).filter(|name| !name.is_empty())?, text[end..].strip_prefix('>')?))
}

/// Words with elements that are calls: `<read_file><path>a.rs</path></read_file>`.
fn split(text: &str, told: &mut Vec<Value>) {
    // Names whose elements end nowhere from here on are looked for once.
    let (mut from, mut endless) = (0, Vec::new());
    for (at, _) in text.match_indices('<') {
        let is_call = |name| at >= from && !endless.contains(&name) && ToolKind::of(name) != ToolKind::Other;
        let Some((name, behind)) = element(&text[at + 1..]).filter(|(name, _)| is_call(*name)) else { continue };
        let Some((inside, after)) = behind.split_once(&format!("</{name}>")) else {
            endless.push(name);
            continue;
        };
        told.push(json!({"type": "text", "text": &text[from..at]}));
        finish(json!({"type": "tool_use", "name": name, "input": arguments(inside)}), told);
        from = text.len() - after.len();
    }
    told.push(json!({"type": "text", "text": &text[from..]}));
}

/// The elements within a call.
fn arguments(whole: &str) -> Value {
    // Where each element ends last: one that has no end from here on is not looked for.
    let ends = whole.match_indices("</").filter_map(|(at, _)| Some((element(&whole[at + 2..])?.0, at)));
    let ends: HashMap<&str, usize> = ends.collect();
    let (mut input, mut inside) = (json!({}), whole);
    while let Some((_, tail)) = inside.split_once('<') {
        inside = tail;
        let Some((name, behind)) = element(tail) else { continue };
        inside = behind;
        let has_end = ends.get(name).is_some_and(|end| *end >= whole.len() - behind.len());
        if has_end && let Some((value, after)) = behind.split_once(&format!("</{name}>")) {
            // Newer versions put several files into an element of their own.
            let path = value.split_once("<path>").and_then(|(_, it)| it.split_once("</path>"));
            let (name, value) = path.map_or((name, value), |(path, _)| ("path", path));
            input[name] = json!(value.strip_prefix('\n').unwrap_or(value).trim_end_matches('\n'));
            inside = after;
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_calls_and_arguments() {
        let mut told = Vec::new();
        split("Look: <read_file>\n<path>a.rs</path>\n</read_file> <b>no</b> <read_file>", &mut told);
        assert_eq!(told[1]["input"], json!({ "path": "a.rs" }));
        assert_eq!((told.len(), told[2]["text"].as_str()), (3, Some(" <b>no</b> <read_file>")));
        let two = arguments("<args><file><path>a</path></file></args><content>\n<p>x</p>\n</content><left>y");
        assert_eq!(two, json!({ "path": "a", "content": "<p>x</p>" }));
    }

    /// What has no end is looked for once, however often it begins.
    #[test]
    fn elements_without_an_end_take_linear_time() {
        let mut told = Vec::new();
        split(&"<read_file><".repeat(200_000), &mut told);
        assert_eq!(told.len(), 1);
        let names: String = (0..200_000).map(|at| format!("<a{at}>")).collect::<Vec<_>>().concat();
        assert_eq!(arguments(&names), json!({}));
        assert_eq!(arguments(&format!("{names}</a199999>")), json!({ "a199999": "" }));
    }
}
