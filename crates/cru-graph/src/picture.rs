//! The part of a graph that an export shows, at the depth that was asked for.
//!
//! What is not shown itself is stood for by what contains it: when phases are the smallest thing shown, a dependency
//! between steps is one between their phases. Files are shown where they tell something: all of them for the steps of
//! one session, elsewhere those that several sessions touched.

use std::collections::{HashMap, HashSet};

use super::{Body, EdgeKind, Graph, NodeId, NodeKind};
use cru_vault::Relation;

cru_base::words! {
    /// The smallest thing that is shown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Depth {
        /// Sessions.
        Session = "session",
        /// Phases.
        Phase = "phase",
        /// Steps, decisions, errors and all else.
        Step = "step",
    }
}

/// An edge as shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Where it starts.
    pub from: NodeId,
    /// What it says.
    pub kind: EdgeKind,
    /// Where it ends.
    pub to: NodeId,
    /// Whether a note says it; else it was computed.
    pub written: bool,
    /// How many edges it stands for.
    pub count: u32,
}

/// What is shown.
#[derive(Debug)]
pub struct Picture<'g, 'a> {
    /// The whole.
    pub graph: &'g Graph<'a>,
    /// The session it is about; `None` for the whole vault.
    pub focus: Option<u32>,
    /// The smallest thing shown.
    pub depth: Depth,
    /// In the order of the graph.
    pub nodes: Vec<NodeId>,
    /// Without `contains`, which is [`Picture::parent`]; sorted.
    pub arrows: Vec<Arrow>,
    /// Sessions that are only shown because something inside points at them.
    pub outside: HashSet<NodeId>,
    relations: HashMap<(NodeId, NodeId), Vec<&'a Relation>>,
    shown: Vec<bool>,
}

impl<'g, 'a> Picture<'g, 'a> {
    /// The whole vault, or one session with its sub-agents.
    pub fn of(graph: &'g Graph<'a>, focus: Option<u32>, depth: Depth) -> Self {
        let inside = focus.map(|focus| family(graph, focus));
        let is_inside = |session: u32| inside.as_ref().is_none_or(|inside| inside.contains(&session));
        let mut shown: Vec<bool> = graph
            .nodes()
            .map(|(id, node)| match node.session {
                Some(session) => is_inside(session) && level(graph, id) <= depth,
                None => false,
            })
            .collect();
        show_files(graph, is_inside, focus.is_some() && depth == Depth::Step, &mut shown);
        let mut picture = Self {
            graph,
            focus,
            depth,
            nodes: Vec::new(),
            arrows: Vec::new(),
            outside: HashSet::new(),
            relations: HashMap::new(),
            shown,
        };
        picture.draw(is_inside);
        picture.nodes = graph.nodes().map(|(id, _)| id).filter(|id| picture.shown[id.index()]).collect();
        picture
    }

    fn draw(&mut self, is_inside: impl Fn(u32) -> bool) {
        let mut arrows: HashMap<(NodeId, EdgeKind, NodeId), (bool, u32)> = HashMap::new();
        for edge in self.graph.edges().iter().filter(|edge| edge.kind != EdgeKind::Contains) {
            let inside = |node: NodeId| self.graph.node(node).session.is_some_and(&is_inside);
            if !inside(edge.from) && !inside(edge.to) {
                continue;
            }
            let (Some(from), Some(to)) = (self.lift(edge.from), self.lift(edge.to)) else { continue };
            let lifted = (from, to) != (edge.from, edge.to);
            if from == to || (lifted && edge.kind == EdgeKind::Prev) || self.is_within(from, to) {
                continue;
            }
            if edge.kind == EdgeKind::LinksTo {
                let known = self.relations.entry((from, to)).or_default();
                known.extend(self.graph.relation(edge.from, edge.to).filter(|it| !known.contains(it)));
            }
            let arrow = arrows.entry((from, edge.kind, to)).or_insert((false, 0));
            arrow.0 |= edge.written.is_some();
            arrow.1 += 1;
        }
        let mut arrows: Vec<_> = arrows.into_iter().collect();
        arrows.sort_unstable_by_key(|(ends, _)| *ends);
        for ((from, kind, to), (written, count)) in arrows {
            for end in [from, to] {
                if !std::mem::replace(&mut self.shown[end.index()], true) && self.graph.node(end).session.is_some() {
                    self.outside.insert(end);
                }
            }
            self.arrows.push(Arrow { from, kind, to, written, count });
        }
    }

    /// What the links that an arrow stands for say of themselves, each once.
    pub fn relations(&self, arrow: &Arrow) -> &[&'a Relation] {
        let known = self.relations.get(&(arrow.from, arrow.to)).filter(|_| arrow.kind == EdgeKind::LinksTo);
        known.map(Vec::as_slice).unwrap_or_default()
    }

    /// What stands for a node in the picture: itself, or what contains it; `None` when that is not shown.
    pub fn stands_for(&self, node: NodeId) -> Option<NodeId> {
        self.lift(node).filter(|id| self.shown[id.index()])
    }

    /// What stands for a node: itself, what contains it, its session where that is not part of the picture.
    fn lift(&self, node: NodeId) -> Option<NodeId> {
        let mut at = node;
        while !self.shown[at.index()] {
            match self.graph.node(at).parent {
                Some(parent) => at = parent,
                None if self.graph.node(at).kind() == NodeKind::File => return None,
                None => return Some(at),
            }
        }
        Some(at)
    }

    /// Whether one contains the other: an arrow would only say so again, and box-drawing programs refuse it.
    fn is_within(&self, a: NodeId, b: NodeId) -> bool {
        // What contains comes first, so the way up from the later one meets the earlier one or passes it.
        let (outer, mut inner) = (a.min(b), a.max(b));
        while inner > outer {
            match self.graph.node(inner).parent {
                Some(parent) => inner = parent,
                None => return false,
            }
        }
        inner == outer
    }

    /// What contains a node in the picture.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.graph.node(node).parent.filter(|parent| self.shown[parent.index()])
    }

    /// What a node contains in the picture, in the order of the page.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.graph.targets(node, EdgeKind::Contains).filter(|child| self.shown[child.index()])
    }

    /// The sessions inside, each after the one it came out of, with how many stand above it; the oldest first.
    pub fn forest(&self) -> Vec<(NodeId, usize)> {
        let graph = self.graph;
        let is_inside = |id: &NodeId| self.shown[id.index()] && !self.outside.contains(id);
        let mut sessions: Vec<NodeId> = (0..).map_while(|number| graph.session(number)).filter(is_inside).collect();
        sessions.sort_by_key(|&id| (graph.node(id).time(), id));
        let mut below: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut roots = Vec::new();
        for &id in &sessions {
            let above = graph.targets(id, EdgeKind::From).find_map(|to| graph.session(graph.node(to).session?));
            match above.filter(|above| *above != id && is_inside(above)) {
                Some(above) => below.entry(above).or_default().push(id),
                None => roots.push(id),
            }
        }
        let mut forest = Vec::with_capacity(sessions.len());
        let mut done = HashSet::new();
        // Sessions that name each other as parent are reached from no root; the oldest of them then stands as one.
        for root in roots.into_iter().chain(sessions) {
            let mut open = vec![(root, 0)];
            while let Some((id, depth)) = open.pop() {
                if done.insert(id) {
                    forest.push((id, depth));
                    let below = below.get(&id).map(Vec::as_slice).unwrap_or_default();
                    open.extend(below.iter().rev().map(|&child| (child, depth + 1)));
                }
            }
        }
        forest
    }

    /// Whether a node is part of the picture.
    pub fn shows(&self, node: NodeId) -> bool {
        self.shown[node.index()]
    }
}

/// A session with all sub-agents below it.
fn family(graph: &Graph<'_>, focus: u32) -> HashSet<u32> {
    let mut of: HashMap<u32, Vec<u32>> = HashMap::new();
    for edge in graph.edges().iter().filter(|edge| edge.kind == EdgeKind::From) {
        if let (Some(child), Some(parent)) = (graph.node(edge.from).session, graph.node(edge.to).session)
            && child != parent
            && graph.is_subagent(child)
        {
            of.entry(parent).or_default().push(child);
        }
    }
    let mut family = HashSet::from([focus]);
    let mut open = vec![focus];
    while let Some(session) = open.pop() {
        let children = of.get(&session).map(Vec::as_slice).unwrap_or_default();
        open.extend(children.iter().filter(|&&child| family.insert(child)));
    }
    family
}

/// How deep a node of a session lies.
fn level(graph: &Graph<'_>, id: NodeId) -> Depth {
    let node = graph.node(id);
    match (&node.body, node.kind()) {
        (Body::Session(_), _) => Depth::Session,
        (Body::Phase(_), _) => Depth::Phase,
        _ => Depth::Step,
    }
}

fn show_files(graph: &Graph<'_>, is_inside: impl Fn(u32) -> bool, all: bool, shown: &mut [bool]) {
    for (id, node) in graph.nodes().filter(|(_, node)| node.kind() == NodeKind::File) {
        let _ = node;
        let mut sessions =
            graph.incoming(id).filter_map(|edge| graph.node(edge.from).session).filter(|&it| is_inside(it));
        let Some(first) = sessions.next() else { continue };
        shown[id.index()] = all || sessions.any(|other| other != first);
    }
}
