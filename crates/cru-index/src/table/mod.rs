//! Rows of sessions and of what stands in them as tables: named columns of plain values.
//!
//! `cru list` shows these columns, and both `cru search` and `cru list --where` compare them: what a column is called
//! and what it holds is said here alone.

pub mod column;
mod family;
mod kind;
mod row;
mod value;
mod view;

pub use column::{Column, ColumnType};
pub use family::Families;
pub use row::{RowItem, RowsOf, TableRow, rows};
pub use value::CellValue;
pub use view::{RowView, ViewedRow};
