//! The JSON files of before 1.2: `storage/session/<project>/<session>.json`, `storage/message/<session>/<message>.json`
//! and `storage/part/<message>/<part>.json`.
//!
//! The session's file is the transcript; the others are found beside it by their folders. Ids that are no plain names
//! lead nowhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::kept::{OpenCodeMessage, item};
use super::session::{header, session_of, tell};
use crate::file::tables::StoredSession;
use crate::file::value::{filled, millis, word};
use cru_base::{Error, Result};
use cru_session::source::{Account, Sink};

/// Larger files are not read: a message is some kilobytes.
const MAX: u64 = 256 << 20;

/// Where a file stands in a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TreePlace {
    /// The folder `storage`.
    root: PathBuf,
    /// The session that it belongs to; for a part the one of its message, empty where that is not known.
    pub(super) session: String,
}

/// The place of a file, by its folders.
pub(super) fn place(path: &Path) -> Option<TreePlace> {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let stem = path.file_stem().and_then(|stem| stem.to_str())?;
    if path.extension().is_none_or(|end| end != "json") {
        return None;
    }
    let folder = path.parent()?;
    let kind = folder.parent()?;
    let root = kind.parent()?.to_owned();
    match name(kind)?.as_str() {
        "session" if root.join("message").is_dir() || name(&root)? == "storage" => {
            Some(TreePlace { root, session: stem.to_owned() })
        }
        "message" => Some(TreePlace { root, session: name(folder)? }),
        "part" => {
            let message = name(folder)?;
            let part = cru_base::files::read(path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
            let session = filled(&part.unwrap_or_default(), "sessionID").unwrap_or_default().to_owned();
            (!message.is_empty()).then_some(TreePlace { root, session })
        }
        _ => None,
    }
}

impl TreePlace {
    /// The session's own file, else the first of its messages.
    pub(super) fn session_file(&self) -> Option<PathBuf> {
        let name = plain(&self.session)?;
        let folders = std::fs::read_dir(self.root.join("session")).ok().into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = folders.map(|folder| folder.path().join(format!("{name}.json"))).collect();
        files.retain(|path| path.is_file());
        files.sort();
        files.into_iter().next().or_else(|| files_in(&self.root.join("message").join(name)).into_values().next())
    }

    /// What is said of a session.
    fn info(&self, session: &str) -> Option<Value> {
        let path = Self { root: self.root.clone(), session: session.to_owned() }.session_file()?;
        let value: Value = serde_json::from_slice(&read_file(&path).ok()?).ok()?;
        (word(&value, "id") == session).then_some(value)
    }
}

/// A name that leads into no other folder.
fn plain(id: &str) -> Option<&str> {
    let odd = id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0', ':']);
    (!odd).then_some(id)
}

/// The JSON files of a folder by their names.
fn files_in(folder: &Path) -> BTreeMap<String, PathBuf> {
    let entries = std::fs::read_dir(folder).ok().into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path());
    let named = files.filter_map(|path| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        (path.extension()? == "json").then_some((stem, path))
    });
    named.collect()
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    use std::io::Read as _;
    let failed = |source| Error::io("read", path, source);
    let mut bytes = Vec::new();
    cru_base::files::open_regular(path).map_err(failed)?.take(MAX).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Reads the session that the file `path` is of.
pub(super) fn read(place: &TreePlace, path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let mut account = Account::default();
    // A file with a role is a message without its session.
    let info = item(&read_file(path)?, "").ok().filter(|info| info.get("role").is_none());
    let info = info.unwrap_or_default();
    let session = session_of(info, &place.session);
    let started = |session: &StoredSession| session.parent.clone().filter(|_| session.agent.is_some());
    let above = started(&session).and_then(|parent| started(&session_of(place.info(&parent)?, "")));
    let folder = plain(&place.session).map(|session| place.root.join("message").join(session));
    let mut messages = Vec::new();
    for (id, path) in folder.map(|folder| files_in(&folder)).unwrap_or_default() {
        let info = item(&read_file(&path)?, &id).unwrap_or_default();
        let (created, is_agent) = (millis(&info, "/time/created"), word(&info, "role") == "assistant");
        messages.push((created, id, path, is_agent));
    }
    messages.sort();
    let read = |(_, id, path, _): &(Option<Timestamp>, String, PathBuf, bool)| {
        let info = item(&read_file(path)?, id);
        let parts = plain(id).map(|id| files_in(&place.root.join("part").join(id))).unwrap_or_default();
        let parts = parts.iter().map(|(id, path)| Ok(item(&read_file(path)?, id)));
        Ok(OpenCodeMessage { info, parts: parts.collect::<Result<_>>()? })
    };
    tell(&session, header(&session, path, above), &messages, |message| Ok(message.3), read, sink, &mut account)?;
    sink.account(path, account);
    Ok(())
}
