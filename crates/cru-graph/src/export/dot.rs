//! The graph in the language of Graphviz.

use std::fmt::Write as _;

use super::{Part, caption, parts};
use crate::{EdgeKind, NodeId, NodeKind, Picture};
use cru_session::StepStatus;

/// The picture as a directed graph; what contains others is a cluster.
pub fn export(picture: &Picture<'_, '_>) -> String {
    let graph = picture.graph;
    let mut out = String::from(
        "digraph sessions {\n  rankdir=LR\n  compound=true\n  fontname=\"sans-serif\"\n  \
         node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"sans-serif\", fontsize=10]\n  \
         edge [fontname=\"sans-serif\", fontsize=9, color=\"#7f8c8d\"]\n",
    );
    for (part, depth) in parts(picture) {
        let (indent, inner) = (2 * (depth + 1), 2 * (depth + 2));
        match part {
            Part::Close => {
                let _ = writeln!(out, "{:indent$}}}", "");
            }
            Part::Open(node) => {
                let (key, label) = (quote(&graph.key(node)), quote(&caption(graph, node)));
                let name = quote(&format!("cluster {}", graph.key(node)));
                let _ = writeln!(out, "{:indent$}subgraph {name} {{", "");
                let _ = writeln!(out, "{:inner$}label={label}", "");
                // A cluster is no node: arrows of the phase itself need one to end at.
                let _ = writeln!(out, "{:inner$}{key} [shape=point, style=invis, width=0]", "");
            }
            Part::Leaf(node) => {
                let (key, label) = (quote(&graph.key(node)), quote(&caption(graph, node)));
                let _ = writeln!(out, "{:indent$}{key} [label={label}{}]", "", look(picture, node));
            }
        }
    }
    for arrow in &picture.arrows {
        let (from, to) = (quote(&graph.key(arrow.from)), quote(&graph.key(arrow.to)));
        let _ = match arrow.kind {
            EdgeKind::Prev => writeln!(out, "  {to} -> {from} [color=\"#2c3e50\"]"),
            kind if arrow.count > 1 => {
                writeln!(out, "  {from} -> {to} [label=\"{kind} ×{}\", style=dashed, constraint=false]", arrow.count)
            }
            kind => writeln!(out, "  {from} -> {to} [label=\"{kind}\", style=dashed, constraint=false]"),
        };
    }
    out.push_str("}\n");
    out
}

/// A quoted string: the two characters that mean something in one are escaped. Labels come without line ends.
pub(crate) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn look(picture: &Picture<'_, '_>, node: NodeId) -> &'static str {
    let node = picture.graph.node(node);
    if node.status() == Some(StepStatus::Failed) {
        return ", fillcolor=\"#fde2e1\", color=\"#c0392b\"";
    }
    match node.kind() {
        NodeKind::Session | NodeKind::Phase | NodeKind::Step | NodeKind::Block => "",
        NodeKind::Decision => ", shape=hexagon, fillcolor=\"#e3f4e1\"",
        NodeKind::Error => ", shape=parallelogram, fillcolor=\"#fbe9d7\"",
        NodeKind::User => ", fillcolor=\"#fff7d6\"",
        NodeKind::Subagent => ", peripheries=2, fillcolor=\"#e1effa\"",
        NodeKind::Lesson => ", fillcolor=\"#efe4f7\"",
        NodeKind::File => ", shape=cylinder, style=filled, fillcolor=\"#eeeeee\"",
        NodeKind::Workflow | NodeKind::Note => ", shape=note, style=filled, fillcolor=\"#f7f7f7\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_string() {
        assert_eq!(quote(r#"a "b" \N c\"#), r#""a \"b\" \\N c\\""#);
    }
}
