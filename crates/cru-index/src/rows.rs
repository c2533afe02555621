//! What is kept of sessions beside their entries, in two files: the rows that lists and figures are made of, one for each
//! session, and the [tables](super::tables) of their records; behind those of a session stands the list of their places.
//!
//! Both are only appended to, so a manifest that somebody has read keeps its rows while others write. When more of the
//! rows is outdated than not, what counts is written into new files.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::manifest::{Place, Seen, row_sum};
use super::record::{Record, SessionRow, Table};
use super::tables;
use cru_base::{Error, Result, files};

/// Bytes that may be outdated in any case, and that are gathered before they are written.
const SPARE: u64 = 1 << 20;

/// The two files.
pub(super) struct KeptFiles {
    pub(super) rows: PathBuf,
    pub(super) tables: PathBuf,
}

/// What is kept of one session, as bytes.
#[derive(Default)]
pub(super) struct Kept {
    row: Vec<u8>,
    tables: Vec<Vec<u8>>,
}

impl Kept {
    /// That of a record; `None` where it cannot be encoded.
    pub(super) fn of(record: &Record) -> Option<Self> {
        Some(Self { row: postcard::to_allocvec(&record.session).ok()?, tables: tables::encode(record)? })
    }
}

/// A row among the bytes of the file; `None` where it is damaged.
pub(super) fn decode(row: Place, all: &[u8]) -> Option<SessionRow> {
    let at = usize::try_from(row.at).unwrap_or(usize::MAX);
    let bytes = all.get(at..at.saturating_add(row.len as usize))?;
    if row_sum(bytes) == row.sum { postcard::from_bytes(bytes).ok() } else { None }
}

/// The bytes at a place in a file; `None` where they are damaged. Several threads may read: the cursor of the file is not used.
pub(super) fn read(file: &File, place: Place) -> Option<Vec<u8>> {
    let bytes = read_at(file, place.at, place.len as usize)?;
    (row_sum(&bytes) == place.sum).then_some(bytes)
}

/// All bytes of the opened file.
pub(super) fn read_all(file: &File) -> Option<Vec<u8>> {
    read_at(file, 0, usize::try_from(file.metadata().ok()?.len()).ok()?)
}

fn read_at(file: &File, at: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, at).ok()?;
    #[cfg(windows)]
    (std::os::windows::fs::FileExt::seek_read(file, &mut bytes, at).ok()? == len).then_some(())?;
    Some(bytes)
}

/// Those of `tables` whose places stand at `list`; `None` where something of it is damaged.
pub(super) fn read_tables(file: &File, list: Place, tables: &[Table]) -> Option<Record> {
    let places = places(file, list)?;
    tables::decode(tables, |table| read(file, *places.get(table as usize)?))
}

fn places(file: &File, list: Place) -> Option<Vec<Place>> {
    postcard::from_bytes(&read(file, list)?).ok()
}

/// Whether the file of rows at `path` should be left for a new one.
pub(super) fn is_worn(path: &Path, notes: &[Seen]) -> bool {
    let counting: u64 = notes.iter().filter_map(|seen| seen.row).map(|row| u64::from(row.len)).sum();
    std::fs::metadata(path).map_or(true, |metadata| metadata.len() > 2 * counting + SPARE)
}

/// The two files while they grow.
pub(super) struct Growing {
    rows: GrowingFile,
    tables: GrowingFile,
}

impl Growing {
    /// What is put comes behind what they hold.
    pub(super) fn at_end_of(files: KeptFiles) -> Self {
        Self { rows: GrowingFile::at_end_of(files.rows), tables: GrowingFile::at_end_of(files.tables) }
    }

    /// Appends what is kept of a session, and says in its note where that stands.
    pub(super) fn put(&mut self, kept: &Kept, seen: &mut Seen) -> Result<()> {
        let places = kept.tables.iter().map(|table| self.tables.put(table)).collect::<Result<Vec<Place>>>()?;
        seen.row = Some(self.rows.put(&kept.row)?);
        seen.tables = Some(self.tables.put(&postcard::to_allocvec(&places).unwrap_or_default())?);
        Ok(())
    }

    /// Appends what is kept of `notes` in the files `from`.
    pub(super) fn take(&mut self, from: &KeptFiles, notes: &mut [Seen]) -> Result<()> {
        let open = |path: &PathBuf| files::open_regular(path).map_err(|source| Error::io("read", path, source));
        let (rows, tables) = (open(&from.rows)?, open(&from.tables)?);
        for seen in notes.iter_mut().filter(|seen| seen.row.is_some()) {
            // What is damaged is read from its note when it is asked for.
            let places = seen.tables.and_then(|list| places(&tables, list)).unwrap_or_default();
            let kept = Kept {
                row: seen.row.and_then(|row| read(&rows, row)).unwrap_or_default(),
                tables: places.into_iter().map(|place| read(&tables, place).unwrap_or_default()).collect(),
            };
            self.put(&kept, seen)?;
        }
        Ok(())
    }

    /// Writes what is not written yet.
    pub(super) fn done(mut self) -> Result<()> {
        self.rows.write()?;
        self.tables.write()
    }
}

/// Bytes that come behind those of a file.
struct GrowingFile {
    path: PathBuf,
    start: u64,
    bytes: Vec<u8>,
}

impl GrowingFile {
    fn at_end_of(path: PathBuf) -> Self {
        Self { start: std::fs::metadata(&path).map_or(0, |metadata| metadata.len()), path, bytes: Vec::new() }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<Place> {
        let at = self.start + self.bytes.len() as u64;
        self.bytes.extend(bytes);
        if self.bytes.len() as u64 > SPARE {
            self.write()?;
        }
        Ok(Place { at, len: u32::try_from(bytes.len()).unwrap_or(u32::MAX), sum: row_sum(bytes) })
    }

    fn write(&mut self) -> Result<()> {
        files::append(&self.path, &self.bytes)?;
        self.start += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }
}
