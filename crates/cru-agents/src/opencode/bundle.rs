//! Which files are read as one, and by whom: a database, an export, or a session of the older JSON files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{database, export, tree};
use crate::file::document::members;
use crate::file::sqlite::is_database;
use crate::file::value::millis;
use crate::record::beginning;
use cru_base::Result;
use cru_session::source::{Bundle, Sink};

/// Each session stands for itself. Databases come first: where a session is kept in several ways, theirs is the latest;
/// then exports, the latest first.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let files: BTreeSet<PathBuf> = files.into_iter().collect();
    let mut ranked = BTreeSet::new();
    // Channels of the host have databases of their own in one folder, which may hold the same sessions.
    let mut databases: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut places = BTreeSet::new();
    for path in files {
        if let Some(place) = tree::place(&path) {
            places.insert(place);
            continue;
        }
        let head = beginning(&Bundle::default(), &path)?;
        if is_database(&head) {
            // One that cannot be read keeps no other from being read.
            let folder = path.parent().filter(|_| database::has_tables(&path)).map(Path::to_owned);
            databases.entry(folder.unwrap_or_else(|| path.clone())).or_default().push(path);
        } else {
            let head = export::head(&members(&String::from_utf8_lossy(&head)), &path);
            let updated = head.info.get("time").and_then(|time| millis(time, "updated"));
            ranked.insert((0, std::cmp::Reverse(updated.map_or(0, jiff::Timestamp::as_millisecond)), path));
        }
    }
    // Many files are of one session.
    let sessions = places.iter().filter_map(tree::TreePlace::session_file);
    ranked.extend(sessions.map(|path| (1, std::cmp::Reverse(0), path)));
    let alone = ranked.into_iter().map(|(_, _, path)| vec![path]);
    Ok(databases.into_values().chain(alone).map(Bundle::of).collect())
}

/// The session that a file of the older ones belongs to, and the folder of a database. Exports stand for themselves.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    if tree::place(path).is_none() && is_database(&beginning(&Bundle::default(), path)?) {
        let folder = path.parent().map(|folder| format!("databases of {}", folder.display()));
        return Ok(folder.into_iter().collect());
    }
    Ok(tree::place(path).map(|place| place.session).filter(|it| !it.is_empty()).into_iter().collect())
}

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut databases = Vec::new();
    for path in &bundle.files {
        if is_database(&beginning(bundle, path)?) {
            databases.push(path.as_path());
        } else if let Some(place) = tree::place(path) {
            tree::read(&place, path, sink)?;
        } else {
            export::read(bundle, path, sink)?;
        }
    }
    database::read_all(&databases, sink)
}
