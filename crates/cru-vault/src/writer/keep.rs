//! Copies of a note that are kept for a person, and what a killed writer left beside it.
//!
//! Nothing here decides what a note says: a text that is not known to be ours goes to the recovery copies, never away.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use crate::State;
use crate::journal::chance;
use crate::operations::Record;
use cru_base::files::{Displaced, Fingerprint};
use cru_base::{Result, files};

/// How many recovery copies of a note are kept.
const COPIES: usize = 20;

/// How old a file beside a note must be to be nobody's any more.
const ABANDONED: Duration = Duration::from_hours(1);

/// Keeps a copy of a note as it is before a write; where it lies. The oldest beyond twenty go.
pub(super) fn copy(state: &State, key: &str, bytes: &[u8], revision: u64, now: Timestamp) -> Result<PathBuf> {
    let dir = state.recovery(key);
    let time = now.strftime("%Y%m%dT%H%M%S");
    let mut path = dir.join(format!("{time}Z-r{revision}.md"));
    let mut number = 1;
    while !files::create_private(&path, bytes)? && files::read(&path)? != bytes {
        number += 1;
        path = dir.join(format!("{time}Z-r{revision}-{number}.md"));
    }
    let mut copies = names(&dir);
    copies.sort();
    let surplus = copies.len().saturating_sub(COPIES);
    for name in copies.iter().take(surplus) {
        files::remove(&dir.join(name))?;
    }
    Ok(path)
}

/// A name beside the note that nobody else has: of this session, this revision, and of chance.
pub(super) fn temp_name(key: &str, revision: u64) -> String {
    format!("{}{revision}-{:08x}.tmp", prefix(key), chance())
}

fn prefix(key: &str) -> String {
    format!(".cru-{}-", &blake3::hash(key.as_bytes()).to_hex()[..8])
}

/// Takes temporary files of creations away that killed processes left in a folder. What they hold is kept among the
/// recovery copies: a replaced note may have been under such a name.
pub(super) fn sweep_created(state: &State, dir: &Path, now: Timestamp) {
    files::sweep_created(dir, now.as_nanosecond(), &|bytes| {
        bytes.is_empty() || copy(state, CREATED, bytes, 0, now).is_ok()
    });
}

/// Under which key they are kept.
const CREATED: &str = "created";

/// Takes away the file that the newest write left beside the note when it was killed. What it holds is the note's text
/// before or after it, or what an editor saved in that very moment: that is kept, and told.
pub(super) fn leftover(
    state: &State,
    key: &str,
    dir: &Path,
    newest: &Record,
    now: Timestamp,
    displaced: &dyn Fn(Displaced, &[u8]) -> Vec<PathBuf>,
) -> Result<Option<PathBuf>> {
    match &newest.temp {
        Some(name) if is_ours(name, key) => {
            let path = dir.join(name);
            if !path.is_file() {
                return Ok(None);
            }
            let Ok(Fingerprint { mtime, .. }) = files::fingerprint(&path) else { return Ok(None) };
            let bytes = files::read(&path)?;
            // The exchange was made, and somebody may still write into what it displaced.
            let is_before = blake3::hash(&bytes).to_hex().as_str() == newest.before;
            if is_before && files::put_away(&path, &displaced(Displaced { mtime, is_new: false }, &bytes)) {
                return Ok(None);
            }
            take(state, key, &path, newest, now)
        }
        _ => Ok(None),
    }
}

/// Takes away older files of this session beside the note, of writers that died before they had told of them.
pub(super) fn sweep(state: &State, key: &str, dir: &Path, newest: Option<&Record>, now: Timestamp) -> Result<()> {
    for name in names(dir).iter().filter(|name| is_ours(name, key)) {
        let path = dir.join(name);
        let Ok(Fingerprint { mtime, .. }) = files::fingerprint(&path) else { continue };
        let age = now.as_nanosecond() - i128::from(mtime);
        if age < i128::try_from(ABANDONED.as_nanos()).unwrap_or(i128::MAX) {
            continue;
        }
        match newest {
            Some(newest) => drop(take(state, key, &path, newest, now)?),
            None => drop(files::remove(&path)?),
        }
    }
    sweep_created(state, dir, now);
    Ok(())
}

/// Whether a file has a name that [`temp_name`] gives: a record is no place to take a path from.
fn is_ours(name: &str, key: &str) -> bool {
    let rest = name.strip_prefix(&prefix(key)).and_then(|rest| rest.strip_suffix(".tmp"));
    rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'))
}

fn take(state: &State, key: &str, path: &Path, newest: &Record, now: Timestamp) -> Result<Option<PathBuf>> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = files::read(path)?;
    let hash = blake3::hash(&bytes).to_hex();
    let known = hash.as_str() == newest.before || hash.as_str() == newest.after;
    let kept = if known { None } else { Some(copy(state, key, &bytes, newest.revision, now)?) };
    files::remove(path)?;
    Ok(kept)
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
