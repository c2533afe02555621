//! What hooks told of a session whose transcript cannot be read: it is the only evidence there is, so it is kept.
//!
//! The journal forgets its lines when they are in the note; this file does not, until the transcript was read. Each line
//! stands in it once, without its secrets.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::hooked::journal::HookLine;
use cru_base::{Error, Result, files};
use cru_vault::State;

/// Keeps what is new, and gives all there is.
pub(crate) fn keep(state: &State, key: &str, told: &[HookLine]) -> Result<Vec<HookLine>> {
    let path = path(state, key);
    let mut all = read(&path)?;
    if files::is_shared(&path) {
        // An older version kept it for everybody, with the secrets in it.
        for told in &mut all {
            told.entry = told.entry.clone().masked();
        }
        let lines = all.iter().map(line).collect::<Result<Vec<_>>>()?;
        files::put_private(&path, format!("{}\n", lines.join("\n")).as_bytes())?;
    }
    let known: HashSet<String> = all.iter().map(|told| told.id.clone()).collect();
    let fresh: Vec<&HookLine> = told.iter().filter(|told| !known.contains(&told.id)).collect();
    let mut lines = String::new();
    for told in &fresh {
        let line = line(told)?;
        // A line that was torn by a crash must not take the next one with it.
        lines.push('\n');
        lines.push_str(&line);
    }
    if !lines.is_empty() {
        lines.push('\n');
        files::append_private(&path, lines.as_bytes())?;
    }
    all.extend(fresh.into_iter().map(|told| HookLine { entry: told.entry.clone().masked(), ..told.clone() }));
    Ok(all)
}

/// Takes away what was kept of a session whose transcript was read: all of it stands there.
pub(crate) fn forget(state: &State, key: &str) -> Result<()> {
    files::remove(&path(state, key)).map(drop)
}

fn line(told: &HookLine) -> Result<String> {
    let masked = HookLine { entry: told.entry.clone().masked(), ..told.clone() };
    serde_json::to_string(&masked).map_err(|error| Error::internal("encode an event of a hook", error))
}

fn read(path: &Path) -> Result<Vec<HookLine>> {
    let bytes = match files::read(path) {
        Err(_) if !path.exists() => return Ok(Vec::new()),
        bytes => bytes?,
    };
    let mut seen = HashSet::new();
    let lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice::<HookLine>(line).ok());
    Ok(lines.filter(|line| seen.insert(line.id.clone())).collect())
}

fn path(state: &State, key: &str) -> PathBuf {
    state.dir().join("hooked").join(format!("{key}.jsonl"))
}
