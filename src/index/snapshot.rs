//! The sessions of a vault as they are now, ready to be asked.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use tantivy::{IndexWriter, Searcher, TantivyDocument};

use super::entry::Entry;
use super::record::{Record, SessionRow};
use super::schema::{self, Fields};
use crate::base::{Error, Lines, Result};
use crate::note::Note;
use crate::session::read;
use crate::vault::{Vault, VaultPath, Walk};

/// What entries know their note by: a hash of its path in the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoteKey(pub u64);

impl NoteKey {
    /// The key of the note at a path.
    pub fn of(path: &VaultPath) -> Self {
        let hash = blake3::hash(path.text().as_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hash.as_bytes()[..8]);
        Self(u64::from_le_bytes(bytes))
    }
}

/// A part of the entries: those on disk, or those of notes that the disk's part has not seen.
pub struct Part {
    searcher: Searcher,
    hidden: HashSet<NoteKey>,
}

impl Part {
    /// Searches it.
    pub fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// Whether the entries of a note count here; those of others are outdated.
    pub fn counts(&self, key: NoteKey) -> bool {
        !self.hidden.contains(&key)
    }
}

/// All sessions of a vault at one moment.
pub struct Snapshot {
    rows: Vec<SessionRow>,
    places: HashMap<NoteKey, usize>,
    records: Vec<Record>,
    parts: Vec<Part>,
    fields: Fields,
}

impl Snapshot {
    /// Brings the index up to date and takes a snapshot. The vault's notes may be overlaid: what was logged and not
    /// written yet is found too.
    pub fn open(vault: &Vault) -> Result<Self> {
        let (schema, fields) = schema::schema();
        let index = tantivy::Index::create_in_ram(schema);
        schema::register(&index);
        let mut writer: IndexWriter<TantivyDocument> = index.writer(64 << 20).map_err(failed)?;
        let walk = Walk::of(vault);
        let read: Vec<(NoteKey, Record, Vec<Entry>)> = walk
            .notes
            .par_iter()
            .filter_map(|path| {
                let note = Note::parse(vault.read(path).ok()?);
                let session = read::content(&note);
                if !session.meta.is_session() {
                    return None;
                }
                let record = Record::of(path, &session, &Lines::of(note.text()));
                Some((NoteKey::of(path), record, Entry::all(&note, &session)))
            })
            .collect();
        let (mut records, mut places) = (Vec::new(), HashMap::new());
        for (key, record, entries) in read {
            for entry in &entries {
                writer.add_document(entry.document(key, &fields)).map_err(failed)?;
            }
            places.insert(key, records.len());
            records.push(record);
        }
        writer.commit().map_err(failed)?;
        let searcher = index.reader().map_err(failed)?.searcher();
        let parts = vec![Part { searcher, hidden: HashSet::new() }];
        let rows = records.iter().map(|record| record.session.clone()).collect();
        Ok(Self { rows, places, records, parts, fields })
    }

    /// Every session, sorted by path.
    pub fn sessions(&self) -> &[SessionRow] {
        &self.rows
    }

    /// The session in the note with that key.
    pub fn session(&self, key: NoteKey) -> Option<&SessionRow> {
        self.places.get(&key).and_then(|place| self.rows.get(*place))
    }

    /// The records of the sessions that are `wanted`, in the order of their paths.
    pub fn records(&self, wanted: impl Fn(&SessionRow) -> bool) -> Result<Vec<Record>> {
        Ok(self.records.iter().filter(|record| wanted(&record.session)).cloned().collect())
    }

    /// The entries, in one or two parts. One counts when its note is a [`Snapshot::session`] and [`Part::counts`].
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The fields of entries.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }
}

fn failed(error: tantivy::TantivyError) -> Error {
    Error::usage(format!("the index failed: {error}"))
}
