//! Which files that are there a command means.

use std::fs;
use std::path::{Path, PathBuf};

use cru_action::loss::FoundFiles;
use globset::{GlobBuilder, GlobMatcher};

/// Entries of folders that are looked at for one command.
const MOST_ENTRIES: usize = 20_000;

/// Files of one command that are named one by one.
const MOST_FILES: usize = 2_000;

pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The file whose bytes go where one is written to; `None` for what has none.
pub(super) fn written_through(path: &Path) -> Option<PathBuf> {
    let metadata = fs::metadata(path).ok()?;
    let is_one = metadata.is_file() && metadata.len() > 0;
    let is_link = fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    is_one.then(|| if is_link { path.canonicalize().ok() } else { Some(path.to_owned()) }).flatten()
}

/// The files at a place that go where `sources` are copied or moved there.
pub(super) fn put_onto(place: &Path, sources: &[PathBuf]) -> Vec<PathBuf> {
    if !place.is_dir() {
        return vec![place.to_owned()];
    }
    let mut found = Vec::new();
    let mut looked = 0;
    for source in sources.iter().filter(|source| *source != place) {
        let Some(name) = source.file_name() else { continue };
        let target = place.join(name);
        if !source.is_dir() {
            found.push(target);
            continue;
        }
        // Folders are merged: `cp -r a b`, `cp -r a/. b`.
        for target in [target, place.to_owned()] {
            let mut open = vec![(source.clone(), target)];
            while let Some((from, to)) = open.pop() {
                for entry in fs::read_dir(&from).into_iter().flatten().flatten() {
                    looked += 1;
                    if looked > MOST_ENTRIES || found.len() >= MOST_FILES {
                        // What was not looked at may be written over as well.
                        found.push(place.to_owned());
                        return found;
                    }
                    let to = to.join(entry.file_name());
                    match fs::symlink_metadata(&to) {
                        Ok(it) if it.is_dir() => open.push((entry.path(), to)),
                        Ok(_) => found.push(to),
                        Err(_) => {}
                    }
                }
            }
        }
    }
    found
}

/// What `find` finds below a folder: the folder itself where nothing narrows it.
pub(super) fn found(wanted: &FoundFiles, root: &Path) -> Vec<PathBuf> {
    if wanted.names.is_empty() && !wanted.only_files {
        return vec![root.to_owned()];
    }
    let glob = |(name, any_case): &(String, bool)| -> Option<GlobMatcher> {
        GlobBuilder::new(name).case_insensitive(*any_case).build().ok().map(|glob| glob.compile_matcher())
    };
    let patterns: Vec<GlobMatcher> = wanted.names.iter().filter_map(glob).collect();
    let is_meant = |path: &Path, is_folder: bool| {
        let name = path.file_name().map_or(path, Path::new);
        !(wanted.only_files && is_folder) && patterns.iter().all(|pattern| pattern.is_match(name))
    };
    let (mut out, mut looked) = (Vec::new(), 0);
    let mut open = std::collections::VecDeque::from([(root.to_owned(), 0)]);
    while let Some((dir, depth)) = open.pop_front() {
        if wanted.max_depth.is_some_and(|deepest| depth >= deepest) {
            continue;
        }
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            looked += 1;
            if looked > MOST_ENTRIES || out.len() >= MOST_FILES {
                // What was not looked at may be meant as well.
                out.push(root.to_owned());
                return out;
            }
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_meant(&path, is_folder) {
                out.push(path);
            } else if is_folder && entry.file_name() != ".git" {
                open.push_back((path, depth + 1));
            }
        }
    }
    out
}
