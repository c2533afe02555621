//! The least that anybody must do for the same answers: walks, reads and indexes without anything of ours but the words.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cru::index::{Entry, NoteKey, schema};
use cru::note::Note;
use cru::session::read;
use cru::vault::{Vault, Walk};
use pulldown_cmark::{Options, Parser};
use rayon::prelude::*;
use tantivy::indexer::NoMergePolicy;
use tantivy::{Index, IndexWriter, TantivyDocument};

/// Walks a folder on all threads and looks at every file; their number and bytes.
pub(crate) fn walk(root: &Path) -> (u64, u64) {
    let (files, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let walk = ignore::WalkBuilder::new(root).standard_filters(false).hidden(true).build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if let Some(meta) = entry.ok().and_then(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file) {
                files.fetch_add(1, Ordering::Relaxed);
                bytes.fetch_add(meta.len(), Ordering::Relaxed);
            }
            ignore::WalkState::Continue
        })
    });
    (files.into_inner(), bytes.into_inner())
}

/// The same on one thread with nothing but the standard library.
pub(crate) fn walk_alone(root: &Path) -> (u64, u64) {
    let (mut files, mut bytes, mut folders) = (0, 0, vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) if meta.is_file() => {
                    files += 1;
                    bytes += meta.len();
                }
                _ => {}
            }
        }
    }
    (files, bytes)
}

/// A note and what stands in the index of it, made beforehand.
pub(crate) struct Ready {
    path: PathBuf,
    key: NoteKey,
    entries: Vec<Entry>,
}

/// What the index of a vault is made of.
pub(crate) fn ready(vault: &Vault) -> Vec<Ready> {
    let one = |path: &cru::vault::VaultPath| {
        let note = Note::parse(vault.read(path).ok()?);
        let session = read::content(&note);
        let entries = Entry::all(&note, &session);
        session.meta.is_session().then(|| Ready { path: vault.file(path), key: NoteKey::of(path), entries })
    };
    Walk::of(vault).notes.par_iter().map(|(path, _)| path).filter_map(one).collect()
}

/// Reads every note, parses it as markdown with offsets, and gives the ready documents to tantivy, all on all threads.
pub(crate) fn build(ready: &[Ready], place: &Path, threads: usize) -> tantivy::Result<Duration> {
    let (schema, fields) = schema::schema();
    let index = Index::create_in_dir(place, schema)?;
    schema::register(&index);
    let start = Instant::now();
    let mut writer: IndexWriter<TantivyDocument> = index.writer_with_num_threads(threads, threads * (64 << 20))?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS;
    ready.par_iter().try_for_each(|note| {
        let text = std::fs::read_to_string(&note.path)?;
        std::hint::black_box(Parser::new_ext(&text, options).into_offset_iter().count());
        for entry in &note.entries {
            writer.add_document(entry.document(note.key, &fields))?;
        }
        Ok::<(), tantivy::TantivyError>(())
    })?;
    writer.commit()?;
    Ok(start.elapsed())
}
