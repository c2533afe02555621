//! Which files are read as one, for agents that write each session into a file of its own: a file with its copies and
//! slices. Knows no format; the agent says whose file it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use cru_base::Result;
use cru_session::source::Bundle;

/// Groups files by session, the earliest first. `head` says of a file which session it is of and when that began;
/// files of one session are read in the order of `rank`, then of time, then of name.
pub(super) fn by_session<R: Ord>(
    mut files: Vec<PathBuf>,
    head: impl Fn(&Path) -> Result<(String, R, Option<Timestamp>)>,
) -> Result<Vec<Bundle>> {
    files.sort();
    files.dedup();
    let of = |path: PathBuf| {
        let (session, rank, time) = head(&path)?;
        Ok((session, rank, time, path))
    };
    Ok(grouped(files.into_iter().map(of).collect::<Result<Vec<_>>>()?))
}

/// What `read` says of the beginning of each file, each named once, sorted by name.
pub(super) fn heads<H>(
    mut files: Vec<PathBuf>,
    read: impl Fn(&Bundle, &Path) -> Result<H>,
) -> Result<Vec<(PathBuf, H)>> {
    files.sort();
    files.dedup();
    let none = Bundle::default();
    files.into_iter().map(|path| Ok((path.clone(), read(&none, &path)?))).collect()
}

/// The same as [`by_session`], where it is known of each file.
pub(super) fn grouped<R: Ord>(files: Vec<(String, R, Option<Timestamp>, PathBuf)>) -> Vec<Bundle> {
    let mut sessions: BTreeMap<String, Vec<(R, Option<Timestamp>, PathBuf)>> = BTreeMap::new();
    for (session, rank, time, path) in files {
        sessions.entry(session).or_default().push((rank, time, path));
    }
    let mut bundles: Vec<_> = sessions.into_values().collect();
    for files in &mut bundles {
        files.sort();
    }
    let start = |files: &[(R, Option<Timestamp>, PathBuf)]| {
        (files.iter().filter_map(|(_, time, _)| *time).min(), files.first().map(|(_, _, path)| path.clone()))
    };
    bundles.sort_by_cached_key(|files| start(files));
    bundles.into_iter().map(|files| Bundle::of(files.into_iter().map(|(_, _, path)| path).collect())).collect()
}

/// For a session that has no files beside its own.
pub(super) fn alone(transcript: &Path) -> Vec<PathBuf> {
    vec![transcript.to_owned()]
}

/// The name of a file without what stands behind its last dot.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The name of the folder that `path` lies in.
pub(super) fn folder(path: &Path) -> Option<String> {
    Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
}
