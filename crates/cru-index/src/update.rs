//! Bringing the index up to date, under its lock.
//!
//! Entries of changed notes are replaced and committed, then rows and manifest follow. Killed in between, the next one
//! finds entries of a later generation than the manifest's and does the notes again that were begun with.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy};
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::changes::Changes;
use super::disk::{Disk, failed};
use super::entry::{Entry, NoteKey};
use super::evidence::Evidence;
use super::manifest::{Manifest, Seen, hash};
use super::record::Record;
use super::rows::{self, Growing, Kept};
use super::schema;
use cru_base::files::{self, Fingerprint};
use cru_base::{Lines, Result};
use cru_note::Note;
use cru_session::read;
use cru_vault::{Vault, VaultPath, path};

/// Memory that tantivy may gather entries in, bytes, over all threads.
const MEMORY: usize = 160 << 20;

/// The least that one of its threads takes.
const LEAST: usize = 16 << 20;

/// Changes of fewer notes than this are not worth several threads.
const FEW: usize = 64;

/// Segments of more entries than this are not merged with others.
const MERGED: usize = 30_000;

/// Replaces what `changes` names in `index`, which `manifest` describes.
pub(super) fn update(
    vault: &Vault,
    disk: &Disk,
    index: &Index,
    manifest: &Manifest,
    changes: &Changes,
    options: &Options<'_>,
) -> Result<()> {
    let checked = disk.clock()?;
    let gone = changes.gone.iter().map(|index| manifest.notes[*index].path.clone());
    let begun: Vec<String> = changes.dirty.iter().map(|path| path.text().into_owned()).chain(gone).collect();
    let kept = kept(manifest, changes, checked).collect();
    let mut next = Manifest { notes: kept, ..*manifest };
    // An index that is new is committed even without notes, or it would be taken for one that a writer left in between.
    if begun.is_empty() && Disk::committed(index).is_some() {
        // Nothing but fingerprints: the entries stay as they are.
        return disk.finish(&next);
    }
    let committed = Disk::committed(index).unwrap_or(0);
    next.generation = later(manifest.generation.max(committed), checked);
    disk.begin(next.generation, &begun)?;
    // Whoever only asks does not wait for others' merges; what is left undone is begun again.
    let merges = options.complete && !manifest.notes.is_empty();
    let mut writer = writer(index, changes.dirty.len(), merges)?;
    let is_worn = rows::is_worn(&disk.kept(manifest.rows).rows, &next.notes);
    if is_worn {
        next.rows = next.generation;
    }
    let mut growing = Growing::at_end_of(disk.kept(next.rows));
    if is_worn && !next.notes.is_empty() {
        growing.take(&disk.kept(manifest.rows), &mut next.notes)?;
    }
    let mut read = write(vault, &mut writer, &begun, changes, checked, options, growing)?;
    let mut prepared = writer.prepare_commit().map_err(failed)?;
    prepared.set_payload(&next.generation.to_string());
    prepared.commit().map_err(failed)?;
    next.notes.append(&mut read);
    next.notes.sort_by(|a, b| path::order(a.path.as_bytes(), b.path.as_bytes()));
    // After this nothing changes the list of files that the manifest knows the hash of.
    writer.wait_merging_threads().map_err(failed)?;
    next.meta = disk.meta();
    disk.finish(&next)
}

/// Takes the entries of the notes that are `begun` out of the index, and puts those of the notes that are there in. What is
/// kept of each goes to its files at once: all of them together are as long as the notes.
fn write(
    vault: &Vault,
    writer: &mut IndexWriter<TantivyDocument>,
    begun: &[String],
    changes: &Changes,
    checked: i64,
    options: &Options<'_>,
    growing: Growing,
) -> Result<Vec<Seen>> {
    let (_, fields) = schema::schema();
    for path in begun {
        writer.delete_term(Term::from_field_u64(fields.note, NoteKey::of_text(path).0));
    }
    let growing = Mutex::new(growing);
    let add = |path: &VaultPath| {
        let mut one = Read::of(vault, path, checked, &options.sources);
        for entry in &one.entries {
            writer.add_document(entry.document(NoteKey::of(path), &fields)).map_err(failed)?;
        }
        if let (Some(seen), Some(kept)) = (&mut one.seen, one.record.as_ref().and_then(Kept::of)) {
            growing.lock().unwrap_or_else(PoisonError::into_inner).put(&kept, seen)?;
        }
        Ok(one.seen)
    };
    let read: Vec<Option<Seen>> = changes.dirty.par_iter().map(add).collect::<Result<_>>()?;
    growing.into_inner().unwrap_or_else(PoisonError::into_inner).done()?;
    Ok(read.into_iter().flatten().collect())
}

/// A generation that never was: one that is made anew must not be taken for one from before, whose manifest somebody has
/// just read. So they do not begin at one, but go by the clock (nanoseconds), and grow also where that stands still.
fn later(last: u64, now: i64) -> u64 {
    u64::try_from(now).unwrap_or(0).max(last + 1)
}

/// The notes that stay, with what the file system says of them now.
fn kept<'a>(manifest: &'a Manifest, changes: &'a Changes, checked: i64) -> impl Iterator<Item = Seen> + 'a {
    let dirty: std::collections::HashSet<String> = changes.dirty.iter().map(|path| path.text().into_owned()).collect();
    let stays = move |(index, seen): &(usize, &Seen)| {
        changes.gone.binary_search(index).is_err() && !dirty.contains(seen.path.as_str())
    };
    manifest.notes.iter().enumerate().filter(stays).map(move |(index, seen)| match changes.touched.get(&index) {
        Some(fingerprint) => Seen { fingerprint: *fingerprint, checked, ..seen.clone() },
        None => seen.clone(),
    })
}

fn writer(index: &Index, notes: usize, merges: bool) -> Result<IndexWriter<TantivyDocument>> {
    let threads = if notes < FEW { 1 } else { rayon::current_num_threads().min(MEMORY / LEAST) };
    let memory = if notes < FEW { LEAST } else { MEMORY / threads };
    let writer = index.writer_with_num_threads(threads, memory * threads).map_err(failed)?;
    if merges {
        let mut policy = LogMergePolicy::default();
        policy.set_max_docs_before_merge(MERGED);
        writer.set_merge_policy(Box::new(policy));
    } else {
        // What is gathered by all threads at once is large enough to stay as it is.
        writer.set_merge_policy(Box::new(NoMergePolicy));
    }
    Ok(writer)
}

/// How the index is brought up to date.
#[derive(Default)]
pub struct Options<'a> {
    /// What entries of notes that are read are made of beside the notes.
    pub sources: Sources<'a>,
    /// Whether all that changed is written, and notes are read again whose evidence has changed or is gone; else a few
    /// changed notes are only read, and evidence waits until its note changes.
    pub complete: bool,
    /// Whether all of it is made anew.
    pub rebuild: bool,
    /// Whether a few notes with much evidence may wait for whoever asks next: nobody asks now, and a session that goes on
    /// would have all of its evidence written again after each turn.
    pub may_wait: bool,
}

/// What entries are made of beside the notes.
#[derive(Clone, Copy, Default)]
pub struct Sources<'a> {
    /// What notes only point at.
    pub evidence: Option<&'a dyn Evidence>,
}

/// A note, read for the index.
pub(super) struct Read {
    /// Its session's record; `None` where it is no session.
    pub(super) record: Option<Record>,
    /// All of its entries.
    pub(super) entries: Vec<Entry>,
    /// For the manifest; `None` where it cannot be told apart by its path or could not be read.
    seen: Option<Seen>,
    /// What its evidence is known by.
    evidence: Option<u64>,
}

impl Read {
    /// Reads a note on disk.
    fn of(vault: &Vault, path: &VaultPath, checked: i64, sources: &Sources<'_>) -> Self {
        let file = vault.file(path);
        let before = files::fingerprint(&file).unwrap_or_default();
        let Ok(bytes) = files::read_note(&file) else { return Self::nothing() };
        let after = files::fingerprint(&file).unwrap_or_default();
        // Written to while it was read: the next look will not find it the same.
        let fingerprint = if before == after { after } else { Fingerprint::default() };
        let hash = hash(&bytes);
        let mut read = Self::bytes(path, bytes, sources);
        let evidence = read.evidence;
        read.seen = path.as_path().to_str().is_some().then(|| {
            let path = path.text().into_owned();
            Seen { path, fingerprint, hash, checked, evidence, row: None, tables: None }
        });
        read
    }

    /// Reads the bytes of a note.
    pub(super) fn bytes(path: &VaultPath, bytes: Vec<u8>, sources: &Sources<'_>) -> Self {
        let note = Note::parse(bytes);
        if !read::meta(note.text()).0.is_session() {
            return Self::nothing();
        }
        let session = read::content(&note);
        let record = Record::of(path, &session, &Lines::of(note.text()));
        let mut entries = Entry::all(&note, &session);
        let known_by = sources.evidence.and_then(|evidence| evidence.fingerprint(&record.session));
        if let Some(evidence) = sources.evidence.filter(|_| known_by.is_some()) {
            entries.extend(evidence.entries(path, &note, &session));
        }
        Self { record: Some(record), entries, seen: None, evidence: known_by }
    }

    fn nothing() -> Self {
        Self { record: None, entries: Vec::new(), seen: None, evidence: None }
    }
}
