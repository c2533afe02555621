//! The graph as a Mermaid flowchart, which Obsidian, GitHub and GitLab draw.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Part, caption, parts, plain_ids};
use crate::{Arrow, Body, EdgeKind, NodeId, NodeKind, Picture};
use cru_session::StepStatus;

/// What the programs that draw Mermaid take unless configured otherwise.
pub const MOST_EDGES: usize = 500;
/// The same, in characters.
pub const MOST_TEXT: usize = 50_000;

/// Looks, by class.
const CLASSES: &[(&str, &str)] = &[
    ("failed", "fill:#fde2e1,stroke:#c0392b,color:#4a1310"),
    ("decision", "fill:#e3f4e1,stroke:#2e8b57,color:#12351f"),
    ("error", "fill:#fbe9d7,stroke:#d35400,color:#4a2306"),
    ("user", "fill:#fff7d6,stroke:#b7950b,color:#3d3204"),
    ("subagent", "fill:#e1effa,stroke:#2471a3,color:#0e2a3d"),
    ("lesson", "fill:#efe4f7,stroke:#7d3c98,color:#2e1539"),
    ("file", "fill:#eeeeee,stroke:#7f8c8d,color:#222222"),
];

/// The picture as the text of a Mermaid diagram.
pub fn export(picture: &Picture<'_, '_>) -> String {
    let ids = plain_ids(picture);
    let mut out = String::from("flowchart LR\n");
    let mut classes: HashMap<&str, Vec<&str>> = HashMap::new();
    for (part, depth) in parts(picture) {
        let indent = 2 * (depth + 1);
        match part {
            Part::Close => {
                let _ = writeln!(out, "{:indent$}end", "");
            }
            Part::Open(node) => {
                let (id, label) = (&ids[&node], escape(&caption(picture.graph, node)));
                let _ = writeln!(out, "{:indent$}subgraph {id}[\"{label}\"]", "");
            }
            Part::Leaf(node) => {
                let (id, label) = (&ids[&node], escape(&caption(picture.graph, node)));
                let (open, close) = shape(picture, node);
                let _ = writeln!(out, "{:indent$}{id}{open}\"{label}\"{close}", "");
                if let Some(class) = class(picture, node) {
                    classes.entry(class).or_default().push(id);
                }
            }
        }
    }
    for arrow in &picture.arrows {
        let (from, to) = (&ids[&arrow.from], &ids[&arrow.to]);
        let _ = match arrow.kind {
            // Drawn as time goes.
            EdgeKind::Prev => writeln!(out, "  {to} --> {from}"),
            _ => writeln!(out, "  {from} -. {} .-> {to}", label(arrow)),
        };
    }
    for (class, look) in CLASSES {
        if let Some(ids) = classes.get(class) {
            let _ = writeln!(out, "  classDef {class} {look}");
            let _ = writeln!(out, "  class {} {class}", ids.join(","));
        }
    }
    out
}

/// What is written on an arrow. The names of relations are words of ours and need no escape.
fn label(arrow: &Arrow) -> String {
    if arrow.count > 1 { format!("{} ×{}", arrow.kind, arrow.count) } else { arrow.kind.to_string() }
}

/// Character references for everything that ends a label or starts markup in one.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '#' | '&' | '%' | '`' | '\\' | '*' | '_' | '~' | '$' | '{' | '}' | '[' | ']' | '|' | ';' => {
                let _ = write!(out, "#{};", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

fn shape(picture: &Picture<'_, '_>, node: NodeId) -> (&'static str, &'static str) {
    match picture.graph.node(node).kind() {
        NodeKind::Session | NodeKind::Phase | NodeKind::Step | NodeKind::Block => ("[", "]"),
        NodeKind::Decision => ("{{", "}}"),
        NodeKind::Error => ("[/", "/]"),
        NodeKind::User | NodeKind::Lesson => ("([", "])"),
        NodeKind::Subagent => ("[[", "]]"),
        NodeKind::File => ("[(", ")]"),
        NodeKind::Workflow | NodeKind::Note => (">", "]"),
    }
}

fn class(picture: &Picture<'_, '_>, node: NodeId) -> Option<&'static str> {
    let node = picture.graph.node(node);
    match &node.body {
        Body::Step(step) if step.status == StepStatus::Failed => Some("failed"),
        _ => {
            let kind = node.kind().as_str();
            CLASSES.iter().map(|(class, _)| *class).find(|class| *class == kind)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_label() {
        assert_eq!(escape("a \"b\" #c"), "a #quot;b#quot; #35;c");
        assert_eq!(escape("%%{init}"), "#37;#37;#123;init#125;");
        assert_eq!(escape("<b>&amp;`x`"), "#lt;b#gt;#38;amp#59;#96;x#96;");
    }
}
