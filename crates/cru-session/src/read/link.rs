//! Wikilinks of a note as links of the model.

use crate::model::Link;
use cru_base::Span;
use cru_note::{Inline, InlineKind, Note, link};

/// The links in `span`, in order.
pub(super) fn all(note: &Note, span: Span) -> Vec<Link> {
    let of = |inline: &Inline| match &inline.kind {
        InlineKind::Wikilink { inner, embed } => Some(make(inner.of(note.text()), *embed, inline.span)),
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
        links.push(make(&rest[open + 2..open + 2 + len], embed, Span::default()));
        rest = &rest[open + 2 + len + 2..];
    }
    links
}

/// The first link of `text`.
pub(super) fn first(text: &str) -> Option<Link> {
    within(text).into_iter().next()
}

fn make(inner: &str, embed: bool, span: Span) -> Link {
    let parts = link::parse(inner);
    let owned = |part: Option<&str>| part.map(str::to_owned);
    Link {
        target: parts.target.to_owned(),
        heading: owned(parts.heading),
        block: owned(parts.block),
        alias: owned(parts.alias),
        embed,
        span,
    }
}
