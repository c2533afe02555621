//! The verbs of `cru rows`: a stream in, a stream out.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::{BinaryArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};

use super::input::{InputColumns, InputRow};
use super::schema::{ENVELOPE, FAMILIES, SCAN, WORKFLOWS, schema, table_schema};
use super::{batch, failed, own_batch};
use crate::family::Families;
use crate::scan::ScanRow;
use crate::stage::Stage;
use crate::table::{RowCell, RowTable, TableColumn, TableRows};
use crate::{codify as cluster, fold as one_family, learn as cases, scan as one_object};
use cru_base::{Error, Result};

/// Rows of all tables that wait to be written together.
const ROWS: usize = 20_000;
/// Bytes of memory in them.
const BYTES: usize = 32 << 20;

/// Reads batches of `{uri, bytes}` and writes one row for each object. An object may come in several rows in a row: then
/// they are its pieces.
pub fn scan(input: impl Read, output: impl Write) -> Result<()> {
    let mut out = Rows::new(output, SCAN)?;
    let mut stage = Stage::new()?;
    let mut now: Option<String> = None;
    each_row(input, &["uri", "bytes"], &mut |row| {
        let uri = row.text("uri").unwrap_or_default();
        if now.as_deref().is_some_and(|now| now != uri) {
            out.add(one_object::scan(&stage).map(scan_cells))?;
            stage.clear()?;
        }
        if now.as_deref() != Some(uri) {
            now = Some(uri.to_owned());
        }
        stage.add(uri, row.bytes("bytes").unwrap_or_default());
        Ok(())
    })?;
    if now.is_some() {
        out.add(one_object::scan(&stage).map(scan_cells))?;
    }
    out.finish()
}

fn scan_cells(row: ScanRow) -> Vec<RowCell> {
    vec![
        row.uri.into(),
        row.size.into(),
        row.hash.into(),
        row.prefix_hash.into(),
        row.status.into(),
        row.host.map(str::to_owned).into(),
        row.session.into(),
        row.parent.into(),
        row.keys.into(),
        row.first_time.into(),
        row.last_time.into(),
        row.reason.into(),
    ]
}

/// Reads batches of `{uri, keys}` and writes `{uri, family}`.
pub fn families(input: impl Read, output: impl Write) -> Result<()> {
    let mut families = Families::default();
    each_row(input, &["uri", "keys"], &mut |row| {
        let keys = row.texts("keys");
        families.add(row.text("uri").unwrap_or_default(), keys.iter().map(String::as_str));
        Ok(())
    })?;
    let mut out = Rows::new(output, FAMILIES)?;
    for (uri, family) in families.finish() {
        out.add(Some(vec![uri.into(), family.into()]))?;
    }
    out.finish()
}

/// Reads batches of `{family, uri, bytes}`, the rows of a family one after the other, and writes the rows of `table`, else
/// those of all tables in envelopes. Usage error: a family that comes again after another one, since it would have been
/// read in parts.
pub fn fold(input: impl Read, output: impl Write, table: Option<RowTable>) -> Result<()> {
    let mut out = Tables::new(output, table)?;
    let mut stage = Stage::new()?;
    let mut now: Option<i64> = None;
    let mut done: HashSet<i64> = HashSet::new();
    each_row(input, &["family", "uri", "bytes"], &mut |row| {
        let family = row.int("family").ok_or_else(|| Error::usage("a row has no family"))?;
        if let Some(last) = now.filter(|last| *last != family) {
            out.add(one_family::fold(last, &stage))?;
            stage.clear()?;
            done.insert(last);
            if done.contains(&family) {
                return Err(Error::usage(format!("the rows of family {family} do not follow one another"))
                    .with_hint("sort the rows by family, uri"));
            }
        }
        now = Some(family);
        stage.add(row.text("uri").unwrap_or_default(), row.bytes("bytes").unwrap_or_default());
        Ok(())
    })?;
    if let Some(last) = now {
        out.add(one_family::fold(last, &stage))?;
    }
    out.finish()
}

/// Reads batches of `{family, session_uid, host, note}`, the rows of a family one after the other, and writes `cases`.
pub fn learn(input: impl Read, output: impl Write) -> Result<()> {
    let mut out = Tables::new(output, Some(RowTable::Cases))?;
    let mut family = 0;
    let mut notes: Vec<(String, String, String)> = Vec::new();
    each_row(input, &["family", "session_uid", "host", "note"], &mut |row| {
        let next = row.int("family").unwrap_or_default();
        if next != family && !notes.is_empty() {
            out.add(cases_of(family, &std::mem::take(&mut notes)))?;
        }
        family = next;
        let text = |name| row.text(name).unwrap_or_default().to_owned();
        notes.push((text("session_uid"), text("host"), text("note")));
        Ok(())
    })?;
    out.add(cases_of(family, &notes))?;
    out.finish()
}

fn cases_of(family: i64, notes: &[(String, String, String)]) -> TableRows {
    let mut rows = TableRows::default();
    let read: Vec<_> = notes.iter().map(|(_, _, text)| cru_session::read::content_of(text.as_bytes())).collect();
    let notes: Vec<cases::SessionNote<'_>> = notes
        .iter()
        .zip(&read)
        .map(|((uid, host, text), session)| cases::SessionNote { uid, text, session, host })
        .collect();
    cases::add(family, &notes, &mut rows);
    rows
}

/// Reads batches of `{cluster, session_uid, note}`, the rows of a cluster one after the other, and writes a workflow for
/// each cluster.
pub fn codify(input: impl Read, output: impl Write) -> Result<()> {
    let mut out = Rows::new(output, WORKFLOWS)?;
    let mut now: Option<String> = None;
    let mut notes: Vec<(String, String)> = Vec::new();
    each_row(input, &["cluster", "session_uid", "note"], &mut |row| {
        let next = row.text("cluster").unwrap_or_default();
        if let Some(last) = now.take_if(|last| last != next) {
            out.add(Some(workflow(last, std::mem::take(&mut notes))))?;
        }
        if now.is_none() {
            now = Some(next.to_owned());
        }
        let text = |name| row.text(name).unwrap_or_default().to_owned();
        notes.push((text("session_uid"), text("note")));
        Ok(())
    })?;
    if let Some(last) = now {
        out.add(Some(workflow(last, notes)))?;
    }
    out.finish()
}

fn workflow(name: String, notes: Vec<(String, String)>) -> Vec<RowCell> {
    let made = cluster::workflow(notes);
    vec![
        name.into(),
        made.sessions.into(),
        made.left_out.into(),
        made.title.into(),
        made.steps.into(),
        made.text.into(),
        made.diagnostics.into(),
    ]
}

/// Reads a stream and hands over its rows, in order.
fn each_row(input: impl Read, names: &[&'static str], take: &mut dyn FnMut(InputRow<'_>) -> Result<()>) -> Result<()> {
    let reader = StreamReader::try_new(input, None).map_err(failed("read"))?;
    for batch in reader {
        let batch = batch.map_err(failed("read"))?;
        let columns = InputColumns::of(&batch, names)?;
        columns.rows().try_for_each(&mut *take)?;
    }
    Ok(())
}

/// A stream of rows of some columns.
struct Rows<W: Write> {
    writer: StreamWriter<W>,
    columns: Vec<&'static TableColumn>,
    waiting: Vec<Vec<RowCell>>,
}

impl<W: Write> Rows<W> {
    fn new(output: W, columns: &'static [TableColumn]) -> Result<Self> {
        let columns: Vec<&TableColumn> = columns.iter().collect();
        let writer = StreamWriter::try_new(output, &schema(columns.iter().copied())).map_err(failed("write"))?;
        Ok(Self { writer, columns, waiting: Vec::new() })
    }

    fn add(&mut self, row: Option<Vec<RowCell>>) -> Result<()> {
        self.waiting.extend(row);
        if self.waiting.len() < ROWS / 8 { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let batch = own_batch(&self.columns, &rows, &all).map_err(failed("write"))?;
        self.writer.write(&batch).map_err(failed("write"))
    }

    fn finish(mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            self.write()?;
        }
        self.writer.finish().map_err(failed("write"))
    }
}

/// A stream of the rows of one table, or of all in envelopes.
struct Tables<W: Write> {
    writer: StreamWriter<W>,
    only: Option<RowTable>,
    waiting: TableRows,
    size: usize,
}

fn envelope() -> Schema {
    let [table, rows, ipc] = ENVELOPE;
    Schema::new(vec![
        Field::new(table, DataType::Utf8, false),
        Field::new(rows, DataType::Int64, false),
        Field::new(ipc, DataType::Binary, false),
    ])
}

impl<W: Write> Tables<W> {
    fn new(output: W, only: Option<RowTable>) -> Result<Self> {
        let schema = only.map_or_else(envelope, table_schema);
        let writer = StreamWriter::try_new(output, &schema).map_err(failed("write"))?;
        Ok(Self { writer, only, waiting: TableRows::default(), size: 0 })
    }

    fn add(&mut self, rows: TableRows) -> Result<()> {
        self.size += rows.size();
        self.waiting.append(rows);
        if self.waiting.len() < ROWS && self.size < BYTES { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<()> {
        self.size = 0;
        let mut rows = std::mem::take(&mut self.waiting);
        if let Some(table) = self.only {
            let rows = rows.take(table);
            if rows.is_empty() {
                return Ok(());
            }
            let batch = batch(table, &rows).map_err(failed("write"))?;
            return self.writer.write(&batch).map_err(failed("write"));
        }
        for table in RowTable::ALL {
            let rows = rows.take(table);
            if rows.is_empty() {
                continue;
            }
            let packed = packed(table, &rows)?;
            let columns: [Arc<dyn arrow_array::Array>; 3] = [
                Arc::new(StringArray::from(vec![table.as_str()])),
                Arc::new(Int64Array::from(vec![i64::try_from(rows.len()).unwrap_or(i64::MAX)])),
                Arc::new(BinaryArray::from(vec![packed.as_slice()])),
            ];
            let batch = RecordBatch::try_new(Arc::new(envelope()), columns.into()).map_err(failed("write"))?;
            self.writer.write(&batch).map_err(failed("write"))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            self.write()?;
        }
        self.writer.finish().map_err(failed("write"))
    }
}

/// Rows as a stream of their own.
fn packed(table: RowTable, rows: &[Vec<RowCell>]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &table_schema(table)).map_err(failed("write"))?;
    writer.write(&batch(table, rows).map_err(failed("write"))?).map_err(failed("write"))?;
    writer.finish().map_err(failed("write"))?;
    drop(writer);
    Ok(bytes)
}
