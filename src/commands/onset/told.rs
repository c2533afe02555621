//! What a session was told at its start, kept until its note is there.

use std::path::PathBuf;

use crate::base::{Error, Result, files};
use crate::commands::checkpoint::session_keys;
use crate::live::entry::{Context, Entry};
use crate::live::log::{Log, Target};
use crate::vault::State;

fn place(state: &State, key: &str) -> PathBuf {
    state.dir().join("context").join(format!("{key}.json"))
}

/// Keeps what the session with this key was told, for its note.
pub(in crate::commands) fn keep_for_note(text: &str, at: jiff::Timestamp, key: &str, state: &State) -> Result<()> {
    let entry = Entry::Context(Context { at: Some(at), text: text.to_owned(), ..Context::default() });
    let json = serde_json::to_vec(&entry).map_err(|error| Error::internal("encode what was told", error))?;
    let path = place(state, key);
    files::create_dir(path.parent().unwrap_or(state.dir()))?;
    files::remove(&path)?;
    files::put_private(&path, &json)
}

/// Whether something waits for the note of a session.
pub(in crate::commands) fn waits_for_note(state: &State, target: &Target) -> bool {
    session_keys(target).iter().any(|key| place(state, key).exists())
}

/// Writes it into the note, as a folded callout; whether there was any.
pub(in crate::commands) fn write_into_note(log: &Log<'_>, target: &Target) -> Result<bool> {
    let mut any = false;
    for key in session_keys(target) {
        let path = place(log.state, &key);
        if !path.exists() {
            continue;
        }
        // Bytes of it that are read back.
        let Some(bytes) = files::read_regular(&path, 1 << 20)? else { continue };
        if let Ok(entry) = Entry::parse(&String::from_utf8_lossy(&bytes)) {
            let entry = log.masked(entry).map_err(|bad| Error::usage(bad.message))?;
            log.add(target, &entry)?;
            log.flush(target, "context")?;
            any = true;
        }
        files::remove(&path)?;
    }
    Ok(any)
}
