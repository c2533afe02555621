//! Reads a file: its bytes to a list of messages, that to events, and the account of each record.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::session::GeminiSession;
use super::thread::{Entry, Thread};
use crate::file::document::{self, BROKEN, items, member, members};
use crate::file::jsonl::each_line;
use crate::file::value::{self, list, text};
use crate::stream::teller::Teller;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Header, Sink};

/// The list of a document's messages.
const MESSAGES: &str = "messages";

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut thread = Thread::default();
    for path in &bundle.files {
        thread.next_file();
        take_in(bundle, path, &mut thread)?;
    }
    if let Some(first) = bundle.files.first() {
        tell(thread, first, &bundle.files, sink);
    }
    Ok(())
}

/// Takes in a file.
fn take_in(bundle: &Bundle, path: &Path, thread: &mut Thread) -> Result<()> {
    let (mut first, mut whole) = (true, false);
    each_line(bundle, path, |_, line| {
        let (line, ended) = match line {
            _ if whole => return,
            Err(reason) => return thread.leave(reason),
            Ok(line) => line,
        };
        let value = value::read(line).filter(Value::is_object);
        whole = first && line[0] == b'{' && is_document(line, ended, value.as_ref());
        first = false;
        match value {
            _ if whole => {}
            Some(value) => thread.line(value),
            None if !ended => thread.leave("partial last line"),
            None => thread.broken(line),
        }
    })?;
    if whole { document(bundle, path, thread) } else { Ok(()) }
}

/// Whether the first line begins a document: one that does not end in it, or that holds all its messages there.
fn is_document(line: &[u8], ended: bool, value: Option<&Value>) -> bool {
    match value {
        Some(value) => value.get("messages").is_some_and(Value::is_array),
        None => line == b"{" || !ended || memchr::memmem::find(line, b"\"messages\"").is_some(),
    }
}

fn document(bundle: &Bundle, path: &Path, thread: &mut Thread) -> Result<()> {
    let Some(text) = document::read_json(bundle, path)? else {
        thread.leave("oversized file");
        return Ok(());
    };
    let members = members(&text);
    let fields = members.iter().filter(|(name, _)| name != MESSAGES);
    thread.head(fields.filter_map(|(name, piece)| Some((name.to_string(), piece.value()?))).collect());
    for piece in member(&members, MESSAGES).map(|piece| items(piece.text)).unwrap_or_default() {
        match piece.value() {
            Some(value) if value.is_object() => thread.message(value, true),
            _ if piece.trouble() == BROKEN => thread.broken(piece.text.as_bytes()),
            _ => thread.leave(piece.trouble()),
        }
    }
    Ok(())
}

/// Tells a session; `path` is the first of its `files`.
fn tell(mut thread: Thread, path: &Path, files: &[PathBuf], sink: &mut dyn Sink) {
    let mut accounts = std::mem::take(&mut thread.accounts);
    let key = key(&thread, path);
    let header = Header {
        parent: key.agent.as_ref().map(|_| StreamKey { session: key.session.clone(), agent: None }),
        transcript: path.to_owned(),
        agent: key.agent.as_ref().map(|_| "agent".to_owned()),
        key,
        ..Header::default()
    };
    let mut session = GeminiSession { told: Teller::open(header, files, sink, &mut accounts) };
    let said = |name: &str| thread.meta.get(name).and_then(Value::as_str).filter(|said| !said.trim().is_empty());
    let meta = Value::Object(thread.meta.clone());
    let root = root_beside(path);
    let directory = root.as_deref().or_else(|| list(&meta, "directories").first().and_then(Value::as_str));
    session.begin(said("summary"), directory);
    let last = thread
        .entries
        .iter()
        .rposition(|entry| matches!(entry, Entry::Message(value) if text(value, "type") == "gemini"));
    // The record that each entry ends with.
    let mut ends: Vec<u64> = Vec::with_capacity(thread.entries.len());
    for (index, (entry, file)) in thread.entries.iter().zip(&thread.files).enumerate() {
        session.told.go_to_file(*file);
        let end = match entry {
            Entry::Message(message) => session.message(message, last.is_none_or(|last| last <= index)),
            Entry::Rewind(to) => {
                let to = to.and_then(|to| ends.get(to)).copied().unwrap_or(0);
                session.rewind(to);
                to
            }
            Entry::Broken(bytes) => {
                session.told.take_broken(bytes, "", "broken line");
                ends.last().copied().unwrap_or(0)
            }
        };
        ends.push(end);
    }
    session.told.close();
    for (path, account) in files.iter().zip(accounts) {
        sink.account(path, account);
    }
}

/// Its identity. A sub-agent's file lies in a folder that has its parent's id.
fn key(thread: &Thread, path: &Path) -> StreamKey {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let id = thread.session().map_or(stem, str::to_owned);
    let is_agent = thread.meta.get("kind").and_then(Value::as_str) == Some("subagent");
    let parent = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    match parent.filter(|parent| is_agent && *parent != id && parent != "chats") {
        Some(parent) => StreamKey { session: parent, agent: Some(id) },
        None => StreamKey { session: id, agent: None },
    }
}

/// The folder of the project, as the host writes it beside its sessions.
fn root_beside(path: &Path) -> Option<String> {
    const MOST: u64 = 4096;
    let chats =
        path.ancestors().skip(1).take(2).find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?;
    let mut root = String::new();
    let file = cru_base::files::open_regular(&chats.parent()?.join(".project_root")).ok()?;
    file.take(MOST).read_to_string(&mut root).ok()?;
    Some(root.trim().to_owned()).filter(|root| !root.is_empty() && !root.contains('\n'))
}
