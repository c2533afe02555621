//! One session of a host that rewrites its records: they are taken in by what lasts of them, and told as events.

use std::path::PathBuf;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

use super::intake::{Intake, LATER};
use super::out::Out;
use crate::call::spilled;
use crate::file::value::canonical;
use cru_session::event::{EventKind, StreamKey};
use cru_session::source::{Account, Header, Sink};

/// Why records are left out that stand behind something which may still change.
const UNFINISHED: &str = "not read yet: still being written";

/// Takes in the records of a session and tells their events.
pub(crate) struct Teller<'s> {
    sink: &'s mut dyn Sink,
    /// The files that its records stand in, and their accounts.
    paths: &'s [PathBuf],
    accounts: &'s mut [Account],
    /// The file that is read now.
    file: usize,
    key: Rc<StreamKey>,
    pub(crate) intake: Intake,
    /// Whether something was met that may still change: nothing behind it is taken in.
    pub(crate) held: bool,
    /// Whether some call waits for its answer.
    pub(crate) waits: bool,
}

impl<'s> Teller<'s> {
    /// Opens a session whose records stand in files with an account each.
    pub(crate) fn open(
        header: Header,
        paths: &'s [PathBuf],
        sink: &'s mut dyn Sink,
        accounts: &'s mut [Account],
    ) -> Self {
        let key = header.key.clone();
        sink.open(header);
        let intake = Intake::new(sink.bounds(&key));
        Self { sink, paths, accounts, file: 0, key: Rc::new(key), intake, held: false, waits: false }
    }

    /// What is taken in next stands in that file.
    pub(crate) fn go_to_file(&mut self, index: usize) {
        self.file = index;
    }

    fn account(&mut self) -> Option<&mut Account> {
        self.accounts.get_mut(self.file)
    }

    /// The session's own id.
    pub(crate) fn own_id(&self) -> &str {
        self.key.agent.as_deref().unwrap_or(&self.key.session)
    }

    /// Whether another record is taken in.
    pub(crate) fn takes_more(&self) -> bool {
        !self.held && !self.intake.is_full()
    }

    /// Takes in a record by what lasts of it; its number, or `None` where it is counted as left for later.
    pub(crate) fn take(&mut self, lasting: &Value, id: &str) -> Option<u64> {
        self.take_line(None, &canonical(lasting), id)
    }

    /// Takes in what is no record, which is left out for this reason.
    pub(crate) fn take_broken(&mut self, bytes: &[u8], id: &str, reason: &'static str) {
        if self.take_line(None, bytes, id).is_some() {
            self.skip(reason);
        }
    }

    /// The same for a record of these bytes, whose line in its file may be known.
    pub(crate) fn take_line(&mut self, line: Option<u64>, bytes: &[u8], id: &str) -> Option<u64> {
        if !self.takes_more() {
            self.later();
            return None;
        }
        let number = self.intake.consume(bytes, id, self.waits);
        if let Some(path) = self.paths.get(self.file) {
            self.sink.line(path, line.unwrap_or(number));
        }
        Some(number)
    }

    /// The whole of an answer that the host put into a file of its own, where that is there.
    pub(crate) fn spilled(&self, output: &str) -> Option<String> {
        spilled::whole(output, None, self.paths.get(self.file)?)
    }

    /// Counts a record that a note shows or uses.
    pub(crate) fn shown(&mut self) {
        let key = Rc::clone(&self.key);
        if let Some(account) = self.account() {
            account.represent_of(&key);
        }
    }

    /// Counts a record that is left out.
    pub(crate) fn skip(&mut self, reason: &'static str) {
        if let Some(account) = self.account() {
            account.skip(reason);
        }
    }

    /// Counts a record: `left` says why it is left out.
    pub(crate) fn count(&mut self, left: Option<&'static str>) {
        match left {
            None => self.shown(),
            Some(reason) => self.skip(reason),
        }
    }

    /// Counts a record that is left for later.
    pub(crate) fn later(&mut self) {
        self.skip(if self.held { UNFINISHED } else { LATER });
    }

    /// Tells events of a record.
    pub(crate) fn out(&mut self, record: u64, time: Option<Timestamp>) -> Out<'_> {
        Out::new(&mut *self.sink, Rc::clone(&self.key), record, time)
    }

    /// Tells one event of a record.
    pub(crate) fn emit(&mut self, record: u64, time: Option<Timestamp>, kind: EventKind<'_>) {
        self.out(record, time).emit(kind);
    }

    /// The session ends here, as far as it was read.
    pub(crate) fn close(&mut self) {
        let consumed = self.intake.consumed(self.waits);
        self.sink.close(&self.key, consumed);
    }
}
