//! Whose turn it is to write a hooked session's note, and how far its journal was handed over.
//!
//! One process writes, the others wait: who has had a turn has the note as it is then. Locks of the system, so a killed
//! process holds none.

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
    /// Takes the turn for the journal `key`, waiting for whoever has it.
    pub fn take(state: &State, key: &str) -> Result<Self> {
        files::lock(&running(state, key)).map(|running| Self { _running: running })
    }

    /// Takes the turn for the journal `key`; `None` when somebody has it.
    pub fn take_free(state: &State, key: &str) -> Result<Option<Self>> {
        Ok(files::try_lock(&running(state, key))?.map(|running| Self { _running: running }))
    }

    /// Whether somebody has it.
    pub fn is_taken(state: &State, key: &str) -> bool {
        matches!(Self::take_free(state, key), Ok(None))
    }
}

fn running(state: &State, key: &str) -> PathBuf {
    state.lock(&format!("{key}.flush"))
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
    fn one_writes_and_the_others_wait() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        let first = Turn::take(&state, "a").unwrap();
        assert!(Turn::is_taken(&state, "a") && Turn::take_free(&state, "a").unwrap().is_none());
        assert!(Turn::take_free(&state, "b").unwrap().is_some(), "another session");
        std::thread::scope(|scope| {
            let others = [(); 3].map(|()| scope.spawn(|| Turn::take(&state, "a").map(drop)));
            drop(first);
            for other in others {
                other.join().unwrap().unwrap();
            }
        });
        assert!(!Turn::is_taken(&state, "a"));
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
