//! What `opencode export` writes: one document with a session and all its messages.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use super::store::{Content, Head, Item, Message, Store, tell};
use crate::base::{Error, Result};
use crate::import::listed::Document;
use crate::import::value::text;
use crate::session::source::{Account, Bundle, Sink};

/// The largest document that is read.
const MAX: u64 = 1 << 30;

/// Reads an export.
pub(super) fn read(bundle: &Bundle, path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let failed = |source| Error::io("read", path, source);
    let mut bytes = Vec::new();
    bundle.open(path).map_err(failed)?.take(MAX).read_to_end(&mut bytes).map_err(failed)?;
    let document = Document::of(&bytes, "messages");
    let head = head(&document, path);
    let mut account = Account::default();
    let mut messages = Messages { members: document.members, cut: document.cut };
    tell(&head, &mut messages, path, sink, &mut account)?;
    sink.account(path, account);
    Ok(())
}

/// What the beginning of a document says of its session.
pub(super) fn head(document: &Document<'_>, path: &Path) -> Head {
    let info = document.field("info").map(|bytes| String::from_utf8_lossy(bytes));
    let info = info.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = document.members.iter().take(20).find_map(|member| {
        let message: Value = serde_json::from_slice(member).ok()?;
        let id = text(message.get("info")?, "sessionID").to_owned();
        (!id.is_empty() && id != "REDACTED").then_some(id)
    });
    Head::of(info, &id.unwrap_or_else(|| stem.into_owned()))
}

struct Messages<'a> {
    members: Vec<&'a [u8]>,
    /// Whether another one begins behind them.
    cut: bool,
}

impl Messages<'_> {
    fn value(&self, index: usize) -> Option<Value> {
        let bytes = self.members.get(index)?;
        serde_json::from_slice(bytes).or_else(|_| serde_json::from_str(&String::from_utf8_lossy(bytes))).ok()
    }
}

impl Store for Messages<'_> {
    fn len(&self) -> usize {
        self.members.len() + usize::from(self.cut)
    }

    fn message(&mut self, index: usize) -> Result<Message> {
        let Some(bytes) = self.members.get(index) else {
            let info = Item { id: String::new(), content: Content::Cut };
            return Ok(Message { info, parts: Vec::new() });
        };
        let Some(Value::Object(mut message)) = self.value(index) else {
            return Ok(Message { info: Item::of_value(None, bytes, ""), parts: Vec::new() });
        };
        let parts = match message.remove("parts") {
            Some(Value::Array(parts)) => parts,
            _ => Vec::new(),
        };
        let part = |part: Value| {
            let bytes = if part.is_object() { Vec::new() } else { part.to_string().into_bytes() };
            Item::of_value(Some(part), &bytes, "")
        };
        let info = Item::of_value(message.remove("info"), bytes, "");
        Ok(Message { info, parts: parts.into_iter().map(part).collect() })
    }

    fn is_agent(&mut self, index: usize) -> Result<bool> {
        let value = self.value(index);
        Ok(value.and_then(|value| Some(text(value.get("info")?, "role") == "assistant")).unwrap_or(false))
    }
}
