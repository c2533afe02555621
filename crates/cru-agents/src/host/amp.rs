//! Amp: its threads as events. A thread is a document whose messages have the blocks of the Anthropic service.

use std::path::Path;

use serde_json::{Value, json};

use crate::file::document::{self, items, member, members};
use crate::file::value::{filled, list, moment, number, usage, word};
use crate::record::session::{HOST_WORDS, RecordSession, file_path};
use crate::record::{self, EachSession, RecordHost, message};
use crate::stream::out::Out;

pub(super) const HOST: RecordHost = RecordHost {
    id: "amp",
    recognise: |path, head| {
        let head = String::from_utf8_lossy(head);
        let root = members(&head);
        let has = |name: &str| member(&root, name).is_some();
        let is_thread = record::name(path).starts_with("T-") && has("id");
        let ours = ["env", "usageLedger", "nextMessageId", "agentMode"].iter().any(|name| has(name));
        let messages = member(&root, "messages").map(|list| items(list.text)).unwrap_or_default();
        // The oldest threads have their words without blocks.
        let old = || {
            messages.first().and_then(document::Piece::value).is_some_and(|first| {
                filled(&first, "role").is_some() && filled(&first, "text").is_some() && first.get("createdAt").is_some()
            })
        };
        has("messages") && (is_thread || ours || (has("id") && old()))
    },
    document,
    ids: &["messageId"],
    times: &["createdAt", "ended"],
    tell,
    ..RecordHost::PLAIN
};

fn document(path: &Path, whole: &str, each: &mut EachSession<'_>) {
    let root = members(whole);
    let of = |name: &str| member(&root, name).and_then(document::Piece::value).unwrap_or_default();
    let (env, ledger) = (of("env"), of("usageLedger"));
    let mut messages = member(&root, "messages").map(|list| record::values(list.text)).unwrap_or_default();
    // The ledger says when the service answered.
    for event in list(&ledger, "/events") {
        let (to, time) = (number(event, "toMessageId"), event.get("timestamp").cloned().unwrap_or_default());
        let ended = messages.iter_mut().flatten().find(|it| to.is_some() && number(it, "messageId") == to);
        if let Some(message) = ended.and_then(Value::as_object_mut) {
            message.entry("ended").or_insert(time);
        }
    }
    let credits: f64 = list(&ledger, "/events").iter().filter_map(|event| event.get("credits")?.as_f64()).sum();
    let folder = file_path(word(&env, "/initial/trees/0/uri"));
    let more = Some(credits).filter(|credits| *credits > 0.0).map(|credits| json!({ "credits": credits }));
    let head = json!({
        "cwd": folder, "title": of("title"), "started": of("created"),
        "version": word(&env, "/initial/platform/clientVersion"), "more": more,
    });
    let id = of("id").as_str().map_or_else(|| crate::bundles::stem(path), str::to_owned);
    each(record::header(path, id, None), head, messages);
}

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    out.time = out.time.or_else(|| moment(&record["meta"], ["sentAt", "timestamp"]));
    let lines = list(record, "/content").iter().filter(|part| part["type"] == "manual_bash_invocation");
    for part in lines.clone() {
        let answer = (!message::goes_on(&part["toolRun"])).then(|| message::answer(part, "toolRun"));
        session.shell_line(word(part, "/args/cmd"), answer, out);
    }
    let left = match word(record, "/role") {
        "info" => lines.count().eq(&0).then_some(HOST_WORDS),
        _ => message::tell(session, record, out),
    };
    if let Some(counts) = record.get("usage") {
        let names = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
        session.usage("", word(counts, "/model"), usage(counts, names), out);
    }
    if word(record, "/state/type") == "cancelled" {
        session.stop(out);
    }
    left
}
