//! The graph for programs.

use serde::Serialize;

use crate::draft::Placed;
use crate::segment::{self, Break};
use crate::{Body, Depth, EdgeKind, Graph, NodeKind, Picture};
use cru_base::Span;
use cru_session::boundary::BoundaryKind;
use cru_session::{Status, StepStatus};
use cru_vault::{Finding, VaultPath};

/// Version of the shape: raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'p> {
    schema: u32,
    session: Option<String>,
    depth: Depth,
    nodes: Vec<NodeRow<'p>>,
    edges: Vec<EdgeRow>,
    boundaries: Vec<BoundaryRow<'p>>,
    segments: Vec<SegmentRow>,
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
    /// What the link says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What all links say of themselves that the edge stands for, where these are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    relations: Vec<RelationRow>,
}

/// The type of a link and why it is there.
#[derive(Serialize)]
struct RelationRow {
    relation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Where a session broke.
#[derive(Serialize)]
struct BoundaryRow<'p> {
    /// By priority; the first one is the kind of its edge.
    kinds: &'p [BoundaryKind],
    /// The phase that it stands before.
    phase: String,
    /// What was left: a phase, the parent of a fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<jiff::Timestamp>,
    /// The pause before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u64>,
}

/// A run of phases between boundaries.
#[derive(Serialize)]
struct SegmentRow {
    id: String,
    session: String,
    phases: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<jiff::Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<jiff::Timestamp>,
    steps: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ended_by: Vec<BoundaryKind>,
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
    let edge = |arrow: &crate::Arrow| EdgeRow {
        relation: picture.relations(arrow).first().map(|it| it.name.clone()),
        reason: picture.relations(arrow).first().and_then(|it| it.reason.clone()),
        relations: match picture.relations(arrow) {
            [] | [_] => Vec::new(),
            all => all.iter().map(|it| RelationRow { relation: it.name.clone(), reason: it.reason.clone() }).collect(),
        },
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
        boundaries: graph.breaks().iter().filter(|it| picture.shows(it.phase)).map(|it| boundary(graph, it)).collect(),
        segments: segments(picture),
        findings: graph.findings().iter().filter(|finding| inside.contains(&finding.path)).collect(),
    })
}

fn boundary<'p>(graph: &Graph<'_>, it: &'p Placed) -> BoundaryRow<'p> {
    BoundaryRow {
        kinds: &it.is.kinds,
        phase: graph.key(it.phase),
        previous: it.previous.map(|previous| graph.key(previous)),
        time: graph.node(it.phase).time(),
        gap_seconds: it.is.gap,
        tokens_before: it.is.tokens_before,
    }
}

/// The segments of the sessions whose phases are shown.
fn segments(picture: &Picture<'_, '_>) -> Vec<SegmentRow> {
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
        rows.extend(segment::segments(&loaded.session, &breaks).into_iter().map(|segment| SegmentRow {
            id: segment.id,
            session: graph.key(root),
            phases: phases.get(segment.phases).map(<[String]>::to_vec).unwrap_or_default(),
            started: segment.started,
            ended: segment.ended,
            steps: segment.steps,
            ended_by: segment.ended_by,
        }));
    }
    rows
}

const fn step_status(status: StepStatus) -> &'static str {
    status.name()
}
