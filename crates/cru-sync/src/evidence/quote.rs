//! What a line of a transcript says, for a hit that stands nowhere else.
//!
//! The index keeps no text of transcripts, so it is read again: only the lines that are shown, with secrets masked and
//! data left out as they were for the index.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::evidence::transcripts::{Pointer, Transcripts};
use crate::read::legible::readable;
use cru_agents::lines::{Line, Lines};
use cru_index::SessionRow;

/// Longer records are not looked at.
const LONGEST: usize = 32 << 20;

impl Transcripts {
    /// What lines (from 1) of a session's transcript, or of the file `source` beside it, say. Those that are gone are
    /// left out, and those behind `left` bytes, which become less by what was read.
    pub fn quotes(
        &self,
        row: &SessionRow,
        source: Option<&str>,
        wanted: &BTreeSet<u64>,
        left: &mut u64,
    ) -> BTreeMap<u64, String> {
        let mut quotes = BTreeMap::new();
        let Some((_, files)) = self.searched(Pointer::of_row(row)) else { return quotes };
        // Only a file of the session is read, whatever the index says.
        let path = match source {
            Some(source) => files.all.iter().find(|path| path.file_name().is_some_and(|name| name == source)),
            None => Some(&files.named),
        };
        let Some(path) = path else { return quotes };
        let bundle = self.bundle(&files);
        let Ok(source) = bundle.open(path) else { return quotes };
        let mut lines = Lines::new(source, LONGEST);
        let last = wanted.last().copied().unwrap_or(0);
        for number in 1..=last {
            let Ok(Some(line)) = lines.next() else { break };
            let len = if let Line::Whole(bytes, _) = line { bytes.len() } else { LONGEST };
            let Some(rest) = left.checked_sub(len as u64 + 1) else { break };
            *left = rest;
            if let Line::Whole(bytes, _) = line
                && wanted.contains(&number)
                && let Ok(record) = serde_json::from_slice::<Value>(bytes)
            {
                let mut text = String::new();
                self.said("", &record, &mut text);
                quotes.insert(number, text);
            }
        }
        quotes
    }

    /// Every text in a record, one after the other.
    fn said(&self, name: &str, value: &Value, out: &mut String) {
        match value {
            // Bytes of a record's text that are looked at.
            Value::String(text) if out.len() < (1 << 20) => {
                // A secret may be known by its name alone.
                let head = format!("{name}: ");
                let told = readable(&format!("{head}{text}"), self.limit());
                out.push_str(told.strip_prefix(&head).unwrap_or(&told));
                out.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|item| self.said(name, item, out)),
            Value::Object(map) => map.iter().for_each(|(name, value)| self.said(name, value, out)),
            _ => {}
        }
    }
}
