//! The tables: their columns, and rows on their way into them.

mod cell;
mod schema;

pub(crate) use cell::day;
pub use cell::{RowCell, TableRows, day_text};
#[cfg(feature = "rows")]
pub(crate) use schema::columns;
pub use schema::{COMMON, ColumnKind, RowTable, TableColumn};
