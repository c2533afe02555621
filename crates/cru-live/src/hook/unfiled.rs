//! Events of hooks for which no vault was found: kept in the machine state until one is known, so that none is lost.
//!
//! One journal for each session, in `unfiled/` beside the states of vaults. A vault that a person named, by an option, a
//! variable or the user's configuration, takes over what is kept: of one session with its next event ([`adopt`]), or
//! everything ([`adopt_all`]). A vault that an agent merely walks into gets none of it: it may be anybody's.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::HookEntry;
use cru_base::{Env, Result, files};
use cru_vault::{Journal, State};

/// What is kept of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfiled {
    /// `<host>--<session>`, the name of its journal.
    pub key: String,
    /// How many events.
    pub events: usize,
}

/// The folder; `None` where there is no place for machine state.
fn folder(env: &Env) -> Option<PathBuf> {
    Some(env.state_dir()?.join("unfiled"))
}

/// Keeps an event; whether there was a place for it.
pub fn keep(key: &str, entry: &HookEntry, now: Timestamp, env: &Env) -> Result<bool> {
    let Some(folder) = folder(env) else { return Ok(false) };
    let path = folder.join(format!("{key}.jsonl"));
    // All of them are looked at seldom: the agent waits.
    // Bytes of one session's events below which the size of all is not looked at.
    let is_small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() < (1 << 20));
    // Bytes of all that is kept; later events are named in the log of trouble and nothing more.
    if !is_small && size(&folder) > (64 << 20) {
        return Ok(false);
    }
    files::create_private_dir(&folder)?;
    Journal::at(path).append(entry, now)?;
    Ok(true)
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// What is kept, by session, in order of their keys.
pub fn all(env: &Env) -> Vec<Unfiled> {
    let Some(folder) = folder(env) else { return Vec::new() };
    let unfiled = |key: String| {
        let events = Journal::at(folder.join(format!("{key}.jsonl"))).read(None).ok()?.entries.len();
        (events > 0).then_some(Unfiled { key, events })
    };
    keys(&folder).into_iter().filter_map(unfiled).collect()
}

fn keys(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut keys: Vec<String> = names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned)).collect();
    keys.sort();
    keys
}

/// Whether something is kept of one session.
pub fn waits(key: &str, env: &Env) -> bool {
    folder(env).is_some_and(|folder| folder.join(format!("{key}.jsonl")).exists())
}

/// Moves what is kept of one session into the journal of a vault; how many events.
pub fn adopt(key: &str, state: &State, env: &Env) -> Result<usize> {
    let Some(folder) = folder(env) else { return Ok(0) };
    let path = folder.join(format!("{key}.jsonl"));
    if !path.exists() {
        return Ok(0);
    }
    let _lock = files::lock(&folder.join("adopt.lock"))?;
    let kept = Journal::at(path);
    let read = kept.read(None)?;
    let journal = Journal::at(state.journal(key));
    // A kill may have come between moving and removing.
    let there: HashSet<String> = journal.read(None)?.entries.into_iter().map(|entry| entry.id).collect();
    for entry in read.entries.iter().filter(|entry| !there.contains(&entry.id)) {
        journal.append_again(entry)?;
    }
    if read.odd > 0 || !kept.remove_if_at(&read.mark)? {
        // Lines that cannot be read stay, under a name that no session has.
        kept.set_aside_if_at(&read.mark, &folder.join(format!("{key}.rest")))?;
    }
    Ok(read.entries.len())
}

/// Moves everything into the journals of a vault; how many events.
pub fn adopt_all(state: &State, env: &Env) -> Result<usize> {
    let mut events = 0;
    for key in folder(env).map(|folder| keys(&folder)).unwrap_or_default() {
        events += adopt(&key, state, env)?;
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hook::{Event, HOSTS, Input};

    #[test]
    fn events_are_kept_and_move_once() {
        let temp = tempfile::tempdir().unwrap();
        let env = Env::fixed(Timestamp::UNIX_EPOCH, temp.path(), &[("HOME", temp.path().to_str().unwrap())]);
        let entry = |number: u32| {
            let input = json!({"session_id": "s", "prompt": number}).to_string();
            HookEntry::new(&HOSTS[0], Event::Prompt, Input::read(input.as_bytes()).unwrap())
        };
        assert_eq!(all(&env), []);
        for (key, number) in [("h--a", 1), ("h--b", 2), ("h--a", 3)] {
            assert!(keep(key, &entry(number), env.now(), &env).unwrap());
        }
        let events: Vec<_> = all(&env).into_iter().map(|it| (it.key, it.events)).collect();
        assert_eq!(events, [("h--a".to_owned(), 2), ("h--b".to_owned(), 1)]);

        let state = State::at(temp.path().join("state"));
        assert_eq!(adopt("h--a", &state, &env).unwrap(), 2);
        assert_eq!(adopt("h--a", &state, &env).unwrap(), 0);
        assert_eq!(adopt_all(&state, &env).unwrap(), 1);
        assert_eq!(all(&env), []);
        let read = Journal::at(state.journal("h--a")).read(None).unwrap();
        let entries = read.entries.iter().map(|it| serde_json::from_str::<HookEntry>(it.event.get()).unwrap());
        assert_eq!(entries.map(|it| it.input["prompt"].clone()).collect::<Vec<_>>(), [json!(1), json!(3)]);
    }

    #[test]
    fn without_a_place_nothing_is_kept() {
        let env = Env::fixed(Timestamp::UNIX_EPOCH, "/", &[]);
        let input = Input::read(br#"{"session_id": "s"}"#).unwrap();
        let entry = HookEntry::new(&HOSTS[0], Event::Prompt, input);
        assert!(!keep("k", &entry, env.now(), &env).unwrap());
    }
}
