//! The graph for programs.

use serde_json::{Value, json};

use super::known;
use crate::draft::Placed;
use crate::segment::{self, Break};
use crate::{Body, Depth, Graph, Picture};
use cru_session::Status;
use cru_vault::{Relation, VaultPath};

/// Version of the shape: raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// The picture as one JSON value.
pub fn export(picture: &Picture<'_, '_>) -> Value {
    let graph = picture.graph;
    let row = |&id: &_| {
        let node = graph.node(id);
        let (status, agent) = match &node.body {
            Body::Session(it) => (it.session.meta.status.as_ref().map(Status::as_str), None),
            Body::Step(step) => (Some(step.status.name()), None),
            Body::Phase(phase) => (None, phase.agent.as_ref()),
            Body::Subagent(it) => (None, it.agent.as_ref()),
            _ => (None, None),
        };
        let note = match &node.body {
            Body::Note(head) => Some(&head.path),
            Body::Attachment(path) => Some(*path),
            _ => graph.path(id),
        };
        known([
            ("key", json!(graph.key(id))),
            ("kind", json!(node.kind())),
            ("label", json!(node.label())),
            ("parent", json!(picture.parent(id).map(|parent| graph.key(parent)))),
            // The note it stands in, and where.
            ("note", json!(note)),
            ("span", json!(Some(node.span()).filter(|span| !span.is_empty()))),
            ("block", json!(node.block_id())),
            ("callout", json!(node.callout().map(|callout| callout.kind.as_str()))),
            ("status", json!(status)),
            ("time", json!(node.time())),
            ("agent", json!(agent.map(ToString::to_string))),
            // A session of which nothing else is shown.
            ("outside", json!(picture.outside.contains(&id).then_some(true))),
        ])
    };
    let edge = |arrow: &crate::Arrow| {
        // The type of a link and why it is there.
        let said = |it: &&Relation| known([("relation", json!(it.name)), ("reason", json!(it.reason))]);
        let all = picture.relations(arrow);
        known([
            ("from", json!(graph.key(arrow.from))),
            ("kind", json!(arrow.kind)),
            ("to", json!(graph.key(arrow.to))),
            ("written", json!(arrow.written)),
            ("count", json!(Some(arrow.count).filter(|count| *count != 1))),
            // What the link says of itself.
            ("relation", json!(all.first().map(|it| &it.name))),
            ("reason", json!(all.first().and_then(|it| it.reason.as_ref()))),
            // What all links say of themselves that the edge stands for, where these are several.
            ("relations", json!((all.len() > 1).then(|| all.iter().map(said).collect::<Vec<_>>()))),
        ])
    };
    let sessions = picture.nodes.iter().filter(|id| !picture.outside.contains(id));
    let inside: std::collections::HashSet<&VaultPath> = sessions.filter_map(|&id| graph.path(id)).collect();
    let breaks = graph.breaks().iter().filter(|it| picture.shows(it.phase));
    let findings = graph.findings().iter().filter(|finding| inside.contains(&finding.path));
    json!({
        "schema": SCHEMA,
        "session": picture.focus.and_then(|focus| graph.session(focus)).map(|id| graph.key(id)),
        "depth": picture.depth,
        "nodes": picture.nodes.iter().map(row).collect::<Vec<_>>(),
        "edges": picture.arrows.iter().map(edge).collect::<Vec<_>>(),
        "boundaries": breaks.map(|it| boundary(graph, it)).collect::<Vec<_>>(),
        "segments": segments(picture),
        "findings": findings.collect::<Vec<_>>(),
    })
}

/// Where a session broke.
fn boundary(graph: &Graph<'_>, it: &Placed) -> Value {
    known([
        // By priority; the first one is the kind of its edge.
        ("kinds", json!(it.is.kinds)),
        // The phase that it stands before.
        ("phase", json!(graph.key(it.phase))),
        // What was left: a phase, the parent of a fork.
        ("previous", json!(it.previous.map(|previous| graph.key(previous)))),
        ("time", json!(graph.node(it.phase).time())),
        // The pause before it.
        ("gap_seconds", json!(it.is.gap)),
        ("tokens_before", json!(it.is.tokens_before)),
    ])
}

/// The segments of the sessions whose phases are shown.
fn segments(picture: &Picture<'_, '_>) -> Vec<Value> {
    let graph = picture.graph;
    let mut rows = Vec::new();
    if picture.depth == Depth::Session {
        return rows;
    }
    for &root in picture.nodes.iter().filter(|id| !picture.outside.contains(id)) {
        let Body::Session(loaded) = &graph.node(root).body else { continue };
        let phases: Vec<String> = graph.phases(root).map(|phase| graph.key(phase)).collect();
        let breaks: Vec<Break> =
            graph.phases(root).filter_map(|it| graph.break_before(it)).map(|it| it.is.clone()).collect();
        rows.extend(segment::segments(&loaded.session, &breaks).into_iter().map(|it| {
            known([
                ("id", json!(it.id)),
                ("session", json!(graph.key(root))),
                ("phases", json!(phases.get(it.phases).unwrap_or_default())),
                ("started", json!(it.started)),
                ("ended", json!(it.ended)),
                ("steps", json!(it.steps)),
                ("ended_by", json!(Some(it.ended_by).filter(|kinds| !kinds.is_empty()))),
            ])
        }));
    }
    rows
}
