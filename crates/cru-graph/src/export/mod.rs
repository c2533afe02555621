//! A picture of the graph in formats of others: JSON, Mermaid, DOT, JSON Canvas.
//!
//! Names and words come from transcripts and may hold anything; each format's file knows what it must not let through.
//! Output is the same for the same vault, and a node keeps its id when others come or go.

pub mod canvas;
pub mod dot;
pub mod json;
pub mod mermaid;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Body, Graph, NodeId, Picture};
use cru_base::text;

/// What a box says: mark, id and words, on one line, free of control characters.
pub fn caption(graph: &Graph<'_>, id: NodeId) -> String {
    let node = graph.node(id);
    let label = node.label();
    // How much of a label a box shows.
    let words = text::truncate(&label, 60);
    match &node.body {
        Body::Phase(phase) => match &phase.agent {
            Some(agent) => format!("{words} @{agent}"),
            None => words.into_owned(),
        },
        Body::Step(step) => match &step.id {
            Some(id) => format!("{} {id} {words}", step.status.mark()),
            None => format!("{} {words}", step.status.mark()),
        },
        Body::User(_) => format!("“{words}”"),
        Body::Subagent(_) => format!("sub-agent {words}"),
        Body::Callout(callout) => format!("{}: {words}", text::sanitise(&callout.kind)),
        Body::Session(_)
        | Body::Decision(_)
        | Body::Error(_)
        | Body::Prose(_)
        | Body::File { .. }
        | Body::Note(_)
        | Body::Attachment(_) => words.into_owned(),
    }
}

/// An object of what is known.
fn known<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().filter(|(_, it)| !it.is_null()).map(|(name, it)| (name.to_owned(), it)).collect()
}

/// A line of an export that draws boxes within boxes.
#[derive(Clone, Copy)]
enum Part {
    /// A node that contains nothing.
    Leaf(NodeId),
    /// A node whose contents follow.
    Open(NodeId),
    /// The end of the last one that is open.
    Close,
}

/// All nodes of a picture, each within what contains it, with how many boxes stand around it. Needs no deep stack.
fn parts(picture: &Picture<'_, '_>) -> Vec<(Part, usize)> {
    let mut parts = Vec::with_capacity(picture.nodes.len());
    let roots = picture.nodes.iter().rev().filter(|&&id| picture.parent(id).is_none());
    let mut open: Vec<(Part, usize)> = roots.map(|&id| (Part::Leaf(id), 0)).collect();
    while let Some((part, depth)) = open.pop() {
        let Part::Leaf(node) = part else {
            parts.push((part, depth));
            continue;
        };
        let children: Vec<NodeId> = picture.children(node).collect();
        if children.is_empty() {
            parts.push((part, depth));
        } else {
            parts.push((Part::Open(node), depth));
            open.push((Part::Close, depth));
            open.extend(children.into_iter().rev().map(|child| (Part::Leaf(child), depth + 1)));
        }
    }
    parts
}

/// An id of letters, digits and `_` for each shown node, made from its key; keys that would give the same id are told
/// apart by a number.
fn plain_ids(picture: &Picture<'_, '_>) -> HashMap<NodeId, String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut next: HashMap<String, u32> = HashMap::new();
    let mut ids = HashMap::with_capacity(picture.nodes.len());
    for &node in &picture.nodes {
        let key = picture.graph.key(node);
        let plain: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        // The kind in front: a bare `end` or `graph` is a word of these languages.
        let base = format!("{}_{plain}", picture.graph.node(node).kind());
        let number = next.entry(base.clone()).or_insert(0);
        let id = loop {
            *number += 1;
            let id = if *number == 1 { base.clone() } else { format!("{base}_{number}") };
            if taken.insert(id.clone()) {
                break id;
            }
        };
        ids.insert(node, id);
    }
    ids
}
