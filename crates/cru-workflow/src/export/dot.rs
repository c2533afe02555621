//! Graphviz.

use std::fmt::Write as _;

use super::graph::{ArrowKind, Picture, caption, label};

/// The graph. Boxes are numbered; texts are quoted strings, in which only quotes and backslashes mean something.
pub fn export(picture: &Picture) -> String {
    let mut out = "digraph workflow {\n    rankdir=TB;\n    node [shape=box];\n".to_owned();
    if !picture.title.is_empty() {
        let _ = writeln!(out, "    label=\"{}\";", quote(&picture.title));
    }
    for step in &picture.steps {
        let shape = if step.gate { ", shape=hexagon" } else { "" };
        let _ = writeln!(out, "    s{} [label=\"{}\"{shape}];", step.index, quote(&caption(step)));
    }
    for arrow in &picture.arrows {
        let style = match arrow.kind {
            ArrowKind::Data | ArrowKind::Step => "",
            ArrowKind::Order => ", style=dotted",
            ArrowKind::Condition => ", style=dashed",
            ArrowKind::Child => ", arrowhead=odot",
        };
        let _ = writeln!(out, "    s{} -> s{} [label=\"{}\"{style}];", arrow.from, arrow.to, quote(&label(arrow)));
    }
    out.push_str("}\n");
    out
}

fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
