//! Tables as Parquet files, from the transcripts of one machine: `v1/<table>/day=…/bucket=…/part-….parquet`.
//!
//! The same objects give the same rows as on many machines. Families are folded in parallel and in the order of their
//! days, so that a folder is mostly written at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use ignore::{DirEntry, WalkBuilder};
use jiff::Timestamp;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use rayon::prelude::*;

use crate::arrow::own_batch;
use crate::family::Families;
use crate::fold::fold;
use crate::scan::{ScanRow, scan};
use crate::stage::Stage;
use crate::table::{RowCell, RowTable, TableColumn, TableRows, day, day_text};
use cru_base::files::{self, Bulk};
use cru_base::{Error, Result};

/// Folders of a day.
pub const BUCKETS: i64 = 256;
/// The folder of this layout.
pub const LAYOUT: &str = "v1";

/// Bytes of an object that are read at once.
const PIECE: usize = 8 << 20;
/// Families that are folded together, for each thread: their rows are in memory at once.
const FAMILIES: usize = 4;
/// Bytes of memory in rows that wait to be written.
const BYTES: usize = 128 << 20;

/// What an export did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Objects that were looked at.
    pub objects: usize,
    /// Families that were folded.
    pub families: usize,
    /// Rows by table, in the order of tables.
    pub rows: Vec<(&'static str, usize)>,
    /// Objects that could not be read, with the reason.
    pub failed: Vec<(String, String)>,
    /// Files that were written.
    pub files: usize,
}

/// Writes the tables of the transcripts below `paths` into `folder`; with `since`, of the families that went on at or after
/// it. Usage error: `folder` holds tables already.
pub fn export(paths: &[PathBuf], folder: &Path, since: Option<Timestamp>) -> Result<Exported> {
    let root = folder.join(LAYOUT);
    if root.exists() {
        return Err(Error::usage(format!("{} holds tables already", folder.display()))
            .with_hint("name another folder, or remove this one"));
    }
    let objects = objects(paths)?;
    let scanned: Vec<ScanRow> = objects.par_iter().map(|path| scan_one(path)).collect::<Result<_>>()?;
    let mut families = Families::default();
    for row in &scanned {
        families.add(&row.uri, row.keys.iter().map(String::as_str));
    }
    let mut members: BTreeMap<i64, FamilyMembers> = BTreeMap::new();
    for ((_, family), (row, path)) in families.finish().into_iter().zip(scanned.iter().zip(&objects)) {
        let it = members.entry(family).or_default();
        it.paths.push(path.clone());
        it.first = [it.first, row.first_time].into_iter().flatten().min();
        it.last = it.last.max(row.last_time);
    }
    members.retain(|_, it| since.is_none_or(|since| it.last.is_some_and(|last| last >= since)));
    let mut order: Vec<(i64, FamilyMembers)> = members.into_iter().collect();
    order.sort_by_key(|(family, it)| (day(it.first), family % BUCKETS, *family));
    let mut writer = PartWriter { root, waiting: BTreeMap::new(), size: 0, part: 0, done: Exported::default() };
    for chunk in order.chunks(FAMILIES * rayon::current_num_threads()) {
        let folded: Vec<TableRows> =
            chunk.par_iter().map(|(family, it)| fold_one(*family, &it.paths)).collect::<Result<_>>()?;
        for rows in folded {
            writer.add(rows);
        }
        if writer.size > BYTES {
            writer.write()?;
        }
    }
    writer.write()?;
    let counts = writer.done.rows.clone();
    let count = |name: &str| counts.iter().filter(|(known, _)| *known == name).map(|(_, rows)| rows).sum();
    let rows = RowTable::ALL.iter().map(|table| (table.as_str(), count(table.as_str()))).collect();
    Ok(Exported { objects: objects.len(), families: order.len(), rows, ..writer.done })
}

#[derive(Debug, Default)]
struct FamilyMembers {
    paths: Vec<PathBuf>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

/// The files below `paths`, in order. Links are followed for what was named, not below it.
fn objects(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = std::collections::BTreeSet::new();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        if metadata.is_dir() {
            // A folder that cannot be opened hides its files and no others.
            let walk = WalkBuilder::new(path).standard_filters(false).build().flatten();
            let files = walk.filter(|it| it.file_type().is_some_and(|kind| kind.is_file()));
            found.extend(files.map(DirEntry::into_path));
        } else {
            found.insert(path.clone());
        }
    }
    Ok(found.into_iter().collect())
}

/// Lays a file down under its own name: as a link, else as a copy, in pieces.
fn lay(stage: &mut Stage, path: &Path) {
    use std::io::Read as _;
    if stage.link(path) {
        return;
    }
    let uri = path.to_string_lossy();
    let mut buffer = vec![0; PIECE];
    let mut read = || -> std::io::Result<()> {
        let mut file = std::fs::File::open(path)?;
        stage.add(&uri, &[]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                count => stage.add(&uri, &buffer[..count]),
            }
        }
    };
    if let Err(error) = read() {
        stage.fail(&uri, &error.to_string());
    }
}

fn scan_one(path: &Path) -> Result<ScanRow> {
    let mut stage = Stage::new()?;
    lay(&mut stage, path);
    Ok(scan(&stage).unwrap_or_default())
}

fn fold_one(family: i64, paths: &[PathBuf]) -> Result<TableRows> {
    let mut stage = Stage::new()?;
    for path in paths {
        lay(&mut stage, path);
    }
    Ok(fold(family, &stage))
}

/// A folder of a table.
type Partition = (RowTable, i32, i64);

/// Collects rows and writes them, a file for each folder.
struct PartWriter {
    root: PathBuf,
    waiting: BTreeMap<Partition, Vec<Vec<RowCell>>>,
    size: usize,
    part: usize,
    done: Exported,
}

impl PartWriter {
    fn add(&mut self, mut rows: TableRows) {
        self.size += rows.size();
        for table in RowTable::ALL {
            for row in rows.take(table) {
                let (day, family) = match (row.get(2), row.get(1)) {
                    (Some(RowCell::Int(day)), Some(RowCell::Int(family))) => {
                        (i32::try_from(*day).unwrap_or(0), i64::try_from(*family).unwrap_or(0))
                    }
                    _ => (0, 0),
                };
                if table == RowTable::Accounting {
                    self.fail(&row);
                }
                self.waiting.entry((table, day, family % BUCKETS)).or_default().push(row);
            }
        }
    }

    fn fail(&mut self, row: &[RowCell]) {
        let at = |name: &str| RowTable::Accounting.columns().position(|column| column.name == name);
        let text = |name: &str| match at(name).and_then(|at| row.get(at)) {
            Some(RowCell::Text(text)) => text.clone().into_owned(),
            _ => String::new(),
        };
        if text("outcome") == "failed" {
            self.done.failed.push((text("uri"), text("reason")));
        }
    }

    fn write(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.size = 0;
        self.part += 1;
        let part = self.part;
        let files: Vec<(PathBuf, Vec<u8>, &'static str, usize)> = waiting
            .into_par_iter()
            .map(|((table, day, bucket), rows)| {
                let path = self
                    .root
                    .join(table.as_str())
                    .join(format!("day={}", day_text(day)))
                    .join(format!("bucket={bucket}"))
                    .join(format!("part-{part:05}.parquet"));
                let bytes = packed(table, &rows).map_err(|error| Error::internal("write a Parquet file", error))?;
                Ok((path, bytes, table.as_str(), rows.len()))
            })
            .collect::<Result<_>>()?;
        let mut bulk = Bulk::new();
        for (path, bytes, table, rows) in files {
            files::create_dir(path.parent().unwrap_or(&self.root))?;
            bulk.create(&path, &bytes)?;
            self.done.files += 1;
            self.done.rows.push((table, rows));
        }
        bulk.finish()
    }
}

/// Rows as a Parquet file, without the day: the folder says it.
fn packed(table: RowTable, rows: &[Vec<RowCell>]) -> std::result::Result<Vec<u8>, ParquetError> {
    let (places, columns): (Vec<usize>, Vec<&TableColumn>) =
        table.columns().enumerate().filter(|(_, column)| column.name != "day").unzip();
    let batch: RecordBatch = own_batch(&columns, rows, &places)?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, Arc::clone(&batch.schema()), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}
