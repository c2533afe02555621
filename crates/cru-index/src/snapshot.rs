//! The sessions of a vault as they are now, ready to be asked.
//!
//! Mostly the index on disk is right or is made so at once. Where somebody else is writing it, or where notes read other
//! than they stand on disk, those few notes are read into memory and hide what the index has of them.

mod records;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rayon::prelude::*;
use tantivy::directory::RamDirectory;
use tantivy::{Index, IndexSettings, Searcher, SingleSegmentIndexWriter};

use super::columns::Columns;
use super::disk::{self, Opened, failed};
use super::entry::NoteKey;
use super::frequency::Outdated;
use super::kept::KeptNote;
use super::manifest::{Place, SLACK};
use super::record::{Record, SessionRow};
use super::refresh::{self, Ready, Refreshed};
use super::rows;
use super::schema::{self, Fields};
use super::update::{Options, Read, Sources};
use cru_base::files::Fingerprint;
use cru_base::{Diagnostic, Error, Lines, Result, Span};
use cru_note::Note;
use cru_session::read;
use cru_vault::copies::conflict_copies;
use cru_vault::{Finding, Vault, VaultPath, Walk, path};

/// Memory that entries are first gathered in before they are searched, bytes; it grows where that is not enough.
const MEMORY: usize = 1 << 20;

/// A part of the entries: those on disk, or those of notes that the disk's part has not seen.
pub struct Part {
    searcher: Searcher,
    hidden: HashSet<NoteKey>,
    columns: Vec<OnceLock<Columns>>,
    outdated: Vec<OnceLock<Outdated>>,
}

impl Part {
    fn new(searcher: Searcher, hidden: HashSet<NoteKey>) -> Self {
        let columns = searcher.segment_readers().iter().map(|_| OnceLock::new()).collect();
        let outdated = searcher.segment_readers().iter().map(|_| OnceLock::new()).collect();
        Self { searcher, hidden, columns, outdated }
    }

    /// The entries of one of its segments that do not count.
    pub(super) fn outdated(&self, segment: usize) -> tantivy::Result<&Outdated> {
        let cell = &self.outdated[segment];
        if let Some(outdated) = cell.get() {
            return Ok(outdated);
        }
        let (_, fields) = schema::schema();
        let reader = &self.searcher.segment_readers()[segment];
        let outdated = Outdated::of(reader, fields.note, self.hidden.iter().copied())?;
        Ok(cell.get_or_init(|| outdated))
    }

    /// The columns of one of its segments.
    pub(super) fn columns(&self, segment: usize) -> tantivy::Result<&Columns> {
        let cell = &self.columns[segment];
        if let Some(columns) = cell.get() {
            return Ok(columns);
        }
        let columns = Columns::of(&self.searcher.segment_readers()[segment])?;
        Ok(cell.get_or_init(|| columns))
    }

    /// Searches it.
    pub fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// Whether the entries of a note count here; those of others are outdated.
    pub fn counts(&self, key: NoteKey) -> bool {
        !self.hidden.contains(&key)
    }
}

/// A session and where its row is.
struct Listed {
    key: NoteKey,
    path: String,
    row: Row,
}

enum Row {
    /// In the file of rows; the tables of its record stand in theirs.
    Disk {
        row: Place,
        tables: Option<Place>,
    },
    Memory(usize),
}

/// The snapshots that were taken last, for a program that is asked again and again: one is taken again only where a file of
/// the vault or the configuration is another one.
#[derive(Default)]
pub struct LastSnapshots(Mutex<HashMap<&'static str, Arc<Snapshot>>>);

impl std::fmt::Debug for LastSnapshots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LastSnapshots")
    }
}

impl LastSnapshots {
    /// What `take` gives, or gave under the same `name` when the vault was as it is `now`.
    pub fn of(
        &self,
        name: &'static str,
        vault: &Vault,
        now: Timestamp,
        take: impl FnOnce() -> Result<Snapshot>,
    ) -> Result<Arc<Snapshot>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let walk = Walk::of(vault);
        // What was logged and waits is in no file, and a note that changed a moment ago may change once more without looking different.
        let settled =
            |(_, seen): &(VaultPath, Fingerprint)| i128::from(seen.mtime) + i128::from(SLACK) < now.as_nanosecond();
        let is_settled = walk.notes.iter().all(settled);
        let may_be_kept = walk.findings.is_empty() && vault.overlaid_paths().next().is_none() && is_settled;
        if may_be_kept
            && let Some(snapshot) = lock().get(name)
            && snapshot.walk == walk
            && snapshot.root.root() == vault.root()
            && snapshot.root.config() == vault.config()
        {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(take()?);
        if may_be_kept && snapshot.walk == walk {
            lock().insert(name, Arc::clone(&snapshot));
        }
        Ok(snapshot)
    }
}

/// All sessions of a vault at one moment.
pub struct Snapshot {
    fields: Fields,
    parts: Vec<Part>,
    listed: Vec<Listed>,
    /// By the path of the note.
    copies: HashMap<String, u64>,
    places: OnceLock<HashMap<NoteKey, usize>>,
    file: Option<File>,
    tables: Option<File>,
    rows: OnceLock<Vec<SessionRow>>,
    single: OnceLock<Vec<OnceLock<Box<SessionRow>>>>,
    records: Vec<Record>,
    kept: HashMap<NoteKey, SessionRow>,
    root: Vault,
    /// What was done before it was taken.
    pub refreshed: Refreshed,
    /// Folders and notes that could not be read.
    pub findings: Vec<Finding>,
    /// The files that there were.
    walk: Walk,
}

impl Snapshot {
    /// The files of the vault when it was taken.
    pub const fn walk(&self) -> &Walk {
        &self.walk
    }

    /// The zone whose days names, filters and sums mean: the vault's.
    pub fn zone(&self) -> &TimeZone {
        &self.root.config().zone
    }

    /// Brings the index up to date and takes a snapshot. The vault's notes may be overlaid: what was logged and not
    /// written yet is found too.
    pub fn open(vault: &Vault) -> Result<Self> {
        Self::open_with(vault, &Options::default())
    }

    /// The same, in a certain way.
    pub fn open_with(vault: &Vault, options: &Options<'_>) -> Result<Self> {
        Self::make(vault, refresh::refresh(vault, options)?, &options.sources)
    }

    fn make(vault: &Vault, ready: Ready, sources: &Sources<'_>) -> Result<Self> {
        let Ready { opened, changes, refreshed, walk } = ready;
        let mut findings = walk.findings.clone();
        let (_, fields) = schema::schema();
        let mut reread: Vec<VaultPath> = changes.dirty.clone();
        reread.extend(vault.overlaid_paths().filter(|path| !changes.dirty.contains(path)).cloned());
        let mut hidden: HashSet<NoteKey> = reread.iter().map(NoteKey::of).collect();
        let (mut listed, mut parts, mut file, mut kept) = (Vec::new(), Vec::new(), None, None);
        if let Some(Opened { manifest, rows, tables, searcher, .. }) = opened {
            hidden.extend(changes.gone.iter().map(|index| NoteKey::of_text(&manifest.notes[*index].path)));
            for seen in manifest.notes {
                let Some(row) = seen.row else { continue };
                let key = NoteKey::of_text(&seen.path);
                if !hidden.contains(&key) {
                    listed.push(Listed { key, path: seen.path, row: Row::Disk { row, tables: seen.tables } });
                }
            }
            parts.push(Part::new(searcher, hidden));
            (file, kept) = (Some(rows), Some(tables));
        }
        let mut records = Vec::new();
        if !reread.is_empty() {
            let tried: Vec<(VaultPath, Result<Read>)> = reread
                .into_par_iter()
                .map(|path| {
                    let read = vault.read(&path).map(|bytes| Read::bytes(&path, bytes.into_owned(), sources));
                    (path, read)
                })
                .collect();
            let mut read: Vec<(VaultPath, Read)> = Vec::with_capacity(tried.len());
            for (path, tried) in tried {
                match tried {
                    Ok(note) => read.push((path, note)),
                    Err(error) => findings.extend(unreadable(&path, &error)),
                }
            }
            // Tantivy cannot search a part without entries.
            if read.iter().any(|(_, note)| !note.entries.is_empty()) {
                parts.push(Part::new(in_memory(&read, &fields)?, HashSet::new()));
            }
            for (path, read) in read {
                let Some(record) = read.record else { continue };
                let row = Row::Memory(records.len());
                listed.push(Listed { key: NoteKey::of(&path), path: path.text().into_owned(), row });
                records.push(record);
            }
            listed.sort_by(|a, b| path::order(a.path.as_bytes(), b.path.as_bytes()));
        }
        let mut snapshot = Self {
            fields,
            parts,
            listed,
            places: OnceLock::new(),
            file,
            tables: kept,
            copies: HashMap::new(),
            rows: OnceLock::new(),
            single: OnceLock::new(),
            records,
            kept: HashMap::new(),
            root: vault.clone(),
            refreshed,
            findings,
            walk,
        };
        snapshot.leave_out_copies();
        Ok(snapshot)
    }

    /// A session of which a sync service left a copy is listed and found once.
    fn leave_out_copies(&mut self) {
        let stem = |listed: &Listed| {
            let name = listed.path.rsplit('/').next().unwrap_or_default();
            name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
        };
        let stems: Vec<String> = self.listed.iter().map(stem).collect();
        let stems: Vec<&str> = stems.iter().map(String::as_str).collect();
        let id = |at: usize| self.listed.get(at).map(|listed| self.row(listed).id);
        let pairs = conflict_copies(&stems, id);
        for (_, of) in &pairs {
            *self.copies.entry(self.listed[*of].path.clone()).or_default() += 1;
        }
        let copies: HashSet<usize> = pairs.into_iter().map(|(copy, _)| copy).collect();
        if !copies.is_empty() {
            let mut at = 0;
            self.listed.retain(|_| {
                at += 1;
                !copies.contains(&(at - 1))
            });
        }
    }

    /// How many copies of a note a sync service left beside it.
    pub fn copies(&self, path: &str) -> u64 {
        self.copies.get(path).copied().unwrap_or_default()
    }

    /// Leaves out the sessions whose place in [`Snapshot::sessions`] is `false` in `kept`; neither they nor anything in
    /// them is found any more.
    pub fn keep(&mut self, kept: &[bool]) {
        let mut places = kept.iter();
        self.listed.retain(|_| places.next() != Some(&false));
        if let Some(rows) = self.rows.get_mut() {
            let mut places = kept.iter();
            rows.retain(|_| places.next() != Some(&false));
        }
        self.places = OnceLock::new();
        self.single = OnceLock::new();
    }

    /// Has notes found that are no sessions. They are in no list of sessions, and what is asked of sessions holds for none
    /// of them.
    pub fn add_notes(&mut self, notes: Vec<KeptNote>) -> Result<()> {
        let mut writer = memory_writer()?;
        let mut any = false;
        for KeptNote { row, entries } in notes {
            let key = NoteKey::of_text(&row.path);
            for entry in &entries {
                writer.add_document(entry.document(key, &self.fields)).map_err(failed)?;
                any = true;
            }
            self.kept.insert(key, row);
        }
        // Tantivy cannot search a part without entries.
        if any {
            let index = writer.finalize().map_err(failed)?;
            self.parts.push(Part::new(index.reader().map_err(failed)?.searcher(), HashSet::new()));
        }
        Ok(())
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Every session, sorted by path.
    pub fn sessions(&self) -> &[SessionRow] {
        self.rows.get_or_init(|| {
            let bytes = self.file.as_ref().and_then(rows::read_all).unwrap_or_default();
            let row = |listed: &Listed| match &listed.row {
                Row::Disk { row, .. } => rows::decode(*row, &bytes),
                Row::Memory(_) => None,
            };
            let rows = self.listed.par_iter().with_min_len(256);
            rows.map(|listed| row(listed).unwrap_or_else(|| self.row(listed))).collect()
        })
    }

    /// The session in the note with that key; of a note that [`Snapshot::add_notes`] added what it is shown as.
    pub fn session(&self, key: NoteKey) -> Option<&SessionRow> {
        if let Some(row) = self.kept.get(&key) {
            return Some(row);
        }
        let place = *self.places().get(&key)?;
        if let Some(rows) = self.rows.get() {
            return rows.get(place);
        }
        let single = self.single.get_or_init(|| self.listed.iter().map(|_| OnceLock::new()).collect());
        Some(single.get(place)?.get_or_init(|| Box::new(self.row(&self.listed[place]))))
    }

    /// Whether something is found in the note with that key.
    pub fn has(&self, key: NoteKey) -> bool {
        self.places().contains_key(&key) || self.kept.contains_key(&key)
    }

    fn places(&self) -> &HashMap<NoteKey, usize> {
        self.places.get_or_init(|| self.listed.iter().enumerate().map(|(place, it)| (it.key, place)).collect())
    }

    fn row(&self, listed: &Listed) -> SessionRow {
        let row = match &listed.row {
            Row::Memory(index) => return self.records[*index].session.clone(),
            Row::Disk { row, .. } => self.file.as_ref().and_then(|file| rows::read(file, *row)),
        };
        row.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_else(|| {
            // A damaged row is read from its note, and whoever asks next makes all anew.
            disk::forget(&self.root);
            self.reread(&listed.path).map(|record| record.session).unwrap_or_default()
        })
    }

    fn reread(&self, path: &str) -> Option<Record> {
        let path = VaultPath::new(path)?;
        let note = Note::parse(self.root.read(&path).ok()?);
        Some(Record::of(&path, &read::content(&note), &Lines::of(note.text())))
    }

    /// The entries, in one or two parts. One counts when its note is a [`Snapshot::session`] and [`Part::counts`].
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many entries of each kind there are.
    pub fn kinds(&self) -> std::collections::BTreeMap<String, u64> {
        super::check::kinds(self)
    }

    /// Bytes that the entries take on disk.
    pub fn size(&self) -> u64 {
        self.parts.iter().filter_map(|part| part.searcher.space_usage().ok()).map(|it| it.total().get_bytes()).sum()
    }

    /// The fields of entries.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }
}

/// What is told of a note that cannot be read; nothing where it is gone since the walk.
fn unreadable(path: &VaultPath, error: &Error) -> Option<Finding> {
    let why = match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => return None,
        Error::Io { source, .. } => source.to_string(),
        error => error.to_string(),
    };
    let message = format!("could not read this: {why}");
    Some(Finding::new(path, Diagnostic::error("unreadable", Span::default(), message)))
}

/// The entries of notes that were read, in memory.
fn in_memory(read: &[(VaultPath, Read)], fields: &Fields) -> Result<Searcher> {
    let mut writer = memory_writer()?;
    for (path, read) in read {
        for entry in &read.entries {
            writer.add_document(entry.document(NoteKey::of(path), fields)).map_err(failed)?;
        }
    }
    let index = writer.finalize().map_err(failed)?;
    Ok(index.reader().map_err(failed)?.searcher())
}

/// Writes entries into memory. They are few, so no threads are started for them.
fn memory_writer() -> Result<SingleSegmentIndexWriter> {
    let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
    let index = Index::builder().schema(schema::schema().0).tokenizers(schema::tokenizers()).settings(settings);
    index.single_segment_index_writer(RamDirectory::create(), MEMORY).map_err(failed)
}
