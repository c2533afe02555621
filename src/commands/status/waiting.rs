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
}

/// All that waits, by session; `ids` are those of the sessions with a note.
pub(in crate::commands) fn all<'a>(
    ids: impl IntoIterator<Item = &'a str>,
    vault: &Vault,
    env: &Env,
) -> Result<Vec<Waiting>> {
    // Also what the next command brings over from the time before a move.
    let states = State::existing(vault, env).into_iter().chain(State::others(vault, env));
    let known: HashMap<String, &str> = ids.into_iter().map(|id| (key(id), id)).collect();
    let mut found: HashMap<String, Waiting> = HashMap::new();
    let mut add = |session: String, entries: usize| {
        let note = known.contains_key(&key(&session));
        let waiting = found.entry(session.clone()).or_insert(Waiting { session, entries: 0, note });
        waiting.entries += entries;
    };
    for state in states {
        for (session, entries) in hooked::waiting(vault, &state)? {
            add(session, entries);
        }
        let writer = Writer::new(vault, &state, env.now());
        let journals = std::fs::read_dir(state.dir().join("journal")).into_iter().flatten().flatten();
        for name in journals.filter_map(|entry| entry.file_name().into_string().ok()) {
            let Some(name) = name.strip_suffix(".jsonl").filter(|name| !name.contains("--")) else { continue };
            let consumed = writer.peek(name)?.consumed;
            let entries = Journal::at(state.journal(name)).read(consumed.get(name))?.entries.len();
            if entries > 0 {
                add(known.get(name).map_or_else(|| name.to_owned(), |id| (*id).to_owned()), entries);
            }
        }
    }
    let mut all: Vec<Waiting> = found.into_values().collect();
    all.sort_by(|a, b| a.session.cmp(&b.session));
    Ok(all)
}
