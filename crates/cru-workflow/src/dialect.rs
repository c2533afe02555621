//! The two dialects of the markup, told apart, and what the second one refuses.
//!
//! Both are read as one superset. Dialect B (the syntax that Crucible ships) declares itself: type, title and description
//! in the frontmatter, and no level-1 heading that repeats the title. There every heading is a step.

use super::heading::{is_ident, take_pairs};
use super::model::Dialect;
use super::text::{Piece, pieces};
use cru_base::{Diagnostic, Span};
use cru_note::{BlockKind, Note, frontmatter};

/// What the frontmatter says.
#[derive(Clone, Debug, Default)]
struct Head {
    workflow: bool,
    title: Option<String>,
    description: Option<String>,
}

impl Head {
    fn of(note: &Note) -> Self {
        let Some(bounds) = note.frontmatter() else { return Self::default() };
        let (values, _) = frontmatter::read(note.text(), &bounds);
        Self {
            workflow: values.string("type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("workflow")),
            title: values.string("title").map(str::to_owned),
            description: values.string("description").map(str::to_owned),
        }
    }
}

/// Which dialect a note is written in.
pub fn detect(note: &Note) -> Dialect {
    let head = Head::of(note);
    let (true, Some(title), Some(_)) = (head.workflow, &head.title, &head.description) else { return Dialect::A };
    let first = note.blocks().iter().find_map(|block| match block.kind {
        BlockKind::Heading { level, text } => Some((level, text.of(note.text()))),
        _ => None,
    });
    match first {
        Some((1, text)) if super::text::unescape(text.trim()) == title.trim() => Dialect::A,
        _ => Dialect::Crucible,
    }
}

/// Whether a note says that it is a workflow.
pub fn is_workflow(note: &Note) -> bool {
    Head::of(note).workflow
}

/// What a strict reader of dialect B refuses, and what it would read otherwise than meant.
pub fn strict(note: &Note) -> Vec<Diagnostic> {
    let text = note.text();
    let mut found = Vec::new();
    let start = Span::new(0, text.find('\n').unwrap_or(text.len()));
    let head = Head::of(note);
    let missing = [
        ("type: workflow", head.workflow),
        ("title", head.title.is_some_and(|text| !text.trim().is_empty())),
        ("description", head.description.is_some_and(|text| !text.trim().is_empty())),
    ];
    for (name, _) in missing.into_iter().filter(|(_, there)| !there) {
        found.push(Diagnostic::error("crucible-frontmatter", start, format!("the frontmatter has no `{name}`")));
    }
    if let Some(at) = note.bytes().iter().position(|&byte| byte == b'\r') {
        let at = text.find('\r').unwrap_or(at);
        found.push(Diagnostic::error("crucible-line-end", Span::new(at, at + 1), "lines must end in LF alone"));
    }
    for block in note.blocks() {
        let BlockKind::Heading { level, text: span } = block.kind else { continue };
        if level == 1 {
            let message = "a level-1 heading is a step in this dialect, not the title";
            found.push(Diagnostic::warning("crucible-title", block.content, message));
        }
        let (bare, _) = take_pairs(span.of(text));
        // What stands in code means nothing.
        let text = |piece| if let Piece::Text(text) = piece { text } else { "`" };
        let plain: String = pieces(&bare, true).into_iter().map(text).collect();
        let words: Vec<&str> = plain.split_whitespace().collect();
        let odd = words.iter().rev().take(3).find(|word| {
            let channel = word.strip_prefix('#').is_some_and(|name| name.starts_with(char::is_alphabetic));
            let agent =
                word.strip_prefix('@').is_some_and(|name| name.starts_with(char::is_alphabetic) && !is_ident(name));
            channel || agent || matches!(**word, "!" | "?")
        });
        if let Some(odd) = odd {
            let message = format!("`{odd}` has no meaning here and stays in the title");
            found.push(Diagnostic::warning("crucible-heading", block.content, message));
        }
    }
    found
}
