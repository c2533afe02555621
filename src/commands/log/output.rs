//! What `cru log` says: the id that was given, or what became of the one that was there; and whether it stands in the
//! note yet. What is new is its id alone, for scripts that take it up.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use crate::base::{Result, text};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, View};
use crate::live::entry::Entry;
use crate::live::log::{Flushed, Log, Target};

/// What was logged.
#[derive(Debug)]
pub(super) struct Logged {
    session: String,
    note: String,
    rows: Vec<LoggedRow>,
    /// Where the entries are that could not be written.
    kept_in: Option<PathBuf>,
    /// Whether many were asked for.
    pub(super) stream: bool,
    /// Lines that were refused.
    pub(super) refused: usize,
}

#[derive(Debug, Serialize)]
struct LoggedRow {
    event: &'static str,
    id: Option<String>,
    /// What became of it, where it was there before.
    #[serde(skip)]
    change: Option<&'static str>,
    #[serde(skip)]
    entry: Option<String>,
}

impl Logged {
    pub(super) fn of(target: &Target) -> Self {
        let (session, note) = (target.id.clone(), target.path.to_string());
        Self { session, note, rows: Vec::new(), kept_in: None, stream: false, refused: 0 }
    }

    /// One more; `entry` is its id in the journal.
    pub(super) fn push(&mut self, said: &Entry, entry: String) {
        self.rows.push(LoggedRow { event: said.name(), id: None, change: said.change(), entry: Some(entry) });
    }

    /// One that is only begun.
    pub(super) fn begun(&mut self) {
        self.rows.push(LoggedRow { event: "begun", id: None, change: None, entry: None });
    }

    /// The last one is called so.
    pub(super) fn name(&mut self, name: String) {
        if let Some(row) = self.rows.last_mut() {
            row.id = Some(name);
        }
    }

    /// The newest that is in the journal: once that one is written, all are.
    pub(super) fn newest(&self) -> Option<&str> {
        self.rows.iter().rev().find_map(|row| row.entry.as_deref())
    }

    /// A line that is no entry.
    pub(super) fn refuse(&mut self, line: usize, column: usize, message: &str, cx: &Context<'_>) {
        self.refused += 1;
        let column = if column > 0 { format!(":{column}") } else { String::new() };
        cx.ui.warn(&format!("stdin:{line}{column}: {message}"));
    }

    /// What became of the entries. They are safe in the journal whatever happened to the note.
    pub(super) fn settle(&mut self, flushed: Result<Flushed>, log: &Log<'_>, target: &Target, cx: &Context<'_>) {
        match flushed {
            Ok(flushed) => {
                for row in self.rows.iter_mut().filter(|row| row.id.is_none()) {
                    let id = row.entry.as_ref().and_then(|entry| flushed.made.get(entry));
                    row.id = id.filter(|id| !id.is_empty()).cloned();
                }
                for lost in &flushed.lost {
                    cx.ui.warn(&lost.message);
                }
                if let Some(path) = &flushed.recovered {
                    cx.ui.warn(&format!(
                        "a text that was saved while a write was cut short is kept in {}",
                        path.display()
                    ));
                }
                if flushed.odd > 0 {
                    let lines = text::plural(flushed.odd as u64, "line");
                    cx.ui.warn(&format!("{lines} of the journal could not be read and were passed over"));
                }
            }
            Err(error) => {
                let path = log.journal(target).path().to_owned();
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                cx.ui.warn(&format!("{} could not be written: {error}{cause}", target.path));
                cx.ui.warn(&format!(
                    "the entry is kept in {}; `cru admin flush {}` or the next `cru log` writes it",
                    path.display(),
                    target.id
                ));
                self.kept_in = Some(path);
            }
        }
    }
}

impl Output for Logged {
    fn text(&self, _: &View) -> String {
        let mut out = String::new();
        for row in &self.rows {
            match (&row.id, row.change) {
                (Some(id), None) => out.push_str(&paint(style::ID, id)),
                _ if self.kept_in.is_some() => out.push_str("kept"),
                (Some(id), Some(change)) => out.push_str(&format!("{} {change}", paint(style::ID, id))),
                (None, _) => out.push_str(&format!("{} → {}", row.event.replace('_', " "), self.session)),
            }
            out.push('\n');
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let written = self.kept_in.is_none();
        Ok(match self.rows.as_slice() {
            [row] if !self.stream => json!({
                "schema": 1, "session": self.session, "note": self.note, "event": row.event, "id": row.id,
                "written": written, "kept_in": self.kept_in,
            }),
            rows => json!({
                "schema": 1, "session": self.session, "note": self.note, "entries": rows, "refused": self.refused,
                "written": written, "kept_in": self.kept_in,
            }),
        })
    }

    /// Lines that could not be read are an error of the input, though the others were logged.
    fn exit_code(&self) -> u8 {
        if self.refused > 0 { 2 } else { 0 }
    }
}
