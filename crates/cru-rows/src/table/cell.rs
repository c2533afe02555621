//! Values, and the rows of all tables together.

use jiff::Timestamp;
use jiff::civil::Date;

use super::schema::RowTable;
use cru_index::table::CellValue;

/// One value of a row.
pub type RowCell = CellValue<'static>;

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
    tables: Vec<Vec<Vec<RowCell>>>,
}

impl Default for TableRows {
    fn default() -> Self {
        Self { tables: vec![Vec::new(); RowTable::ALL.len()] }
    }
}

impl TableRows {
    /// Adds a row, which has a cell for each column of the table.
    pub fn push(&mut self, table: RowTable, row: Vec<RowCell>) {
        debug_assert_eq!(row.len(), table.columns().count(), "{}", table.as_str());
        self.tables[table as usize].push(row);
    }

    /// The rows of a table.
    pub fn of(&self, table: RowTable) -> &[Vec<RowCell>] {
        &self.tables[table as usize]
    }

    /// Takes the rows of a table.
    pub fn take(&mut self, table: RowTable) -> Vec<Vec<RowCell>> {
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
        let text = |cell: &RowCell| match cell {
            CellValue::Text(text) => text.len(),
            CellValue::List(texts) => texts.iter().map(|text| size_of::<String>() + text.len()).sum(),
            CellValue::Place(it) => it.0.len(),
            _ => 0,
        };
        self.tables.iter().flatten().flatten().map(|cell| size_of::<RowCell>() + text(cell)).sum()
    }
}
