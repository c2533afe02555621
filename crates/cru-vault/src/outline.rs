//! What can be pointed at in a note, and what it points at.

use std::collections::HashMap;

use cru_base::{Span, text};
use cru_note::{Block, BlockKind, Note};
use cru_session::{Link, Public, read};

/// A note's links, block ids and headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Every wiki link of the text outside of code and comments, in order, with its place.
    pub links: Vec<Link>,
    /// What links that lead list items say of themselves, by where each begins.
    pub relations: HashMap<usize, Relation>,
    /// Block ids without `^`, in lower case, each with the place of its block; of two the first.
    pub blocks: HashMap<String, Span>,
    /// Headings as a link names them (see [`heading_key`]), each with its place; of two the first.
    pub headings: HashMap<String, Span>,
    /// The first line of each property that names other notes, or this one.
    pub properties: Vec<(&'static str, Span)>,
}

/// What a link says of itself: `- lesson_application [[b#^l-01]] (why)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The word before it.
    pub name: String,
    /// The words in parentheses behind it.
    pub reason: Option<String>,
}

impl Relation {
    /// Letters of the longest name.
    const MAX: usize = 40;

    /// Of the link at `link`: nothing where no list item begins with one word and the link.
    fn of(text: &str, link: Span) -> Option<Self> {
        let line = text.get(..link.start)?.rfind('\n').map_or(0, |at| at + 1);
        let before = text.get(line..link.start)?.trim_start_matches([' ', '\t', '>']);
        let name = before.strip_prefix(['-', '*', '+'])?.strip_prefix(' ')?.trim_start().strip_suffix(' ')?.trim_end();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        if name.len() > Self::MAX || !name.starts_with(char::is_alphabetic) || !name.chars().all(is_word) {
            return None;
        }
        let behind = text.get(link.end..)?.lines().next().unwrap_or_default().trim();
        let reason = behind.strip_prefix('(').and_then(|rest| rest.rsplit_once(')')).map(|(reason, _)| reason.trim());
        let reason = reason.filter(|reason| !reason.is_empty()).map(str::to_owned);
        Some(Self { name: name.to_owned(), reason })
    }
}

/// Properties whose place is asked for.
const PROPERTIES: &[&str] = &["session_id", "parent", "subagents"];

/// A heading as links name it: without the characters that end a link, white space folded, case ignored.
pub fn heading_key(heading: &str) -> String {
    let plain: String =
        heading.chars().map(|c| if matches!(c, '#' | '|' | '^' | ':' | '[' | ']') { ' ' } else { c }).collect();
    text::fold_whitespace(&plain).to_lowercase()
}

impl Outline {
    /// The outline of a note.
    pub fn of(note: &Note) -> Self {
        let mut outline = Self { links: read::links(note), ..Self::default() };
        let relations = outline.links.iter().filter(|link| !link.embed);
        let relations = relations.filter_map(|link| Some((link.span.start, Relation::of(note.text(), link.span)?)));
        outline.relations = relations.collect();
        outline.add(note, note.blocks());
        let yaml = note.frontmatter().map(|bounds| bounds.yaml).unwrap_or_default();
        let mut start = yaml.start;
        for line in yaml.of(note.text()).split_inclusive('\n') {
            let span = Span::new(start, start + line.trim_end().len());
            let known =
                line.split_once(':').and_then(|(key, _)| PROPERTIES.iter().find(|known| **known == key.trim_end()));
            outline.properties.extend(known.map(|known| (*known, span)));
            start += line.len();
        }
        outline
    }

    /// Has the places of an outline of the public text be those of the note.
    pub fn lead_back(&mut self, public: &Public<'_>) {
        let Self { links, relations, blocks, headings, properties } = self;
        let place = |start: usize| public.span(Span::at(start)).start;
        *relations = std::mem::take(relations).into_iter().map(|(at, relation)| (place(at), relation)).collect();
        let links = links.iter_mut().map(|link| &mut link.span);
        let named = blocks.values_mut().chain(headings.values_mut());
        for span in links.chain(named).chain(properties.iter_mut().map(|(_, span)| span)) {
            *span = public.span(*span);
        }
    }

    fn add(&mut self, note: &Note, blocks: &[Block]) {
        for block in blocks {
            if let Some(id) = note.id(block) {
                self.blocks.entry(id.to_lowercase()).or_insert(block.content);
            }
            if let BlockKind::Heading { text, .. } = block.kind {
                self.headings.entry(heading_key(text.of(note.text()))).or_insert(block.content);
            }
            self.add(note, &block.children);
        }
    }

    /// Where a property of the frontmatter stands; empty where it does not.
    pub fn property(&self, name: &str) -> Span {
        self.properties.iter().find(|(known, _)| *known == name).map(|(_, span)| *span).unwrap_or_default()
    }

    /// Where the heading part of a link (`A#B`) leads: to the place of its last heading.
    pub fn heading(&self, path: &str) -> Option<Span> {
        let last = path.rsplit('#').find(|part| !part.trim().is_empty())?;
        self.headings.get(&heading_key(last)).or_else(|| self.headings.get(&heading_key(path))).copied()
    }

    /// Where a block id leads.
    pub fn block(&self, id: &str) -> Option<Span> {
        self.blocks.get(&id.to_lowercase()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_as_links_write_them() {
        let span = Span::new(1, 2);
        let headings = ["Research @planner@1.2 #dev", "A: b|c"].map(|text| (heading_key(text), span)).into();
        let outline = Outline { headings, ..Outline::default() };
        assert_eq!(outline.heading("research @planner@1.2 dev"), Some(span));
        assert_eq!(outline.heading("Research @planner@1.2 #dev"), Some(span));
        assert_eq!(outline.heading("Top#A b c"), Some(span));
        assert_eq!(outline.heading("Other"), None);
        assert_eq!(outline.heading("#"), None);
    }
}
