//! The seals of a vault's notes: which of their blocks were generated ([`cru_session::seal`]).
//!
//! One file for each session, in the vault, so that they go where the notes go. Lines are only added. A file that is missing or
//! cannot be read says that nothing was generated.

use std::collections::HashSet;
use std::path::PathBuf;

use super::Vault;
use super::folder::MARK;
use super::state;
use cru_base::{Result, files};
use cru_note::Note;
use cru_session::read;
use cru_session::seal::Seals;

/// Where they lie.
const FOLDER: &str = "seals";

/// Says to git that all lines of both sides count.
const ATTRIBUTES: (&str, &str) = (".gitattributes", "*.txt merge=union\n");

/// Those of a session; `key` is [`state::key`] of its id.
pub fn read(vault: &Vault, key: &str) -> Seals {
    Seals::parse(&text(vault, key))
}

/// Adds lines to those of a session, as far as they are not there.
pub fn add(vault: &Vault, key: &str, lines: &str) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let old = text(vault, key);
    let known: HashSet<&str> = old.lines().collect();
    let mut new: String =
        lines.lines().filter(|line| !known.contains(line)).fold(String::new(), |new, line| new + line + "\n");
    if new.is_empty() {
        return Ok(());
    }
    // A line that was torn must not take the next one with it.
    if !old.is_empty() && !old.ends_with('\n') {
        new.insert(0, '\n');
    }
    let (folder, path) = (folder(vault), path(vault, key));
    let attributes = folder.join(ATTRIBUTES.0);
    if attributes.symlink_metadata().is_err() {
        // Without it the lines are merged by hand.
        let _ = files::create(&attributes, ATTRIBUTES.1.as_bytes());
    }
    files::append(&path, new.as_bytes())
}

/// Says of a note in which `cru` changed links alone that what was generated in it is so still.
pub fn carry(vault: &Vault, before: &[u8], after: &[u8]) -> Result<()> {
    let (before, after) = (Note::parse(before), Note::parse(after));
    let Some(id) = read::written_meta(after.text()).0.session_id else { return Ok(()) };
    let key = state::key(&id);
    let seals = read(vault, &key);
    if seals.is_empty() { Ok(()) } else { add(vault, &key, &seals.carried(&before, &after)) }
}

fn text(vault: &Vault, key: &str) -> String {
    // Larger files are none.
    let bytes = files::read_regular(&path(vault, key), 64 << 20).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn folder(vault: &Vault) -> PathBuf {
    vault.root().join(MARK).join(FOLDER)
}

fn path(vault: &Vault, key: &str) -> PathBuf {
    folder(vault).join(format!("{key}.txt"))
}
