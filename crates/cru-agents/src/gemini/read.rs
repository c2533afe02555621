//! Reads a file: its bytes to a list of messages, that to events, and the account of each record.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::session::{self, HOST};
use super::thread::{Entry, Thread};
use crate::file::document::{self, BROKEN, items, member, members};
use crate::file::jsonl::each_line;
use crate::file::value::{list, time, word};
use crate::record::session::RecordSession;
use crate::stream::teller::Teller;
use crate::{bundles, record};
use cru_base::{Result, files};
use cru_session::event::{EventKind, StreamKey};
use cru_session::source::{Account, Bundle, Header, Sink};

/// The list of a document's messages.
const MESSAGES: &str = "messages";

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut thread = Thread::default();
    for path in &bundle.files {
        thread.next_file();
        take_in(bundle, path, &mut thread)?;
    }
    find_agents(&mut thread, &bundle.files);
    let mut accounts = std::mem::take(&mut thread.accounts);
    let main = (0..bundle.files.len()).find(|file| !thread.agents.contains_key(file));
    for file in main.into_iter().chain(thread.agents.keys().copied()) {
        tell(&thread, file, &bundle.files, &mut accounts, sink);
    }
    for (path, account) in bundle.files.iter().zip(accounts) {
        sink.account(path, account);
    }
    Ok(())
}

/// Finds the files of sub-agents, which older versions keep beside the session's own under its id: one began while a call ran, with
/// words that the call gave. The call is told which it is.
fn find_agents(thread: &mut Thread, files: &[PathBuf]) {
    // The session's own is the first.
    for (file, path) in files.iter().enumerate().skip(1).filter(|_| thread.meta.get("kind").is_none()) {
        let first = thread.files.iter().position(|of| *of == file).map(|at| &thread.entries[at]);
        let Some(Entry::Message(first)) = first else { continue };
        let (Some(began), words) = (time(first, "timestamp"), session::words(first)) else { continue };
        let is_given = |it: &Value| it.as_str().is_some_and(|it| it.trim().contains(' ') && words.contains(it));
        let calls = thread.entries.iter_mut().zip(&thread.files).filter_map(|(entry, of)| match entry {
            Entry::Message(message) if *of != file && time(message, "timestamp").is_some_and(|at| at <= began) => {
                message.get_mut("toolCalls")?.as_array_mut()
            }
            _ => None,
        });
        let call = calls.flatten().find(|call| {
            time(call, "timestamp").is_some_and(|ended| ended >= began)
                && call["args"].as_object().is_some_and(|args| args.values().any(is_given))
        });
        if let Some(call) = call {
            call["agentId"] = json!(bundles::stem(path));
            thread.agents.insert(file, word(&call["args"], "agent_name").to_owned());
        }
    }
}

/// Takes in a file.
fn take_in(bundle: &Bundle, path: &Path, thread: &mut Thread) -> Result<()> {
    let (mut first, mut whole) = (true, false);
    each_line(bundle, path, |_, line| {
        let (value, line, ended) = match line {
            _ if whole => return,
            Err(reason) => return thread.leave(reason),
            Ok(line) => line,
        };
        whole = first && line.first() == Some(&b'{') && is_document(line, ended, value.as_ref());
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

/// Tells the session, or one of its sub-agents: what stands in that file, with a session what stands in those that are no
/// sub-agent's.
fn tell(thread: &Thread, file: usize, files: &[PathBuf], accounts: &mut [Account], sink: &mut dyn Sink) {
    let (path, agent) = (&files[file], thread.agents.get(&file));
    let mut header = header(thread, path);
    if let Some(kind) = agent {
        header = record::agent_header(path, &header.key.session, &bundles::stem(path), kind);
    }
    let is_own = |of: &usize| if agent.is_some() { *of == file } else { !thread.agents.contains_key(of) };
    let mut session = RecordSession::new(&HOST, header.key.clone(), Value::Null);
    let mut told = Teller::open(header, files, sink, accounts);
    let meta = &thread.meta;
    let root = root_beside(path);
    let named = meta.get("directories").and_then(|folders| folders.get(0)?.as_str());
    let folder = root.as_deref().or(named);
    let lasting = json!({ "session": told.own_id() });
    if let Some(record) = told.take(&lasting, "") {
        let title = meta.get("summary").and_then(Value::as_str).filter(|_| agent.is_none()).unwrap_or_default();
        let title = title.trim().trim_end_matches('.');
        session.head(&json!({ "cwd": folder, "title": title }), &mut told.out(record, None));
    }
    let is_last = |entry: &Entry| matches!(entry, Entry::Message(value) if word(value, "type") == "gemini");
    let mut entries = thread.entries.iter().zip(&thread.files);
    let last = entries.rposition(|(entry, of)| is_own(of) && is_last(entry));
    // The record that each entry ends with.
    let mut ends: Vec<u64> = Vec::with_capacity(thread.entries.len());
    for (index, (entry, file)) in thread.entries.iter().zip(&thread.files).enumerate() {
        told.go_to_file(*file);
        let end = match entry {
            _ if !is_own(file) => ends.last().copied().unwrap_or(0),
            Entry::Message(message) => {
                take(message, last.is_none_or(|last| last <= index), &mut session, &mut told);
                told.intake.records()
            }
            Entry::Rewind(to) => {
                let to = to.and_then(|to| ends.get(to)).copied().unwrap_or(0);
                if let Some(record) = told.take(&json!({ "rewind": to }), "") {
                    told.shown();
                    told.emit(record, None, EventKind::Rewind { to });
                }
                to
            }
            Entry::Broken(bytes) => {
                told.take_broken(bytes, "", "broken line");
                ends.last().copied().unwrap_or(0)
            }
        };
        ends.push(end);
    }
    told.close();
}

/// Takes in a message and its calls. `last`: nothing of the agent stands behind it.
fn take(message: &Value, last: bool, session: &mut RecordSession, told: &mut Teller<'_>) {
    let (id, at, words) = (word(message, "id"), time(message, "timestamp"), session::words(message));
    let lasting = json!({ "type": word(message, "type"), "id": id, "words": words.trim() });
    let Some(record) = told.take(&lasting, id) else { return };
    let mut out = told.out(record, at);
    let left = session::message(session, message, &words, &mut out);
    let left = out.left(left);
    told.count(left);
    let calls = if word(message, "type") == "gemini" { list(message, "toolCalls") } else { &[] };
    for call in calls.iter().filter(|call| call.is_object()) {
        told.held |= last && session::is_open(call);
        let lasting = json!([word(call, "name"), call.get("args"), word(call, "status")]);
        if told.takes_more()
            && let Some(record) = told.take(&lasting, "")
        {
            session::call(session, call, record, at, told);
        }
    }
}

/// What its stream is. A sub-agent's file lies in a folder that has its parent's id.
fn header(thread: &Thread, path: &Path) -> Header {
    let id = thread.session().map_or_else(|| bundles::stem(path), str::to_owned);
    let is_agent = thread.meta.get("kind").and_then(Value::as_str) == Some("subagent");
    match record::above(path, 1) {
        parent if is_agent && parent != id && !matches!(parent, "" | "chats") => {
            record::agent_header(path, parent, &id, "")
        }
        _ => Header { key: StreamKey { session: id, agent: None }, transcript: path.to_owned(), ..Header::default() },
    }
}

/// The folder of the project, as the host writes it beside its sessions.
fn root_beside(path: &Path) -> Option<String> {
    let chats = (1..=2).find(|level| record::above(path, *level) == "chats")?;
    let root = path.ancestors().nth(chats + 1)?.join(".project_root");
    let root = String::from_utf8(files::read_regular(&root, 4096).ok()??).ok()?;
    Some(root.trim().to_owned()).filter(|root| !root.is_empty() && !root.contains('\n'))
}
