//! System, attachment and session-level lines.

use serde_json::Value;

use super::agents::Agents;
use super::record::words;
use super::said::{ClaudeSaid, reason, tell_queued};
use super::stream::{ClaudeCompaction, ClaudeStream};
use super::user::Gathered;
use crate::file::value::{self, filled, number, object, word};
use crate::stream::out::Out;
use crate::unknown::left_out;
use cru_session::event::{EventKind, SessionFact, StreamKey, TitleRank};

pub(super) const BOOKKEEPING_REASON: &str = "host bookkeeping";

impl ClaudeStream {
    /// Reads a system line.
    pub(super) fn system(&mut self, record: &Value, out: &mut Out<'_>, agents: &Agents) -> Option<&'static str> {
        match word(record, "subtype") {
            "compact_boundary" => {
                self.flush_compaction(out);
                let meta = &record["compactMetadata"];
                self.compaction = Some(ClaudeCompaction {
                    record: out.record,
                    time: out.time,
                    trigger: filled(meta, "trigger").map(str::to_owned),
                    tokens_before: number(meta, "preTokens"),
                });
                None
            }
            "local_command" => {
                let text = words(&record["content"]);
                let mut gathered = Gathered::default();
                self.said(super::said::tell(&text), &mut gathered, out, agents);
                // A command of the interface that the host ran by itself; what it prints is no work.
                Some(gathered.reason.unwrap_or(reason::INTERFACE))
            }
            // Notices of older versions have none.
            "" => Some(BOOKKEEPING_REASON),
            subtype => Some(left_out(super::IMPORTER.id, "unknown system line", subtype)),
        }
    }

    /// Reads an attachment line.
    pub(super) fn attachment(&mut self, record: &Value, out: &mut Out<'_>, agents: &Agents) -> Option<&'static str> {
        let Some(attachment) = object(record, "attachment") else { return Some(reason::EMPTY) };
        if word(attachment, "type") == "hook_cancelled" && word(attachment, "hookEvent") == "Stop" {
            self.stopped_hook = Some((self.worked, self.turn));
        }
        if word(attachment, "type") != "queued_command" {
            return Some("context added by the host");
        }
        out.time = value::time(attachment, "timestamp").or(out.time);
        let from = word(&attachment["origin"], "kind");
        if !matches!(from, "" | "human" | "task-notification") {
            return Some(reason::INJECTED);
        }
        self.queued(&attachment["prompt"], out, agents)
    }

    /// Reads a queue operation.
    pub(super) fn queue_operation(&mut self, record: &Value, out: &Out<'_>) -> Option<&'static str> {
        let words = words(&record["content"]);
        match word(record, "operation") {
            "enqueue" => {
                let by_host = !matches!(tell_queued(&words), ClaudeSaid::Words(_) | ClaudeSaid::Command(_));
                self.queue.enqueue(words, by_host, out.time, self.worked);
            }
            "dequeue" => self.queue.dequeue(self.worked),
            "remove" if self.queue.remove(&words, self.works, out.record) => return None,
            "popAll" => self.queue.take_back(),
            _ => {}
        }
        Some("queue bookkeeping")
    }

    /// Reads a line about the whole session.
    pub(super) fn session_line(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let told = match word(record, "type") {
            "custom-title" => self.title(TitleRank::Custom, word(record, "customTitle"), out),
            "ai-title" => self.title(TitleRank::Host, word(record, "aiTitle"), out),
            "pr-link" => match (filled(record, "prUrl"), number(record, "prNumber")) {
                (Some(url), Some(number)) if self.is_new_pull(url) => {
                    out.emit(EventKind::PullRequest { url: url.into(), number });
                    true
                }
                _ => false,
            },
            "cost-state" => self.host_sums(record, out),
            "worktree-state" => {
                let Some(tree) = object(record, "worktreeSession") else { return Some(BOOKKEEPING_REASON) };
                if let Some(name) = filled(tree, "worktreeName") {
                    out.quiet(EventKind::Meta(SessionFact::Property {
                        key: "worktree".into(),
                        value: name.to_owned().into(),
                    }));
                }
                self.project(word(tree, "originalCwd"), out)
            }
            "continued-in" => match filled(record, "continuedInSessionId").filter(|next| *next != self.key.session) {
                Some(next) => {
                    let next = StreamKey { session: next.to_owned(), agent: None };
                    out.emit(EventKind::Meta(SessionFact::ContinuedIn(next)));
                    true
                }
                None => false,
            },
            "relocated" => self.project(word(record, "relocatedCwd"), out),
            kind => return Some(left_out(super::IMPORTER.id, "unknown record type", kind)),
        };
        (!told).then_some(BOOKKEEPING_REASON)
    }
}
