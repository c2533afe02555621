//! Writing a session's note: under its lock, on its newest bytes, once for each operation, with a log of all of it.
//!
//! The record in the operation log is the moment a write is decided. Before it, nothing has happened and the journals
//! keep their entries; after it, the write is done now or at the next contact, since the revision in the note tells
//! what it lacks. Everything that can fail for long (a full disk, a note that may not be written) fails before it.

mod apply;
mod attempt;
mod cursor;
mod disk;
mod displaced;
mod foreign;
mod heal;
mod keep;
#[cfg(test)]
mod tests;
mod undo;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::catalog::read_head;
use super::journal::Mark;
use super::operations::Operations;
use super::{State, Vault, VaultPath};
use attempt::{Brought, Job, New, Step, WriteAttempts};
use cru_base::{Error, Result, files};
use cru_note::Note;
use cru_session::op::{self, Op};
use cru_session::source::Consumed;

pub use undo::{Past, Undone, Which};

/// How often a write is computed anew because somebody else was faster, and the longest pause between.
const TRIES: u32 = 24;
const PAUSE: Duration = Duration::from_millis(50);

/// How often, and at what longest interval, one who waits for another's write looks whether it is done, before it waits
/// for the lock.
const LOOKS: u32 = 500;
const LOOK: Duration = Duration::from_millis(8);

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
    /// What of it was generated, and can be generated again; words that somebody logged are none of it.
    pub generated: Option<Generated>,
    /// Whether the operations bring in what a copy of the note says: how the session stands may be a person's word there.
    pub is_of_copy: bool,
    /// What it is, for `cru undo`: `log decision`, `flush`.
    pub label: String,
}

/// A text that was generated for a note: what the write puts there of it gets seals.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// Rendered markdown.
    pub text: String,
    /// Whether what stands there already as it is generated gets seals too: a person has agreed to that.
    pub all: bool,
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
    /// A copy of what somebody wrote into a file that an earlier write had displaced, and that is not in the note.
    pub recovered: Option<PathBuf>,
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

    /// Writes what `plan` wants. `key` is the session's ([`super::state::key`] of its `session_id`). `plan` is called
    /// with the newest note under the session's lock, again whenever somebody else was faster: then with what it gave
    /// before as known and done.
    ///
    /// Errors leave the note and the journals as they were; [`Error::Missing`] where there is no note at the path.
    pub fn write(
        &self,
        key: &str,
        note: &VaultPath,
        plan: &mut dyn FnMut(&Note, &Known) -> Result<Plan>,
    ) -> Result<Written> {
        self.run(key, note, &mut job(plan))
    }

    /// [`Self::write`] for one entry of a journal. Of many processes that log at one time, whoever has the lock writes
    /// what all of them wait for; the others find it done and neither read the note nor write it.
    pub fn write_entry(
        &self,
        key: &str,
        note: &VaultPath,
        entry: &str,
        plan: &mut dyn FnMut(&Note, &Known) -> Result<Plan>,
    ) -> Result<Written> {
        let path = self.state.lock(key);
        let mut pause = Duration::from_millis(1);
        let mut held = None;
        // Who sleeps until the lock is free sleeps on when all is done; so each looks by itself, and has its next entry
        // in the journal when the next of them writes.
        for _ in 0..LOOKS {
            if let Some(written) = self.has(key, note, entry)? {
                return Ok(written);
            }
            held = files::try_lock(&path).map_err(|error| self.told(key, error))?;
            if held.is_some() {
                break;
            }
            std::thread::sleep(pause);
            pause = LOOK.min(pause * 2);
        }
        let _lock = match held {
            Some(lock) => lock,
            None => self.lock(key)?,
        };
        match self.has(key, note, entry)? {
            Some(written) => Ok(written),
            None => self.locked(key, note, &mut job(plan)),
        }
    }

    /// Brings a note to the text that `change` makes of its newest one: as one write that can be taken back, where it is the note
    /// that the last write of the session is of. Into one that was never written, a copy, and one that cannot take operations, the
    /// text is put as it is.
    pub fn rewrite(
        &self,
        key: &str,
        note: &VaultPath,
        label: &str,
        change: &mut dyn FnMut(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let file = self.vault.file(note);
        let newest =
            Operations::at(self.state.operations(key)).newest()?.and_then(|newest| VaultPath::new(newest.note));
        if newest.is_none_or(|newest| newest != *note && self.vault.file(&newest).exists()) {
            let old = files::read_note(&file)?;
            return files::replace(&file, &old, &change(&old)?);
        }
        let written = self.write(key, note, &mut |note, _| {
            let mut back = op::between(&change(note.bytes())?, note.bytes());
            op::mark_doubled(&mut back.iter_mut().collect::<Vec<_>>(), note.bytes());
            let ops = if back.is_empty() { Vec::new() } else { vec![Op::Lines { back }] };
            Ok(Plan { ops, label: label.to_owned(), ..Plan::default() })
        });
        match written {
            Ok(written) if written.done.iter().any(|done| done.outcome == op::Outcome::Gone) => {
                Err(Error::Changed { path: file })
            }
            Ok(_) => Ok(()),
            Err(Error::Usage { .. }) => {
                let old = files::read_note(&file)?;
                files::replace(&file, &old, &change(&old)?)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether an entry is written: the log has it, and the note on disk is of that revision or a later one. A note that
    /// is behind (its writer was killed, or an old buffer was saved) has it not, whatever the log says.
    fn has(&self, key: &str, note: &VaultPath, entry: &str) -> Result<Option<Written>> {
        let given = Operations::at(self.state.operations(key)).given(entry)?;
        let Some(newest) = given.last().map(|newest| newest.revision) else { return Ok(None) };
        if !given.iter().any(|record| record.made.contains_key(entry)) {
            return Ok(None);
        }
        let path = self.vault.file(note);
        let head = files::within(self.vault.root(), &path).ok().and_then(|path| read_head(&path).ok());
        let found = head.and_then(|head| cursor::read(head.as_bytes()));
        if found.is_none_or(|found| found.revision_of(&self.state.writer()) < newest) {
            return Ok(None);
        }
        let made = given.into_iter().flat_map(|record| record.made).collect();
        Ok(Some(Written { revision: newest, made, ..Written::default() }))
    }

    fn lock(&self, key: &str) -> Result<files::Lock> {
        files::lock(&self.state.lock(key)).map_err(|error| self.told(key, error))
    }

    /// What is known of a session, without its lock. Without [`Known::base`].
    pub fn peek(&self, key: &str) -> Result<Known> {
        let records = Operations::at(self.state.operations(key)).tail(|_| true)?;
        Ok(attempt::known(&records))
    }

    /// [`Self::peek`] with [`Known::base`], where the note with these bytes has not gone on without this machine.
    fn peek_all(&self, key: &str, bytes: &[u8]) -> Result<Known> {
        let records = Operations::at(self.state.operations(key)).tail(|_| true)?;
        let mut known = attempt::known(&records);
        let Some(newest) = records.last() else { return Ok(known) };
        let revision = cursor::read(bytes).map_or(0, |cursor| cursor.revision);
        if let Some(base) = newest.base.as_ref().filter(|_| revision <= newest.revision) {
            let text = files::read(&self.state.base(key, base.revision)).ok();
            let text = text.filter(|text| disk::hash(text) == base.hash);
            known.base = text.and_then(|text| String::from_utf8(text).ok());
        }
        Ok(known)
    }

    /// The bytes that a note would have after [`Writer::write`]. Takes no lock and writes nothing.
    pub fn preview(
        &self,
        key: &str,
        bytes: &[u8],
        plan: &mut dyn FnMut(&Note, &Known) -> Result<Plan>,
    ) -> Result<Vec<u8>> {
        let plan = plan(&Note::parse(bytes), &self.peek_all(key, bytes)?)?;
        let applied = op::apply(bytes, &plan.ops, op::Mode::First);
        Ok(applied.map_err(|(_, error)| Error::usage(error.to_string()))?.bytes)
    }

    fn run(&self, key: &str, note: &VaultPath, job: attempt::Wish<'_>) -> Result<Written> {
        let _lock = self.lock(key)?;
        self.locked(key, note, job)
    }

    /// Only under the lock.
    fn locked(&self, key: &str, note: &VaultPath, job: attempt::Wish<'_>) -> Result<Written> {
        self.vault.writable()?;
        let path = self.vault.file(note);
        files::within(self.vault.root(), &path).map_err(|error| self.missing(key, &path, error))?;
        // A save that a killed writer displaced is the note, before anything is made of it.
        files::finish_beside(&path);
        // What cannot be brought in now is kept, and is no reason not to write.
        let recovered = self.bring_in(key, note, &path);
        let mut attempt = WriteAttempts::new(self, key, note, path);
        let mut pause = Duration::from_millis(1);
        for _ in 0..TRIES {
            match attempt.make(job) {
                Ok(Step::Done(mut written)) => {
                    written.recovered = written.recovered.or(recovered);
                    return Ok(written);
                }
                Ok(Step::Refused) => {}
                Err(error) => {
                    let path = self.vault.file(note);
                    return Err(self.told(key, self.missing(key, &path, error)));
                }
            }
            std::thread::sleep(pause);
            pause = PAUSE.min(pause * 2);
        }
        Err(Error::Changed { path: self.vault.file(note) })
    }

    /// Brings what displaced files gained into the note, one after the other; where one of them was kept as a copy.
    fn bring_in(&self, key: &str, note: &VaultPath, path: &std::path::Path) -> Option<PathBuf> {
        let mut recovered = None;
        for _ in 0..TRIES {
            let mut attempt = WriteAttempts::new(self, key, note, path.to_owned());
            match attempt.bring_in() {
                Ok(Brought::Copied(kept)) => recovered = Some(kept),
                Ok(Brought::Merged) => {}
                Ok(Brought::Nothing) | Err(_) => break,
            }
        }
        recovered
    }

    /// Whether files that were displaced from a session's note are kept: what they gained is brought in by the next
    /// write.
    pub fn has_displaced(&self, key: &str) -> bool {
        !displaced::all(self.vault, self.state, key).is_empty()
    }

    /// An error that is told as a note that is gone, where it is.
    fn missing(&self, key: &str, path: &std::path::Path, error: Error) -> Error {
        let gone = matches!(error, Error::Io { .. } | Error::Changed { .. }) && path.symlink_metadata().is_err();
        if !gone {
            return error;
        }
        let hint = format!("what was logged stays in {}; a renamed note is found by its session_id", self.kept(key));
        Error::Missing { path: path.to_owned(), hint: Some(hint) }
    }

    /// With what became of the entries and what to do.
    fn told(&self, key: &str, error: Error) -> Error {
        if error.hint().is_some() || !matches!(error, Error::Io { .. } | Error::Usage { .. }) {
            return error;
        }
        error.with_hint(format!("what was logged stays in {}, and the next command tries again", self.kept(key)))
    }

    fn kept(&self, key: &str) -> String {
        self.state.journal(key).display().to_string()
    }
}

/// What a plan wants, as a job.
fn job(plan: &mut dyn FnMut(&Note, &Known) -> Result<Plan>) -> impl FnMut(&Note, &Known, &Operations) -> Result<Job> {
    |note, known, _| {
        let mut plan = plan(note, known)?;
        let new = std::mem::take(&mut plan.ops).into_iter().map(New::Op).collect();
        Ok(Job { plan, new, dry: false })
    }
}
