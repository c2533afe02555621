//! Which notes were ever made on this machine, so that one that a person deleted is not made again.
//!
//! Lines of JSON in the machine state, appended only. The last line of a host session counts.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use cru_base::{Error, Result, files};
use cru_vault::State;

/// A note that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Which program ran the session.
    pub(crate) host: String,
    /// Its id there, as in the frontmatter.
    pub(crate) host_session: String,
    /// The note's `session_id`.
    pub(crate) session: String,
    /// Where it was made, as a path of the vault.
    pub(crate) note: String,
}

/// The notes of one host that were made, by host session.
#[derive(Debug, Default)]
pub(crate) struct MadeNotes {
    by_host: HashMap<String, Made>,
}

impl MadeNotes {
    /// Those of `host`. A line that cannot be read is passed over.
    pub(crate) fn read(state: &State, host: &str) -> Result<Self> {
        let path = path(state);
        let bytes = match files::read(&path) {
            Err(_) if !path.exists() => return Ok(Self::default()),
            bytes => bytes?,
        };
        let lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice::<Made>(line).ok());
        let by_host = lines.filter(|made| made.host == host).map(|made| (made.host_session.clone(), made)).collect();
        Ok(Self { by_host })
    }

    /// The note that was made of a host session.
    pub(crate) fn of(&self, host_session: &str) -> Option<&Made> {
        self.by_host.get(host_session)
    }

    /// The host session whose note has this `session_id`.
    pub(crate) fn host_session(&self, session: &str) -> Option<&str> {
        self.by_host.values().find(|made| made.session == session).map(|made| made.host_session.as_str())
    }

    /// All that were made of one session of the host and its sub-agents.
    pub(crate) fn family<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a Made> {
        let is_of = move |made: &&Made| {
            made.host_session.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with("/agent-"))
        };
        self.by_host.values().filter(is_of)
    }
}

/// Remembers notes that were just made.
pub(crate) fn remember(state: &State, made: &[Made]) -> Result<()> {
    if made.is_empty() {
        return Ok(());
    }
    // A line that was torn by a crash must not take the next one with it.
    let mut lines = String::from("\n");
    for made in made {
        let line = serde_json::to_string(made).map_err(|error| Error::internal("encode the name of a note", error))?;
        lines.push_str(&line);
        lines.push('\n');
    }
    files::append_private(&path(state), lines.as_bytes())
}

fn path(state: &State) -> std::path::PathBuf {
    state.dir().join("made.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_known_again() {
        let temp = tempfile::tempdir().unwrap();
        let state = State::at(temp.path());
        assert!(MadeNotes::read(&state, "claude-code").unwrap().of("a").is_none());
        let made = |host: &str, session: &str, note: &str| Made {
            host: host.to_owned(),
            host_session: session.to_owned(),
            session: note.to_owned(),
            note: format!("sessions/{note}.md"),
        };
        remember(&state, &[made("claude-code", "a", "one"), made("other", "b", "two")]).unwrap();
        remember(&state, &[made("claude-code", "a/agent-1", "three"), made("claude-code", "ab", "four")]).unwrap();
        files::append(&temp.path().join("made.jsonl"), b"{\"host\":\"claude-co").unwrap();
        let notes = MadeNotes::read(&state, "claude-code").unwrap();
        assert_eq!(notes.of("a").unwrap().session, "one");
        assert!(notes.of("b").is_none());
        let mut family: Vec<_> = notes.family("a").map(|made| made.session.as_str()).collect();
        family.sort_unstable();
        assert_eq!(family, ["one", "three"]);
    }
}
