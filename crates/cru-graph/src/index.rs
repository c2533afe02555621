//! Look-ups from names and places to nodes.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Node, NodeId};
use cru_base::Span;
use cru_session::Link;
use cru_vault::{Catalog, Loaded, Target};

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// To a node of a session.
    Node(NodeId),
    /// To a note or file that is no session; an index of the catalogue.
    Other(Target),
    /// To a note that is not there.
    NoNote,
    /// To a block that its note does not have.
    NoBlock(&'a str),
    /// To a heading that its note does not have.
    NoHeading(&'a str),
}

/// Names and places of all sessions' nodes.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    /// The node of each session.
    pub(super) sessions: Vec<NodeId>,
    /// The session that each head of the catalogue was loaded as.
    of_head: Vec<Option<u32>>,
    /// Nodes by session and id.
    ids: HashMap<(u32, Cow<'a, str>), NodeId>,
    /// Nodes of each session by where they start.
    places: Vec<Vec<(Span, NodeId)>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(catalog: &Catalog, sessions: &[Loaded]) -> Self {
        let mut of_head = vec![None; catalog.heads.len()];
        for (number, loaded) in (0_u32..).zip(sessions) {
            let head = catalog.position(&loaded.path).and_then(|head| of_head.get_mut(head as usize));
            if let Some(head) = head {
                *head = Some(number);
            }
        }
        Self { of_head, ..Self::default() }
    }

    /// Takes in a session's nodes, which stand in the order of the page.
    pub(super) fn add(&mut self, session: u32, first: NodeId, nodes: &[Node<'a>]) {
        let mut places = Vec::with_capacity(nodes.len());
        for (number, node) in (first.0..).zip(nodes) {
            let id = NodeId(number);
            if id == first {
                self.sessions.push(id);
            } else {
                let key = match &node.id {
                    Cow::Borrowed(id) => key(id),
                    Cow::Owned(id) => Cow::Owned(key(id).into_owned()),
                };
                self.ids.entry((session, key)).or_insert(id);
            }
            if !node.span().is_empty() {
                places.push((node.span(), id));
            }
        }
        places.sort_by_key(|(span, id)| (span.start, *id));
        self.places.push(places);
    }

    /// The session a head was loaded as.
    pub(super) fn session_of(&self, head: u32) -> Option<u32> {
        self.of_head.get(head as usize).copied().flatten()
    }

    /// The node with an id; case does not count, and `_` is read as `-`.
    pub(super) fn by_id(&self, session: u32, id: &str) -> Option<NodeId> {
        self.ids.get(&(session, key(id))).copied()
    }

    /// The innermost node of a session that a place of its note stands in.
    pub(super) fn at(&self, session: u32, offset: usize, nodes: &[Node<'_>]) -> NodeId {
        let root = self.sessions[session as usize];
        let Some(places) = self.places.get(session as usize) else { return root };
        let after = places.partition_point(|(span, _)| span.start <= offset);
        let mut node = after.checked_sub(1).map_or(root, |last| places[last].1);
        // Up from the last one that starts before: neighbours do not overlap, so only what contains it can fit.
        while node != root && !nodes[node.index()].span().contains(offset) {
            node = nodes[node.index()].parent.unwrap_or(root);
        }
        node
    }

    /// Where a link of session `session` leads.
    pub(super) fn follow<'l>(&self, session: u32, link: &'l Link, world: &World<'_, '_>) -> Found<'l> {
        let from = &world.sessions[session as usize].path;
        let target = if link.target.trim().is_empty() {
            session
        } else {
            match world.catalog.links().resolve(&link.target, from) {
                None => return Found::NoNote,
                Some(Target::Note(head)) => match self.session_of(head) {
                    Some(session) => session,
                    None => return Found::Other(Target::Note(head)),
                },
                Some(other) => return Found::Other(other),
            }
        };
        let outline = &world.sessions[target as usize].outline;
        if let Some(id) = link.block.as_deref() {
            if let Some(node) = self.by_id(target, id) {
                return Found::Node(node);
            }
            return match outline.block(id) {
                Some(span) => Found::Node(self.at(target, span.start, world.nodes)),
                None => Found::NoBlock(id),
            };
        }
        match link.heading.as_deref().filter(|heading| !heading.trim().is_empty()) {
            None => Found::Node(self.sessions[target as usize]),
            Some(heading) => match outline.heading(heading) {
                Some(span) => Found::Node(self.at(target, span.start, world.nodes)),
                None => Found::NoHeading(heading),
            },
        }
    }
}

/// What a link is followed in.
#[derive(Clone, Copy)]
pub(super) struct World<'w, 'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) sessions: &'a [Loaded],
    pub(super) nodes: &'w [Node<'a>],
}

pub(super) fn key(id: &str) -> Cow<'_, str> {
    let id = id.trim_start_matches('^');
    // Nearly all ids are written as they are compared.
    if id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.to_lowercase().replace('_', "-"))
}
