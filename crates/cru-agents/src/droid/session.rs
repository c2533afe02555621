//! What each record of a session means.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::call::task_list;
use crate::file::value::{count, filled, list, word};
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::record::{RecordHost, message};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::EventKind;

pub(super) static HOST: RecordHost =
    RecordHost { id: "droid", ids: &["id"], times: &["timestamp"], tell, ..RecordHost::PLAIN };

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    match word(record, "/type") {
        "session_start" => {
            // `title` is only the beginning of the first words.
            session.head(&json!({ "cwd": record["cwd"], "title": record["sessionTitle"] }), out);
            out.told = true;
            None
        }
        "message" => {
            let hidden = matches!(word(record, "/message/visibility"), "llm" | "llm_only" | "hidden" | "model_only");
            if !hidden || word(record, "/message/role") != "user" {
                return message::tell(session, &record["message"], out);
            }
            let answers = list(record, "/message/content").iter().filter(|block| word(block, "/type") == "tool_result");
            let answers: Vec<&Value> = answers.collect();
            message::tell(session, &json!({ "role": "user", "content": answers }), out).or(Some(HOST_WORDS))
        }
        "todo_state" => {
            let input = if record.pointer("/todos/todos").is_some() { &record["todos"] } else { record };
            let rows = task_list::of_call(input);
            if rows.is_empty() {
                return Some("empty task list");
            }
            out.emit(EventKind::Tasks(rows));
            None
        }
        "compaction_state" => {
            let summary = filled(record, ["/summaryText", "/summary"]).map(Cow::Borrowed);
            let tokens = Some(count(record, "/tokensBefore")).filter(|tokens| *tokens > 0);
            out.emit(EventKind::Compaction { trigger: None, tokens_before: tokens, summary });
            None
        }
        "session_end" => Some("end of the session"),
        "" => Some("no record type"),
        kind => Some(unknown("unknown record type", kind)),
    }
}
