//! Rows to record batches.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_schema::ArrowError;

use super::schema::{item_field, place_fields, schema, table_schema};
use crate::table::{ColumnKind, RowCell, RowTable, TableColumn};

/// The rows of a table as a batch.
pub fn batch(table: RowTable, rows: &[Vec<RowCell>]) -> Result<RecordBatch, ArrowError> {
    let arrays = table.columns().enumerate().map(|(at, column)| array(column.kind, rows, at)).collect();
    RecordBatch::try_new(Arc::new(table_schema(table)), arrays)
}

/// Rows of other columns as a batch. `from` is the first cell of each row that is taken.
pub fn own_batch(columns: &[&TableColumn], rows: &[Vec<RowCell>], from: &[usize]) -> Result<RecordBatch, ArrowError> {
    let arrays = columns.iter().zip(from).map(|(column, at)| array(column.kind, rows, *at)).collect();
    RecordBatch::try_new(Arc::new(schema(columns.iter().copied())), arrays)
}

fn array(kind: ColumnKind, rows: &[Vec<RowCell>], at: usize) -> ArrayRef {
    let cells = || rows.iter().map(move |row| row.get(at).unwrap_or(&RowCell::Null));
    match kind {
        ColumnKind::Text => Arc::new(cells().map(text).collect::<StringArray>()),
        ColumnKind::Int => Arc::new(cells().map(int).collect::<Int64Array>()),
        ColumnKind::Float => Arc::new(cells().map(float).collect::<Float64Array>()),
        ColumnKind::Bool => Arc::new(cells().map(flag).collect::<BooleanArray>()),
        ColumnKind::Time => Arc::new(cells().map(time).collect::<TimestampMicrosecondArray>().with_timezone("UTC")),
        ColumnKind::Day => Arc::new(cells().map(day).collect::<Date32Array>()),
        ColumnKind::Texts => {
            let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item_field());
            for cell in cells() {
                match cell {
                    RowCell::List(texts) => {
                        for text in texts {
                            builder.values().append_value(text);
                        }
                        builder.append(true);
                    }
                    _ => builder.append(false),
                }
            }
            Arc::new(builder.finish())
        }
        ColumnKind::Place => {
            let places: Vec<_> = cells().map(place).collect();
            let uris: StringArray = places.iter().map(|it| it.map(|it| it.0.as_str())).collect();
            let offsets: Int64Array = places.iter().map(|it| it.and_then(|it| it.1)).collect();
            let lengths: Int64Array = places.iter().map(|it| it.and_then(|it| it.2)).collect();
            let nulls = places.iter().map(Option::is_some).collect::<Vec<bool>>().into();
            let arrays: Vec<ArrayRef> = vec![Arc::new(uris), Arc::new(offsets), Arc::new(lengths)];
            Arc::new(StructArray::new(place_fields(), arrays, Some(nulls)))
        }
    }
}

fn place(cell: &RowCell) -> Option<&(String, Option<i64>, Option<i64>)> {
    if let RowCell::Place(place) = cell { Some(place) } else { None }
}

fn text(cell: &RowCell) -> Option<&str> {
    if let RowCell::Text(text) = cell { Some(text) } else { None }
}

fn int(cell: &RowCell) -> Option<i64> {
    if let RowCell::Int(number) = cell { Some(i64::try_from(*number).unwrap_or(i64::MAX)) } else { None }
}

const fn float(cell: &RowCell) -> Option<f64> {
    if let RowCell::Float(number) = cell { Some(*number) } else { None }
}

const fn flag(cell: &RowCell) -> Option<bool> {
    if let RowCell::Bool(yes) = cell { Some(*yes) } else { None }
}

fn time(cell: &RowCell) -> Option<i64> {
    if let RowCell::Time(time) = cell { Some(time.as_microsecond()) } else { None }
}

fn day(cell: &RowCell) -> Option<i32> {
    if let RowCell::Int(day) = cell { i32::try_from(*day).ok() } else { None }
}
