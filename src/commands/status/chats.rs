//! The transcripts of one folder, where a host decides by all of them which it deletes.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;

/// The chats of one project of Gemini CLI.
#[derive(Debug, Default)]
pub(super) struct Chats {
    /// When each was written, the newest first.
    times: Vec<Timestamp>,
    /// When the newest of a session was written, by the short id that its name ends with.
    by_id: HashMap<String, Timestamp>,
}

impl Chats {
    /// Looks into the folder.
    pub(super) fn of(folder: &Path) -> Self {
        let mut chats = Self::default();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let stem = name.strip_suffix(".json").or_else(|| name.strip_suffix(".jsonl"));
            let Some(stem) = stem.filter(|stem| stem.starts_with("session-")) else { continue };
            let Some(time) = written(&entry.path()) else { continue };
            chats.times.push(time);
            if let Some((_, id)) = stem.rsplit_once('-') {
                let newest = chats.by_id.entry(id.to_owned()).or_insert(time);
                *newest = time.max(*newest);
            }
        }
        chats.times.sort_by(|a, b| b.cmp(a));
        chats
    }

    /// When the session of that id was written.
    pub(super) fn session(&self, id: &str) -> Option<Timestamp> {
        self.by_id.get(id.get(..8)?).copied()
    }

    /// Since when there are `most` newer ones than the one that was written at a time.
    pub(super) fn beyond(&self, most: usize, time: Timestamp) -> Option<Timestamp> {
        let newer = self.times.partition_point(|other| *other > time);
        self.times.get(newer.checked_sub(most)?).copied()
    }
}

/// When a file was written.
pub(super) fn written(path: &Path) -> Option<Timestamp> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Timestamp::try_from(metadata.modified().ok()?).ok()
}
