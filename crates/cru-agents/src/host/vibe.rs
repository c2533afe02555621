//! Mistral Vibe: its sessions as events. Messages as lines with a file beside them that describes the session; before,
//! both in one document.

use std::path::Path;

use serde_json::{Value, json};

use crate::file::document::{self, member, members};
use crate::file::value::{filled, word};
use crate::record::session::{RecordSession, code_behind};
use crate::record::{self, EachSession, RecordHost, message};
use crate::stream::out::Out;

pub(super) const HOST: RecordHost = RecordHost {
    id: "vibe",
    recognise: |path, head| {
        if record::holds_lines(path) {
            return record::name(path) == "messages.jsonl" && path.with_file_name("meta.json").is_file();
        }
        let head = String::from_utf8_lossy(head);
        let root = members(&head);
        let about = member(&root, "metadata").map(|it| members(it.text)).unwrap_or_default();
        member(&root, "messages").is_some()
            && ["session_id", "environment", "stats"].iter().all(|name| member(&about, name).is_some())
    },
    session: |path| {
        let about = about(path);
        (
            filled(&about, "session_id")
                .unwrap_or_else(|| record::above(path, usize::from(record::holds_lines(path))))
                .to_owned(),
            0,
        )
    },
    header: |path, session| record::header(path, session, filled(&about(path), "parent_session_id")),
    beside: |path| head(&about(path)),
    document,
    ids: &["message_id"],
    tell,
    ..RecordHost::PLAIN
};

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let text = word(record, "/content");
    const END: &str = "</user_cancellation>";
    let cancelled = text.trim_start().strip_prefix("<user_cancellation>");
    match (word(record, "/role"), cancelled) {
        // The host's own message is nothing else.
        ("user", Some(text)) if text.trim_end().strip_suffix(END).is_some_and(|inside| !inside.contains(END)) => {
            session.stop(out)
        }
        ("tool", _) => {
            let mut answer = message::answer(record, "content");
            answer.exit = answer.exit.or_else(|| code_behind(text.strip_prefix("<tool_error>")?, "\nReturn code: "));
            // A call that was stopped was not refused.
            if let Some(stopped) = cancelled.filter(|text| text.starts_with("Tool execution interrupted")) {
                answer.failed = true;
                answer.output = stopped.trim_end().trim_end_matches(END).to_owned().into();
            }
            session.answer(word(record, "/tool_call_id"), answer, out)
        }
        _ => message::tell(session, record, out),
    }
}

/// What describes the session of a file.
fn about(path: &Path) -> Value {
    if record::holds_lines(path) {
        return record::neighbour(&path.with_file_name("meta.json"));
    }
    record::neighbour(path).get_mut("metadata").map(Value::take).unwrap_or_default()
}

fn document(path: &Path, whole: &str, each: &mut EachSession<'_>) {
    let root = members(whole);
    let about = member(&root, "metadata").and_then(document::Piece::value).unwrap_or_default();
    let messages = member(&root, "messages").map(|list| record::values(list.text)).unwrap_or_default();
    let session = filled(&about, "session_id").map_or_else(|| crate::bundles::stem(path), str::to_owned);
    each(record::header(path, session, filled(&about, "parent_session_id")), head(&about), messages);
}

fn head(about: &Value) -> Value {
    let stats = &about["stats"];
    let model = filled(about, "model").or_else(|| filled(&about["agent_config"], "active_model"));
    json!({
        "cwd": word(&about["environment"], "working_directory"), "title": about["title"], "model": model,
        "named": word(about, "title_source") == "user", "branch": about["git_branch"], "commit": about["git_commit"],
        "started": about["start_time"], "cost": stats["session_cost"],
        "usage": {"input": stats["session_prompt_tokens"], "output": stats["session_completion_tokens"]},
    })
}
