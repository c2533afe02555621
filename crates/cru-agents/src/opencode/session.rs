//! One session while it is read: what later records need, and how records are taken in.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::reason;
use super::store::Head;
use crate::calls::Calls;
use crate::intake::{Intake, LATER};
use crate::out::Out;
use crate::place::Place;
use crate::value::{canonical, filled, text};
use cru_session::event::{CallResult, EventKind, Meta, Prompt, PromptOrigin, StreamKey, TitleRank};
use cru_session::source::{Account, Bounds, Sink};

/// The state of one session.
pub(super) struct Session<'s> {
    sink: &'s mut dyn Sink,
    account: &'s mut Account,
    path: PathBuf,
    key: Rc<StreamKey>,
    intake: Intake,
    /// Whether something was met that may still change: nothing behind it is taken in.
    pub(super) held: bool,
    pub(super) place: Place,
    pub(super) calls: Calls,
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

impl<'s> Session<'s> {
    /// A session of that identity, of which so much is wanted.
    pub(super) fn new(
        key: StreamKey,
        bounds: Bounds,
        path: &Path,
        sink: &'s mut dyn Sink,
        account: &'s mut Account,
    ) -> Self {
        Self {
            sink,
            account,
            path: path.to_owned(),
            key: Rc::new(key),
            intake: Intake::new(bounds),
            held: false,
            place: Place::default(),
            calls: Calls::default(),
            compaction: None,
            by_person: false,
            context: 0,
            waiting: Vec::new(),
            changed: Vec::new(),
            tasks: false,
            before: Vec::new(),
        }
    }

    /// The session's own id.
    pub(super) fn own_id(&self) -> &str {
        self.key.agent.as_deref().unwrap_or(&self.key.session)
    }

    /// Whether a parent gives the prompts.
    pub(super) fn is_agent(&self) -> bool {
        self.key.agent.is_some()
    }

    /// Takes in a record by what lasts of it; its number, or `None` where it is left for later.
    pub(super) fn take(&mut self, lasting: &Value, id: &str) -> Option<u64> {
        self.take_bytes(&canonical(lasting), id)
    }

    /// As [`Session::take`], for what is no value.
    pub(super) fn take_bytes(&mut self, bytes: &[u8], id: &str) -> Option<u64> {
        if self.held || self.intake.is_full() {
            return None;
        }
        let number = self.intake.consume(bytes, id, false);
        self.sink.line(&self.path, number);
        Some(number)
    }

    /// Counts a record that a note shows or uses.
    pub(super) fn shown(&mut self) {
        self.account.represent();
    }

    /// Counts a record that is left out.
    pub(super) fn skip(&mut self, reason: &'static str) {
        self.account.skip(reason);
    }

    /// Counts a record that is left for later.
    pub(super) fn later(&mut self) {
        self.account.skip(if self.held { reason::UNFINISHED } else { LATER });
    }

    /// Tells events of a record.
    pub(super) fn out(&mut self, record: u64, time: Option<Timestamp>) -> Out<'_> {
        Out::new(&mut *self.sink, Rc::clone(&self.key), record, time)
    }

    /// Tells one event of a record.
    pub(super) fn emit(&mut self, record: u64, time: Option<Timestamp>, kind: EventKind<'_>) {
        self.out(record, time).emit(kind);
    }

    /// The session's own row.
    pub(super) fn begin(&mut self, head: &Head, title: &str) {
        let directory = text(&head.info, "directory");
        let Some(record) = self.take(&json!({ "session": head.id, "directory": directory }), &head.id) else {
            return self.later();
        };
        self.shown();
        self.see(record, directory);
        if let Some(version) = filled(&head.info, "version") {
            self.emit(record, None, EventKind::Meta(Meta::HostVersion(version.into())));
        }
        if !title.trim().is_empty() && !is_placeholder(title) {
            self.emit(record, None, EventKind::Meta(Meta::Title { rank: TitleRank::Host, text: title.into() }));
        }
    }

    /// Takes the folder that work goes on in.
    pub(super) fn see(&mut self, record: u64, directory: &str) {
        if self.place.see(directory) {
            let cwd = self.place.tilde(directory).into_owned();
            self.emit(record, None, EventKind::Meta(Meta::Cwd(cwd.into())));
        }
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
        let undone = info.get("revert").map_or("", |revert| text(revert, "messageID"));
        let at = self.before.iter().find(|(id, _)| !undone.is_empty() && id == undone).map(|(_, record)| *record);
        if let Some(record) = at.filter(|_| !self.held && !self.intake.is_full()) {
            let last = self.intake.records();
            let prompt = Prompt { text: "/undo".into(), origin: PromptOrigin::Command, attachments: Vec::new() };
            self.emit(last, None, EventKind::Prompt(prompt));
            self.emit(last, None, EventKind::Rewind { to: record.saturating_sub(1) });
        }
        let consumed = self.intake.consumed(false);
        self.sink.close(&self.key, consumed);
    }
}

/// Whether the host has not named the session yet: `New session - 2026-04-16T07:37:55.644Z`.
fn is_placeholder(title: &str) -> bool {
    let rest = title.strip_prefix("New session - ").or_else(|| title.strip_prefix("Child session - "));
    rest.is_some_and(|rest| rest.parse::<Timestamp>().is_ok())
}
