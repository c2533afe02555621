//! From the sessions of a vault to their graph.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::boundary;
use super::component::{self, Components};
use super::draft::{Draft, Placed};
use super::edge::Edges;
use super::index::{Found, Index, World};
use super::node::{Body, Node, NodeId};
use super::{Edge, EdgeKind, check, flow, relation};
use cru_session::Link;
use cru_vault::link::number;
use cru_vault::{Catalog, Finding, Loaded, Relation};

/// The graph of a vault's sessions. Borrows them: it holds numbers and references, no text of its own but ids.
#[derive(Debug)]
pub struct Graph<'a> {
    catalog: &'a Catalog,
    sessions: &'a [Loaded],
    keys: Vec<String>,
    by_key: HashMap<String, u32>,
    nodes: Vec<Node<'a>>,
    edges: Edges,
    index: Index<'a>,
    files: HashMap<Cow<'a, str>, NodeId>,
    dependencies: Components,
    /// Sessions that another one names as its sub-agent's.
    subagents: HashSet<u32>,
    /// In the order of their phases.
    breaks: Vec<Placed>,
    findings: Vec<Finding>,
}

impl<'a> Graph<'a> {
    /// Builds it. `sessions` are in the order of their paths, as the vault loads them; links to notes that are not among
    /// them lead to the note as a whole. Linear in what the notes hold.
    pub fn of(catalog: &'a Catalog, sessions: &'a [Loaded]) -> Self {
        let mut draft = Draft::new(catalog, sessions);
        for (number, loaded) in (0_u32..).zip(sessions) {
            draft.add_session(number, loaded);
        }
        draft.last_in_session = number(draft.nodes.len());
        for session in 0..number(sessions.len()) {
            relation::add(&mut draft, session);
        }
        draft.add_parents();
        boundary::add(&mut draft);
        let accesses = std::mem::take(&mut draft.accesses);
        draft.edges.extend(flow::edges(&accesses, &draft.nodes, sessions));
        let Draft { nodes, edges, index, files, mut findings, claims, parents, breaks, .. } = draft;
        let edges = Edges::new(edges, nodes.len());
        let next = |node: u32| {
            let edges = edges.out(NodeId(node)).iter();
            edges.filter(|edge| edge.kind.is_dependency()).map(|edge| edge.to.0)
        };
        let dependencies = component::components(nodes.len(), next);
        let cycles = component::cycles(&dependencies, next);
        let keys = session_keys(sessions);
        let by_key = keys.iter().cloned().zip(0..).collect();
        let subagents = claims.iter().map(|claim| claim.child).collect();
        let mut graph = Self {
            subagents,
            catalog,
            sessions,
            keys,
            by_key,
            nodes,
            edges,
            index,
            files,
            dependencies,
            breaks,
            findings: Vec::new(),
        };
        check::duplicate_ids(sessions, &mut findings);
        check::parents(&graph, &claims, &parents, &mut findings);
        check::dependency_cycles(&graph, &cycles, &mut findings);
        check::embed_cycles(&graph, &mut findings);
        findings.sort_by(|a, b| {
            (&a.path, a.diagnostic.span, a.diagnostic.code).cmp(&(&b.path, b.diagnostic.span, b.diagnostic.code))
        });
        graph.findings = findings;
        graph
    }

    /// The catalogue it was built with.
    pub fn catalog(&self) -> &'a Catalog {
        self.catalog
    }

    /// The sessions it was built of.
    pub fn sessions(&self) -> &'a [Loaded] {
        self.sessions
    }

    /// All nodes: each session with all it contains in the order of the page, then files, then other notes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node<'a>)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node of this graph.
    pub fn node(&self, id: NodeId) -> &Node<'a> {
        &self.nodes[id.index()]
    }

    /// All edges, sorted by start, kind and end.
    pub fn edges(&self) -> &[Edge] {
        self.edges.all()
    }

    /// The edges that start at a node, sorted by kind and end.
    pub fn out(&self, node: NodeId) -> &[Edge] {
        self.edges.out(node)
    }

    /// The edges that end at a node, sorted by start.
    pub fn incoming(&self, node: NodeId) -> impl Iterator<Item = &Edge> {
        self.edges.incoming(node)
    }

    /// What the link of one node to another says of itself, where it leads a list item: `- extends [[b#^d-01]] (why)`.
    pub fn relation(&self, from: NodeId, to: NodeId) -> Option<&'a Relation> {
        let is_link = |edge: &&Edge| edge.kind == EdgeKind::LinksTo && edge.to == to;
        let written = self.out(from).iter().find(is_link)?.written?;
        let session = self.nodes.get(from.index())?.session?;
        self.sessions.get(session as usize)?.outline.relations.get(&written.start)
    }

    /// Where the edges of one kind lead.
    pub fn targets(&self, node: NodeId, kind: EdgeKind) -> impl Iterator<Item = NodeId> {
        self.out(node).iter().filter(move |edge| edge.kind == kind).map(|edge| edge.to)
    }

    /// Where the edges of one kind come from.
    pub fn sources(&self, node: NodeId, kind: EdgeKind) -> impl Iterator<Item = NodeId> {
        self.incoming(node).filter(move |edge| edge.kind == kind).map(|edge| edge.from)
    }

    /// The node of a session, by its place in [`Graph::sessions`].
    pub fn session(&self, number: u32) -> Option<NodeId> {
        self.index.sessions.get(number as usize).copied()
    }

    /// Whether another session names this one as its sub-agent's.
    pub fn is_subagent(&self, session: u32) -> bool {
        self.subagents.contains(&session)
    }

    /// The phases of a session and their sub-phases, in the order of the page.
    pub fn phases(&self, session: NodeId) -> impl Iterator<Item = NodeId> {
        let own = self.node(session).session;
        let nodes = (session.0..).map(NodeId).take_while(move |id| {
            self.nodes.get(id.index()).is_some_and(|node| node.session.is_some() && node.session == own)
        });
        nodes.filter(|id| matches!(self.node(*id).body, Body::Phase(_)))
    }

    /// Where sessions broke, in the order of the phases behind.
    pub fn breaks(&self) -> &[Placed] {
        &self.breaks
    }

    /// The boundary before a phase.
    pub fn break_before(&self, phase: NodeId) -> Option<&Placed> {
        self.breaks.binary_search_by_key(&phase, |it| it.phase).ok().map(|at| &self.breaks[at])
    }
    /// A node's name in the whole vault: `2026-11-20-refresh-tokens#n-014`; a session's own id; `file:` and a path; a
    /// note's path.
    pub fn key(&self, id: NodeId) -> String {
        let node = self.node(id);
        let session = node.session.and_then(|session| self.keys.get(session as usize));
        match (&node.body, session) {
            (Body::Session(_), Some(key)) => key.clone(),
            (_, Some(key)) => format!("{key}#{}", node.id),
            (Body::File { .. }, None) => format!("file:{}", node.id),
            (_, None) => node.id.clone().into_owned(),
        }
    }

    /// The node of a key; also `session#^n-014`, `session:n-014` and `n_014` for `n-014`.
    pub fn find(&self, key: &str) -> Option<NodeId> {
        if let Some(path) = key.strip_prefix("file:") {
            return self.files.get(path).copied();
        }
        let (session, id) = match key.split_once('#').or_else(|| key.split_once(':')) {
            Some((session, id)) => (session, Some(id)),
            None => (key, None),
        };
        let number = *self.by_key.get(session)?;
        match id {
            None => self.session(number),
            Some(id) => self.index.by_id(number, id),
        }
    }

    /// The innermost node that a place in a session's note stands in.
    pub fn at(&self, session: u32, offset: usize) -> Option<NodeId> {
        self.session(session).map(|_| self.index.at(session, offset, &self.nodes))
    }

    /// The node that a link of a session leads to, if it leads to one of a session.
    pub fn follow(&self, session: u32, link: &Link) -> Option<NodeId> {
        self.session(session)?;
        let world = World { catalog: self.catalog, sessions: self.sessions, nodes: &self.nodes };
        match self.index.follow(session, link, &world) {
            Found::Node(node) => Some(node),
            _ => None,
        }
    }

    /// What is odd: cycles, links that lead nowhere, ids used twice; sorted by place.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub(super) fn dependencies(&self) -> &Components {
        &self.dependencies
    }
}

/// The names of sessions in keys: the id; the path where an id was taken before.
fn session_keys(sessions: &[Loaded]) -> Vec<String> {
    let mut taken = HashSet::new();
    let key = |loaded: &Loaded| {
        let id = loaded.id();
        if taken.insert(id.clone()) { id } else { loaded.path.to_string() }
    };
    sessions.iter().map(key).collect()
}
