//! The graph for programs.

use serde::Serialize;

use crate::base::Span;
use crate::graph::{Body, Depth, EdgeKind, NodeKind, Picture};
use crate::session::{Status, StepStatus};
use crate::vault::{Finding, VaultPath};

/// Version of the shape: raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'p> {
    schema: u32,
    session: Option<String>,
    depth: Depth,
    nodes: Vec<NodeRow<'p>>,
    edges: Vec<EdgeRow>,
    findings: Vec<&'p Finding>,
}

#[derive(Serialize)]
struct NodeRow<'p> {
    key: String,
    kind: NodeKind,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// The note it stands in, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'p VaultPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callout: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<jiff::Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// A session of which nothing else is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    outside: bool,
}

#[derive(Serialize)]
struct EdgeRow {
    from: String,
    kind: EdgeKind,
    to: String,
    written: bool,
    #[serde(skip_serializing_if = "is_one")]
    count: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

/// The picture as one JSON value.
pub fn export(picture: &Picture<'_, '_>) -> serde_json::Result<serde_json::Value> {
    let graph = picture.graph;
    let row = |&id: &_| {
        let node = graph.node(id);
        let (status, agent) = match &node.body {
            Body::Session(it) => (it.session.meta.status.as_ref().map(Status::as_str), None),
            Body::Step(step) => (Some(step_status(step.status)), None),
            Body::Phase(phase) => (None, phase.agent.as_ref()),
            Body::Subagent(it) => (None, it.agent.as_ref()),
            _ => (None, None),
        };
        let note = match &node.body {
            Body::Note(head) => Some(&head.path),
            Body::Attachment(path) => Some(*path),
            _ => graph.path(id),
        };
        NodeRow {
            key: graph.key(id),
            kind: node.kind(),
            label: node.label(),
            parent: picture.parent(id).map(|parent| graph.key(parent)),
            note,
            span: Some(node.span()).filter(|span| !span.is_empty()),
            block: node.block_id(),
            callout: node.callout().map(|callout| callout.kind.as_str()),
            status,
            time: node.time(),
            agent: agent.map(ToString::to_string),
            outside: picture.outside.contains(&id),
        }
    };
    let edge = |arrow: &crate::graph::Arrow| EdgeRow {
        from: graph.key(arrow.from),
        kind: arrow.kind,
        to: graph.key(arrow.to),
        written: arrow.written,
        count: arrow.count,
    };
    let sessions = picture.nodes.iter().filter(|id| !picture.outside.contains(id));
    let inside: std::collections::HashSet<&VaultPath> = sessions.filter_map(|&id| graph.path(id)).collect();
    serde_json::to_value(Document {
        schema: SCHEMA,
        session: picture.focus.and_then(|focus| graph.session(focus)).map(|id| graph.key(id)),
        depth: picture.depth,
        nodes: picture.nodes.iter().map(row).collect(),
        edges: picture.arrows.iter().map(edge).collect(),
        findings: graph.findings().iter().filter(|finding| inside.contains(&finding.path)).collect(),
    })
}

const fn step_status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "pending",
        StepStatus::Running => "running",
        StepStatus::Complete => "complete",
        StepStatus::Failed => "failed",
    }
}
