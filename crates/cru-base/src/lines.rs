//! Byte offset ⇄ line and column.

/// The starts of a text's lines, for turning byte offsets into places that a person can go to.
///
/// Lines end at `\n`; a `\r` before it belongs to the line. Lines and columns count from 1; a column counts
/// characters (Unicode scalar values), not bytes.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Reads the line starts of `text`.
    pub fn of(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Self { starts }
    }

    /// The line of `offset`, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// Where line `line` (from 1) starts.
    pub fn start(&self, line: usize) -> Option<usize> {
        line.checked_sub(1).and_then(|index| self.starts.get(index)).copied()
    }

    /// Line and column of `offset` in `text` (the text it was made from), both from 1.
    pub fn place(&self, text: &str, offset: usize) -> (usize, usize) {
        let offset = floor_char_boundary(text, offset);
        let line = self.line(offset);
        let start = self.starts[line - 1];
        (line, text[start..offset].chars().count() + 1)
    }
}

/// The greatest character boundary of `text` that is not after `offset`.
pub fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
