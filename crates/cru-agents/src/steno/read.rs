//! Reads the files of one folder: documents to sessions, sessions to nodes, and the account of what became of each.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

use super::bundle::is_open;
use super::{node, recognise};
use crate::call::open::Calls;
use crate::file::document::{self, Piece, Where, canonical, items, member, members, moment, text, told};
use crate::stream::intake::{Intake, LATER};
use crate::stream::out::{Out, remark};
use crate::stream::place::Place;
use cru_base::Result;
use cru_session::event::{EventKind, Remark, SessionFact, StreamKey};
use cru_session::source::{Account, Bundle, Header, Sink};

/// Told by an earlier node.
const DUPLICATE: &str = "duplicate node";

/// A node of the open session that is still worked on: a later reading takes it, and what comes after it.
const UNFINISHED: &str = "not finished yet";

/// A pause between two nodes that starts a phase, in seconds.
const GAP: i64 = 600;

/// What a node changes after it was run: which others came to depend on it.
const DERIVED: &[&str] = &["children"];

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut reader =
        StenoReader { sink, sessions: Vec::new(), by_id: HashMap::new(), nodes: HashMap::new(), project: None };
    for path in &bundle.files {
        let mut account = Account::default();
        match document::read_json(bundle, path)? {
            Some(text) => reader.file(path, &text, &mut account),
            None => account.skip("oversized file"),
        }
        reader.sink.account(path, account);
    }
    for session in &reader.sessions {
        reader.sink.close(&session.key, session.intake.consumed(false));
    }
    Ok(())
}

struct StenoReader<'s> {
    sink: &'s mut dyn Sink,
    sessions: Vec<StenoSession>,
    by_id: HashMap<String, usize>,
    /// The session of each node and the call that it became, by the id that is unique in the graph.
    nodes: HashMap<String, (usize, String)>,
    /// The folder of the graph that is read, for sessions that name none.
    project: Option<String>,
}

/// One session while it is read.
struct StenoSession {
    key: Rc<StreamKey>,
    place: Place,
    calls: Calls,
    intake: Intake,
    /// Record, file and hash of each node, by id.
    known: HashMap<String, (u64, usize, blake3::Hash)>,
    last: Option<String>,
    time: Option<Timestamp>,
    /// Whether a node was met that is still worked on.
    waits: bool,
}

impl StenoReader<'_> {
    fn file(&mut self, path: &Path, document: &str, account: &mut Account) {
        let root = members(document);
        let mut place = Where::new(document);
        self.project = told(&root, &["project", "cwd"]);
        match recognise::sessions(&root) {
            Some(sessions) => sessions.iter().for_each(|piece| self.session(path, piece.text, &mut place, account)),
            None if member(&root, "nodes").is_some() => self.session(path, document, &mut place, account),
            None if root.is_empty() => account.skip(document::BROKEN),
            None => {}
        }
        if member(&root, "fileIndex").is_some() {
            account.skip("index of files: it is computed");
        }
        for (names, kind) in [("bookmarks", ""), ("branches", "branch ")] {
            let named = member(&root, names).map(|named| members(named.text)).unwrap_or_default();
            for (name, target) in named {
                self.bookmark(&format!("{kind}{name}"), target, account);
            }
        }
    }

    fn session(&mut self, path: &Path, session: &str, place: &mut Where<'_>, account: &mut Account) {
        let session = members(session);
        let head: Value = session
            .iter()
            .filter(|(name, _)| matches!(name.as_ref(), "created" | "started"))
            .filter_map(|(name, piece)| Some((name.to_string(), piece.value()?)))
            .collect();
        let nodes = member(&session, "nodes").map(|nodes| items(nodes.text)).unwrap_or_default();
        let first = nodes.first().and_then(|node| told(&members(node.text), &["id"]));
        let named = told(&session, &["id", "sessionId"]).or_else(|| told(&session, &["created"]));
        let Some(id) = named.or(first) else {
            for _ in &nodes {
                account.skip("session without a name");
            }
            return;
        };
        let index = self.open(path, id);
        let state = &mut self.sessions[index];
        let started = moment(&head, &["created", "started"]);
        let mut out = Out::new(&mut *self.sink, Rc::clone(&state.key), 0, started);
        let project = told(&session, &["project", "cwd"]).or_else(|| self.project.clone()).unwrap_or_default();
        if let Some(branch) = told(&session, &["branch", "gitBranch"]) {
            out.quiet(EventKind::Meta(SessionFact::Branch(branch.into())));
        }
        if state.place.see(&project) {
            out.quiet(EventKind::Meta(SessionFact::Cwd(state.place.tilde(&project))));
        }
        let is_open = is_open(path);
        for piece in &nodes {
            self.sink.line(path, place.line(piece.text));
            self.node(index, piece, is_open, account);
        }
    }

    fn open(&mut self, path: &Path, id: String) -> usize {
        if let Some(&index) = self.by_id.get(&id) {
            return index;
        }
        let key = StreamKey { session: id.clone(), agent: None };
        self.sink.open(Header { key: key.clone(), transcript: path.to_owned(), ..Header::default() });
        let intake = Intake::new(self.sink.bounds(&key));
        self.sessions.push(StenoSession {
            key: Rc::new(key),
            place: Place::default(),
            calls: Calls::default(),
            intake,
            known: HashMap::new(),
            last: None,
            time: None,
            waits: false,
        });
        self.by_id.insert(id, self.sessions.len() - 1);
        self.sessions.len() - 1
    }

    fn node(&mut self, index: usize, piece: &Piece<'_>, is_open: bool, account: &mut Account) {
        let Some(value) = piece.value().filter(Value::is_object) else { return account.skip(piece.trouble()) };
        let state = &mut self.sessions[index];
        let id = text(&value, &["id"]).unwrap_or("").to_owned();
        let bytes = canonical(&value, DERIVED);
        let hash = blake3::hash(&bytes);
        let file = usize::from(is_open);
        // Two nodes of one file under one id are both told; from another file, or word for word, it is the same one.
        if state.known.get(&id).is_some_and(|(_, known, same)| !id.is_empty() && (*known != file || *same == hash)) {
            return account.skip(DUPLICATE);
        }
        state.waits |= is_open && node::is_unfinished(&value);
        if state.waits {
            return account.skip(UNFINISHED);
        }
        if state.intake.is_full() {
            return account.skip(LATER);
        }
        let record = state.intake.consume(&bytes, &id, false);
        let call = state.calls.name(&id, record);
        let time = moment(&value, &["timestamp", "time"]);
        let mut out = Out::new(&mut *self.sink, Rc::clone(&state.key), record, time);
        let parent = text(&value, &["parent"]).filter(|parent| state.last.as_deref() != Some(parent));
        let branch = parent.and_then(|parent| state.known.get(parent)).map(|(record, ..)| *record);
        let gap =
            time.zip(state.time).is_some_and(|(now, then)| now.as_second().saturating_sub(then.as_second()) >= GAP);
        if let Some(to) = branch {
            out.quiet(EventKind::Rewind { to });
        }
        if record == 1 || gap || branch.is_some() {
            out.quiet(EventKind::Phase(node::command(&value).into()));
        }
        node::tell(&value, &call, &state.place, &mut out);
        state.time = time.or(state.time);
        if !id.is_empty() {
            state.known.insert(id.clone(), (record, file, hash));
            self.nodes.entry(id.clone()).or_insert((index, call));
            state.last = Some(id);
        }
        account.represent_of(&state.key);
    }

    /// A name for a node of any session: a bookmark, or a branch, whose last node it is.
    fn bookmark(&mut self, name: &str, target: Piece<'_>, account: &mut Account) {
        let Some(target) = target.value() else { return account.skip(target.trouble()) };
        let node = target.as_str().or_else(|| text(&target, &["node", "nodeId", "head", "id"])).unwrap_or("");
        let Some((index, call)) = self.nodes.get(node) else { return account.skip("bookmark of an unknown node") };
        let state = &self.sessions[*index];
        let record = state.intake.records();
        let mut out = Out::new(&mut *self.sink, Rc::clone(&state.key), record, None);
        let about = Some(call.clone().into());
        out.emit(EventKind::Remark(Remark { about, ..remark("bookmark", name.to_owned(), "") }));
        account.represent();
    }
}
