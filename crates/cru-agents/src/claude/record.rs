//! What stands in a record of the host, whatever it says.

use serde_json::Value;

use crate::file::value::{self, blocks, filled, word};
use cru_session::event::Attachment;

/// The words of a block.
pub(super) fn block_words(block: &Value) -> Option<&str> {
    filled(block, ["text", "connector_text"])
}

/// The words of a message alone: its own, or those of its blocks.
pub(super) fn words(content: &Value) -> String {
    if let Value::String(words) = content {
        return words.clone();
    }
    let blocks = blocks(content);
    blocks.iter().filter_map(|block| block_words(block)).collect::<Vec<_>>().join("\n\n")
}

/// The picture or document that a block is.
pub(super) fn attachment(block: &Value) -> Option<Attachment<'static>> {
    if !matches!(word(block, "type"), "image" | "document") {
        return None;
    }
    let source = &block["source"];
    Some(value::attachment(filled(source, "media_type").unwrap_or(value::FILE), word(source, "data")))
}
