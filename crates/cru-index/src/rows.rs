//! The file of rows: what lists and figures are made of, one row for each session.
//!
//! It is only appended to, so a manifest that somebody has read keeps its rows while others write. When more of it is
//! outdated than not, the rows that count are written into a new file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::manifest::{Place, Seen, row_sum};
use super::record::SessionRow;
use cru_base::{Error, Result, files};

/// Bytes that may be outdated in any case.
const SPARE: u64 = 1 << 20;

/// The bytes of a row among those of the file; `None` where they are not what was written.
fn bytes_of(row: Place, all: &[u8]) -> Option<&[u8]> {
    let at = usize::try_from(row.at).unwrap_or(usize::MAX);
    let bytes = all.get(at..at.saturating_add(row.len as usize))?;
    (row_sum(bytes) == row.sum).then_some(bytes)
}

/// A row among the bytes of the file; `None` where it is damaged.
pub(super) fn decode(row: Place, all: &[u8]) -> Option<SessionRow> {
    postcard::from_bytes(bytes_of(row, all)?).ok()
}

/// Reads one row; `None` where it is damaged. Several threads may read: the cursor of the file is not used.
pub(super) fn read(file: &File, row: Place) -> Option<SessionRow> {
    let mut bytes = vec![0; row.len as usize];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, row.at).ok()?;
    #[cfg(windows)]
    (std::os::windows::fs::FileExt::seek_read(file, &mut bytes, row.at).ok()? == bytes.len()).then_some(())?;
    decode(Place { at: 0, ..row }, &bytes)
}

/// All bytes of the opened file.
pub(super) fn read_all(mut file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether the file at `path` should be left for a new one.
pub(super) fn is_worn(path: &Path, notes: &[Seen]) -> bool {
    let counting: u64 = notes.iter().filter_map(|seen| seen.row).map(|row| u64::from(row.len)).sum();
    std::fs::metadata(path).map_or(true, |metadata| metadata.len() > 2 * counting + SPARE)
}

/// Appends rows to the file at `path`, and says in each note where its own stands.
pub(super) fn append(path: &Path, rows: Vec<(Seen, Option<Vec<u8>>)>) -> Result<Vec<Seen>> {
    let start = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let (mut bytes, mut notes) = (Vec::new(), Vec::with_capacity(rows.len()));
    for (mut seen, row) in rows {
        seen.row = row.map(|row| put(&mut bytes, start, &row));
        notes.push(seen);
    }
    files::append(path, &bytes)?;
    Ok(notes)
}

/// Writes the rows of `notes`, which stand in the file `from`, into the new file `to`.
pub(super) fn rewrite(from: &Path, to: &Path, notes: &mut [Seen]) -> Result<()> {
    let old = std::fs::read(from).map_err(|source| Error::io("read", from, source))?;
    let mut bytes = Vec::with_capacity(old.len());
    for seen in notes {
        // A damaged one is read from its note when it is asked for.
        let row = seen.row.map(|row| bytes_of(row, &old).unwrap_or_default());
        seen.row = row.map(|row| put(&mut bytes, 0, row));
    }
    files::put(to, &bytes)
}

fn put(bytes: &mut Vec<u8>, start: u64, row: &[u8]) -> Place {
    let at = start + bytes.len() as u64;
    bytes.extend(row);
    Place { at, len: u32::try_from(row.len()).unwrap_or(u32::MAX), sum: row_sum(row) }
}
