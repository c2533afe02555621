//! The sessions of a vault as they are now, ready to be asked.
//!
//! Mostly the index on disk is right or is made so at once. Where somebody else is writing it, or where notes read other
//! than they stand on disk, those few notes are read into memory and hide what the index has of them.

mod records;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use rayon::prelude::*;
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument};

use super::changes::Changes;
use super::disk::{Disk, Opened, Trouble, failed, read_all};
use super::manifest::{self, Manifest, Place, Seen};
use super::record::{Record, SessionRow};
use super::schema::{self, Fields};
use super::update::{self, Read, Sources};
use crate::base::{Diagnostic, Error, Lines, Result, Span};
use crate::note::Note;
use crate::session::read;
use crate::vault::{Finding, Vault, VaultPath, walk};

/// So many changed notes are read into memory rather than waiting for somebody who writes the index.
const AT_ONCE: usize = 256;

/// So many notes that only look different are worth being remembered as they look now.
const AGAIN: usize = 32;

/// How often an index that somebody writes in this moment is looked at, and the pause between (milliseconds).
const LOOKS: u32 = 200;
const PAUSE: u64 = 5;

/// What entries know their note by: a hash of its path in the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoteKey(pub u64);

impl NoteKey {
    /// The key of the note at a path.
    pub fn of(path: &VaultPath) -> Self {
        Self::of_text(&path.text())
    }

    /// The key of the note at a path as a row has it.
    pub fn of_text(path: &str) -> Self {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&blake3::hash(path.as_bytes()).as_bytes()[..8]);
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

/// How the index is brought up to date.
#[derive(Default)]
pub struct Options<'a> {
    /// What entries of notes that are read are made of beside the notes.
    pub sources: Sources<'a>,
    /// Whether notes are read again whose evidence has changed or is gone; else that waits until they change themselves.
    pub evidence: bool,
    /// Whether all of it is made anew.
    pub rebuild: bool,
}

/// What was done to bring the index up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Notes that were read.
    pub read: usize,
    /// Notes that are gone.
    pub gone: usize,
    /// Why all was made anew.
    pub rebuilt: Option<String>,
    /// Why it could not be written, where it could not.
    pub unwritten: Option<String>,
}

/// A session and where its row is.
struct Listed {
    key: NoteKey,
    path: String,
    row: Row,
}

enum Row {
    Disk(Place),
    Memory(usize),
}

/// All sessions of a vault at one moment.
pub struct Snapshot {
    fields: Fields,
    parts: Vec<Part>,
    listed: Vec<Listed>,
    places: OnceLock<HashMap<NoteKey, usize>>,
    file: Option<std::fs::File>,
    bytes: OnceLock<Vec<u8>>,
    rows: OnceLock<Vec<SessionRow>>,
    single: OnceLock<Vec<OnceLock<SessionRow>>>,
    records: Vec<Record>,
    root: Vault,
    /// What was done before it was taken.
    pub refreshed: Refreshed,
    /// Folders and notes that could not be read.
    pub findings: Vec<Finding>,
}

impl Snapshot {
    /// Brings the index up to date and takes a snapshot. The vault's notes may be overlaid: what was logged and not
    /// written yet is found too.
    pub fn open(vault: &Vault) -> Result<Self> {
        Self::open_with(vault, &Options::default())
    }

    /// The same, in a certain way.
    pub fn open_with(vault: &Vault, options: &Options<'_>) -> Result<Self> {
        let disk = Disk::of(vault);
        let mut refreshed = Refreshed::default();
        let mut fresh = !options.rebuild;
        for look in 0..LOOKS {
            let (opened, (found, findings)) = rayon::join(|| disk.open(), || walk::fingerprints(vault));
            let done = |opened, changes: &Changes, refreshed| {
                Self::of(vault, opened, changes, refreshed, findings.clone(), &options.sources)
            };
            let trouble = match opened {
                Ok(opened) if fresh => {
                    let mut changes = Changes::of(vault, &opened.manifest, &found);
                    if let Some(evidence) = options.sources.evidence.filter(|_| options.evidence) {
                        let rows = disk.read_rows(opened.manifest.generation).unwrap_or_default();
                        let row = |seen: &Seen| -> Option<SessionRow> {
                            postcard::from_bytes(rows.get(update::range(seen.row?))?).ok()
                        };
                        let now = |seen: &Seen| evidence.fingerprint(&row(seen)?);
                        changes.add_evidence(&opened.manifest, &found, now);
                    }
                    if changes.is_none() || is_all_that_is_left(vault, &changes) {
                        if changes.touched.len() > AGAIN {
                            restamp(vault, &disk, &opened, &changes);
                        }
                        return done(opened, &changes, refreshed);
                    }
                    match disk.try_lock() {
                        Ok(Some(_lock)) if disk.manifest().as_ref() == Some(&opened.manifest) => {
                            let rows = disk.read_rows(opened.manifest.generation).unwrap_or_default();
                            let Opened { manifest, index, .. } = &opened;
                            match update::update(vault, &disk, index, manifest, &rows, &changes, &options.sources) {
                                Ok(()) => {
                                    refreshed.read += changes.dirty.len();
                                    refreshed.gone += changes.gone.len();
                                }
                                Err(error) => {
                                    refreshed.unwritten = Some(error.to_string());
                                    return done(opened, &changes, refreshed);
                                }
                            }
                            continue;
                        }
                        // Somebody else has just done it.
                        Ok(Some(_)) => continue,
                        Ok(None) if changes.count() > AT_ONCE => {
                            drop(disk.lock()?);
                            continue;
                        }
                        Ok(None) => return done(opened, &changes, refreshed),
                        Err(error) => {
                            refreshed.unwritten = Some(error.to_string());
                            return done(opened, &changes, refreshed);
                        }
                    }
                }
                Ok(_) => None,
                Err(trouble) => Some(trouble),
            };
            // Who writes in this moment leaves it for a few milliseconds.
            let lock = match disk.try_lock() {
                Ok(Some(lock)) => lock,
                Ok(None) if look + 1 < LOOKS && matches!(trouble, Some(Trouble::Between)) => {
                    std::thread::sleep(std::time::Duration::from_millis(PAUSE));
                    continue;
                }
                Ok(None) => disk.lock()?,
                Err(error) => {
                    refreshed.unwritten = Some(error.to_string());
                    break;
                }
            };
            let mended = if fresh { mend(vault, &disk, &found, &options.sources) } else { Mended::No };
            match mended {
                Mended::Fine => {}
                Mended::Done(count) => refreshed.read += count,
                Mended::No => {
                    refreshed.rebuilt = Some(why(trouble.as_ref(), options.rebuild));
                    refreshed.read = found.len();
                    if let Err(error) = build(vault, &disk, &found, &options.sources) {
                        refreshed.unwritten = Some(error.to_string());
                        break;
                    }
                }
            }
            fresh = true;
            drop(lock);
        }
        // Nothing can be written here, or somebody never stops: all of it in memory.
        let (found, findings) = walk::fingerprints(vault);
        let dirty = found.into_iter().map(|(path, _)| path).collect();
        let changes = Changes { dirty, ..Changes::default() };
        Self::make(vault, None, &changes, refreshed, findings, &options.sources)
    }

    fn of(
        vault: &Vault,
        opened: Opened,
        changes: &Changes,
        refreshed: Refreshed,
        findings: Vec<Finding>,
        sources: &Sources<'_>,
    ) -> Result<Self> {
        Self::make(vault, Some(opened), changes, refreshed, findings, sources)
    }

    fn make(
        vault: &Vault,
        opened: Option<Opened>,
        changes: &Changes,
        refreshed: Refreshed,
        mut findings: Vec<Finding>,
        sources: &Sources<'_>,
    ) -> Result<Self> {
        let (_, fields) = schema::schema();
        let mut reread: Vec<VaultPath> = changes.dirty.clone();
        reread.extend(vault.overlaid_paths().filter(|path| !changes.dirty.contains(path)).cloned());
        let mut hidden: HashSet<NoteKey> = reread.iter().map(NoteKey::of).collect();
        let (mut listed, mut parts, mut file) = (Vec::new(), Vec::new(), None);
        if let Some(Opened { manifest, rows, searcher, .. }) = opened {
            hidden.extend(changes.gone.iter().map(|index| NoteKey::of_text(&manifest.notes[*index].path)));
            for seen in manifest.notes {
                let Some(place) = seen.row else { continue };
                let key = NoteKey::of_text(&seen.path);
                if !hidden.contains(&key) {
                    listed.push(Listed { key, path: seen.path, row: Row::Disk(place) });
                }
            }
            parts.push(Part { searcher, hidden });
            file = Some(rows);
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
            if !read.is_empty() {
                parts.push(Part { searcher: in_memory(&read, &fields)?, hidden: HashSet::new() });
            }
            for (path, read) in read {
                let Some(record) = read.record else { continue };
                let row = Row::Memory(records.len());
                listed.push(Listed { key: NoteKey::of(&path), path: path.text().into_owned(), row });
                records.push(record);
            }
            listed.sort_by(|a, b| std::path::Path::new(&a.path).cmp(std::path::Path::new(&b.path)));
        }
        Ok(Self {
            fields,
            parts,
            listed,
            places: OnceLock::new(),
            file,
            bytes: OnceLock::new(),
            rows: OnceLock::new(),
            single: OnceLock::new(),
            records,
            root: vault.clone(),
            refreshed,
            findings,
        })
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
        self.rows.get_or_init(|| self.listed.par_iter().with_min_len(256).map(|it| self.row(it)).collect())
    }

    /// The session in the note with that key.
    pub fn session(&self, key: NoteKey) -> Option<&SessionRow> {
        let place = *self.places().get(&key)?;
        if let Some(rows) = self.rows.get() {
            return rows.get(place);
        }
        let single = self.single.get_or_init(|| self.listed.iter().map(|_| OnceLock::new()).collect());
        Some(single.get(place)?.get_or_init(|| self.row(&self.listed[place])))
    }

    /// Whether there is a session in the note with that key.
    pub fn has(&self, key: NoteKey) -> bool {
        self.places().contains_key(&key)
    }

    fn places(&self) -> &HashMap<NoteKey, usize> {
        self.places.get_or_init(|| self.listed.iter().enumerate().map(|(place, it)| (it.key, place)).collect())
    }

    fn row(&self, listed: &Listed) -> SessionRow {
        let place = match &listed.row {
            Row::Memory(index) => return self.records[*index].session.clone(),
            Row::Disk(place) => *place,
        };
        let bytes = self.bytes.get_or_init(|| self.file.as_ref().and_then(|it| read_all(it).ok()).unwrap_or_default());
        let row = bytes.get(update::range(place)).and_then(|row| postcard::from_bytes(row).ok());
        // A damaged row is read from its note.
        row.or_else(|| self.reread(&listed.path).map(|record| record.session)).unwrap_or_default()
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

/// Whether no note that differs can be kept in the index: those that cannot be read, or whose path is no text.
fn is_all_that_is_left(vault: &Vault, changes: &Changes) -> bool {
    let can_keep =
        |path: &VaultPath| path.as_path().to_str().is_some() && std::fs::File::open(vault.file(path)).is_ok();
    changes.gone.is_empty() && !changes.dirty.iter().any(can_keep)
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
    let index = Index::create_in_ram(schema::schema().0);
    schema::register(&index);
    let mut writer: IndexWriter<TantivyDocument> = index.writer_with_num_threads(1, 16 << 20).map_err(failed)?;
    for (path, read) in read {
        for entry in read.entries() {
            writer.add_document(entry.document(NoteKey::of(path), fields)).map_err(failed)?;
        }
    }
    writer.commit().map_err(failed)?;
    Ok(index.reader().map_err(failed)?.searcher())
}

enum Mended {
    /// It can be used as it is.
    Fine,
    /// What a killed writer had begun with was done again: so many notes.
    Done(usize),
    /// It cannot be used.
    No,
}

/// Mends what a killed writer has left; under the lock.
fn mend(
    vault: &Vault,
    disk: &Disk,
    found: &[(VaultPath, crate::base::files::Fingerprint)],
    sources: &Sources<'_>,
) -> Mended {
    match disk.open() {
        Ok(_) => return Mended::Fine,
        Err(Trouble::Between) => {}
        Err(_) => return Mended::No,
    }
    let (Some(manifest), Ok(index)) = (disk.manifest(), disk.index()) else { return Mended::No };
    let Some(rows) = disk.read_rows(manifest.generation) else { return Mended::No };
    let Some(begun) = Disk::committed(&index).and_then(|generation| disk.begun(generation)) else { return Mended::No };
    let begun: HashSet<String> = begun.into_iter().collect();
    let mut changes = Changes::of(vault, &manifest, found);
    let again = found.iter().map(|(path, _)| path).filter(|path| begun.contains(path.text().as_ref()));
    for path in again {
        if !changes.dirty.contains(path) {
            changes.dirty.push(path.clone());
        }
    }
    // What is gone again was never in the manifest, but may be among the entries.
    let count = changes.count();
    match update::update(vault, disk, &index, &manifest, &rows, &changes, sources) {
        Ok(()) => Mended::Done(count),
        Err(_) => Mended::No,
    }
}

/// Remembers how notes look now that have not changed, so that nobody has to look into them again. Only worth it once
/// their looks can be trusted; where it fails, nothing is lost.
fn restamp(vault: &Vault, disk: &Disk, opened: &Opened, changes: &Changes) {
    let Ok(Some(_lock)) = disk.try_lock() else { return };
    let newest = changes.touched.values().map(|fingerprint| fingerprint.mtime).max().unwrap_or(i64::MAX);
    let settled = disk.clock().is_ok_and(|now| now > newest.saturating_add(manifest::SLACK));
    let Some(rows) = disk.read_rows(opened.manifest.generation).filter(|_| settled) else { return };
    if disk.manifest().as_ref() == Some(&opened.manifest) {
        let sources = Sources::default();
        let _ = update::update(vault, disk, &opened.index, &opened.manifest, &rows, changes, &sources);
    }
}

/// Makes all of it anew; under the lock.
fn build(
    vault: &Vault,
    disk: &Disk,
    found: &[(VaultPath, crate::base::files::Fingerprint)],
    sources: &Sources<'_>,
) -> Result<()> {
    let index = disk.create()?;
    let dirty = found.iter().map(|(path, _)| path.clone()).collect();
    let changes = Changes { dirty, ..Changes::default() };
    update::update(vault, disk, &index, &Manifest::default(), &[], &changes, sources)
}

fn why(trouble: Option<&Trouble>, asked: bool) -> String {
    match trouble {
        _ if asked => "asked for".to_owned(),
        None | Some(Trouble::Missing) => "there was none".to_owned(),
        Some(Trouble::Outdated) => "it was of another version".to_owned(),
        Some(Trouble::Damaged(why)) => format!("it was damaged: {why}"),
        Some(Trouble::Between) => "a writer was stopped in between".to_owned(),
    }
}
