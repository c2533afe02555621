//! One session while it is read: what later records need, and how records are taken in.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::store::OpenCodeHead;
use crate::file::value::{filled, word};
use crate::stream::teller::Teller;
use cru_session::event::{CallResult, EventKind, PromptOrigin, SessionFact};

/// The state of one session.
pub(super) struct OpenCodeSession<'s> {
    pub(super) told: Teller<'s>,
    /// A compaction that was asked for and whose summary was not read yet: its record, time, and what started it.
    pub(super) compaction: Option<(u64, Option<Timestamp>, &'static str)>,
    /// Whether the next command was run by the person.
    pub(super) by_person: bool,
    /// Tokens of the context after the last answer.
    pub(super) context: u64,
    /// Answers of shell commands of the current step: what they changed is told behind it.
    pub(super) waiting: Vec<(u64, Option<Timestamp>, CallResult<'static>)>,
    /// Files that other tools of the current step changed.
    pub(super) changed: Vec<String>,
    /// Whether a task list was told.
    pub(super) tasks: bool,
    /// Records of messages by id, for what is undone.
    before: Vec<(String, u64)>,
}

impl<'s> OpenCodeSession<'s> {
    pub(super) fn new(told: Teller<'s>) -> Self {
        Self {
            told,
            compaction: None,
            by_person: false,
            context: 0,
            waiting: Vec::new(),
            changed: Vec::new(),
            tasks: false,
            before: Vec::new(),
        }
    }

    /// The session's own row.
    pub(super) fn begin(&mut self, head: &OpenCodeHead, title: &str) {
        let directory = word(&head.info, "directory");
        let Some(record) = self.told.take(&json!({ "session": head.id, "directory": directory }), &head.id) else {
            return;
        };
        self.told.shown();
        self.told.see(record, directory);
        let mut out = self.told.out(record, None);
        out.facts(filled(&head.info, "version").map(|version| SessionFact::HostVersion(version.into())));
        out.title(Some(title).filter(|title| !title.trim().is_empty() && !is_placeholder(title)));
    }

    /// Notes where a message begins.
    pub(super) fn begins(&mut self, id: &str, record: u64) {
        if !id.is_empty() {
            self.before.push((id.to_owned(), record));
        }
    }

    /// The session ends here, as far as it was read.
    pub(super) fn end(&mut self, info: &Value) {
        self.flush(&[]);
        let undone = info.get("revert").map_or("", |revert| word(revert, "messageID"));
        let at = self.before.iter().find(|(id, _)| !undone.is_empty() && id == undone).map(|(_, record)| *record);
        if let Some(record) = at.filter(|_| !self.told.held && !self.told.intake.is_full()) {
            let last = self.told.intake.records();
            let mut out = self.told.out(last, None);
            out.prompt("/undo", PromptOrigin::Command);
            out.emit(EventKind::Rewind { to: record.saturating_sub(1) });
        }
        self.told.close();
    }
}

/// Whether the host has not named the session yet: `New session - 2026-04-16T07:37:55.644Z`.
fn is_placeholder(title: &str) -> bool {
    let rest = title.strip_prefix("New session - ").or_else(|| title.strip_prefix("Child session - "));
    rest.is_some_and(|rest| rest.parse::<Timestamp>().is_ok())
}
