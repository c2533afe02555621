//! Which sessions had a note in this vault, kept in the vault, so that a deleted note stays deleted on every machine.
//!
//! Each machine appends to a file of its own in `.cru/imported/`, one line of JSON for each session; all files are read
//! together. No two machines write the same file, so neither git nor a sync service has anything to merge. A line holds
//! the host and its session id: no title, no path, nothing that the session says. Of several lines for one session the
//! newest counts.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use cru_base::{Error, Result, files};
use cru_vault::folder::MARK;
use cru_vault::{State, Vault};

/// A session that had a note, or that is never to have one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ImportedLine {
    /// Which program ran the session; empty for any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    host: String,
    /// Its id there, as in the frontmatter.
    host_session: String,
    /// When the line was written.
    at: Timestamp,
    /// Whether a person said that it is never to be imported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forgotten: bool,
}

/// The sessions of one host that had a note in this vault.
#[derive(Debug, Default)]
pub(crate) struct ImportedSessions {
    by_session: HashMap<String, ImportedLine>,
}

impl ImportedSessions {
    /// Those of `host`. A line that cannot be read is passed over. Error: a list that cannot be read, since a note that
    /// a person deleted would be made again.
    pub(crate) fn read(vault: &Vault, host: &str) -> Result<Self> {
        let mut sessions = Self::default();
        let folder = folder(vault);
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(sessions),
            entries => entries.map_err(|error| Error::io("read", &folder, error))?,
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|it| it == "jsonl") && path.is_file());
        paths.sort();
        for path in paths {
            let bytes = files::read(&path)?;
            let lines = bytes.split(|&byte| byte == b'\n');
            let lines = lines.filter_map(|line| serde_json::from_slice::<ImportedLine>(line).ok());
            let mut own: HashMap<String, ImportedLine> = HashMap::new();
            for line in lines.filter(|line| line.host.is_empty() || line.host == host) {
                if own.get(&line.host_session).is_none_or(|known| known.at <= line.at) {
                    own.insert(line.host_session.clone(), line);
                }
            }
            // Of two machines in one moment the one counts that has the session.
            let order = |line: &ImportedLine| (line.at, !line.forgotten);
            for (session, line) in own {
                if sessions.by_session.get(&session).is_none_or(|known| order(known) <= order(&line)) {
                    sessions.by_session.insert(session, line);
                }
            }
        }
        Ok(sessions)
    }

    /// Whether no session is listed.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_session.is_empty()
    }

    /// Whether a session is listed.
    pub(crate) fn has(&self, host_session: &str) -> bool {
        self.by_session.contains_key(host_session)
    }

    /// Whether a session, or the one that started it, is never to be imported.
    pub(crate) fn is_forgotten(&self, host_session: &str) -> bool {
        let is = |name: &str| self.by_session.get(name).is_some_and(|line| line.forgotten);
        let main = host_session.split_once("/agent-").map(|(main, _)| main);
        // A sub-agent that was restored by itself stays.
        is(host_session) || (!self.has(host_session) && main.is_some_and(is))
    }
}

/// Lists sessions that have a note now.
pub(crate) fn enter<'a>(
    vault: &Vault,
    state: &State,
    now: Timestamp,
    host: &str,
    sessions: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    append(vault, state, now, host, sessions, false)
}

/// Lists a session that is never to be imported; `host` is empty where it is not known.
pub fn forget(vault: &Vault, state: &State, now: Timestamp, host: &str, host_session: &str) -> Result<()> {
    append(vault, state, now, host, [host_session], true)
}

fn append<'a>(
    vault: &Vault,
    state: &State,
    at: Timestamp,
    host: &str,
    sessions: impl IntoIterator<Item = &'a str>,
    forgotten: bool,
) -> Result<()> {
    let mut lines = String::new();
    for session in sessions.into_iter().filter(|session| !session.is_empty()) {
        let line = ImportedLine { host: host.to_owned(), host_session: session.to_owned(), at, forgotten };
        let line =
            serde_json::to_string(&line).map_err(|error| Error::internal("encode an imported session", error))?;
        lines.push_str(&line);
        lines.push('\n');
    }
    if lines.is_empty() {
        return Ok(());
    }
    let path = folder(vault).join(format!("{}.jsonl", machine(state)?));
    // A line that was torn by a crash must not take the next one with it.
    if !matches!(files::read(&path).ok().as_deref(), None | Some([] | [.., b'\n'])) {
        lines.insert(0, '\n');
    }
    files::append(&path, lines.as_bytes())
}

/// The name of this machine's file: random, kept in the machine state. Where that is lost, a new file is begun.
fn machine(state: &State) -> Result<String> {
    let path = state.dir().join("machine");
    let read = || {
        let text = String::from_utf8(files::read(&path).ok()?).ok()?;
        let name = text.trim();
        (name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name.to_owned())
    };
    if let Some(name) = read() {
        return Ok(name);
    }
    let seed = std::hash::RandomState::new().hash_one((std::process::id(), state.dir()));
    let name = format!("{seed:016x}");
    if files::create_private(&path, name.as_bytes())? {
        return Ok(name);
    }
    // Another process was faster, or the file is damaged: then this write has a file of its own.
    Ok(read().unwrap_or(name))
}

fn folder(vault: &Vault) -> PathBuf {
    vault.root().join(MARK).join("imported")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_machines_are_read_and_the_newest_line_counts() {
        let temp = tempfile::tempdir().unwrap();
        files::create(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
        let vault = Vault::open(&temp.path().join("vault")).unwrap();
        let [one, other] = ["one", "other"].map(|name| State::at(temp.path().join(name)));
        let time = |second| Timestamp::from_second(second).unwrap();
        let read = || ImportedSessions::read(&vault, "claude-code").unwrap();
        assert!(!read().has("a"));
        enter(&vault, &one, time(1), "claude-code", ["a", "a/agent-1"]).unwrap();
        enter(&vault, &other, time(2), "another", ["b"]).unwrap();
        assert!(read().has("a") && !read().has("b") && !read().is_forgotten("a"));
        forget(&vault, &other, time(3), "", "a").unwrap();
        forget(&vault, &other, time(3), "", "c").unwrap();
        assert!(read().is_forgotten("a") && read().is_forgotten("c/agent-7") && !read().is_forgotten("a/agent-1"));
        enter(&vault, &one, time(4), "claude-code", ["a"]).unwrap();
        assert!(read().has("a") && !read().is_forgotten("a"));
        // A torn line, and what a merge leaves, are passed over.
        let own = std::fs::read_dir(folder(&vault)).unwrap().next().unwrap().unwrap().path();
        files::append(&own, b"<<<<<<< HEAD\n{\"host\":\"claude-co").unwrap();
        enter(&vault, &one, time(5), "claude-code", ["d"]).unwrap();
        enter(&vault, &other, time(5), "claude-code", ["e"]).unwrap();
        assert!(read().has("a") && read().has("d") && read().has("e"));
        assert_eq!(std::fs::read_dir(folder(&vault)).unwrap().count(), 2);
    }
}
