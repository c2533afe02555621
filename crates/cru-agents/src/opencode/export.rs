//! What `opencode export` writes: one document with a session and all its messages.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use super::kept::{BROKEN, OpenCodeMessage};
use super::newer;
use super::session::{header, session_of, tell};
use crate::file::document::{self, OVERSIZED, PARTIAL, Piece, items, member, members};
use crate::file::tables::StoredSession;
use crate::file::value::word;
use cru_base::Result;
use cru_session::source::{Account, Bundle, Sink};

/// Bytes that a message is known by which is too long to be held.
const KNOWN_BY: usize = 64 << 10;

/// Reads an export.
pub(super) fn read(bundle: &Bundle, path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let mut account = Account::default();
    let Some(export) = document::read_json(bundle, path)? else {
        account.skip("oversized file");
        sink.account(path, account);
        return Ok(());
    };
    let document = members(&export);
    let session = session(&document, path);
    let whole = messages(&document).into_iter().filter(|piece| piece.whole).map(Some);
    // Another one begins behind them.
    let cut = member(&document, "messages").is_some_and(|list| !list.whole).then_some(None);
    let messages: Vec<Option<Piece<'_>>> = whole.chain(cut).collect();
    let is_agent = |piece: &Option<Piece<'_>>| {
        let value = piece.and_then(|piece| piece.value()).unwrap_or_default();
        let said = value.get("info").map_or_else(|| word(&value, "type"), |info| word(info, "role"));
        Ok(said == "assistant")
    };
    tell(&session, header(&session, path, None), &messages, is_agent, |piece| Ok(message(*piece)), sink, &mut account)?;
    sink.account(path, account);
    Ok(())
}

/// What the beginning of a document says of its session.
pub(super) fn session(document: &[(Cow<'_, str>, Piece<'_>)], path: &Path) -> StoredSession {
    let info = member(document, "info").and_then(Piece::value).unwrap_or(Value::Null);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = messages(document).iter().take(20).find_map(|message| {
        let message = message.value()?;
        let id = word(message.get("info")?, "sessionID").to_owned();
        (!id.is_empty() && id != "REDACTED").then_some(id)
    });
    session_of(info, &id.unwrap_or_else(|| stem.into_owned()))
}

/// The messages of a document.
pub(super) fn messages<'a>(document: &[(Cow<'a, str>, Piece<'a>)]) -> Vec<Piece<'a>> {
    member(document, "messages").map(|piece| items(piece.text)).unwrap_or_default()
}

/// One of them; the beginning of one where the document ends in it.
fn message(piece: Option<Piece<'_>>) -> OpenCodeMessage {
    let broken =
        |bytes: &[u8], why| OpenCodeMessage { info: Err((bytes.to_vec(), String::new(), why)), parts: Vec::new() };
    let Some(piece) = piece else { return broken(&[], PARTIAL) };
    let bytes = piece.text.as_bytes();
    if piece.trouble() == OVERSIZED {
        return broken(bytes.get(..KNOWN_BY).unwrap_or(bytes), OVERSIZED);
    }
    let Some(Value::Object(mut message)) = piece.value() else { return broken(bytes, BROKEN) };
    // As version 2 writes messages.
    if !message.contains_key("info") && message.get("type").is_some_and(Value::is_string) {
        return newer::message("", "", None, bytes);
    }
    let parts = match message.remove("parts") {
        Some(Value::Array(parts)) => parts,
        _ => Vec::new(),
    };
    let of =
        |value: Option<Value>, bytes: Vec<u8>| value.filter(Value::is_object).ok_or((bytes, String::new(), BROKEN));
    let part = |part: Value| {
        let bytes = if part.is_object() { Vec::new() } else { part.to_string().into_bytes() };
        of(Some(part), bytes)
    };
    let info = of(message.remove("info"), bytes.to_vec());
    OpenCodeMessage { info, parts: parts.into_iter().map(part).collect() }
}
