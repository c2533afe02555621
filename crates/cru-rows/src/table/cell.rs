//! Values, and the rows of all tables together.

use jiff::Timestamp;
use jiff::civil::Date;

use super::schema::RowTable;
use cru_index::table::CellValue;

/// One value of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Not known.
    #[default]
    Null,
    /// Text.
    Text(String),
    /// A number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Yes or no.
    Bool(bool),
    /// A moment.
    Time(Timestamp),
    /// A day, in days since 1970-01-01.
    Day(i32),
    /// Several texts.
    Texts(Vec<String>),
    /// A place in an object: its URI, the first byte and the number of bytes.
    Place(String, Option<i64>, Option<i64>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<bool> for Cell {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<Timestamp> for Cell {
    fn from(time: Timestamp) -> Self {
        Self::Time(time)
    }
}

impl From<Vec<String>> for Cell {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl From<CellValue<'_>> for Cell {
    fn from(value: CellValue<'_>) -> Self {
        match value {
            CellValue::Null => Self::Null,
            CellValue::Bool(it) => Self::Bool(it),
            CellValue::Int(it) => Self::Int(i64::try_from(it).unwrap_or(i64::MAX)),
            CellValue::Float(it) => Self::Float(it),
            CellValue::Time(it) => Self::Time(it),
            CellValue::Text(it) => Self::Text(it.into_owned()),
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The day of a moment, in UTC; 1970-01-01 where it is not known.
pub(crate) fn day(time: Option<Timestamp>) -> i32 {
    let days = time.map_or(0, |time| time.as_second().div_euclid(24 * 3600));
    i32::try_from(days).unwrap_or(0)
}

/// A day as text, `2026-11-20`.
pub fn day_text(days: i32) -> String {
    let epoch = Date::constant(1970, 1, 1);
    epoch.checked_add(jiff::Span::new().days(days)).unwrap_or(epoch).to_string()
}

/// Rows of all tables, each in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRows {
    tables: Vec<Vec<Vec<Cell>>>,
}

impl Default for TableRows {
    fn default() -> Self {
        Self { tables: vec![Vec::new(); RowTable::ALL.len()] }
    }
}

impl TableRows {
    /// Adds a row, which has a cell for each column of the table.
    pub fn push(&mut self, table: RowTable, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), table.columns().count(), "{}", table.name());
        self.tables[table as usize].push(row);
    }

    /// The rows of a table.
    pub fn of(&self, table: RowTable) -> &[Vec<Cell>] {
        &self.tables[table as usize]
    }

    /// Takes the rows of a table.
    pub fn take(&mut self, table: RowTable) -> Vec<Vec<Cell>> {
        std::mem::take(&mut self.tables[table as usize])
    }

    /// Adds the rows of others.
    pub fn append(&mut self, mut other: Self) {
        for (rows, more) in self.tables.iter_mut().zip(&mut other.tables) {
            rows.append(more);
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.tables.iter().map(Vec::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how many bytes of memory the rows take.
    pub fn size(&self) -> usize {
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => text.len(),
            Cell::Texts(texts) => texts.iter().map(|text| size_of::<String>() + text.len()).sum(),
            Cell::Place(uri, ..) => uri.len(),
            _ => 0,
        };
        self.tables.iter().flatten().flatten().map(|cell| size_of::<Cell>() + text(cell)).sum()
    }
}
