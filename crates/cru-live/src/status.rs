//! The life of a session: active, paused, closed, taken up again.
//!
//! A change is an entry of the journal like any other, so that it comes after what was logged before it and waits with
//! it where the note cannot be written.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};

use super::entry::{self, Entry};
use super::log::{Flushed, Log, Target};
use super::open::Open;
use cru_base::{Error, Result, files};
use cru_session::{Item, Meta, Session, Status};
use cru_vault::State;

/// Minutes without an event after which a session is paused, where nobody says.
pub const IDLE: u64 = 60;

/// What became of a session.
#[derive(Debug)]
pub struct Changed {
    /// Its status before.
    pub before: Option<Status>,
    /// Its status now.
    pub after: Status,
    /// Whether that is another.
    pub changed: bool,
    /// Steps that were begun and had no result.
    pub unfinished: usize,
    /// What was written; the error where nothing could be.
    pub written: Result<Flushed>,
}

/// Pauses or closes a session, or takes it up again. Having the status already is no error and changes nothing.
///
/// Usage error: a closed session is taken up again before it can be anything else.
pub fn change(log: &Log<'_>, target: &Target, status: &Status, reason: Option<&str>) -> Result<Changed> {
    // What was logged before may say otherwise than the note.
    let first = log.flush(target, "flush");
    let before = now_is(log, target);
    let same = before.as_ref() == Some(status);
    if same && first.is_ok() {
        return Ok(Changed { before, after: status.clone(), changed: false, unfinished: 0, written: first });
    }
    if *status != Status::Active && !same && before.as_ref().is_some_and(Status::is_closed) {
        let word = before.as_ref().map_or("closed", Status::as_str);
        return Err(Error::usage(format!("session '{}' is {word}", target.id))
            .with_hint(format!("`cru session resume {}` takes it up again first", target.id)));
    }
    files::remove(&idle_mark(log.state, &target.key()))?;
    let unfinished = if *status == Status::Active { 0 } else { end_open_steps(log, target)? };
    let reason = reason.map(str::to_owned);
    let entry = Entry::Status(entry::Status { status: status.as_str().to_owned(), reason, ..Default::default() });
    let entry = log.masked(entry).map_err(|bad| Error::usage(bad.message))?;
    log.add(target, &entry)?;
    let label = format!("session {}", status.as_str());
    let written = log.flush(target, &label);
    Ok(Changed { before, after: status.clone(), changed: true, unfinished, written })
}

/// Takes a session up again: active, no end; where it went on stays known.
pub fn resume(log: &Log<'_>, target: &Target) -> Result<Changed> {
    change(log, target, &Status::Active, None)
}

/// Pauses an active session that nothing happened in for as long as the configuration says; `None` where it is not due.
/// `told` gives when something last happened that the note does not say; it is only asked where the note alone is due.
pub fn pause_if_due(
    log: &Log<'_>,
    target: &Target,
    told: &dyn Fn() -> Result<Option<Timestamp>>,
) -> Result<Option<Changed>> {
    let is_due = |meta: &Meta, last| due(meta, last, log.now, log.vault.config().session.idle);
    // A session that began a moment ago need not be read for this.
    let began = Meta { status: Some(Status::Active), started: target.meta.started, ..Meta::default() };
    if began.started.is_some() && !is_due(&began, None) {
        return Ok(None);
    }
    let bytes = files::read_note(&log.vault.file(&target.path))?;
    let session = cru_session::read::content_of(bytes);
    let last = newest(&session);
    if !is_due(&session.meta, last) || !is_due(&session.meta, last.max(told()?)) {
        return Ok(None);
    }
    let changed = change(log, target, &Status::Paused, None)?;
    // Without the mark it counts as paused by somebody, and stays so.
    let _ = files::put_private(&idle_mark(log.state, &target.key()), b"");
    Ok(Some(changed))
}

/// Whether a paused session was paused because nothing happened in it, and not by somebody.
pub fn is_idle(state: &State, key: &str) -> bool {
    idle_mark(state, key).exists()
}

fn idle_mark(state: &State, key: &str) -> PathBuf {
    state.dir().join("idle").join(key)
}

/// Whether an active session is to be paused. `newest` is when something last happened in it, `idle` the minutes that
/// the configuration gives.
pub fn due(meta: &Meta, newest: Option<Timestamp>, now: Timestamp, idle: Option<u64>) -> bool {
    let minutes = idle.unwrap_or(IDLE);
    let last = newest.max(meta.started);
    let limit =
        i64::try_from(minutes).ok().and_then(|minutes| SignedDuration::try_from_secs_f64(minutes as f64 * 60.0).ok());
    let passed = last.map(|last| now.duration_since(last));
    meta.status == Some(Status::Active)
        && minutes > 0
        && passed.zip(limit).is_some_and(|(passed, limit)| passed >= limit)
}

/// When something last happened, as far as a note says it.
pub fn newest(session: &Session) -> Option<Timestamp> {
    let items = session.items().filter_map(|(_, item)| match item {
        Item::Step(step) => step.time,
        other => other.callout().and_then(|callout| callout.at),
    });
    let phases = session.phases.iter().filter_map(|phase| phase.started);
    items.chain(phases).chain(session.meta.started).max()
}

/// The status that the note has now.
fn now_is(log: &Log<'_>, target: &Target) -> Option<Status> {
    let bytes = files::read_note(&log.vault.file(&target.path)).ok();
    let meta = bytes.map(|bytes| cru_session::read::meta(&String::from_utf8_lossy(&bytes)).0);
    meta.map_or_else(|| target.meta.status.clone(), |meta| meta.status)
}

/// Steps that were begun are written as failed ones; how many.
fn end_open_steps(log: &Log<'_>, target: &Target) -> Result<usize> {
    let open = Open::of(log.state, &target.key());
    let steps = open.all()?;
    let mut ended = 0;
    if steps.is_empty() {
        return Ok(ended);
    }
    // One that was finished by a process that then ended too early is in the journal with its result.
    let lines = log.journal(target).read(None)?.entries;
    let finished: Vec<String> = lines.iter().filter_map(|line| opened(line.event.get())).collect();
    for (handle, entry) in steps {
        // A sub-agent that works goes on, whatever becomes of the session.
        let Entry::Tool(mut step) = entry else { continue };
        if finished.contains(&handle) {
            open.end(&handle)?;
            continue;
        }
        step.failed = true;
        step.result = cru_session::StepStatus::NoResult.words().map(ToOwned::to_owned);
        step.opened = Some(handle.clone());
        log.add(target, &Entry::Tool(step))?;
        open.end(&handle)?;
        ended += 1;
    }
    Ok(ended)
}

/// The handle under which a logged step was begun.
fn opened(event: &str) -> Option<String> {
    match Entry::parse(event) {
        Ok(Entry::Tool(step)) => step.opened,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_session_is_due_after_an_hour_without_event() {
        let meta = |status| Meta { status: Some(status), started: Some(at("2026-11-20T09:00:00Z")), ..Meta::default() };
        let active = meta(Status::Active);
        let ten = Some(at("2026-11-20T10:00:00Z"));
        assert!(!due(&active, ten, at("2026-11-20T10:59:59Z"), None));
        assert!(due(&active, ten, at("2026-11-20T11:00:00Z"), None));
        assert!(!due(&active, ten, at("2026-11-20T11:00:00Z"), Some(90)));
        assert!(due(&active, None, at("2026-11-20T10:00:00Z"), None), "the start is an event");
        assert!(!due(&active, ten, at("2027-01-01T00:00:00Z"), Some(0)), "0 is never");
        for status in [Status::Paused, Status::Completed, Status::Failed] {
            assert!(!due(&meta(status), ten, at("2027-01-01T00:00:00Z"), None));
        }
        assert!(!due(&Meta { started: None, ..active }, None, at("2027-01-01T00:00:00Z"), None), "nobody knows when");
    }
}
