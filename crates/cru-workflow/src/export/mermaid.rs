//! A Mermaid flowchart.

use std::fmt::Write as _;

use super::graph::{ArrowKind, Picture, caption, label};

/// The chart. Boxes are numbered, so no title can be a word of the language; texts stand in quotes with entities.
pub fn export(picture: &Picture) -> String {
    let mut out = "flowchart TD\n".to_owned();
    for step in &picture.steps {
        let (open, close) = if step.gate { ("{{", "}}") } else { ("[", "]") };
        let _ = writeln!(out, "    s{}{open}\"{}\"{close}", step.index, quote(&caption(step)));
    }
    for arrow in &picture.arrows {
        let line = match arrow.kind {
            ArrowKind::Data | ArrowKind::Step => "-->",
            ArrowKind::Order => "-..->",
            ArrowKind::Condition => "-.->",
            ArrowKind::Child => "--o",
        };
        let text = label(arrow);
        let text = if text.is_empty() { String::new() } else { format!("|\"{}\"|", quote(&text)) };
        let _ = writeln!(out, "    s{} {line}{text} s{}", arrow.from, arrow.to);
    }
    out
}

/// Text that neither ends the quotes nor is markup: everything but plain characters as an entity.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric()
            || matches!(c, ' ' | '.' | ',' | '-' | '/' | '@' | '!' | '?' | '\'' | '(' | ')' | ':' | '…')
        {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
