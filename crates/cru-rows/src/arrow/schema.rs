//! Schemas of the streams.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};

use crate::table::{ColumnKind, RowTable, TableColumn};

const fn column(name: &'static str, kind: ColumnKind, meaning: &'static str) -> TableColumn {
    TableColumn { name, kind, meaning }
}

/// Columns of what `scan` gives.
pub const SCAN: &[TableColumn] = &[
    column("uri", ColumnKind::Text, "the object"),
    column("size", ColumnKind::Int, "bytes"),
    column("hash", ColumnKind::Text, "hash of its bytes"),
    column("prefix_hash", ColumnKind::Text, "hash of its first 4 KiB"),
    column("status", ColumnKind::Text, "transcript, other, failed"),
    column("host", ColumnKind::Text, "which host wrote it"),
    column("session", ColumnKind::Text, "the host's id of its first session"),
    column("parent", ColumnKind::Text, "the host's id of the session that started it"),
    column("keys", ColumnKind::Texts, "objects that share a key are one family"),
    column("first_time", ColumnKind::Time, "earliest time of its records"),
    column("last_time", ColumnKind::Time, "latest time of its records"),
    column("reason", ColumnKind::Text, "why it is no transcript, or could not be read"),
];

/// Columns of what `families` gives.
pub(super) const FAMILIES: &[TableColumn] =
    &[column("uri", ColumnKind::Text, "the object"), column("family", ColumnKind::Int, "number of its family")];

/// Columns of what `codify` gives.
pub(super) const WORKFLOWS: &[TableColumn] = &[
    column("cluster", ColumnKind::Text, "the cluster"),
    column("sessions", ColumnKind::Texts, "its sessions"),
    column("left_out", ColumnKind::Int, "sessions beyond the limit"),
    column("title", ColumnKind::Text, "title"),
    column("steps", ColumnKind::Int, "number of steps"),
    column("workflow", ColumnKind::Text, "the workflow as markdown"),
    column("diagnostics", ColumnKind::Texts, "what there is to say of it"),
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
