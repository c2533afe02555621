//! The revision in a note's frontmatter.

use cru_base::Result;
use cru_note::Note;
use cru_note::edit::{self, EditError};
use cru_note::frontmatter::{self, Value, split};
use cru_session::cursor::Cursor;
use cru_session::source::Consumed;

/// The key.
const KEY: &str = "cru_cursor";

/// What the note says; `None` where it says nothing that is one.
pub(super) fn read(bytes: &[u8]) -> Option<Cursor> {
    let text = String::from_utf8_lossy(bytes);
    let bounds = split(&text).block?;
    let (values, _) = frontmatter::read(&text, &bounds);
    // A revision that no count of writes comes to; one beyond it was typed.
    Cursor::parse(values.string(KEY)?).filter(|cursor| cursor.revision < (1 << 53))
}

/// The bytes with that cursor.
pub(super) fn set(bytes: &[u8], cursor: &Cursor) -> Result<Vec<u8>, EditError> {
    let value = Value::from(cursor.to_string());
    let patch = match std::str::from_utf8(bytes) {
        Ok(text) => edit::set_key(text, KEY, &value),
        Err(_) => edit::set_key(Note::parse(bytes).text(), KEY, &value),
    };
    Ok(patch?.apply(bytes))
}

/// That of a note that represents no transcript.
pub(super) fn none() -> Cursor {
    Cursor::first(&Consumed::default())
}
