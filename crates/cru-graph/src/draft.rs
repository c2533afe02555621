//! The graph while it is made: nodes in the order of the page, ids given once.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::file;
use super::index::{Index, World};
use super::node::{Body, Node, NodeId};
use super::segment::Break;
use super::{Edge, EdgeKind};
use cru_base::Span;
use cru_session::{Item, Session};
use cru_vault::link::number;
use cru_vault::{Catalog, Finding, Loaded, Target};

/// That a session's note names a sub-agent's session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// The session that was started.
    pub(super) child: u32,
    /// The callout, or the session whose frontmatter names it.
    pub(super) by: NodeId,
    pub(super) span: Span,
}

/// A boundary in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The phase that it stands before.
    pub phase: NodeId,
    /// The phase that was left, for a fork in another session; `None` where that is not known.
    pub previous: Option<NodeId>,
    /// What it is.
    pub is: Break,
}

/// A step's use of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access<'a> {
    pub(super) file: NodeId,
    pub(super) step: NodeId,
    pub(super) session: u32,
    pub(super) hash: Option<&'a str>,
    pub(super) write: bool,
}

/// The graph while it is made.
pub(super) struct Draft<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) sessions: &'a [Loaded],
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) edges: Vec<Edge>,
    pub(super) index: Index<'a>,
    pub(super) accesses: Vec<Access<'a>>,
    pub(super) claims: Vec<Claim>,
    /// The node that each session's frontmatter names as its parent.
    pub(super) parents: Vec<(u32, NodeId)>,
    pub(super) findings: Vec<Finding>,
    pub(super) breaks: Vec<Placed>,
    /// One past the last node that stands in a session.
    pub(super) last_in_session: u32,
    pub(super) files: HashMap<Cow<'a, str>, NodeId>,
    others: HashMap<Target, NodeId>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(catalog: &'a Catalog, sessions: &'a [Loaded]) -> Self {
        Self {
            catalog,
            sessions,
            nodes: Vec::new(),
            edges: Vec::new(),
            index: Index::new(catalog, sessions),
            accesses: Vec::new(),
            claims: Vec::new(),
            parents: Vec::new(),
            last_in_session: 0,
            findings: Vec::new(),
            breaks: Vec::new(),
            files: HashMap::new(),
            others: HashMap::new(),
        }
    }

    pub(super) fn add_session(&mut self, session: u32, loaded: &'a Loaded) {
        let root = self.add(Node {
            id: Cow::Owned(loaded.id()),
            session: Some(session),
            parent: None,
            body: Body::Session(loaded),
        });
        let content = &loaded.session;
        let mut ids = Ids::new(content);
        let mut last_step = None;
        self.add_items(root, "top", &content.preface, &mut ids, &mut last_step);
        let mut nodes: Vec<NodeId> = Vec::with_capacity(content.phases.len());
        // The newest phase below each parent, for the order on the page.
        let mut newest: HashMap<NodeId, NodeId> = HashMap::new();
        for (number, phase) in content.phases.iter().enumerate() {
            let parent = phase.parent.and_then(|parent| nodes.get(parent)).copied().unwrap_or(root);
            let id =
                ids.take(phase.id_written.then_some(&phase.id), Some(&phase.id), || format!("phase.{}", number + 1));
            let prefix = id.clone().into_owned();
            let node = self.add(Node { id, session: Some(session), parent: Some(parent), body: Body::Phase(phase) });
            nodes.push(node);
            if let Some(before) = newest.insert(parent, node) {
                self.edge(node, EdgeKind::Prev, before, None);
            }
            self.add_items(node, &prefix, &phase.items, &mut ids, &mut last_step);
        }
        let first = root.index();
        self.index.add(session, root, &self.nodes[first..]);
    }

    /// Adds what stands in a phase, and in inline sub-agents at any depth.
    fn add_items(
        &mut self,
        parent: NodeId,
        prefix: &str,
        items: &'a [Item],
        ids: &mut Ids<'a>,
        last_step: &mut Option<NodeId>,
    ) {
        struct Level<'a> {
            items: std::iter::Enumerate<std::slice::Iter<'a, Item>>,
            parent: NodeId,
            prefix: String,
            last_step: Option<NodeId>,
        }
        let session = self.nodes[parent.index()].session;
        let level = |items: &'a [Item], parent, prefix, last_step| Level {
            items: items.iter().enumerate(),
            parent,
            prefix,
            last_step,
        };
        let mut levels = vec![level(items, parent, prefix.to_owned(), *last_step)];
        let mut newest_step = *last_step;
        while let Some(top) = levels.last_mut() {
            let Some((place, item)) = top.items.next() else {
                // The outermost is popped last, so its step is the one that stays.
                newest_step = top.last_step;
                levels.pop();
                continue;
            };
            let Some(body) = body(item) else { continue };
            let id = ids.take(item.id(), None, || format!("{}.{}", top.prefix, place + 1));
            let (parent, prefix) = (top.parent, matches!(item, Item::Subagent(_)).then(|| id.clone().into_owned()));
            let node = NodeId(number(self.nodes.len()));
            if let Item::Step(_) = item
                && let Some(before) = top.last_step.replace(node)
            {
                self.edge(node, EdgeKind::Prev, before, None);
            }
            self.add(Node { id, session, parent: Some(parent), body });
            if let (Item::Subagent(subagent), Some(prefix)) = (item, prefix) {
                levels.push(level(&subagent.items, node, prefix, None));
            }
        }
        *last_step = newest_step;
    }

    fn add(&mut self, node: Node<'a>) -> NodeId {
        let id = NodeId(number(self.nodes.len()));
        if let Some(parent) = node.parent {
            self.edge(parent, EdgeKind::Contains, id, None);
        }
        self.nodes.push(node);
        id
    }

    pub(super) fn edge(&mut self, from: NodeId, kind: EdgeKind, to: NodeId, written: Option<Span>) {
        self.edges.push(Edge { from, kind, to, written });
    }

    /// The node of a file that a step of `session` names by `path`.
    pub(super) fn file(&mut self, path: &'a str, session: u32) -> NodeId {
        let project = self.sessions[session as usize].session.meta.project.as_deref().unwrap_or_default();
        let full = file::full_name(path, project);
        if let Some(&node) = self.files.get(&full) {
            return node;
        }
        let short = file::short_name(&full, project).to_owned();
        let node = self.add(Node {
            id: full.clone(),
            session: None,
            parent: None,
            body: Body::File { path: Cow::Owned(short), project },
        });
        self.files.insert(full, node);
        node
    }

    /// The node of a note that is no loaded session, or of an attachment.
    pub(super) fn other(&mut self, target: Target) -> Option<NodeId> {
        if let Some(&node) = self.others.get(&target) {
            return Some(node);
        }
        let (body, path) = match target {
            Target::Note(head) => {
                let head = self.catalog.heads.get(head as usize)?;
                (Body::Note(head), &head.path)
            }
            Target::Other(other) => {
                let path = self.catalog.others.get(other as usize)?;
                (Body::Attachment(path), path)
            }
        };
        let node = self.add(Node { id: path.text(), session: None, parent: None, body });
        self.others.insert(target, node);
        Some(node)
    }

    /// Whether a node stands in a session.
    pub(super) fn is_of(&self, node: NodeId, session: u32) -> bool {
        self.nodes[node.index()].session == Some(session)
    }

    /// `from` edges to parents, where no callout of the parent says more exactly where the session began.
    pub(super) fn add_parents(&mut self) {
        let claimed: HashSet<(u32, Option<u32>)> =
            self.claims.iter().map(|it| (it.child, self.nodes[it.by.index()].session)).collect();
        for (child, parent) in self.parents.clone() {
            let of = self.nodes[parent.index()].session;
            if let Some(&root) = self.index.sessions.get(child as usize)
                && !claimed.contains(&(child, of))
            {
                self.edge(root, EdgeKind::From, parent, None);
            }
        }
    }

    pub(super) fn world(&self) -> World<'_, 'a> {
        World { catalog: self.catalog, sessions: self.sessions, nodes: &self.nodes }
    }
}

/// What an item is as a node; prose only where something can point at it.
fn body(item: &Item) -> Option<Body<'_>> {
    Some(match item {
        Item::Step(it) => Body::Step(it),
        Item::Decision(it) => Body::Decision(it),
        Item::Error(it) => Body::Error(it),
        Item::User(it) => Body::User(it),
        Item::Subagent(it) => Body::Subagent(it),
        Item::Callout(it) => Body::Callout(it),
        Item::Prose(it) if it.id.is_some() => Body::Prose(it),
        Item::Prose(_) | Item::Tasks(_) => return None,
    })
}

/// The ids of one session: each is given once.
struct Ids<'a> {
    written: HashSet<&'a str>,
    given: HashSet<Cow<'a, str>>,
}

impl<'a> Ids<'a> {
    fn new(session: &'a Session) -> Self {
        let phases = session.phases.iter().filter(|phase| phase.id_written).map(|phase| phase.id.as_str());
        let items = session.items().filter_map(|(_, item)| item.id());
        Self { written: phases.chain(items).collect(), given: HashSet::new() }
    }

    /// The written id, else a wished one that no block carries, else a made one; made ones hold a dot, which block ids
    /// cannot.
    fn take(&mut self, written: Option<&'a str>, wished: Option<&'a str>, made: impl Fn() -> String) -> Cow<'a, str> {
        let wished = wished.filter(|id| !id.is_empty() && !self.written.contains(id));
        for id in [written, wished].into_iter().flatten() {
            if self.given.insert(Cow::Borrowed(id)) {
                return Cow::Borrowed(id);
            }
        }
        Cow::Owned(made())
    }
}
