//! Writing a session's note: under its lock, on its newest bytes, once for each operation, with a log of all of it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::journal::Mark;
use super::{State, Vault, VaultPath};
use crate::base::{Error, Result, files};
use crate::note::Note;
use crate::session::op::{self, Mode, Op};
use crate::session::source::Consumed;

/// What is to be written.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In order.
    pub ops: Vec<Op>,
    /// Journals that are consumed by it, by the journal's key.
    pub consumed: BTreeMap<String, Mark>,
    /// Block ids that were given, by entry id: `n-014` for a logged step.
    pub made: BTreeMap<String, String>,
    /// How far the transcript is represented now, for `cru_cursor`; `None` leaves that part as it is.
    pub cursor: Option<Consumed>,
    /// What `cru` would write of the transcript alone ([`State::base`]); `None` keeps the last one.
    pub base: Option<String>,
    /// What it is, for `cru undo`: `log decision`, `flush`.
    pub label: String,
}

/// What is known of a session beside its note.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// How far its journals are consumed, by key.
    pub consumed: BTreeMap<String, Mark>,
    /// What was last generated of its transcript; `None` where that is not known on this machine.
    pub base: Option<String>,
    /// Block ids that were given to the newest entries.
    pub made: BTreeMap<String, String>,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Revision of the note now.
    pub revision: u64,
    /// Whether its bytes changed.
    pub changed: bool,
    /// What became of each operation.
    pub done: Vec<op::Done>,
    /// Operations that were applied again because the note had been saved from an old buffer.
    pub again: usize,
    /// Block ids that were given, also by others to entries of this call.
    pub made: BTreeMap<String, String>,
}

/// Writes the notes of one vault.
#[derive(Debug)]
pub struct Writer<'a> {
    vault: &'a Vault,
    state: &'a State,
    now: Timestamp,
}

impl<'a> Writer<'a> {
    /// For a vault and its machine state.
    pub fn new(vault: &'a Vault, state: &'a State, now: Timestamp) -> Self {
        Self { vault, state, now }
    }

    /// Writes what `plan` wants. `key` is the session's ([`super::state::key`] of its `session_id`). `plan` is called with
    /// the newest note under the session's lock, again whenever somebody else was faster.
    ///
    /// Errors leave the note and the journals as they were.
    pub fn write(
        &self,
        key: &str,
        note: &VaultPath,
        plan: &mut dyn FnMut(&Note, &Known) -> Result<Plan>,
    ) -> Result<Written> {
        let _ = self.now;
        let _lock = files::lock(&self.state.lock(key))?;
        let path = self.vault.file(note);
        let read = files::read_stable(&path)?;
        let plan = plan(&Note::parse(read.bytes.clone()), &Known::default())?;
        let applied = op::apply(&read.bytes, &plan.ops, Mode::First)
            .map_err(|(_, error)| Error::usage(format!("{note}: {error}")))?;
        files::replace_within(self.vault.root(), &path, &read.bytes, &applied.bytes)?;
        Ok(Written { changed: applied.bytes != read.bytes, done: applied.done, made: plan.made, ..Written::default() })
    }
}
