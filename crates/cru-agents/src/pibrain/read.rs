//! Reads the files of a bundle: documents to nodes, nodes to sessions, and the account of what became of each.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use super::bundle::parts;
use super::bundle::{id_in, session};
use super::node::{self, field};
use super::totals::Totals;
use super::version;
use crate::file::document::{self, BROKEN, Where};
use crate::file::value::{exact_but, filled, number};
use crate::stream::place::Place;
use crate::stream::teller::Teller;
use cru_base::Result;
use cru_session::event::{EventKind, StreamKey};
use cru_session::source::{Account, Bundle, Header, Sink};

/// The same version of the same node stands in another file.
const COPY: &str = "copy of a node";

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut accounts = vec![Account::default(); bundle.files.len()];
    let mut sessions: BTreeMap<String, Vec<PiBrainNode>> = BTreeMap::new();
    let mut edges: Vec<(usize, Value)> = Vec::new();
    for (file, path) in bundle.files.iter().enumerate() {
        let account = &mut accounts[file];
        match document::read_json(bundle, path)? {
            None => account.skip("oversized file"),
            Some(document) => {
                let (nodes, joined) = parts(&document);
                if nodes.is_empty() && joined.is_empty() {
                    account.skip(BROKEN);
                }
                let mut place = Where::new(&document);
                for piece in nodes {
                    match piece.value().filter(Value::is_object) {
                        Some(value) => {
                            let node = PiBrainNode::of(value, file, place.line(piece.text));
                            sessions.entry(session(&piece)).or_default().push(node);
                        }
                        None => account.skip(piece.trouble()),
                    }
                }
                for piece in joined {
                    match piece.value().filter(Value::is_object) {
                        Some(value) => edges.push((file, value)),
                        None => account.skip(piece.trouble()),
                    }
                }
            }
        }
    }
    let mut related = related(edges, &sessions, &mut accounts);
    for (key, nodes) in sessions {
        tell(key, nodes, &mut related, &bundle.files, &mut accounts, sink);
    }
    for (path, account) in bundle.files.iter().zip(accounts) {
        sink.account(path, account);
    }
    Ok(())
}

/// A node on its way.
struct PiBrainNode {
    id: String,
    version: u64,
    began: Option<Timestamp>,
    file: usize,
    line: u64,
    value: Value,
}

impl PiBrainNode {
    fn of(value: Value, file: usize, line: u64) -> Self {
        let id = filled(&value, "id").unwrap_or("").trim().to_owned();
        Self { id, version: number(&value, "version").unwrap_or(1), began: node::began(&value), file, line, value }
    }
}

/// The edges that somebody drew, by the node they start from. Those that follow from the sessions are computed.
fn related(
    edges: Vec<(usize, Value)>,
    sessions: &BTreeMap<String, Vec<PiBrainNode>>,
    accounts: &mut [Account],
) -> HashMap<String, Vec<(String, String, String)>> {
    const STRUCTURAL: &[&str] = &["fork", "branch", "tree_jump", "resume", "compaction", "continuation"];
    let known: HashSet<&str> = sessions.values().flatten().map(|node| node.id.as_str()).collect();
    let mut related: HashMap<String, Vec<(String, String, String)>> = HashMap::new();
    for (file, edge) in edges {
        let account = &mut accounts[file];
        let end = |name: &str| filled(&edge, name).unwrap_or("").trim().to_owned();
        let (from, to, kind) = (end("sourceNodeId"), end("targetNodeId"), end("type"));
        if STRUCTURAL.contains(&kind.as_str()) || filled(&edge, "createdBy") == Some("boundary") {
            account.skip("structural edge: it is computed");
        } else if !known.contains(from.as_str()) || to.is_empty() {
            account.skip("edge of an unknown node");
        } else {
            let metadata = &edge["metadata"];
            let mut why: Vec<String> = filled(metadata, "summary").map(str::to_owned).into_iter().collect();
            why.extend(metadata.get("similarity").and_then(Value::as_f64).map(|alike| format!("similarity {alike}")));
            why.extend(filled(metadata, "lessonId").map(|id| format!("lesson {id}")));
            why.extend(filled(metadata, "patternId").map(|id| format!("pattern {id}")));
            why.extend(filled(&edge, "createdBy").map(|by| format!("by {by}")));
            related.entry(from).or_default().push((kind, to, why.join(", ")));
            account.represent();
        }
    }
    related
}

/// Tells one session.
fn tell(
    key: String,
    mut nodes: Vec<PiBrainNode>,
    related: &mut HashMap<String, Vec<(String, String, String)>>,
    files: &[PathBuf],
    accounts: &mut [Account],
    sink: &mut dyn Sink,
) {
    if key.is_empty() {
        for node in &nodes {
            accounts[node.file].skip("node without a name");
        }
        return;
    }
    nodes.sort_by(|a, b| (&a.id, b.version, a.file).cmp(&(&b.id, a.version, b.file)));
    // The newest reading of a segment counts; the earlier ones are kept behind it.
    let mut earlier: HashMap<String, Vec<PiBrainNode>> = HashMap::new();
    let mut newest: Vec<PiBrainNode> = Vec::new();
    for node in nodes {
        match newest.last() {
            Some(known) if !node.id.is_empty() && known.id == node.id => {
                let older = earlier.entry(node.id.clone()).or_default();
                if older.last().map_or(known.version, |known| known.version) == node.version {
                    accounts[node.file].skip(COPY);
                } else {
                    older.push(node);
                }
            }
            _ => newest.push(node),
        }
    }
    let mut nodes = newest;
    let seen: HashSet<String> = nodes.iter().map(|node| node.id.clone()).collect();
    nodes.sort_by(|a, b| (a.began.is_none(), a.began, &a.id).cmp(&(b.began.is_none(), b.began, &b.id)));
    let Some(first) = nodes.first() else { return };
    let from = |name: &str| nodes.iter().find_map(|node| filled(node.value.get("source")?, name));
    let parent = from("parentSession").map(|path| StreamKey { session: id_in(path).to_owned(), agent: None });
    let key = StreamKey { session: key, agent: None };
    let file = from("sessionFile").map_or_else(|| files[first.file].clone(), PathBuf::from);
    let parent = parent.filter(|parent| *parent != key);
    let mut teller = Teller::open(Header { parent, transcript: file, key, ..Header::default() }, files, sink, accounts);
    let (mut place, mut totals) = (Place::default(), Totals::default());
    let mut latest = None;
    for PiBrainNode { id, began, file, line, value, .. } in &nodes {
        teller.go_to_file(*file);
        let older = earlier.remove(id).unwrap_or_default();
        let Some(number) = teller.take_line(Some(*line), &exact_but(value, &[]), id) else {
            for node in &older {
                teller.go_to_file(node.file);
                teller.later();
            }
            continue;
        };
        let mut out = teller.out(number, *began);
        out.folder(&mut place, field(value, "classification", "project").and_then(Value::as_str).unwrap_or(""));
        node::tell(value, Some(id.as_str()).filter(|id| !id.is_empty()), &place, &mut out);
        totals.add(value, number, &place, &mut out);
        if let Some(edges) = related.remove(id) {
            let row = |(kind, to, why): &(String, String, String)| {
                let to =
                    if seen.contains(to) { format!("[[#^s-{to}]]") } else { format!("`{}`", to.replace('`', "'")) };
                if why.is_empty() { format!("- {kind} {to}") } else { format!("- {kind} {to} ({why})") }
            };
            let rows: Vec<String> = edges.iter().map(row).collect();
            out.emit(EventKind::Reply(rows.join("\n").into()));
        }
        latest = latest.max(node::ended(value)).max(*began);
        teller.shown();
        let mut next = value;
        for node in &older {
            version::tell(&node.value, next, id, &mut teller.out(number, *began));
            teller.go_to_file(node.file);
            teller.shown();
            next = &node.value;
        }
    }
    totals.close(&mut teller.out(teller.intake.records(), latest));
    teller.close();
}
