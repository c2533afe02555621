//! Bytes that wait: made in one order, and read back in another.
//!
//! The first ones stay in memory, all that come after stand in a temporary file that has no name and is gone with the
//! process, so that what is made of a large vault takes no more memory than what is made of a small one. Nothing of it
//! outlives the run, and nobody else can open it.

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::Path;

use super::fault;
use crate::{Error, Result};

/// Bytes in the order in which they came.
#[derive(Debug)]
pub struct Spool {
    /// How many bytes may stay in memory.
    most: usize,
    memory: Vec<u8>,
    file: Option<File>,
    len: u64,
}

impl Spool {
    /// Nothing yet; at most `most` bytes will stay in memory.
    pub const fn new(most: usize) -> Self {
        Self { most, memory: Vec::new(), file: None, len: 0 }
    }

    /// Adds bytes and says where they are.
    pub fn append(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        let start = self.len;
        if self.file.is_none() && self.memory.len().saturating_add(bytes.len()) <= self.most {
            self.memory.extend_from_slice(bytes);
        } else {
            self.write(bytes).map_err(|source| failed("write", source))?;
        }
        self.len += bytes.len() as u64;
        Ok(start..self.len)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        fault::point()?;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        fault::write_point(file, bytes)?;
        file.write_all(bytes)
    }

    /// What was added at `range`, as [`Spool::append`] gave it or a part of that.
    pub fn read(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let kept = self.memory.len() as u64;
        match &self.file {
            Some(file) if range.start >= kept => {
                let mut bytes = vec![0; place(range.end.saturating_sub(range.start))];
                read_exact_at(file, &mut bytes, range.start - kept).map_err(|source| failed("read", source))?;
                Ok(bytes)
            }
            _ => Ok(self.memory.get(place(range.start)..place(range.end)).unwrap_or_default().to_vec()),
        }
    }
}

fn failed(action: &'static str, source: io::Error) -> Error {
    Error::io(action, Path::new("a temporary file"), source)
}

/// Reads without moving: several threads may do so at once.
#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_read_from_either_place() {
        let mut spool = Spool::new(10);
        let ranges: Vec<_> =
            ["four", "fives", "beyond", "", "x"].map(|text| spool.append(text.as_bytes()).unwrap()).into();
        assert_eq!((spool.memory.len(), spool.file.is_some()), (9, true));
        let texts: Vec<Vec<u8>> = ranges.iter().map(|range| spool.read(range.clone()).unwrap()).collect();
        assert_eq!(texts, [&b"four"[..], b"fives", b"beyond", b"", b"x"]);
        assert_eq!(spool.read(10..12).unwrap(), b"ey", "a part of it");
        assert!(spool.read(14..99).is_err());
    }

    #[test]
    fn a_little_needs_no_file() {
        let mut spool = Spool::new(usize::MAX);
        spool.append(&[7; 1_000]).unwrap();
        assert!(spool.file.is_none());
    }
}
