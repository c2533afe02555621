//! Bringing the index up to date, under its lock.
//!
//! Entries of changed notes are replaced and committed, then rows and manifest follow. Killed in between, the next one
//! finds entries of a later generation than the manifest's and does the notes again that were begun with.

use std::sync::Mutex;

use rayon::prelude::*;
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::changes::Changes;
use super::disk::{Disk, failed};
use super::entry::Entry;
use super::evidence::Evidence;
use super::manifest::{Manifest, Place, Seen, hash};
use super::record::Record;
use super::schema::{self, Fields};
use super::snapshot::NoteKey;
use super::toon;
use crate::base::files::{self, Fingerprint};
use crate::base::{Lines, Result};
use crate::note::Note;
use crate::session::read;
use crate::vault::{Vault, VaultPath};

/// Memory that tantivy may gather entries in, bytes, over all threads.
const MEMORY: usize = 160 << 20;

/// The least that one of its threads takes.
const LEAST: usize = 16 << 20;

/// Changes of fewer notes than this are not worth several threads.
const FEW: usize = 64;

/// Kind of the entry that carries the record.
pub(super) const SESSION: &str = "session";

/// Replaces what `changes` names in `index`, which `manifest` describes; `rows` are its rows.
pub(super) fn update(
    vault: &Vault,
    disk: &Disk,
    index: &Index,
    manifest: &Manifest,
    rows: &[u8],
    changes: &Changes,
    sources: &Sources<'_>,
) -> Result<()> {
    let checked = disk.clock()?;
    let gone = changes.gone.iter().map(|index| manifest.notes[*index].path.clone());
    let begun: Vec<String> = changes.dirty.iter().map(|path| path.text().into_owned()).chain(gone).collect();
    let committed = Disk::committed(index).unwrap_or(0);
    let generation = next(manifest.generation.max(committed), checked);
    let mut read = Vec::new();
    if begun.is_empty() {
        // Nothing but fingerprints: the entries stay as they are.
        let next = Manifest { generation: manifest.generation, notes: kept(manifest, changes, checked).collect() };
        return disk.finish(&next, rows);
    }
    disk.begin(generation, &begun)?;
    let (_, fields) = schema::schema();
    let mut writer = writer(index, changes.dirty.len())?;
    for path in &begun {
        writer.delete_term(Term::from_field_u64(fields.note, NoteKey::of_text(path).0));
    }
    let failure = Mutex::new(None);
    let add = |path: &VaultPath| {
        let one = Read::of(vault, path, checked, sources);
        let added = one.entries.iter().try_for_each(|document| document_to(&writer, document, &fields, path));
        let added = added.and_then(|()| one.carrier(path, &fields).map_or(Ok(()), |it| put(&writer, it)));
        if let Err(error) = added {
            failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
        }
        one.seen
    };
    read.par_extend(changes.dirty.par_iter().filter_map(add));
    if let Some(error) = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(error);
    }
    let mut prepared = writer.prepare_commit().map_err(failed)?;
    prepared.set_payload(&generation.to_string());
    prepared.commit().map_err(failed)?;
    let mut next = Manifest { generation, notes: kept(manifest, changes, checked).collect() };
    let mut bytes = Vec::with_capacity(rows.len() + read.len() * 512);
    for seen in &mut next.notes {
        // A row that is not there was damaged; its note would have been read again.
        let row = seen.row.and_then(|row| rows.get(range(row)));
        seen.row = row.map(|row| append(&mut bytes, row));
    }
    for (mut seen, row) in read {
        seen.row = row.map(|row| append(&mut bytes, &row));
        next.notes.push(seen);
    }
    next.notes.sort_by(|a, b| path(a).cmp(path(b)));
    disk.finish(&next, &bytes)?;
    writer.wait_merging_threads().map_err(failed)
}

/// A generation that never was: one that is made anew must not be taken for one from before, whose manifest somebody has
/// just read. So they do not begin at one, but go by the clock (nanoseconds), and grow also where that stands still.
fn next(last: u64, now: i64) -> u64 {
    u64::try_from(now).unwrap_or(0).max(last + 1)
}

/// In the order of a walk.
fn path(seen: &Seen) -> &std::path::Path {
    std::path::Path::new(&seen.path)
}

/// Bytes of a row in the file of rows.
pub(super) fn range(row: Place) -> std::ops::Range<usize> {
    let at = usize::try_from(row.at).unwrap_or(usize::MAX);
    at..at.saturating_add(row.len as usize)
}

fn append(bytes: &mut Vec<u8>, row: &[u8]) -> Place {
    let at = bytes.len() as u64;
    bytes.extend(row);
    Place { at, len: u32::try_from(row.len()).unwrap_or(u32::MAX) }
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

fn writer(index: &Index, notes: usize) -> Result<IndexWriter<TantivyDocument>> {
    let threads = if notes < FEW { 1 } else { rayon::current_num_threads().min(MEMORY / LEAST) };
    let memory = if notes < FEW { LEAST } else { MEMORY / threads };
    index.writer_with_num_threads(threads, memory * threads).map_err(failed)
}

fn put(writer: &IndexWriter<TantivyDocument>, document: TantivyDocument) -> Result<()> {
    writer.add_document(document).map(|_| ()).map_err(failed)
}

fn document_to(writer: &IndexWriter<TantivyDocument>, entry: &Entry, fields: &Fields, path: &VaultPath) -> Result<()> {
    put(writer, entry.document(NoteKey::of(path), fields))
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
    /// All entries but the one that carries the record.
    entries: Vec<Entry>,
    /// The one that carries the record.
    session: Option<Entry>,
    /// For the manifest; `None` where it cannot be told apart by its path or could not be read.
    seen: Option<(Seen, Option<Vec<u8>>)>,
    /// What its evidence is known by.
    evidence: Option<u64>,
}

impl Read {
    /// Reads a note on disk.
    fn of(vault: &Vault, path: &VaultPath, checked: i64, sources: &Sources<'_>) -> Self {
        let file = vault.file(path);
        let before = files::fingerprint(&file).unwrap_or_default();
        let Ok(bytes) = files::read(&file) else { return Self::nothing() };
        let after = files::fingerprint(&file).unwrap_or_default();
        // Written to while it was read: the next look will not find it the same.
        let fingerprint = if before == after { after } else { Fingerprint::default() };
        let hash = hash(&bytes);
        let mut read = Self::bytes(path, bytes, sources);
        let row = read.record.as_ref().and_then(|record| postcard::to_allocvec(&record.session).ok());
        let evidence = read.evidence;
        read.seen = path.as_path().to_str().is_some().then(|| {
            let path = path.text().into_owned();
            (Seen { path, fingerprint, hash, checked, evidence, row: None }, row)
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
        let place = entries.iter().position(|entry| entry.kind == SESSION);
        let carrier = place.map(|place| entries.remove(place));
        let carrier = carrier.unwrap_or_else(|| Entry { kind: SESSION.to_owned(), ..Entry::default() });
        Self { record: Some(record), entries, session: Some(carrier), seen: None, evidence: known_by }
    }

    fn nothing() -> Self {
        Self { record: None, entries: Vec::new(), session: None, seen: None, evidence: None }
    }

    /// The document that carries the record.
    fn carrier(&self, path: &VaultPath, fields: &Fields) -> Option<TantivyDocument> {
        let mut document = self.session.as_ref()?.document(NoteKey::of(path), fields);
        // A record that cannot be encoded is read from its note when it is asked for.
        if let Some(text) = self.record.as_ref().and_then(|record| toon::encode(record).ok()) {
            document.add_text(fields.record, text);
        }
        Some(document)
    }

    /// All entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.session.iter().chain(&self.entries)
    }
}
