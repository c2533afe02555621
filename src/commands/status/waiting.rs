//! What waits in journals to be written into notes.

use std::collections::HashMap;

use serde::Serialize;

use crate::base::{Env, Result};
use crate::sync::hooked;
use crate::vault::state::key;
use crate::vault::{Journal, State, Vault, Writer};

/// Entries of one session that its note does not have yet.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(in crate::commands) struct Waiting {
    /// Its id; the host's where it has no note yet.
    pub(in crate::commands) session: String,
    pub(in crate::commands) entries: usize,
    /// Whether it has a note that they belong to.
    pub(in crate::commands) note: bool,
    /// Whether another process writes them now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::commands) busy: bool,
}

impl Waiting {
    /// What is said of it: nothing where the next flush writes it.
    pub(in crate::commands) const fn why(&self) -> &'static str {
        match (self.busy, self.note) {
            (true, _) => "another process is writing them",
            (false, true) => "",
            (false, false) => "it has no note here",
        }
    }
}

/// All that waits, by session; `ids` gives those of the sessions with a note. It is asked after the journals: a note that is
/// made meanwhile is one of them.
pub(in crate::commands) fn all(vault: &Vault, env: &Env, ids: impl FnOnce() -> Vec<String>) -> Result<Vec<Waiting>> {
    // Also what the next command brings over from the time before a move.
    let states = State::existing(vault, env).into_iter().chain(State::others(vault, env));
    let mut found: Vec<(String, usize, bool)> = Vec::new();
    for state in states {
        let hooked = hooked::waiting(vault, &state)?;
        found.extend(hooked.into_iter().map(|it| (it.session, it.entries, it.is_written)));
        let writer = Writer::new(vault, &state, env.now());
        let journals = std::fs::read_dir(state.dir().join("journal")).into_iter().flatten().flatten();
        for name in journals.filter_map(|entry| entry.file_name().into_string().ok()) {
            let Some(name) = name.strip_suffix(".jsonl").filter(|name| !name.contains("--")) else { continue };
            let consumed = writer.peek(name)?.consumed;
            let entries = Journal::at(state.journal(name)).read(consumed.get(name))?.entries.len();
            if entries > 0 {
                found.push((name.to_owned(), entries, false));
            }
        }
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids = ids();
    let known: HashMap<String, &String> = ids.iter().map(|id| (key(id), id)).collect();
    let mut all: HashMap<String, Waiting> = HashMap::new();
    for (name, entries, busy) in found {
        let id = known.get(&key(&name)).map(|id| (*id).clone());
        let note = id.is_some();
        let session = id.unwrap_or(name);
        let waiting = all.entry(session.clone()).or_insert(Waiting { session, entries: 0, note, busy: false });
        waiting.entries += entries;
        waiting.busy |= busy;
    }
    let mut all: Vec<Waiting> = all.into_values().collect();
    all.sort_by(|a, b| a.session.cmp(&b.session));
    Ok(all)
}
