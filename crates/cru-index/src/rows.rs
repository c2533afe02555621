//! What is kept of sessions beside their entries, in two files: the rows that lists and figures are made of, one for each
//! session, and the [short tables](super::short) of their records.
//!
//! Both are only appended to, so a manifest that somebody has read keeps its rows while others write. When more of the
//! rows is outdated than not, what counts is written into new files.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::manifest::{Place, Seen, row_sum};
use super::record::{Record, SessionRow};
use super::short;
use cru_base::{Result, files};

/// Bytes that may be outdated in any case.
const SPARE: u64 = 1 << 20;

/// The two files.
pub(super) struct KeptFiles {
    pub(super) rows: PathBuf,
    pub(super) tables: PathBuf,
}

/// What is kept of one session, as bytes.
pub(super) struct Kept {
    row: Vec<u8>,
    tables: Vec<u8>,
}

impl Kept {
    /// That of a record; `None` where it cannot be encoded.
    pub(super) fn of(record: &Record) -> Option<Self> {
        Some(Self { row: postcard::to_allocvec(&record.session).ok()?, tables: short::encode(record)? })
    }
}

/// The bytes at a place among those of its file; `None` where they are not what was written.
fn bytes_of(place: Place, all: &[u8]) -> Option<&[u8]> {
    let at = usize::try_from(place.at).unwrap_or(usize::MAX);
    let bytes = all.get(at..at.saturating_add(place.len as usize))?;
    (row_sum(bytes) == place.sum).then_some(bytes)
}

/// A row among the bytes of the file; `None` where it is damaged.
pub(super) fn decode(row: Place, all: &[u8]) -> Option<SessionRow> {
    postcard::from_bytes(bytes_of(row, all)?).ok()
}

/// The bytes at a place in a file; `None` where they are damaged. Several threads may read: the cursor of the file is not used.
pub(super) fn read(file: &File, place: Place) -> Option<Vec<u8>> {
    let mut bytes = vec![0; place.len as usize];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, place.at).ok()?;
    #[cfg(windows)]
    (std::os::windows::fs::FileExt::seek_read(file, &mut bytes, place.at).ok()? == bytes.len()).then_some(())?;
    (row_sum(&bytes) == place.sum).then_some(bytes)
}

/// All bytes of the opened file.
pub(super) fn read_all(mut file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether the file of rows at `path` should be left for a new one.
pub(super) fn is_worn(path: &Path, notes: &[Seen]) -> bool {
    let counting: u64 = notes.iter().filter_map(|seen| seen.row).map(|row| u64::from(row.len)).sum();
    std::fs::metadata(path).map_or(true, |metadata| metadata.len() > 2 * counting + SPARE)
}

/// Appends what is kept of sessions to two files, and says in each note where its own stands.
pub(super) fn append(to: KeptFiles, read: Vec<(Seen, Option<Kept>)>) -> Result<Vec<Seen>> {
    let (mut rows, mut tables) = (Growing::at_end_of(to.rows), Growing::at_end_of(to.tables));
    let mut notes = Vec::with_capacity(read.len());
    for (mut seen, kept) in read {
        seen.row = kept.as_ref().map(|kept| rows.put(&kept.row));
        seen.tables = kept.as_ref().map(|kept| tables.put(&kept.tables));
        notes.push(seen);
    }
    rows.append()?;
    tables.append()?;
    Ok(notes)
}

/// Writes what is kept of `notes`, which stands in the files `from`, into the new ones `to`.
pub(super) fn rewrite(from: &KeptFiles, to: KeptFiles, notes: &mut [Seen]) -> Result<()> {
    let (old_rows, old_tables) = (files::read(&from.rows)?, files::read(&from.tables)?);
    let (mut rows, mut tables) = (Growing::new(to.rows), Growing::new(to.tables));
    for seen in notes {
        // What is damaged is read from its note when it is asked for.
        seen.row = seen.row.map(|row| rows.put(bytes_of(row, &old_rows).unwrap_or_default()));
        seen.tables = seen.tables.map(|it| tables.put(bytes_of(it, &old_tables).unwrap_or_default()));
    }
    files::put(&rows.path, &rows.bytes)?;
    files::put(&tables.path, &tables.bytes)
}

/// Bytes that come behind those of a file.
struct Growing {
    path: PathBuf,
    start: u64,
    bytes: Vec<u8>,
}

impl Growing {
    fn new(path: PathBuf) -> Self {
        Self { path, start: 0, bytes: Vec::new() }
    }

    fn at_end_of(path: PathBuf) -> Self {
        Self { start: std::fs::metadata(&path).map_or(0, |metadata| metadata.len()), ..Self::new(path) }
    }

    fn put(&mut self, bytes: &[u8]) -> Place {
        let at = self.start + self.bytes.len() as u64;
        self.bytes.extend(bytes);
        Place { at, len: u32::try_from(bytes.len()).unwrap_or(u32::MAX), sum: row_sum(bytes) }
    }

    fn append(self) -> Result<()> {
        files::append(&self.path, &self.bytes)
    }
}
