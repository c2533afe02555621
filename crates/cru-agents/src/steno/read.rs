//! Reads the files of one folder: documents to sessions, sessions to nodes, and the account of what became of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::bundle::is_open;
use super::{bundle, node};
use crate::call::open::Calls;
use crate::file::document::{self, Where, items, member, members, told};
use crate::file::value::{exact_but, filled, moment};
use crate::stream::out::remark;
use crate::stream::place::Place;
use crate::stream::teller::Teller;
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
    let mut graph = StenoGraph::default();
    let mut accounts = vec![Account::default(); bundle.files.len()];
    for (file, (path, account)) in bundle.files.iter().zip(&mut accounts).enumerate() {
        match document::read_json(bundle, path)? {
            Some(text) => graph.file(file, &text, account),
            None => account.skip("oversized file"),
        }
    }
    for session in graph.sessions {
        session.tell(&mut graph.bookmarks, &bundle.files, sink, &mut accounts);
    }
    for bookmark in graph.bookmarks {
        accounts[bookmark.file].skip("bookmark of an unknown node");
    }
    for (path, account) in bundle.files.iter().zip(accounts) {
        sink.account(path, account);
    }
    Ok(())
}

/// What the files of one folder say.
#[derive(Default)]
struct StenoGraph {
    sessions: Vec<StenoSession>,
    by_id: HashMap<String, usize>,
    bookmarks: Vec<StenoBookmark>,
}

/// A name for a node of any session: a bookmark, or a branch, whose last node it is.
struct StenoBookmark {
    file: usize,
    name: String,
    node: String,
}

#[derive(Default)]
struct StenoSession {
    id: String,
    /// What each file says of it: when it began, its branch and its folder.
    heads: Vec<(Option<Timestamp>, Option<String>, String)>,
    /// Its nodes with the file and the line of each.
    nodes: Vec<(usize, u64, Value)>,
    /// The file that it was met in first.
    file: usize,
}

impl StenoGraph {
    fn file(&mut self, file: usize, document: &str, account: &mut Account) {
        let root = members(document);
        let mut place = Where::new(document);
        // For sessions that name none.
        let project = told(&root, &["project", "cwd"]);
        let sessions = match bundle::sessions(&root) {
            Some(sessions) => sessions.iter().map(|piece| piece.text).collect(),
            None if member(&root, "nodes").is_some() => vec![document],
            None => Vec::new(),
        };
        if root.is_empty() {
            account.skip(document::BROKEN);
        }
        for session in sessions {
            self.session(file, session, project.as_deref(), &mut place, account);
        }
        if member(&root, "fileIndex").is_some() {
            account.skip("index of files: it is computed");
        }
        for (names, kind) in [("bookmarks", ""), ("branches", "branch ")] {
            let named = member(&root, names).map(|named| members(named.text)).unwrap_or_default();
            for (name, target) in named {
                let Some(value) = target.value() else {
                    account.skip(target.trouble());
                    continue;
                };
                let node = value.as_str().or_else(|| filled(&value, ["node", "nodeId", "head", "id"])).unwrap_or("");
                self.bookmarks.push(StenoBookmark { file, name: format!("{kind}{name}"), node: node.to_owned() });
            }
        }
    }

    fn session(
        &mut self,
        file: usize,
        session: &str,
        project: Option<&str>,
        place: &mut Where<'_>,
        account: &mut Account,
    ) {
        let session = members(session);
        let nodes = member(&session, "nodes").map(|nodes| items(nodes.text)).unwrap_or_default();
        let first = nodes.first().and_then(|node| told(&members(node.text), &["id"]));
        let named = told(&session, &["id", "sessionId"]).or_else(|| told(&session, &["created"]));
        let Some(id) = named.or(first) else {
            return account.skip_all(nodes.len() as u64, "session without a name");
        };
        let index = *self.by_id.entry(id.clone()).or_insert(self.sessions.len());
        if index == self.sessions.len() {
            self.sessions.push(StenoSession { id, file, ..StenoSession::default() });
        }
        let state = &mut self.sessions[index];
        let began = ["created", "started"].iter().find_map(|name| {
            let value = member(&session, name)?.value()?;
            moment(&serde_json::json!({ *name: value }), [*name])
        });
        let folder = told(&session, &["project", "cwd"]).or_else(|| project.map(str::to_owned)).unwrap_or_default();
        state.heads.push((began, told(&session, &["branch", "gitBranch"]), folder));
        for piece in &nodes {
            match piece.value().filter(Value::is_object) {
                Some(value) => state.nodes.push((file, place.line(piece.text), value)),
                None => account.skip(piece.trouble()),
            }
        }
    }
}

impl StenoSession {
    /// Tells it, and those of the bookmarks that are of its nodes.
    fn tell(
        self,
        bookmarks: &mut Vec<StenoBookmark>,
        files: &[PathBuf],
        sink: &mut dyn Sink,
        accounts: &mut [Account],
    ) {
        let key = StreamKey { session: self.id, agent: None };
        let header = Header { key, transcript: files[self.file].clone(), ..Header::default() };
        let mut teller = Teller::open(header, files, sink, accounts);
        let (mut place, mut calls) = (Place::default(), Calls::default());
        for (began, branch, folder) in self.heads {
            let mut out = teller.out(0, began);
            out.facts(branch.map(|branch| SessionFact::Branch(branch.into())));
            out.folder(&mut place, &folder);
        }
        // Record, whether it is open, and hash of each node, by id; the call that it became first.
        let mut known: HashMap<String, (u64, bool, blake3::Hash)> = HashMap::new();
        let mut named: HashMap<String, String> = HashMap::new();
        let (mut last, mut then, mut waits) = (String::new(), None, false);
        for (file, line, value) in self.nodes {
            teller.go_to_file(file);
            let (id, is_open) = (filled(&value, "id").unwrap_or(""), is_open(Path::new(&files[file])));
            let bytes = exact_but(&value, DERIVED);
            let hash = blake3::hash(&bytes);
            // Two nodes of one file under one id are both told; from another file, or word for word, it is the same one.
            if known.get(id).is_some_and(|(_, known, same)| *known != is_open || *same == hash) {
                teller.skip(DUPLICATE);
                continue;
            }
            waits |= is_open && node::is_unfinished(&value);
            if waits {
                teller.skip(UNFINISHED);
                continue;
            }
            let Some(record) = teller.take_line(Some(line), &bytes, id) else { continue };
            let call = calls.name(id, record);
            let time = moment(&value, ["timestamp", "time"]);
            let mut out = teller.out(record, time);
            let parent = filled(&value, "parent").filter(|parent| *parent != last);
            let branch = parent.and_then(|parent| known.get(parent)).map(|(record, ..)| *record);
            let gap = time.zip(then).is_some_and(|(now, then): (Timestamp, Timestamp)| {
                now.as_second().saturating_sub(then.as_second()) >= GAP
            });
            if let Some(to) = branch {
                out.quiet(EventKind::Rewind { to });
            }
            if record == 1 || gap || branch.is_some() {
                out.quiet(EventKind::Phase(node::command(&value).into()));
            }
            node::tell(&value, &call, &place, &mut out);
            then = time.or(then);
            if !id.is_empty() {
                known.insert(id.to_owned(), (record, is_open, hash));
                named.entry(id.to_owned()).or_insert(call);
                id.clone_into(&mut last);
            }
            teller.shown();
        }
        for StenoBookmark { file, name, node } in bookmarks.extract_if(.., |it| named.contains_key(&it.node)) {
            let about = named.get(&node).map(Into::into);
            let told = Remark { about, ..remark("bookmark", name, "") };
            teller.emit(teller.intake.records(), None, EventKind::Remark(told));
            teller.go_to_file(file);
            teller.shown();
        }
        teller.close();
    }
}
