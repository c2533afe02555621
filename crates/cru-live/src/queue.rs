//! Sessions whose notes are to be written in the background: one process at a time writes for a vault, and one more waits.
//!
//! A hook puts its session into the queue and starts a process, but where one waits: that one looks into the queue after
//! that moment. So hooks leave no more than two processes behind, whatever they do and however long they take.

use std::path::PathBuf;

use crate::turn::Turn;
use cru_base::Result;
use cru_base::files;
use cru_vault::State;
use cru_vault::state::key;

/// Bytes of the longest name of a session.
const LONGEST: u64 = 4096;

/// The name of the turn.
const TURN: &str = "background";

/// Puts a session into the queue.
pub fn put(state: &State, session: &str) -> Result<()> {
    files::put_private(&folder(state).join(key(session)), session.as_bytes())
}

/// Whether a process waits that will write what is in the queue.
pub fn is_awaited(state: &State) -> bool {
    Turn::is_awaited(state, TURN)
}

/// The turn to write in the background; `None` where another process waits for it already.
pub fn turn(state: &State) -> Result<Option<Turn>> {
    Turn::take(state, TURN)
}

/// Takes the next session out of the queue; one that is put in from then on is there again.
pub fn next(state: &State) -> Option<String> {
    let found = std::fs::read_dir(folder(state)).into_iter().flatten().flatten();
    // One whose name begins with a dot is still being written.
    let is_whole = |entry: &std::fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
    let mut entries: Vec<PathBuf> = found.filter(is_whole).map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().find_map(|path| {
        let bytes = files::read_regular(&path, LONGEST).ok().flatten()?;
        let is_taken = files::remove(&path).is_ok_and(|removed| removed);
        String::from_utf8(bytes).ok().filter(|session| is_taken && !session.is_empty())
    })
}

fn folder(state: &State) -> PathBuf {
    state.dir().join("flush").join("queue")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_written_is_left() {
        let temp = tempfile::tempdir().unwrap();
        let state = State::at(temp.path());
        let writing = folder(&state).join(".cru-a1b2c3.tmp");
        files::put_private(&writing, b"1").unwrap();
        assert_eq!(next(&state), None);
        assert!(writing.exists());
    }

    #[test]
    fn each_is_taken_once() {
        let temp = tempfile::tempdir().unwrap();
        let state = State::at(temp.path());
        assert_eq!(next(&state), None);
        for session in ["2", "1", "2"] {
            put(&state, session).unwrap();
        }
        assert_eq!([next(&state), next(&state), next(&state)], [Some("1".to_owned()), Some("2".to_owned()), None]);
        let turn = turn(&state).unwrap().unwrap();
        assert!(!is_awaited(&state));
        drop(turn);
    }
}
