//! Wikilinks of a note as links of the model.

use crate::model::Link;
use cru_base::Span;
use cru_note::{Inline, InlineKind, Note};

/// The links in `span`, in order.
pub(super) fn all(note: &Note, span: Span) -> Vec<Link> {
    let of = |inline: &Inline| match &inline.kind {
        InlineKind::Wikilink { inner, embed } => {
            Some(Link { embed: *embed, span: inline.span, ..Link::parse(inner.of(note.text())) })
        }
        _ => None,
    };
    note.inlines_in(span).iter().filter_map(of).collect()
}

/// The links of a piece of text that was taken out of a note.
pub(super) fn within(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("[[") {
        let embed = rest[..open].ends_with('!');
        let Some(len) = rest[open + 2..].find("]]") else { break };
        links.push(Link { embed, ..Link::parse(&rest[open + 2..open + 2 + len]) });
        rest = &rest[open + 2 + len + 2..];
    }
    links
}

/// The first link of `text`.
pub(super) fn first(text: &str) -> Option<Link> {
    within(text).into_iter().next()
}
