//! What a session had run: files in the folder of its name.

use std::path::{Path, PathBuf};

use super::head::PiHead;
use super::record::with_record;
use crate::call::started::StartedAgents;
use crate::file::lines::{Line, Lines};
use cru_base::json;
use cru_session::event::StreamKey;
use cru_session::source::Bundle;

/// Files that are looked at, and folders between.
const MOST: usize = 1_000;
const DEPTH: usize = 5;
/// Lines of a file in which its first words are looked for, and their length.
const LINES: usize = 200;
const LINE: usize = 1 << 20;

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
    let bundle = Bundle::default();
    let mut lines = Lines::new(bundle.peek(path).ok()?, LINE);
    for _ in 0..LINES {
        let Line::Whole(line, _) = lines.next().ok()?? else { continue };
        let words = with_record(&json::text(line), |record| {
            let time: Option<jiff::Timestamp> = record.timestamp.str().parse().ok();
            let is_copied = head.origin.is_some() && time < head.time;
            let message = record.message.0.as_ref().filter(|message| message.role.str() == "user" && !is_copied)?;
            message.blocks().iter().find_map(|block| block.text.filled().map(str::to_owned))
        });
        if let Some(words) = words.flatten() {
            return Some(words);
        }
    }
    None
}
