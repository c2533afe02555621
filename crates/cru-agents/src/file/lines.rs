//! Reading a transcript line by line, bounded.
//!
//! One line is held at a time. A line over the limit is passed over without being held, so that a damaged or hostile
//! file cannot fill the memory.

use std::io::{self, BufRead, Read as _};

/// The longest line that is read, in bytes. The longest real ones (pictures, whole files) are tens of megabytes; the line
/// and its value are held at one time.
pub(crate) const MAX_LINE: usize = 32 << 20;

/// The longest document that is read as a whole, in bytes: a session of a million messages takes half of it.
pub(crate) const MAX_DOCUMENT: usize = 512 << 20;

/// How much of a file is looked at to recognise it, in bytes; a text that is cut there goes on to the end of its line.
const HEAD: u64 = 64 << 10;

/// The beginning of a file, by which it is recognised: whole lines as far as it is text, since the first record may hold a prompt
/// of any length.
///
/// # Errors
/// That it cannot be read, with what was read before in `head`.
pub(crate) fn read_head(mut source: impl BufRead, head: &mut Vec<u8>) -> io::Result<()> {
    source.by_ref().take(HEAD).read_to_end(head)?;
    if !head.contains(&0) && !head.ends_with(b"\n") {
        source.take(MAX_LINE as u64).read_until(b'\n', head)?;
    }
    Ok(())
}

/// One line of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes without the newline, and whether there was one.
    Whole(&'a [u8], bool),
    /// A line over the limit.
    Oversized,
}

/// The lines of a file.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    limit: usize,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of at most `limit` bytes.
    pub const fn new(source: R, limit: usize) -> Self {
        Self { source, buffer: Vec::new(), limit }
    }

    /// The next line; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "the line borrows from the reader, which an iterator cannot say")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        const KEEP: usize = 16 << 20;
        // After a giant line the buffer would stay giant for the rest of the file.
        if self.buffer.capacity() > KEEP {
            self.buffer = Vec::new();
        }
        self.buffer.clear();
        let mut oversized = false;
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(match (oversized, self.buffer.is_empty()) {
                    (true, _) => Some(Line::Oversized),
                    (false, true) => None,
                    (false, false) => Some(Line::Whole(&self.buffer, false)),
                });
            }
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if self.buffer.len() + part.len() > self.limit {
                oversized = true;
                self.buffer.clear();
            } else if !oversized {
                // Doubling a buffer of this size would hold three times as much as the line has; room that is not used
                // takes no memory.
                let len = self.buffer.len();
                if len > KEEP / 2 && len + part.len() > self.buffer.capacity() {
                    self.buffer.reserve_exact(self.limit - len);
                }
                self.buffer.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.source.consume(used);
            if end.is_some() {
                return Ok(Some(if oversized { Line::Oversized } else { Line::Whole(&self.buffer, true) }));
            }
        }
    }
}

/// Without a byte order mark before it, and without white space and NUL bytes around it: a crash leaves blocks of them.
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let start = line.iter().position(|byte| !blank(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !blank(byte)).map_or(start, |at| at + 1);
    &line[start..end]
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_with_and_without_end() {
        let mut lines = Lines::new(BufReader::with_capacity(3, &b"one\n\ntwo and more"[..]), 100);
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"one", true)));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"", true)));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"two and more", false)));
        assert_eq!(lines.next().unwrap(), None);
    }

    /// The first record of a session holds its first prompt, which may be a whole file.
    #[test]
    fn the_beginning_of_a_text_ends_with_a_line() {
        let line = "x".repeat(72_000);
        let head = |text: &[u8]| {
            let mut head = Vec::new();
            read_head(BufReader::with_capacity(8, text), &mut head).unwrap();
            head.len()
        };
        assert_eq!(head(format!("{line}\n{line}\n").as_bytes()), 72_001);
        assert_eq!(head(format!("{{}}\n{line}").as_bytes()), 72_003);
        assert_eq!(head(format!("\0{line}").as_bytes()), 65_536, "no text");
    }

    #[test]
    fn a_giant_line_is_passed_over() {
        let text = format!("{}\nshort\n{}", "x".repeat(50), "y".repeat(50));
        let mut lines = Lines::new(BufReader::with_capacity(8, text.as_bytes()), 10);
        assert_eq!(lines.next().unwrap(), Some(Line::Oversized));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"short", true)));
        assert_eq!(lines.next().unwrap(), Some(Line::Oversized));
        assert_eq!(lines.next().unwrap(), None);
    }
}
