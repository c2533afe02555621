//! What is odd about a vault's graph, with its places.

use std::collections::HashMap;

use super::build::Graph;
use super::component::{components, cycles};
use super::draft::Claim;
use super::index::Found;
use super::node::{NodeId, NodeKind};
use super::{Edge, EdgeKind};
use cru_base::{Diagnostic, Span, text};
use cru_session::Link;
use cru_vault::{Finding, Loaded, VaultPath};

/// How many members of a cycle a message names.
const NAMED: usize = 6;

/// A link that leads nowhere.
pub(super) fn dangling(path: &VaultPath, link: &Link, found: &Found<'_>, is_child: bool) -> Finding {
    let shown = text::truncate(&text::sanitise(&link.to_string()), 80).into_owned();
    let diagnostic = match found {
        Found::NoNote if is_child => return subagent_without_note(path, &link.target, link.span),
        Found::NoNote => {
            let help = "write the note's name, or take the link away";
            Diagnostic::warning("link-note-missing", link.span, format!("{shown} leads to no note")).help(help)
        }
        Found::NoBlock(id) => {
            let message = format!("{shown} leads to no block: there is no `^{}`", text::sanitise(id));
            Diagnostic::warning("link-block-missing", link.span, message)
        }
        Found::NoHeading(heading) => {
            let message = format!("{shown} leads to no heading: there is no `{}`", text::sanitise(heading));
            let help = "a heading is named with its agent; a block id (`#^p-01`) stays right when the heading changes";
            Diagnostic::warning("link-heading-missing", link.span, message).help(help)
        }
        Found::Node(_) | Found::Other(_) => Diagnostic::info("link", link.span, "the link is whole"),
    };
    Finding::new(path, diagnostic)
}

pub(super) fn subagent_without_note(path: &VaultPath, name: &str, span: Span) -> Finding {
    let name = text::truncate(&text::sanitise(name), 80).into_owned();
    let message = format!("the sub-agent's session `{name}` has no note");
    let help = "import it, or take the link away when it was deleted on purpose";
    Finding::new(path, Diagnostic::warning("subagent-note-missing", span, message).help(help))
}

/// Sessions with the same `session_id`: told at each later one, with the first.
pub(super) fn duplicate_ids(sessions: &[Loaded], findings: &mut Vec<Finding>) {
    let mut first: HashMap<&str, &Loaded> = HashMap::new();
    for loaded in sessions {
        let Some(id) = loaded.session.meta.session_id.as_deref() else { continue };
        let Some(other) = first.get(id) else {
            first.insert(id, loaded);
            continue;
        };
        let message = format!("`session_id` is `{}`, which is also that of {}", text::sanitise(id), other.path);
        let diagnostic = Diagnostic::error("duplicate-session-id", loaded.outline.property("session_id"), message)
            .help("links to this id lead to only one of them; give a copy another id");
        let place = other.outline.property("session_id");
        findings.push(Finding::new(&loaded.path, diagnostic).related(&other.path, place, "the other one"));
    }
}

/// A session that another names as its sub-agent's but that names a different parent, or none.
pub(super) fn parents(graph: &Graph<'_>, claims: &[Claim], parents: &[(u32, NodeId)], findings: &mut Vec<Finding>) {
    let parents: HashMap<u32, NodeId> = parents.iter().copied().collect();
    for claim in claims {
        let (Some(child), Some(by)) = (graph.session(claim.child), graph.node(claim.by).session) else { continue };
        let parent = parents.get(&claim.child).copied();
        if parent.is_some_and(|parent| graph.node(parent).session == Some(by)) {
            continue;
        }
        let place = |name: &str| graph.sessions()[claim.child as usize].outline.property(name);
        let (child_path, by_path) = (graph.path(child), graph.path(claim.by));
        let (Some(child_path), Some(by_path)) = (child_path, by_path) else { continue };
        let diagnostic = if let Some(parent) = parent {
            let parent = graph.key(parent);
            let message = format!("the parent is `{parent}`, but {by_path} names this as its own sub-agent's session");
            Diagnostic::warning("parent-disagrees", place("parent"), message)
        } else {
            let message = format!("{by_path} names this as a sub-agent's session, but it names no parent");
            let help = format!("add `parent: \"[[{}]]\"` to the properties", by_path.stem());
            Diagnostic::info("parent-missing", place("session_id"), message).help(help)
        };
        findings.push(Finding::new(child_path, diagnostic).related(by_path, claim.span, "named here"));
    }
}

/// Dependencies that lead back to where they began.
pub(super) fn dependency_cycles(graph: &Graph<'_>, cycles: &[Vec<u32>], findings: &mut Vec<Finding>) {
    for cycle in cycles {
        let finding = cycle_finding(
            graph,
            cycle,
            |edge| edge.kind.is_dependency(),
            |path| {
                let message = format!("this comes after itself: {path}");
                Diagnostic::error("dependency-cycle", Span::default(), message).help("take one of these links away")
            },
        );
        findings.extend(finding);
    }
}

/// Notes that show each other in place, without end.
pub(super) fn embed_cycles(graph: &Graph<'_>, findings: &mut Vec<Finding>) {
    let shows = |edge: &Edge| matches!(edge.kind, EdgeKind::Contains | EdgeKind::Embeds);
    let next = |node: u32| graph.out(NodeId(node)).iter().filter(|edge| shows(edge)).map(|edge| edge.to.0);
    for cycle in cycles(&components(graph.len(), next), next) {
        let finding = cycle_finding(graph, &cycle, shows, |path| {
            let message = format!("this shows itself in place: {path}");
            Diagnostic::warning("embed-cycle", Span::default(), message)
                .help("take the `!` away from one of the embeds: a link shows the same")
        });
        findings.extend(finding);
    }
}

/// A finding at the first written edge of a cycle, the others as related places.
fn cycle_finding(
    graph: &Graph<'_>,
    cycle: &[u32],
    belongs: impl Fn(&Edge) -> bool,
    diagnostic: impl Fn(String) -> Diagnostic,
) -> Option<Finding> {
    let mut named: Vec<String> = cycle.iter().take(NAMED).map(|&node| graph.key(NodeId(node))).collect();
    if cycle.len() > NAMED {
        named.push(format!("… {} more", cycle.len() - NAMED));
    }
    named.extend(cycle.first().map(|&node| graph.key(NodeId(node))));
    let mut places = Vec::new();
    for (at, &node) in cycle.iter().enumerate() {
        let to = NodeId(cycle[(at + 1) % cycle.len()]);
        let edge = graph.out(NodeId(node)).iter().find(|edge| edge.to == to && belongs(edge));
        if let Some((edge, span)) = edge.and_then(|edge| Some((edge, edge.written?))) {
            places.push((graph.path(edge.from)?, span, graph.key(to)));
        }
    }
    let mut places = places.into_iter();
    let (path, span, _) = places.next()?;
    let mut diagnostic = diagnostic(named.join(" → "));
    diagnostic.span = span;
    Some(places.fold(Finding::new(path, diagnostic), |finding, (path, span, to)| {
        finding.related(path, span, format!("leads to {to}"))
    }))
}

impl<'a> Graph<'a> {
    /// The note that a node of a session stands in.
    pub fn path(&self, node: NodeId) -> Option<&'a VaultPath> {
        let session = self.node(node).session?;
        self.sessions().get(session as usize).map(|loaded| &loaded.path)
    }

    /// How many nodes there are of each kind, in the order of [`NodeKind::ALL`].
    pub fn counts(&self) -> Vec<(NodeKind, usize)> {
        let mut counts = HashMap::new();
        for (_, node) in self.nodes() {
            *counts.entry(node.kind()).or_insert(0) += 1;
        }
        NodeKind::ALL.into_iter().filter_map(|kind| counts.get(&kind).map(|&count| (kind, count))).collect()
    }
}
