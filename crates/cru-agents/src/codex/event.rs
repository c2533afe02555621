//! Events: what the person saw. Their own words, tokens, and what happened to the session are told from here.

use std::borrow::Cow;

use serde_json::Value;

use super::reason;
use super::record::{duration, local_picture, pictures, words};
use super::stream::{CodexCompaction, CodexStream, Hint};
use crate::file::value::{attachment, blocks, count, exit, filled, flag, length, list, number, object, trimmed, word};
use crate::stream::out::Out;
use crate::unknown::{left_out, unknown};
use cru_session::event::{Attachment, EventKind, PromptOrigin, SessionFact, TitleRank};

/// Name of the model where no record says it.
const NO_MODEL: &str = "unknown";

impl CodexStream {
    /// Reads an event.
    pub(super) fn told(&mut self, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        match word(event, "type") {
            "user_message" => {
                let words = filled(event, "message").unwrap_or_default();
                self.user(words, attachments(event), out)
            }
            "agent_message" => Some(self.reply_again(filled(event, "message").unwrap_or_default(), out)),
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                let Some(words) = filled(event, "text") else { return Some(reason::EMPTY) };
                self.settle_users(out);
                if self.thoughts.is_full() {
                    self.settle_agent(out);
                }
                self.thoughts.second(out.record, out.time, words, Vec::new());
                Some(reason::TWICE)
            }
            "item_completed" => self.completed(event, out),
            "token_count" => self.tokens(event, out),
            "task_started" | "turn_started" => {
                self.in_turn = false;
                self.tells_turns = true;
                Some("beginning or end of a turn")
            }
            "task_complete" | "turn_complete" => {
                self.acts(out);
                self.in_turn = false;
                let error = filled(&event["error"], "message");
                if error.is_some_and(|error| self.fails(error, out)) {
                    return None;
                }
                Some("beginning or end of a turn")
            }
            "turn_aborted" => self.aborted(event, out),
            "error" => {
                let message = filled(event, "message").unwrap_or("error");
                (!self.fails(message, out)).then_some(reason::TWICE)
            }
            "context_compacted" => {
                if matches!(self.compaction, CodexCompaction::None) {
                    self.compaction = CodexCompaction::Event(out.record, out.time);
                }
                Some(reason::TWICE)
            }
            "thread_rolled_back" => self.rolled_back(event, out),
            "thread_name_updated" => {
                let Some(name) = trimmed(event, "thread_name") else { return Some(reason::EMPTY) };
                out.emit(EventKind::Meta(SessionFact::Title { rank: TitleRank::Custom, text: name.into() }));
                None
            }
            "entered_review_mode" => {
                let hint = filled(event, "user_facing_hint").map(|hint| format!(" {hint}")).unwrap_or_default();
                let text = format!("/review{hint}");
                self.acts(out);
                self.calls.begin_turn();
                self.prompts.push(out.record);
                out.prompt(text, PromptOrigin::Command);
                None
            }
            _ => Some(self.beside(event)),
        }
    }

    /// Events that belong to calls, and those that a note does not use.
    fn beside(&mut self, event: &Value) -> &'static str {
        let duration_ms = duration(event).filter(|millis| *millis > 0);
        let mut hint = Hint { duration_ms, ..Hint::default() };
        match word(event, "type") {
            "exec_command_end" => hint.exit = exit(event, "exit_code"),
            "mcp_tool_call_end" => {
                let result = &event["result"];
                hint.failed = !result["Err"].is_null() || flag(&result["Ok"], "isError");
            }
            "patch_apply_end" => hint.diffs = diffs(&event["changes"]),
            "collab_agent_spawn_end" => {
                let part = filled(event, ["new_agent_role", "new_agent_nickname"]).map(str::to_owned);
                hint.agent = filled(event, "new_thread_id").map(|id| (id.to_owned(), part));
            }
            "web_search_end" => {
                self.found = length(event, "results");
                return reason::TWICE;
            }
            "" => return "no record type",
            kind => return left_out(super::IMPORTER.id, "unknown event", kind),
        }
        self.remember(filled(event, "call_id"), hint);
        reason::TWICE
    }

    /// Keeps what was told of a call until its answer.
    fn remember(&mut self, call: Option<&str>, hint: Hint) {
        const MAX: usize = 4096;
        if let Some(id) = call.filter(|_| self.hints.len() < MAX) {
            self.hints.insert(id.to_owned(), hint);
        }
    }

    fn user(&mut self, text: &str, attachments: Vec<Attachment<'static>>, out: &mut Out<'_>) -> Option<&'static str> {
        self.has_events = true;
        let Some(sent) = self.users.first(text) else { return Some(reason::TWICE) };
        let attachments = if attachments.is_empty() { sent } else { attachments };
        if text.trim().is_empty() && attachments.is_empty() {
            return Some(reason::EMPTY);
        }
        self.prompt(text, attachments, out)
    }

    fn reply_again(&mut self, text: &str, out: &mut Out<'_>) -> &'static str {
        if text.trim().is_empty() {
            return reason::EMPTY;
        }
        // The agent answers: the words before it are not told by an event any more.
        self.settle_users(out);
        if self.replies.is_full() {
            self.settle_agent(out);
        }
        self.replies.second(out.record, out.time, text, Vec::new());
        reason::TWICE
    }

    /// Newer versions tell finished items instead of events.
    fn completed(&mut self, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let Some(item) = object(event, "item") else { return Some(reason::EMPTY) };
        // Versions write the types in several ways: `UserMessage`, `userMessage`, `user_message`.
        let kind = word(item, "type").replace('_', "").to_ascii_lowercase();
        match kind.as_str() {
            "usermessage" => {
                let parts = blocks(&item["content"]);
                let (sent, text) = (pictures(&parts), words(&parts));
                // The event of the same words was there.
                if self.unanswered.as_deref() == Some(text.trim()) {
                    return Some(reason::TWICE);
                }
                return self.user(&text, sent, out);
            }
            "agentmessage" => return Some(self.reply_again(&words(&blocks(&item["content"])), out)),
            "commandexecution" | "filechange" | "mcptoolcall" => self.remember(filled(item, "id"), hint(item)),
            "contextcompaction" if matches!(self.compaction, CodexCompaction::None) => {
                self.compaction = CodexCompaction::Event(out.record, out.time);
            }
            "reasoning" => {
                let said = list(item, "summary_text").iter().filter_map(Value::as_str);
                for text in said.filter(|text| !text.trim().is_empty()) {
                    self.settle_users(out);
                    self.thoughts.second(out.record, out.time, text, Vec::new());
                }
            }
            "" => return Some("no record type"),
            kind => {
                let known = super::IMPORTER.agent().why_left(kind);
                return Some(known.unwrap_or_else(|| unknown("unknown item", word(item, "type"))));
            }
        }
        Some(reason::TWICE)
    }

    fn tokens(&mut self, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let Some(info) = object(event, "info") else { return Some("limits of the account") };
        let Some(usage) = self.counter.count(info) else { return Some("repeated token counts") };
        let model = if self.model.trim().is_empty() { NO_MODEL } else { &self.model };
        let message = Cow::Owned(format!("tokens@{}", out.record));
        out.emit(EventKind::Usage { message, model: Cow::Borrowed(model), usage });
        None
    }

    fn aborted(&mut self, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.settle_users(out);
        self.settle_agent(out);
        self.calls.begin_turn();
        self.in_turn = false;
        match word(event, "reason") {
            // The person said something else meanwhile, or a review came to its end.
            "replaced" | "review_ended" => Some("beginning or end of a turn"),
            _ => {
                out.emit(EventKind::Interrupt { call: None, unnamed: false });
                None
            }
        }
    }

    /// Tells an error where it is another than the last; whether it was.
    fn fails(&mut self, message: &str, out: &mut Out<'_>) -> bool {
        if self.error == message {
            self.error.clear();
            return false;
        }
        self.acts(out);
        message.clone_into(&mut self.error);
        out.emit(EventKind::ApiError(Cow::Borrowed(message)));
        true
    }

    /// A person went back: the last prompts and all that followed them are no longer a part of the talk.
    fn rolled_back(&mut self, event: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let count = usize::try_from(count(event, "num_turns")).unwrap_or(usize::MAX);
        if count == 0 {
            return Some(reason::EMPTY);
        }
        self.settle_users(out);
        self.settle_agent(out);
        self.calls.begin_turn();
        let kept = self.prompts.len().saturating_sub(count);
        let to = self.prompts.get(kept).map_or(out.record, |first| first.saturating_sub(1));
        self.prompts.truncate(kept);
        out.emit(EventKind::Rewind { to });
        None
    }
}

/// What a finished item tells of its call.
fn hint(item: &Value) -> Hint {
    let duration = duration(item).or_else(|| number(item, "duration_ms"));
    Hint {
        failed: matches!(word(item, "status"), "failed" | "declined"),
        exit: exit(item, "exit_code"),
        duration_ms: duration.filter(|millis| *millis > 0),
        diffs: diffs(&item["changes"]),
        agent: None,
    }
}

/// Pictures that were sent along: as data, or as files.
fn attachments(event: &Value) -> Vec<Attachment<'static>> {
    let sent = list(event, "images").iter().filter_map(Value::as_str).map(|url| attachment("", url));
    let local = list(event, "local_images").iter().filter_map(Value::as_str).map(local_picture);
    sent.chain(local).collect()
}

/// The diffs of the files that a patch changed, by path. A file that it made is whole in the patch itself.
fn diffs(changes: &Value) -> Vec<(String, String)> {
    const MOST: usize = 256;
    let diff = |(path, change): (&String, &Value)| {
        let diff = change.get("unified_diff")?.as_str()?.to_owned();
        // A file that moves is told under its new path.
        let path = change.get("move_path").and_then(Value::as_str).unwrap_or(path);
        Some((path.to_owned(), diff))
    };
    changes.as_object().into_iter().flatten().filter_map(diff).take(MOST).collect()
}
