//! Schemas of the streams.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};

use crate::table::{ColumnKind, RowTable, TableColumn, columns};

/// Columns of what `scan` gives.
///
/// `uri`: the object; `size`: bytes; `hash`: hash of its bytes; `prefix_hash`: hash of its first 4 KiB; `status`:
/// transcript, other, failed; `host`: which host wrote it; `session`: the host's id of its first session; `parent`:
/// the host's id of the session that started it; `keys`: objects that share a key are one family; `first_time`:
/// earliest time of its records; `last_time`: latest time of its records; `reason`: why it is no transcript, or could
/// not be read.
pub const SCAN: &[TableColumn] = columns![
    uri Text, size Int, hash Text, prefix_hash Text, status Text, host Text, session Text, parent Text, keys Texts,
    first_time Time, last_time Time, reason Text,
];

/// Columns of what `families` gives.
///
/// `uri`: the object; `family`: number of its family.
pub(super) const FAMILIES: &[TableColumn] = columns![
    uri Text, family Int,
];

/// Columns of what `codify` gives.
///
/// `cluster`: the cluster; `sessions`: its sessions; `left_out`: sessions beyond the limit; `steps`: number of steps;
/// `workflow`: the workflow as markdown; `diagnostics`: what there is to say of it.
pub(super) const WORKFLOWS: &[TableColumn] = columns![
    cluster Text, sessions Texts, left_out Int, title Text, steps Int, workflow Text, diagnostics Texts,
];

/// Names of the columns of what `fold` gives for all tables together: the table, the number of its rows, and these as an
/// Arrow IPC stream.
pub const ENVELOPE: [&str; 3] = ["table", "rows", "ipc"];

/// The schema of a table, with all its columns.
pub fn table_schema(table: RowTable) -> Schema {
    schema(table.columns())
}

/// The schema of columns; every one may be null.
pub fn schema<'c>(columns: impl IntoIterator<Item = &'c TableColumn>) -> Schema {
    Schema::new(columns.into_iter().map(|it| Field::new(it.name, data_type(it.kind), true)).collect::<Fields>())
}

pub(super) fn place_fields() -> Fields {
    Fields::from(vec![
        Field::new("uri", DataType::Utf8, true),
        Field::new("offset", DataType::Int64, true),
        Field::new("length", DataType::Int64, true),
    ])
}

pub(super) fn item_field() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Utf8, true))
}

fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Text => DataType::Utf8,
        ColumnKind::Int => DataType::Int64,
        ColumnKind::Float => DataType::Float64,
        ColumnKind::Bool => DataType::Boolean,
        ColumnKind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ColumnKind::Day => DataType::Date32,
        ColumnKind::Texts => DataType::List(item_field()),
        ColumnKind::Place => DataType::Struct(place_fields()),
    }
}
