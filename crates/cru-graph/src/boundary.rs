//! Where sessions broke, as edges between phases.
//!
//! The rules are [`super::segment`]'s; here their phases get nodes, and a fork the end of the session that it is a
//! copy of. An edge is named after the first kind of its boundary; [`super::Graph::break_before`] has all that is known.

use std::collections::{HashMap, HashSet};

use super::draft::{Draft, Placed};
use super::node::{Body, NodeId};
use super::segment::{self, Break};

/// Adds the boundaries of all sessions. Who came out of whom is known already.
pub(super) fn add(draft: &mut Draft<'_>) {
    let subagents: HashSet<u32> = draft.claims.iter().map(|claim| claim.child).collect();
    let parents: HashMap<u32, NodeId> = draft.parents.iter().copied().collect();
    for (session, loaded) in (0..).zip(draft.sessions) {
        let forked = loaded.session.meta.parent.is_some() && !subagents.contains(&session);
        let breaks = segment::breaks(&loaded.session, forked);
        if !breaks.is_empty() {
            place(draft, session, parents.get(&session).copied(), breaks);
        }
    }
}

/// Gives the boundaries of one session their nodes and edges; `parent` is where it came out of.
fn place(draft: &mut Draft<'_>, session: u32, parent: Option<NodeId>, breaks: Vec<Break>) {
    let phases = phases(draft, session);
    for is in breaks {
        let Some(&phase) = phases.get(is.phase) else { continue };
        let previous = match is.previous {
            Some(previous) => phases.get(previous).copied(),
            None => parent.map(|parent| leaf(draft, parent)),
        };
        if let (Some(previous), Some(kind)) = (previous, is.kinds.first()) {
            draft.edge(phase, (*kind).into(), previous, None);
        }
        draft.breaks.push(Placed { phase, previous, is });
    }
}

/// The nodes of a session's phases, in order.
fn phases(draft: &Draft<'_>, session: u32) -> Vec<NodeId> {
    let Some(&root) = draft.index.sessions.get(session as usize) else { return Vec::new() };
    let end = draft.index.sessions.get(session as usize + 1).map_or(draft.last_in_session, |next| next.0);
    let nodes = (root.0..end).map(NodeId);
    nodes.filter(|node| matches!(draft.nodes[node.index()].body, Body::Phase(_))).collect()
}

/// The last phase of the session that a node begins; the node itself where it is no session or has none.
fn leaf(draft: &Draft<'_>, node: NodeId) -> NodeId {
    let own = &draft.nodes[node.index()];
    let session = own.session.filter(|_| matches!(own.body, Body::Session(_)));
    session.and_then(|session| phases(draft, session).pop()).unwrap_or(node)
}
