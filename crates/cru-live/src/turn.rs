//! Whose turn it is to write a hooked session's note, and how far its journal was handed over.
//!
//! At most one process writes and one more waits. Whoever finds one waiting leaves: the one that waits reads the
//! journal after that moment, so nothing is left behind. Locks of the system, so a killed process holds none.

use std::path::PathBuf;

use cru_base::Result;
use cru_base::files::{self, Lock};
use cru_vault::State;

/// The turn to write; given back when dropped.
#[derive(Debug)]
#[must_use = "the turn is given back when this is dropped"]
pub struct Turn {
    _running: Lock,
}

impl Turn {
    /// Takes the turn for the journal `key`, waiting for whoever has it; `None` when somebody waits already, who will
    /// write what this one would have written.
    pub fn take(state: &State, key: &str) -> Result<Option<Self>> {
        let Some(waiting) = files::try_lock(&waiting(state, key))? else { return Ok(None) };
        let running = files::lock(&state.lock(&format!("{key}.flush")))?;
        drop(waiting);
        Ok(Some(Self { _running: running }))
    }

    /// Takes the turn for the journal `key`; `None` when somebody has it or waits for it.
    pub fn take_free(state: &State, key: &str) -> Result<Option<Self>> {
        let Some(_waiting) = files::try_lock(&waiting(state, key))? else { return Ok(None) };
        let running = files::try_lock(&state.lock(&format!("{key}.flush")))?;
        Ok(running.map(|running| Self { _running: running }))
    }

    /// Whether somebody has it.
    pub fn is_taken(state: &State, key: &str) -> bool {
        matches!(files::try_lock(&state.lock(&format!("{key}.flush"))), Ok(None))
    }

    /// Whether somebody waits for it: another need not come.
    pub fn is_awaited(state: &State, key: &str) -> bool {
        matches!(files::try_lock(&waiting(state, key)), Ok(None))
    }
}

fn waiting(state: &State, key: &str) -> PathBuf {
    state.lock(&format!("{key}.wait"))
}

/// How many bytes of the journal `key` were there when its note was last begun to be written.
pub fn handed_over(state: &State, key: &str) -> u64 {
    let text = files::read(&mark(state, key)).unwrap_or_default();
    std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// Notes that its note is about to be written with what the journal holds now.
pub fn hand_over(state: &State, key: &str) -> Result<()> {
    let size = std::fs::metadata(state.journal(key)).map_or(0, |metadata| metadata.len());
    files::put_private(&mark(state, key), format!("{size}\n").as_bytes())
}

fn mark(state: &State, key: &str) -> PathBuf {
    state.dir().join("flush").join(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writes_and_one_waits() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        let first = Turn::take(&state, "a").unwrap().unwrap();
        assert!(!Turn::is_awaited(&state, "a"));
        let waiting = files::try_lock(&waiting(&state, "a")).unwrap().unwrap();
        assert!(Turn::is_awaited(&state, "a"));
        assert!(Turn::take(&state, "a").unwrap().is_none());
        assert!(Turn::take(&state, "b").unwrap().is_some(), "another session");
        drop(waiting);
        drop(first);
        assert!(Turn::take(&state, "a").unwrap().is_some());
    }

    #[test]
    fn remembers_how_far() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        assert_eq!(handed_over(&state, "a"), 0);
        files::append(&state.journal("a"), b"12345\n").unwrap();
        hand_over(&state, "a").unwrap();
        assert_eq!(handed_over(&state, "a"), 6);
        files::put(&mark(&state, "a"), b"odd").unwrap();
        assert_eq!(handed_over(&state, "a"), 0);
    }
}
