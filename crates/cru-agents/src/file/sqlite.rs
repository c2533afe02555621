//! Databases of programs that may have them open: nothing of them is changed, and no file is made beside them.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Opens a file as one that nobody writes; a log beside it is not looked at.
pub(crate) fn in_place(path: &Path) -> rusqlite::Result<Connection> {
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
    // What a damaged or hostile file says of its own tables is not run.
    base.pragma_update(None, "trusted_schema", false)?;
    Ok(base)
}
