//! A view of rows: some of their columns, in an order, as one value that stands alone.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::column::{self, Column};
use super::row::TableRow;
use super::value::CellValue;
use crate::record::SessionRow;

/// Which columns, and what each is called.
#[derive(Clone, Debug)]
pub struct RowView(Vec<(&'static str, Option<&'static Column>)>);

impl RowView {
    /// Of rows with columns of their `own`; `key=column` calls a column `key`. What is no column is a place for
    /// [`ViewedRow::set`].
    pub fn of(own: &'static [Column], names: &[&'static str]) -> Self {
        let named = |name: &&'static str| {
            let (key, column) = name.split_once('=').unwrap_or((*name, *name));
            (key, column::find(own, column))
        };
        Self(names.iter().map(named).collect())
    }

    /// Of sessions.
    pub fn of_sessions(names: &[&'static str]) -> Self {
        Self::of(column::SESSION, names)
    }

    /// The columns of a session; days are those of UTC.
    pub fn session(&self, session: &SessionRow, is_subagent: bool) -> ViewedRow {
        let utc = TimeZone::UTC;
        self.row(TableRow::session(session, is_subagent, &utc))
    }

    /// The columns of a row.
    pub fn row(&self, row: TableRow<'_>) -> ViewedRow {
        let cell = |column: &Column| (column.get)(row).into_owned();
        ViewedRow(self.0.iter().map(|(key, column)| (*key, column.map_or(CellValue::Null, cell))).collect())
    }
}

/// The values of a row by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewedRow(Vec<(&'static str, CellValue<'static>)>);

impl ViewedRow {
    /// Puts a value in its place, or behind the others.
    pub fn set(&mut self, key: &'static str, value: impl Into<CellValue<'static>>) {
        match self.0.iter_mut().find(|(own, _)| *own == key) {
            Some((_, own)) => *own = value.into(),
            None => self.0.push((key, value.into())),
        }
    }

    /// The value of a key; `Null` where there is none.
    pub fn get(&self, key: &str) -> &CellValue<'static> {
        self.0.iter().find(|(own, _)| *own == key).map_or(&CellValue::Null, |(_, value)| value)
    }

    /// The text of a key, where it is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        if let CellValue::Text(text) = self.get(key) { Some(text) } else { None }
    }

    /// The time of a key, where it is one.
    pub fn time(&self, key: &str) -> Option<Timestamp> {
        if let CellValue::Time(time) = self.get(key) { Some(*time) } else { None }
    }

    /// The number of a key; 0 where it is none.
    pub fn count(&self, key: &str) -> u64 {
        if let CellValue::Int(count) = self.get(key) { u64::try_from(*count).unwrap_or(0) } else { 0 }
    }
}

impl Serialize for ViewedRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, &value.json())?;
        }
        map.end()
    }
}
