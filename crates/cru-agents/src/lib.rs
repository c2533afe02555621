//! Importers: one file (and a folder of its parts) per agent, each turning bytes into the common stream of events.
//!
//! This is the table of them, and the search for transcripts. Adding an agent is one module and one line in
//! [`IMPORTERS`]; nothing else in the program knows agents apart. Files are only read.

mod aider;
pub mod any;
mod bundles;
mod call;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod events;
#[cfg(test)]
mod example;
mod file;
mod gemini;
mod host;
mod opencode;
mod pi;
mod pibrain;
pub mod places;
mod record;
mod rlm;
pub mod sample;
mod specstory;
mod steno;
mod stream;
#[cfg(test)]
mod told;
mod unknown;
mod wrapper;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cru_base::{Error, Result};
use cru_session::source::{Bundle, Importer};

pub use file::{lines, pack};

/// Every importer.
pub const IMPORTERS: &[Importer] = &[
    claude::IMPORTER,
    codex::IMPORTER,
    pi::IMPORTER,
    opencode::IMPORTER,
    gemini::IMPORTER,
    copilot::IMPORTER,
    cursor::IMPORTER,
    aider::IMPORTER,
    droid::IMPORTER,
    events::IMPORTER,
    specstory::IMPORTER,
    steno::IMPORTER,
    rlm::IMPORTER,
    pibrain::IMPORTER,
    host::importer::<0>(),
    host::importer::<1>(),
    host::importer::<2>(),
    host::importer::<3>(),
    host::importer::<4>(),
    host::importer::<5>(),
    host::importer::<6>(),
    host::importer::<7>(),
    host::importer::<8>(),
    host::importer::<9>(),
    host::importer::<10>(),
    host::importer::<11>(),
    host::importer::<12>(),
    host::importer::<13>(),
    host::importer::<14>(),
    host::importer::<15>(),
    host::importer::<16>(),
];

/// The importer of that name.
pub fn find(id: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.id == id)
}

/// The importer of that host's transcripts, and of what its hooks tell.
pub fn of_host(host: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.host() == host)
}

/// Transcripts that were found, and files that are none.
#[derive(Debug, Default)]
pub struct Found {
    /// What is read together, in a fixed order.
    pub bundles: Vec<Bundle>,
    /// Files that look like transcripts by name and are none, with the reason, in order.
    pub strangers: Vec<(PathBuf, &'static str)>,
    /// Files in the folders that are not named like transcripts, and were not looked into.
    pub others: u64,
}

/// Why a file or folder is left out that cannot be opened.
pub const UNREADABLE: &str = "not readable";

/// The files that a search looks into.
#[derive(Debug, Default)]
pub struct Listed {
    /// They are named like transcripts, or were named by the caller.
    pub files: BTreeSet<PathBuf>,
    /// Folders and files below them that cannot be opened.
    pub unreadable: Vec<PathBuf>,
    /// How many other files there are.
    pub others: u64,
}

/// Looks for transcripts under `paths`: a file is taken as it is, with those of its sub-agents, a folder is searched. Links are followed for what was
/// named, not below it, so a folder cannot contain itself.
pub fn search(importer: &Importer, paths: &[PathBuf]) -> Result<Found> {
    let Listed { files, unreadable, others } = list(importer, paths)?;
    let mut found = recognised(importer, files)?;
    found.strangers.extend(unreadable.into_iter().map(|path| (path, UNREADABLE)));
    found.others = others;
    Ok(found)
}

/// The files that a search looks into, none of which is opened.
pub fn list(importer: &Importer, paths: &[PathBuf]) -> Result<Listed> {
    let mut listed = Listed::default();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        if metadata.is_dir() {
            below(path, &|path| is_named_so(importer, path), &mut listed);
        } else {
            listed.files.extend((importer.beside)(path));
            listed.files.insert(path.clone());
        }
    }
    Ok(listed)
}

/// The files in a folder, at any depth. A folder that cannot be opened hides its files, no others.
fn below(folder: &Path, is_meant: &dyn Fn(&Path) -> bool, listed: &mut Listed) {
    for entry in ignore::WalkBuilder::new(folder).standard_filters(false).follow_links(false).build() {
        match entry {
            Ok(entry) if !entry.file_type().is_some_and(|kind| kind.is_file()) => {}
            Ok(entry) if is_meant(entry.path()) => {
                listed.files.insert(entry.into_path());
            }
            Ok(_) => listed.others += 1,
            Err(error) => listed.unreadable.extend(place_of(&error)),
        }
    }
}

/// The path that an error of the walk is about.
fn place_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => place_of(err),
        ignore::Error::Loop { child, .. } => Some(child.clone()),
        ignore::Error::Partial(errors) => errors.iter().find_map(place_of),
        _ => None,
    }
}

/// Looks into files and puts the transcripts together.
pub fn recognised(importer: &Importer, files: BTreeSet<PathBuf>) -> Result<Found> {
    let mut found = Found::default();
    let mut known = Vec::new();
    for path in files {
        match head(&path) {
            Ok(head) if (importer.recognise)(&path, &head) => known.push(path),
            Ok(_) => found.strangers.push((path, "not a transcript of this agent")),
            Err(reason) => found.strangers.push((path, reason)),
        }
    }
    found.bundles = (importer.bundle)(known)?;
    Ok(found)
}

/// Whether a file has the name of a transcript.
pub fn is_named_so(importer: &Importer, path: &Path) -> bool {
    let path = path.to_string_lossy().replace('\\', "/");
    importer.agent().names.iter().any(|end| match end.split_once('*') {
        None => path.ends_with(end.as_str()),
        Some((before, end)) => {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path.as_str()));
            let inside = before.strip_suffix('/').map_or_else(|| name.starts_with(before), |end| folder.ends_with(end));
            name.ends_with(end) && inside
        }
    })
}

/// Whether a file is a transcript of that importer's host.
pub fn is_transcript(importer: &Importer, path: &Path) -> bool {
    head(path).is_ok_and(|head| (importer.recognise)(path, &head))
}

/// What of a file is looked at to recognise it; why nothing of it is.
fn head(path: &Path) -> std::result::Result<Vec<u8>, &'static str> {
    let mut head = Vec::new();
    let file = file::unpack::peek_file(path).map_err(|_| UNREADABLE)?;
    match file::lines::read_head(file, &mut head) {
        // What was unpacked before the damage tells enough.
        Err(error) if head.is_empty() || !file::unpack::is_damage(&error) => Err(UNREADABLE),
        _ if head.iter().all(u8::is_ascii_whitespace) => Err("empty file"),
        _ => Ok(head),
    }
}
