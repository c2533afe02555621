//! Databases of programs that may have them open: nothing of them is changed, and no file is made beside them.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// What every question may cost together, in steps of the database's machine, beside what its bytes allow: seconds.
const STEPS: u64 = 100_000_000;

/// Steps for each byte of the file: an honest row takes a few.
const STEPS_A_BYTE: u64 = 50;

/// How many steps are taken between two looks at that.
const BETWEEN: i32 = 10_000;

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
pub(crate) fn copied(path: &Path) -> rusqlite::Result<Connection> {
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
pub(crate) fn are_tables(base: &Connection, names: &[&str]) -> bool {
    let count =
        "SELECT count(*) FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND NOT (type = 'table' AND rootpage > 0)";
    names.iter().all(|name| base.query_row(count, [name], |row| row.get::<_, i64>(0)).is_ok_and(|odd| odd == 0))
}
