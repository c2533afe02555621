//! A text that waits, and what is filled into it: which side its case is on, and the number of those that are like it.
//!
//! Rows are written with side `train` and number 0. Both stand where no text of a case can stand: quotes inside of texts
//! have a backslash before them.

use std::ops::Range;

use cru_base::Result;
use cru_base::files::Spool;

/// What stands in a row for the number of near duplicates, in its metadata, which ends it.
const GROUP: &str = r#""dup_group":0,"content_hash":"#;

/// What stands in a row of a pipe for its side, before its messages.
const SIDE: &str = r#""split":"train","prompt":["#;

/// A place in a spool, and what is not known yet when a text goes there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) range: Range<u64>,
    /// Number of the near duplicates; 0 for none.
    pub(crate) dup_group: usize,
    /// Whether it is told that the case validates.
    pub(crate) validation: bool,
}

impl Hole {
    /// The text without so many bytes at its end, and those; only the last of the two has the number in it.
    pub(crate) fn cut(&self, end: u64) -> (Self, Self) {
        let at = self.range.end.saturating_sub(end).max(self.range.start);
        let part = |range| Self { range, ..self.clone() };
        (part(self.range.start..at), part(at..self.range.end))
    }

    /// The text, filled in.
    pub(crate) fn filled(&self, spool: &Spool) -> Result<Vec<u8>> {
        let bytes = spool.read(self.range.clone())?;
        if self.dup_group == 0 && !self.validation {
            return Ok(bytes);
        }
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(at) = text.rfind(GROUP).filter(|_| self.dup_group > 0) {
            let group = GROUP.replace('0', &self.dup_group.to_string());
            text.replace_range(at..at + GROUP.len(), &group);
        }
        if let Some(at) = text.find(SIDE).filter(|_| self.validation) {
            text.replace_range(at..at + SIDE.len(), &SIDE.replace("train", "validation"));
        }
        Ok(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_and_texts_are_not() {
        let row = r#"{"title":"\"split\":\"train\",\"prompt\":[","split":"train","prompt":[{"arguments":{"dup_group":0,"content_hash":1}}],"metadata":{"title":"\"dup_group\":0,\"content_hash\":","dup_group":0,"content_hash":"x"}}"#;
        let mut spool = Spool::new(usize::MAX);
        let range = spool.append(row.as_bytes()).unwrap();
        let plain = Hole { range: range.clone(), ..Hole::default() };
        assert_eq!(plain.filled(&spool).unwrap(), row.as_bytes());
        let filled = Hole { range, dup_group: 12, validation: true }.filled(&spool).unwrap();
        let filled: serde_json::Value = serde_json::from_slice(&filled).unwrap();
        let mut expected: serde_json::Value = serde_json::from_str(row).unwrap();
        expected["split"] = "validation".into();
        expected["metadata"]["dup_group"] = 12.into();
        assert_eq!(filled, expected);
    }
}
