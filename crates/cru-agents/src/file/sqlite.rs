//! Databases of programs that may have them open: nothing of them is changed, and no file is made beside them.

use std::io::{self, Read as _};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value};

use super::lines::MAX_DOCUMENT;
use super::unpack::unpacked;
use cru_base::files::{Aside, Stamp};
use cru_base::{Error, Result};

/// How a database begins.
const HEAD: &[u8] = b"SQLite format 3\0";

/// What every question may cost together, in steps of the database's machine, beside what its bytes allow: seconds.
const STEPS: u64 = 100_000_000;

/// Steps for each byte of the file: an honest row takes a few.
const STEPS_A_BYTE: u64 = 50;

/// How many steps are taken between two looks at that.
const BETWEEN: i32 = 10_000;

/// Whether a file is a database, by its first bytes.
pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(HEAD)
}

/// Whether a database is what is asked for. While everything in it stands in its log still, that is read, too; one that
/// cannot be read is known by its name, so that its reader says what is wrong with it.
pub(crate) fn holds(path: &Path, name: &str, is_meant: &dyn Fn(&Database<'_>) -> bool) -> bool {
    let is_named = || path.file_name().is_some_and(|it| it == name);
    let Ok(base) = in_place(path) else { return false };
    match base.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0)) {
        Ok(0) => opened(path, &[], |base| Ok(is_meant(base))).unwrap_or_else(|_| is_named()),
        Ok(_) => is_meant(&Database { base: &base, path }),
        Err(_) => is_named(),
    }
}

/// Has a look into a database: into the file itself, or into a copy where it has a log. `tables` are those that are read;
/// none of them may be something else.
pub(crate) fn opened<T>(path: &Path, tables: &[&str], look: impl FnOnce(&Database<'_>) -> Result<T>) -> Result<T> {
    let before = Stamp::of(path)?;
    let aside = Aside::of(path)?;
    let base = match &aside {
        Some(copy) => copied(&copy.path()),
        None => in_place(path),
    };
    let base = base.map_err(|error| failed(path, error))?;
    base.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).map_err(|error| failed(path, error))?;
    if !are_tables(&base, tables) {
        return Err(Error::io("read", path, io::Error::other("it has a view in the place of a table")));
    }
    let found = look(&Database { base: &base, path })?;
    if aside.is_none() && Stamp::of(path)? != before {
        return Err(Error::io("read", path, io::Error::other("it changed meanwhile; run it again")));
    }
    Ok(found)
}

fn failed(path: &Path, error: rusqlite::Error) -> Error {
    Error::io("read", path, io::Error::other(error))
}

/// A database while it is looked into.
pub(crate) struct Database<'b> {
    pub(crate) base: &'b Connection,
    pub(crate) path: &'b Path,
}

impl Database<'_> {
    /// Whether it has a table of that name.
    pub(crate) fn has_table(&self, name: &str) -> bool {
        let count = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE";
        self.number(count, &[name]).is_some_and(|count| count > 0)
    }

    /// Whether a table of it has that column.
    pub(crate) fn has_column(&self, table: &str, column: &str) -> bool {
        let count = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE";
        self.has_table(table) && self.number(count, &[table, column]) == Some(1)
    }

    /// The number that a question is answered with; 0 where its tables are not there.
    pub(crate) fn count(&self, query: &str) -> u64 {
        self.number(query, &[]).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
    }

    /// The number that a question is answered with. The question is kept, for importers ask it once a message.
    pub(crate) fn number(&self, query: &str, of: &[&str]) -> Option<i64> {
        let mut query = self.base.prepare_cached(query).ok()?;
        query.query_row(rusqlite::params_from_iter(of), |row| row.get(0)).ok()
    }

    /// Hands over the rows of a table, each as an object of those columns that the table has and that hold something.
    /// `rest` says which rows and in which order, `of` stands for `?1` in it. A table that is not there has no rows.
    /// Names of columns are never asked for, for those of a damaged file are no text.
    pub(crate) fn each(
        &self,
        table: &str,
        columns: &str,
        rest: &str,
        of: &[&str],
        each: &mut dyn FnMut(Value),
    ) -> Result<()> {
        let known: Vec<&str> = columns.split(", ").filter(|column| self.has_column(table, column)).collect();
        if known.is_empty() {
            return Ok(());
        }
        let failed = |error| failed(self.path, error);
        let mut rows =
            self.base.prepare_cached(&format!("SELECT {} FROM {table} {rest}", known.join(", "))).map_err(failed)?;
        let mut rows = rows.query(rusqlite::params_from_iter(of)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let cells = known.iter().enumerate().filter_map(|(at, name)| Some(((*name).to_owned(), cell(row, at)?)));
            each(Value::Object(cells.collect::<Map<_, _>>()));
        }
        Ok(())
    }

    /// The rows of a table, as [`Database::each`] hands them over.
    pub(crate) fn rows(&self, table: &str, columns: &str, rest: &str, of: &[&str]) -> Result<Vec<Value>> {
        let mut rows = Vec::new();
        self.each(table, columns, rest, of, &mut |row| rows.push(row))?;
        Ok(rows)
    }
}

/// What stands in a cell; packed text is unpacked, and one that is longer than what is read as one is empty.
fn cell(row: &Row<'_>, index: usize) -> Option<Value> {
    match row.get_ref(index).ok()? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Some(number.into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let mut text = Vec::new();
            let read = unpacked(Box::new(bytes), MAX_DOCUMENT as u64).and_then(|mut it| it.read_to_end(&mut text));
            let fits = read.is_ok_and(|length| length <= MAX_DOCUMENT);
            Some(if fits { String::from_utf8_lossy(&text).into_owned() } else { String::new() }.into())
        }
    }
}

/// Opens a file as one that nobody writes; a log beside it is not looked at.
pub(crate) fn in_place(path: &Path) -> rusqlite::Result<Connection> {
    // A pipe or a device has no end, and opening it may wait for ever.
    if !path.is_file() {
        return Err(rusqlite::Error::InvalidPath(path.to_owned()));
    }
    let mut name = String::from("file:");
    let text = path.to_string_lossy();
    if !text.starts_with('/') {
        // A drive, or a relative name.
        name.push_str(if text.as_bytes().get(1) == Some(&b':') { "/" } else { "" });
    }
    for byte in text.bytes() {
        match byte {
            b'\\' if cfg!(windows) => name.push('/'),
            b'/' | b'.' | b'-' | b'_' | b':' => name.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => name.push(byte.into()),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name.push_str("?immutable=1");
    let base = Connection::open_with_flags(name, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?;
    guarded(base, path)
}

/// Opens a copy of ours, with its log.
fn copied(path: &Path) -> rusqlite::Result<Connection> {
    guarded(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?, path)
}

/// What a damaged or hostile file says of its own tables is not run, and what has no end is given up.
fn guarded(mut base: Connection, path: &Path) -> rusqlite::Result<Connection> {
    base.pragma_update(None, "trusted_schema", false)?;
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut left = STEPS.saturating_add(bytes.saturating_mul(STEPS_A_BYTE));
    let is_over = move || {
        left = left.saturating_sub(BETWEEN.unsigned_abs().into());
        left == 0
    };
    base.progress_handler(BETWEEN, Some(is_over))?;
    Ok(base)
}

/// Whether each of these names that the database has is a table of its own. What a view or a virtual table does is up to
/// whoever made it.
fn are_tables(base: &Connection, names: &[&str]) -> bool {
    let count =
        "SELECT count(*) FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND NOT (type = 'table' AND rootpage > 0)";
    names.iter().all(|name| base.query_row(count, [name], |row| row.get::<_, i64>(0)).is_ok_and(|odd| odd == 0))
}
