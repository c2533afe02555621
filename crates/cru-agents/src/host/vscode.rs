//! VS Code's Copilot Chat: its sessions as events. A session is a document with a list of requests, or a log of changes to
//! one; a request holds what was asked, what was answered and what the tools said.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::call::brief::ended;
use crate::call::question::Answered;
use crate::call::tools::Answer;
use crate::file::document::{self, Piece, items, member, members};
use crate::file::value::{self, attachment, exit, filled, list, number, usage, word};
use crate::record::session::{RecordSession, file_path, spoken};
use crate::record::{self, RecordHost};
use crate::stream::out::Out;
use cru_action::ToolKind;
use cru_session::event::{DecisionEvent, EventKind};
use cru_session::source::Bundle;

pub(super) const HOST: RecordHost = RecordHost {
    id: "vscode",
    recognise: |_, head| {
        let head = String::from_utf8_lossy(head);
        let root = members(&head);
        let has = |name: &str| member(&root, name).is_some();
        // What other programs make of a session has the same name and none of these.
        let known = |item: &Piece<'_>, name: &str| member(&members(item.text), name).is_some();
        let is_request = |item: &Piece<'_>| known(item, "requestId") || known(item, "message");
        let requests = member(&root, "requests").map(|list| items(list.text));
        let is_session = requests.is_some_and(|requests| requests.first().is_none_or(is_request))
            && (has("responderUsername") || has("initialLocation") || has("requesterUsername"));
        let begins = member(&root, "v").map(|it| members(it.text)).unwrap_or_default();
        is_session || has("kind") && member(&begins, "requests").is_some()
    },
    session: |path| {
        if record::above(path, 1).to_lowercase().ends_with("chatsessions") {
            return (crate::bundles::stem(path), u64::from(record::holds_lines(path)));
        }
        let text = document::read(&Bundle::default(), path).ok().flatten().unwrap_or_default();
        let root = whole(&text);
        (id_of(&root, list(&root, "/requests").first(), path), 0)
    },
    passes: |bundle, path| {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |it| it.len());
        let fullest = bundle.files.iter().max_by_key(|path| (record::holds_lines(path), size(path)));
        fullest.is_some_and(|fullest| fullest != path).then_some("copy of the session")
    },
    lines: |_| false,
    document: |path, text, each| {
        let mut root = whole(text);
        let requests = root.get_mut("requests").map(Value::take).unwrap_or_default();
        let Value::Array(mut requests) = requests else { return };
        // What is still being answered is told when that has ended.
        if requests
            .last()
            .is_some_and(|last| last.get("result").is_none() && last.pointer("/modelState/value") == Some(&json!(0)))
        {
            requests.pop();
        }
        let id = id_of(&root, requests.first(), path);
        each(record::header(path, id, None), about(&root, &requests, path), requests.into_iter().map(Ok).collect());
    },
    ids: &["requestId"],
    times: &["timestamp"],
    tell,
    ..RecordHost::PLAIN
};

/// The session as a whole: a document, or what a log of changes makes of one.
fn whole(text: &str) -> Value {
    if let Some(root) = value::read(text.as_bytes()).filter(|root| root.get("requests").is_some()) {
        return root;
    }
    let mut root = Value::Null;
    for entry in text.lines().filter_map(|line| value::read(line.as_bytes())) {
        let path = list(&entry, "/k");
        let new = entry.get("v").cloned().unwrap_or_default();
        match (entry.get("kind").and_then(Value::as_u64), path.split_last()) {
            (Some(0), _) => root = new,
            (Some(1), Some((last, above))) => set(&mut root, above, last, new),
            (Some(2), Some(_)) => {
                if let Some(Value::Array(items)) = step_into(&mut root, path) {
                    let kept = number(&entry, "i").map_or(usize::MAX, |at| usize::try_from(at).unwrap_or(usize::MAX));
                    items.truncate(kept);
                    items.extend(new.as_array().cloned().unwrap_or_default());
                }
            }
            (Some(3), Some((last, above))) => {
                if let (Some(Value::Object(map)), Some(name)) = (step_into(&mut root, above), last.as_str()) {
                    map.remove(name);
                }
            }
            _ => {}
        }
    }
    root
}

/// The value that a path of names and indexes leads to.
fn step_into<'v>(root: &'v mut Value, path: &[Value]) -> Option<&'v mut Value> {
    path.iter().try_fold(root, |at, step| match step {
        Value::String(name) => at.get_mut(name),
        step => at.get_mut(usize::try_from(step.as_u64()?).ok()?),
    })
}

fn set(root: &mut Value, above: &[Value], last: &Value, new: Value) {
    match (step_into(root, above), last) {
        (Some(Value::Object(map)), Value::String(name)) => {
            map.insert(name.clone(), new);
        }
        (Some(list), at) => {
            if let Some(there) = step_into(list, std::slice::from_ref(at)) {
                *there = new;
            }
        }
        (None, _) => {}
    }
}

/// An export names no session; its first request may.
fn id_of(root: &Value, first: Option<&Value>, path: &Path) -> String {
    let first = first.unwrap_or(&Value::Null);
    let id = filled(root, "sessionId").or_else(|| first.pointer("/result/metadata/sessionId")?.as_str());
    id.or_else(|| filled(first, "requestId")).map_or_else(|| crate::bundles::stem(path), str::to_owned)
}

fn about(root: &Value, requests: &[Value], path: &Path) -> Value {
    let workspace = path.ancestors().nth(2).map(|folder| record::neighbour(&folder.join("workspace.json")));
    let folder = workspace.as_ref().and_then(|it| filled(it, "folder")).map(file_path);
    // Parts of an answer say which folder their paths begin in.
    let base = || {
        let mut parts = requests.iter().flat_map(|request| list(request, "/response"));
        parts.find_map(|part| part.pointer("/baseUri/path")?.as_str()).map(|path| path.trim_end_matches('/').to_owned())
    };
    let version = requests.iter().find_map(|request| request.pointer("/agent/extensionVersion"));
    json!({
        "cwd": folder.or_else(base), "title": root["customTitle"], "named": true, "version": version,
        "started": root["creationDate"],
    })
}

fn tell(session: &mut RecordSession, request: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let metadata = &request["result"]["metadata"];
    let sent = list(request, "/variableData/variables").iter().filter(|it| word(it, "/kind") == "image");
    let sent = sent.map(|it| attachment(word(it, "/mimeType"), "")).collect();
    session.prompt(word(request, "/message/text"), sent, out);
    let model = filled(metadata, "resolvedModel").or_else(|| filled(request, "modelId")).unwrap_or_default();
    session.head(&json!({ "model": model.rsplit('/').next() }), out);
    let mut left = None;
    let rounds = list(metadata, "/toolCallRounds");
    let says = rounds.iter().any(|round| filled(round, "response").is_some());
    if !says {
        left = parts(session, request, rounds.is_empty(), out);
    }
    let parts_of: HashMap<&str, &Value> =
        list(request, "/response").iter().map(|part| (word(part, "/toolCallId"), part)).collect();
    for round in rounds {
        out.time = value::moment(round, "timestamp").or(out.time);
        session.think(&thoughts(&round["thinking"]), out);
        session.reply(word(round, "/response"), out);
        for call in list(round, "/toolCalls") {
            let id = word(call, "/id");
            session.call(id, word(call, "/name"), &call["arguments"], out);
            // An id may have an end that its part does not have: `c1__vscode-1`.
            let part = parts_of.get(id).or_else(|| parts_of.get(id.rsplit_once("__")?.0)).copied();
            let mut answer = part.map(shown).unwrap_or_default();
            if let Some(result) = metadata["toolCallResults"].get(id) {
                let output = printed(result);
                let is_shell = ToolKind::of(word(call, "/name")) == ToolKind::Shell;
                answer.exit =
                    answer.exit.or_else(|| ended(&output, "Command exited with code ", "").1.filter(|_| is_shell));
                session.answer(id, Answer { output: output.into(), denied: false, ..answer }, out);
            } else if answer.denied {
                answer.output = spoken(part.unwrap_or(&Value::Null), "/invocationMessage").to_owned().into();
                session.answer(id, answer, out);
            }
        }
    }
    for part in list(request, "/response").iter().filter(|_| says) {
        answers(part, out);
        left = left.or(stranger(session, part));
    }
    let elapsed = number(&request["result"]["timings"], "totalElapsed").and_then(|it| i64::try_from(it).ok());
    let begun = value::moment(request, "timestamp");
    out.time = begun
        .zip(elapsed)
        .and_then(|(begun, elapsed)| begun.checked_add(jiff::SignedDuration::from_millis(elapsed)).ok())
        .or(out.time);
    let output = if metadata.get("outputTokens").is_some() { "outputTokens" } else { "completionTokens" };
    session.usage("", "", usage(metadata, ["promptTokens", output, "", ""]), out);
    if let Some(error) = filled(&request["result"]["errorDetails"], "message").filter(|_| request["isCanceled"] != true)
    {
        session.fail(error, out);
    }
    if request["isCanceled"] == true || request.pointer("/modelState/value") == Some(&json!(2)) {
        session.stop(out);
    }
    left
}

fn thoughts(thinking: &Value) -> String {
    let text = &thinking["text"];
    text.as_str().map_or_else(|| value::strings(Some(text)).join("\n"), str::to_owned)
}

/// Whether a person refused the call that a part of an answer stands for.
fn is_refused(part: &Value) -> bool {
    word(part, "/kind") == "toolInvocationSerialized"
        && (part["isConfirmed"] == false || part.pointer("/isConfirmed/type") == Some(&json!(0)))
}

/// What a person was shown of a call: what it printed or came to, and how it ended.
fn shown(part: &Value) -> Answer<'static> {
    let printed = filled(part, "/toolSpecificData/terminalCommandOutput/text");
    let told = ["/pastTenseMessage", "/invocationMessage"].map(|at| spoken(part, at));
    let output = printed.or_else(|| told.into_iter().find(|text| !text.is_empty())).unwrap_or_default();
    let exit = exit(part, "/toolSpecificData/terminalCommandState/exitCode");
    let failed = part.pointer("/resultDetails/isError") == Some(&Value::Bool(true));
    Answer { output: output.to_owned().into(), exit, failed, denied: is_refused(part), ..Answer::default() }
}

/// Questions that a person answered, as decisions.
fn answers(part: &Value, out: &mut Out<'_>) {
    for asked in list(part, "/questions").iter().filter(|_| word(part, "/kind") == "questionCarousel") {
        let answer = part["data"].get(word(asked, "/id")).unwrap_or(&Value::Null);
        let mut taken = value::strings(Some(&answer["selectedValues"]));
        taken.extend(answer.as_str().or_else(|| filled(answer, "selectedValue")));
        let options = list(asked, "/options");
        let label =
            |taken| options.iter().find(|it| word(it, "/value") == taken).map_or(taken, |it| word(it, "/label"));
        let taken = taken.into_iter().map(label).chain(filled(answer, "freeformValue")).collect();
        // A question has a message below its title, or is the title.
        let (header, question) = match spoken(asked, "/message") {
            "" => ("", word(asked, "/title")),
            message => (word(asked, "/title"), message),
        };
        let question = &json!({ "header": header, "question": question, "options": options });
        if let Some(decision) = (Answered { question, taken, said: None, note: None }).decision("") {
            out.emit(EventKind::Decision(DecisionEvent { call: None, ..decision }));
        }
    }
}

/// Why a part is left out that is no word, thought, call or edit, where nobody knows it.
fn stranger(session: &RecordSession, part: &Value) -> Option<&'static str> {
    let kind = word(part, "/kind");
    (!kind.is_empty()).then(|| session.left_out("unknown part", kind)).filter(|why| why.starts_with("unknown"))
}

/// An answer of which only what was shown is recorded. `calls`: no round has its calls.
fn parts(session: &mut RecordSession, request: &Value, calls: bool, out: &mut Out<'_>) -> Option<&'static str> {
    let mut left = None;
    for (at, part) in list(request, "/response").iter().enumerate() {
        match word(part, "/kind") {
            "" | "markdownContent" | "markdownVuln" => {
                let text = filled(part, "value").unwrap_or_else(|| spoken(part, "/content"));
                session.more(false, text, out);
            }
            "inlineReference" => {
                let named = filled(part, "name").map(str::to_owned);
                let path = ["/inlineReference/path", "/inlineReference/uri/path", "/inlineReference/location/uri/path"];
                let path = filled(part, path).unwrap_or_default();
                session.more(
                    false,
                    &format!("`{}`", named.unwrap_or_else(|| session.place.show(path).into_owned())),
                    out,
                );
            }
            "thinking" => session.more(true, &thoughts(&json!({ "text": part["value"] })), out),
            "toolInvocationSerialized" if calls => {
                let id = filled(part, "toolCallId").map_or_else(|| format!("{}.{at}", out.record), str::to_owned);
                let command = ["/toolSpecificData/commandLine/original", "/toolSpecificData/command"];
                let command = filled(part, command);
                let path = part
                    .pointer("/invocationMessage/uris")
                    .and_then(Value::as_object)
                    .and_then(|all| all.values().next());
                let input = match (command, path) {
                    (Some(command), _) => json!({ "command": command }),
                    (None, Some(path)) => json!({ "path": path["path"] }),
                    _ => json!({ "description": spoken(part, "/invocationMessage") }),
                };
                session.call(&id, &tool(part), &input, out);
                let answer = shown(part);
                let is_complete = part["isComplete"] == true || part["isComplete"].is_object();
                if is_complete || answer.denied {
                    session.answer(&id, answer, out);
                }
            }
            "textEditGroup"
                if calls
                    && list(part, "/edits").iter().any(|edit| edit.as_array().is_some_and(|it| !it.is_empty())) =>
            {
                // The editor applied them; what they took the place of is not recorded.
                let id = format!("{}.{at}", out.record);
                session.call(&id, "edit_file", &json!({ "path": part["uri"]["path"] }), out);
                session.answer(&id, Answer::default(), out);
            }
            "questionCarousel" => answers(part, out),
            _ => left = stranger(session, part).or(left),
        }
    }
    session.flush(out);
    left
}

/// The name of a tool as its part has it: `copilot_readFile`.
fn tool(part: &Value) -> String {
    let name = word(part, "/toolId");
    name.strip_prefix("copilot_").unwrap_or(name).to_owned()
}

/// What a tool printed: texts, and trees of pieces of text.
fn printed(result: &Value) -> String {
    let mut text = String::new();
    for part in list(result, "/content") {
        match &part["value"] {
            Value::String(words) => text.push_str(words),
            tree => print(&tree["node"], &mut text),
        }
    }
    text
}

/// JSON is not nested deeper than its reader allows.
fn print(node: &Value, text: &mut String) {
    if node["lineBreakBefore"] == true && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(word(node, "/text"));
    for child in list(node, "/children") {
        print(child, text);
    }
}
