//! What a session had run: files in the folder of its name.

use std::path::{Path, PathBuf};

use super::head::PiHead;
use crate::call::started::StartedAgents;
use crate::file::jsonl;
use crate::file::value::{self, blocks, filled, word};
use cru_session::event::StreamKey;
use cru_session::source::Bundle;

/// Files that are looked at, and folders between.
const MOST: usize = 1_000;
const DEPTH: usize = 5;
/// Records of a file in which its first words are looked for.
const RECORDS: usize = 200;

/// The folder of a session's runs.
pub(super) fn folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("")
}

/// The runs of the session `key`, with the first words that each was told of its own.
pub(super) fn started(transcript: &Path, key: &StreamKey) -> StartedAgents {
    let folder = folder(transcript);
    if !folder.is_dir() {
        return StartedAgents::default();
    }
    let files = ignore::WalkBuilder::new(&folder).standard_filters(false).max_depth(Some(DEPTH)).build();
    let is_session = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl");
    let files = files.flatten().take(MOST).map(ignore::DirEntry::into_path).filter(is_session);
    let mut found: Vec<_> = files
        .filter_map(|path| {
            let head = PiHead::read(&Bundle::default(), &path).ok()?;
            let is_of_it = head.runner().as_ref() == Some(&key.session);
            let own = StreamKey { session: head.session.clone(), agent: None };
            Some((head.time, own, asked(&path, &head)?)).filter(|_| is_of_it)
        })
        .collect();
    found.sort();
    StartedAgents::of(found.into_iter().map(|(_, key, words)| (key, words)))
}

/// The first words of a file that are not copied from the session before.
fn asked(path: &Path, head: &PiHead) -> Option<String> {
    let records = jsonl::beginning(&Bundle::default(), path, RECORDS).ok()?;
    records.iter().find_map(|record| {
        let is_copied = head.origin.is_some() && value::time(record, "timestamp") < head.time;
        let message = value::object(record, "message").filter(|it| word(it, "role") == "user" && !is_copied)?;
        blocks(&message["content"]).iter().find_map(|block| filled(block, "text").map(str::to_owned))
    })
}
