//! The files below the given paths, and which of them are transcripts.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use rayon::prelude::*;

use crate::base::{Error, Result};
use crate::session::source::Importer;

/// Bytes of a file by which it is recognised.
const HEAD: u64 = 64 * 1024;

/// What stands below the given paths.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Transcripts, sorted.
    pub(super) transcripts: Vec<PathBuf>,
    /// Files that look like one or were named, and are none, with the reason. Sorted.
    pub(super) refused: Vec<(PathBuf, String)>,
    /// How many others there are.
    pub(super) others: u64,
}

/// What one file is.
enum Kind {
    Transcript,
    Refused(String),
    Other,
}

/// Looks at every file below `paths`. Hidden folders are entered, links to folders are not followed.
pub(super) fn find(importer: &Importer, paths: &[PathBuf]) -> Result<Found> {
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        if metadata.is_dir() {
            files.extend(walk(path).into_iter().map(|file| (file, false)));
        } else {
            files.push((path.clone(), true));
        }
    }
    files.sort();
    // A file that was named and also lies in a folder that was given counts once, as named.
    files.reverse();
    files.dedup_by(|a, b| a.0 == b.0);
    files.reverse();
    let kinds: Vec<Kind> = files.par_iter().map(|(path, named)| kind(importer, path, *named)).collect();
    let mut found = Found::default();
    for ((path, _), kind) in files.into_iter().zip(kinds) {
        match kind {
            Kind::Transcript => found.transcripts.push(path),
            Kind::Refused(reason) => found.refused.push((path, reason)),
            Kind::Other => found.others += 1,
        }
    }
    Ok(found)
}

fn walk(root: &Path) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(root).standard_filters(false).follow_links(false).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(ignore::DirEntry::into_path).collect()
}

fn kind(importer: &Importer, path: &Path, named: bool) -> Kind {
    let mut head = Vec::new();
    match File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)) {
        Err(error) => return Kind::Refused(format!("could not be read: {error}")),
        Ok(_) if (importer.recognise)(path, &head) => return Kind::Transcript,
        Ok(_) => {}
    }
    let alike = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"));
    match (head.is_empty(), named || alike) {
        (true, true) => Kind::Refused("the file is empty".to_owned()),
        (false, true) => Kind::Refused(format!("not a transcript of {}", importer.title)),
        (_, false) => Kind::Other,
    }
}
