//! The rows of an answer, for people and for programs.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json, json};

use super::kind::ListKind;
use crate::base::text::{plural, without_links};
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, Table, cut, minute, rows};
use crate::commands::{Format, Output, View};
use crate::index::table::CellValue;

/// On a terminal a cell is cut to so many columns, but for the last one of a row.
const WIDEST: usize = 40;

/// A value for people: times to the minute, fractions to two places.
pub(super) fn shown<'a>(value: &'a CellValue<'_>, zone: &TimeZone) -> Cow<'a, str> {
    match value {
        CellValue::Null => "–".into(),
        CellValue::Bool(true) => "yes".into(),
        CellValue::Bool(false) => "no".into(),
        CellValue::Int(it) => it.to_string().into(),
        CellValue::Float(it) => format!("{it:.2}").into(),
        CellValue::Time(it) => minute(*it, zone).into(),
        CellValue::Text(it) => it.as_ref().into(),
        CellValue::List(it) => it.join("; ").into(),
        CellValue::Place(it) => it.0.as_str().into(),
    }
}

/// The answer.
#[derive(Debug)]
pub(super) struct QueryAnswer {
    pub(super) kind: ListKind,
    /// The names of the columns, and whether each holds numbers.
    pub(super) heads: Vec<(String, bool)>,
    /// How many there were before `-n`.
    pub(super) total: usize,
    /// How many rows were found, grouped or not.
    pub(super) matched: usize,
    pub(super) is_grouped: bool,
    pub(super) rows: Vec<Vec<CellValue<'static>>>,
}

impl QueryAnswer {
    fn objects(&self) -> impl Iterator<Item = Json> {
        self.rows.iter().map(|row| {
            let cells = self.heads.iter().zip(row).map(|((name, _), value)| (name.clone(), value.json()));
            Json::Object(cells.collect::<Map<_, _>>())
        })
    }
}

impl Output for QueryAnswer {
    fn text(&self, view: &View) -> String {
        if self.matched == 0 {
            return String::new();
        }
        let names: Vec<String> = self.heads.iter().map(|(name, _)| name.to_uppercase()).collect();
        let columns: Vec<(&str, Align)> = self
            .heads
            .iter()
            .zip(&names)
            .map(|((_, is_number), name)| (name.as_str(), if *is_number { Align::Right } else { Align::Left }))
            .collect();
        let mut table = Table::new(&columns);
        table.extend(&self.rows, |row| {
            let last = row.len().saturating_sub(1);
            let cell = |(index, value): (usize, &CellValue<'static>)| {
                let mut text = shown(value, &view.zone);
                // Prose may name blocks of its note.
                let is_prose =
                    matches!(self.heads[index].0.as_str(), "title" | "why" | "rejected" | "impact" | "resolution");
                if is_prose && text.contains("[[") {
                    text = without_links(&text, false).into();
                }
                let cell = if view.terminal && index < last { Cell::new(cut(&text, WIDEST)) } else { Cell::new(text) };
                match self.heads[index].0.as_str() {
                    _ if value.is_null() => cell.style(style::DIM),
                    "session" | "id" | "step" => cell.style(style::ID),
                    "agent" => cell.style(style::AGENT),
                    "channel" => cell.style(style::CHANNEL),
                    "status" if *value == CellValue::Text("failed".into()) => cell.style(style::BAD),
                    _ => cell,
                }
            };
            row.iter().enumerate().map(cell).collect::<Vec<_>>()
        });
        let mut text = table.render(view);
        if view.terminal {
            let noun = if self.is_grouped { "group" } else { self.kind.one() };
            let mut foot = plural(self.total as u64, noun);
            if self.rows.len() < self.total {
                foot = format!("{} of {foot}", self.rows.len());
            }
            text.push_str(&paint(style::DIM, foot));
            text.push('\n');
        }
        text
    }

    fn json(&self) -> serde_json::Result<Json> {
        Ok(json!({
            "schema": 1,
            "kind": self.kind.name(),
            "matched": self.matched,
            "total": self.total,
            self.kind.view().key: self.objects().collect::<Vec<_>>(),
        }))
    }

    fn export(&self, format: Format) -> Option<String> {
        let names: Vec<&str> = self.heads.iter().map(|(name, _)| name.as_str()).collect();
        rows::export(format, &names, self.objects())
    }

    /// Nothing found is the answer "no".
    fn exit_code(&self) -> u8 {
        u8::from(self.matched == 0)
    }
}
