//! What is to be written in the background: one process at a time writes for a vault, and one more waits.
//!
//! A hook puts its session into the queue and starts a process, but where one waits: that one looks into the queue after
//! that moment. So hooks leave no more than two processes behind, whatever they do and however long they take.

use std::path::PathBuf;

use crate::turn::Turn;
use cru_base::Result;
use cru_base::files;
use cru_vault::State;
use cru_vault::state::key;

/// The file that asks for all: no key begins so.
const ALL: &str = "+all";

/// The name of the turn.
const TURN: &str = "background";

/// What is asked for. All comes before one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// What waits for one session.
    Session(String),
    /// What waits for any, and what the start of a session does.
    All,
}

impl Asked {
    /// The session; `None` for all.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Session(session) => Some(session),
            Self::All => None,
        }
    }
}

/// Puts it into the queue.
pub fn put(state: &State, asked: &Asked) -> Result<()> {
    match asked {
        Asked::Session(session) => files::put_private(&folder(state).join(key(session)), session.as_bytes()),
        Asked::All => files::put_private(&folder(state).join(ALL), b""),
    }
}

/// Whether a process waits that will write what is in the queue.
pub fn is_awaited(state: &State) -> bool {
    matches!(files::try_lock(&waiting(state)), Ok(None))
}

/// The turn to write in the background; `None` where another process waits for it already.
pub fn turn(state: &State) -> Result<Option<Turn>> {
    let Some(_waiting) = files::try_lock(&waiting(state))? else { return Ok(None) };
    Turn::take(state, TURN).map(Some)
}

fn waiting(state: &State) -> PathBuf {
    state.lock(&format!("{TURN}.wait"))
}

/// Takes the next out of the queue; what is put in from then on is there again.
pub fn next(state: &State) -> Option<Asked> {
    let found = std::fs::read_dir(folder(state)).into_iter().flatten().flatten();
    // One whose name begins with a dot is still being written.
    let is_whole = |entry: &std::fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
    let mut entries: Vec<PathBuf> = found.filter(is_whole).map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().find_map(|path| {
        // Bytes of the longest name of a session.
        let bytes = files::read_regular(&path, 4096).ok().flatten()?;
        if !files::remove(&path).is_ok_and(|removed| removed) {
            return None;
        }
        if path.file_name().is_some_and(|name| name == ALL) {
            return Some(Asked::All);
        }
        String::from_utf8(bytes).ok().filter(|session| !session.is_empty()).map(Asked::Session)
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
        let session = |id: &str| Asked::Session(id.to_owned());
        for asked in [session("2"), session("1"), Asked::All, session("2"), Asked::All] {
            put(&state, &asked).unwrap();
        }
        let taken = [next(&state), next(&state), next(&state), next(&state)];
        assert_eq!(taken, [Some(Asked::All), Some(session("1")), Some(session("2")), None]);
        let turn = turn(&state).unwrap().unwrap();
        assert!(!is_awaited(&state));
        let other = files::lock(&waiting(&state)).unwrap();
        assert!(is_awaited(&state) && super::turn(&state).unwrap().is_none());
        drop((turn, other));
        assert!(super::turn(&state).unwrap().is_some());
    }
}
