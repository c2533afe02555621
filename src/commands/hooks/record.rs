//! What a settings file was before it was edited, in machine state, readable by its owner alone.
//!
//! Two things are kept: a copy of each text that was replaced, for people, and one record for each file with which
//! uninstalling gives back the very bytes from before, as long as nobody changed the file since.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::SettingsPlace;
use crate::base::{Env, Result, files};

/// Whose entries a record is about: hooks and servers may stand in one file.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) enum RecordKind<'n> {
    Hooks,
    /// The entry of this name.
    Server(&'n str),
}

/// What a file was, and what it was made to.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::commands) struct Record {
    /// For people who look into it.
    path: PathBuf,
    /// The text without our hooks; `None` where there was no file.
    before: Option<String>,
    /// Hash of the text with them.
    after: String,
    /// The entry of a server as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<Value>,
}

impl Record {
    /// That of a file, where there is one that describes its text of now.
    pub(in crate::commands) fn read(kind: RecordKind<'_>, place: &SettingsPlace, now: &str, env: &Env) -> Option<Self> {
        Self::kept(kind, place, env).filter(|record| record.after == hash(now))
    }

    fn kept(kind: RecordKind<'_>, place: &SettingsPlace, env: &Env) -> Option<Self> {
        let bytes = files::read_regular(&file(kind, place, env)?, u64::MAX - 1).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// The text from before.
    pub(in crate::commands) fn into_before(self) -> Option<String> {
        self.before
    }

    /// Keeps that `before` became `after`. Without a place to keep it, uninstalling takes our hooks out of the text.
    pub(in crate::commands) fn write(
        kind: RecordKind<'_>,
        place: &SettingsPlace,
        before: Option<&str>,
        after: &str,
        entry: Option<Value>,
        env: &Env,
    ) {
        let record = Self { path: place.path.clone(), before: before.map(str::to_owned), after: hash(after), entry };
        if let (Some(path), Ok(bytes)) = (file(kind, place, env), serde_json::to_vec(&record)) {
            let _ = files::put_private(&path, &bytes);
        }
    }

    /// Forgets it.
    pub(in crate::commands) fn remove(kind: RecordKind<'_>, place: &SettingsPlace, env: &Env) {
        if let Some(path) = file(kind, place, env) {
            let _ = files::remove(&path);
        }
    }
}

/// The entry of a server as it was last written into a file, whatever else was changed there since.
pub(in crate::commands) fn written_entry(kind: RecordKind<'_>, place: &SettingsPlace, env: &Env) -> Option<Value> {
    Record::kept(kind, place, env)?.entry
}

/// Keeps a copy of a text that is about to be replaced: in machine state, else beside the file.
pub(in crate::commands) fn back_up(place: &SettingsPlace, text: &str, env: &Env) -> Result<PathBuf> {
    let time = env.now().strftime("%Y%m%dT%H%M%SZ");
    if let Some(dir) = folder(env) {
        let path = dir.join(format!("{}-{time}.json", id(&place.path)));
        if files::put_private(&path, text.as_bytes()).is_ok() {
            return Ok(path);
        }
    }
    let mut path = place.path.clone().into_os_string();
    path.push(format!(".cru-backup-{time}"));
    let path = PathBuf::from(path);
    files::put_private(&path, text.as_bytes())?;
    Ok(path)
}

fn folder(env: &Env) -> Option<PathBuf> {
    Some(env.state_dir()?.join("hooks"))
}

fn file(kind: RecordKind<'_>, place: &SettingsPlace, env: &Env) -> Option<PathBuf> {
    let kind = match kind {
        RecordKind::Hooks => "record".to_owned(),
        RecordKind::Server("cru") => "server".to_owned(),
        RecordKind::Server(name) => format!("server-{name}"),
    };
    Some(folder(env)?.join(format!("{}.{kind}.json", id(&place.path))))
}

fn id(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned()
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
