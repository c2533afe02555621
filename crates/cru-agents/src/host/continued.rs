//! Continue: its sessions as events. A session is a document; an item of its history has a message, the calls that it made
//! with their answers, and what the model was sent.

use std::path::Path;

use serde_json::{Value, json};

use crate::call::brief::ended;
use crate::call::tools::Answer;
use crate::file::document::{self, items, member, members};
use crate::file::value::{filled, list, word};
use crate::record::session::{RecordSession, file_path};
use crate::record::{self, EachSession, RecordHost, message};
use crate::stream::out::Out;

pub(super) const HOST: RecordHost = RecordHost {
    id: "continue",
    recognise: |_, head| {
        let head = String::from_utf8_lossy(head);
        let root = members(&head);
        let history = member(&root, "history").map(|list| items(list.text)).unwrap_or_default();
        let is_item = |item: &document::Piece<'_>| member(&members(item.text), "message").is_some();
        member(&root, "sessionId").is_some()
            && (history.first().is_none_or(is_item) && member(&root, "history").is_some())
            || member(&root, "workspaceDirectory").is_some() && member(&root, "history").is_some()
    },
    document,
    tell,
    ..RecordHost::PLAIN
};

fn document(path: &Path, whole: &str, each: &mut EachSession<'_>) {
    let root = members(whole);
    let of = |name: &str| member(&root, name).and_then(document::Piece::value).unwrap_or_default();
    let history = member(&root, "history").map(|list| record::values(list.text)).unwrap_or_default();
    let model = history.iter().flatten().find_map(model).map(str::to_owned);
    let id = of("sessionId").as_str().map_or_else(|| crate::bundles::stem(path), str::to_owned);
    let usage = of("usage");
    let index = record::neighbour(&path.with_file_name("sessions.json"));
    let own = index.as_array().and_then(|rows| rows.iter().find(|row| word(row, "/sessionId") == id));
    let created = own.and_then(|row| row.get("dateCreated")).cloned().unwrap_or_default();
    let created = created.as_str().and_then(|text| text.parse::<u64>().ok()).map_or(created.clone(), Value::from);
    let title = of("title");
    let title = title.as_str().filter(|title| !matches!(*title, "New Session" | "Untitled Session"));
    let head = json!({
        "cwd": file_path(of("workspaceDirectory").as_str().unwrap_or_default()), "title": title,
        "model": model.map_or_else(|| of("chatModelTitle"), Value::from), "started": created, "cost": usage["totalCost"],
        "usage": {"input": usage["promptTokens"], "output": usage["completionTokens"]},
    });
    each(record::header(path, id, None), head, history);
}

/// The model that an item was asked of.
fn model(item: &Value) -> Option<&str> {
    let log = list(item, "/promptLogs").first()?;
    filled(&log["completionOptions"], "model").or_else(|| filled(log, "modelTitle"))
}

fn tell(session: &mut RecordSession, item: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let said = &item["message"];
    session.head(&json!({ "model": model(item) }), out);
    session.think(word(item, "/reasoning/text"), out);
    let left = match word(said, "/role") {
        "thinking" => {
            session.think(&message::flat(&said["content"]).0, out);
            None
        }
        _ => message::tell(session, said, out),
    };
    if let Some(summary) = filled(item, "conversationSummary") {
        session.compact(None, summary, out);
    }
    for state in list(item, "/toolCallStates") {
        let status = filled(state, "status").unwrap_or_default();
        if matches!(status, "done" | "errored" | "canceled") {
            let (output, attachments) = message::flat(&state["output"]);
            // How a command ended stands beside what it printed, or below it.
            let commands = list(state, "/output").iter().filter(|item| item["name"] == "Terminal");
            let mut ends = commands.flat_map(|item| [word(item, "/status"), word(item, "/content")]);
            let exit = ends.clone().find_map(|end| ended(end, "Command failed with exit code ", "").1);
            let failed = status == "errored" || ends.any(|end| end.starts_with("Command failed"));
            let answer = Answer { failed, denied: status == "canceled", exit, attachments, ..Answer::default() };
            session.answer(word(state, "/toolCallId"), Answer { output: output.into(), ..answer }, out);
        }
    }
    left
}
