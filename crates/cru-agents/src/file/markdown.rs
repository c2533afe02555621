//! Histories that hosts keep as markdown: the loop over their lines, bounded.
//!
//! What counts and is hashed of such a file are its lines that are not blank, so that whatever is put behind them leaves
//! them as they were. What is accounted for are the blocks that the lines make: prompts, replies, lines of the host.

use std::borrow::Cow;
use std::path::Path;

use super::lines::{Line, Lines, trim};
use cru_base::{Error, Result};
use cru_session::source::Bundle;

/// The longest line of a history that is read, in bytes.
const LONGEST: usize = 32 << 20;

/// One line of a history.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HistoryLine<'a> {
    /// Its text without the end of the line.
    Line(Cow<'a, str>),
    /// The last line, which has no end: it may still be written.
    Partial(Cow<'a, str>),
    /// Longer than is read.
    Oversized,
}

/// Hands the lines of a file to `then`, with their numbers.
pub(crate) fn each_line(bundle: &Bundle, path: &Path, mut then: impl FnMut(u64, HistoryLine<'_>)) -> Result<()> {
    let failed = |source| Error::io("read", path, source);
    let mut lines = Lines::new(bundle.open(path).map_err(failed)?, LONGEST);
    for number in 1.. {
        match lines.next().map_err(failed)? {
            None => break,
            Some(Line::Oversized) => then(number, HistoryLine::Oversized),
            Some(Line::Whole(line, ended)) => {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let text = String::from_utf8_lossy(line);
                then(number, if ended { HistoryLine::Line(text) } else { HistoryLine::Partial(text) });
            }
        }
    }
    Ok(())
}

/// The bytes of a line that count; `None` for a blank one.
pub(crate) fn counted(line: &str) -> Option<&[u8]> {
    Some(trim(line.as_bytes())).filter(|bytes| !bytes.is_empty())
}

/// Fences of code, as far as they are open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fences {
    open: Option<(u8, usize)>,
}

impl Fences {
    /// Whether the next line stands in a fence.
    pub(crate) const fn is_open(self) -> bool {
        self.open.is_some()
    }

    /// Takes in a line; whether it opens or closes a fence.
    pub(crate) fn see(&mut self, line: &str) -> bool {
        let text = line.trim();
        let Some(mark) = text.bytes().next().filter(|byte| matches!(byte, b'`' | b'~')) else { return false };
        let count = text.bytes().take_while(|byte| *byte == mark).count();
        if count < 3 {
            return false;
        }
        let rest = &text[count..];
        match self.open {
            None if mark == b'`' && rest.contains('`') => false,
            None => {
                self.open = Some((mark, count));
                true
            }
            Some((open, least)) if open == mark && count >= least && rest.trim().is_empty() => {
                self.open = None;
                true
            }
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences() {
        let mut fences = Fences::default();
        let seen: Vec<(bool, bool)> = ["a", "````md", "```", "~~~", "```` x", "`````", "b", "```inline``` x", "~~~"]
            .iter()
            .map(|line| (fences.see(line), fences.is_open()))
            .collect();
        let wanted = [
            (false, false),
            (true, true),
            (false, true),
            (false, true),
            (false, true),
            (true, false),
            (false, false),
            (false, false),
            (true, true),
        ];
        assert_eq!(seen, wanted);
    }
}
