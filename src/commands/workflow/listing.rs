//! Rows that are a table for people and objects for programs: what `history` and `sessions` print.
//!
//! A kind of row says its columns and cells; how they are laid out, counted and exported is the same for all.

use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::output::{Align, Cell, Table, rows};
use crate::commands::{Format, Output, View};

/// A kind of row.
pub(super) trait Row: Serialize {
    /// What they are called together in JSON.
    const NAME: &'static str;
    /// Heads of the table.
    const HEADS: &'static [(&'static str, Align)];
    /// Columns of exported rows.
    const COLUMNS: &'static [&'static str];

    /// What stands in the table.
    fn cells(&self) -> Vec<Cell>;
}

/// All rows of a kind.
pub(super) struct Listing<R>(pub(super) Vec<R>);

impl<R: Row> Output for Listing<R> {
    fn text(&self, view: &View) -> String {
        let mut table = Table::new(R::HEADS);
        for row in &self.0 {
            table.row(row.cells());
        }
        table.render(view)
    }

    fn json(&self) -> serde_json::Result<Value> {
        Ok(json!({ "schema": 1, "count": self.0.len(), R::NAME: self.0 }))
    }

    fn export(&self, format: Format) -> Option<String> {
        rows::export(format, R::COLUMNS, self.0.iter().filter_map(|row| serde_json::to_value(row).ok()))
    }
}
