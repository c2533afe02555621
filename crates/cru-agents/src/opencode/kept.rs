//! A message with its parts as it is kept.

use serde_json::Value;

use crate::file::value;

/// The role of a person's line for the shell, and that of a compaction: rows of version 2 keep their type as the role.
pub(super) const SHELL: &str = "shell";
pub(super) const COMPACTION: &str = "compaction";

/// Why a message is left out that cannot be read.
pub(super) const BROKEN: &str = "broken message";

/// A message or a part as it is kept: an object with its id, or the bytes of something else, its id, and why it is left out.
pub(super) type OpenCodeItem = Result<Value, (Vec<u8>, String, &'static str)>;

/// A message with its parts.
#[derive(Clone, Debug)]
pub(super) struct OpenCodeMessage {
    pub(super) info: OpenCodeItem,
    pub(super) parts: Vec<OpenCodeItem>,
}

/// What stands in these bytes. `id` is the one that it is kept under, `""` for its own.
pub(super) fn item(bytes: &[u8], id: &str) -> OpenCodeItem {
    let mut value =
        value::read(bytes).filter(Value::is_object).ok_or_else(|| (bytes.to_vec(), id.to_owned(), BROKEN))?;
    if !id.is_empty() {
        value["id"] = id.into();
    }
    Ok(value)
}
