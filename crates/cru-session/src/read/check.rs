//! What is odd about a session as a whole.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::model::Session;
use cru_base::{Diagnostic, Span};
use cru_note::frontmatter::Values;
use cru_note::{Block, BlockKind, Note};

use super::{link, meta};

pub(super) fn check(note: &Note, values: &Values, session: &Session) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if session.meta.is_session() {
        let place = meta::place(note.split());
        let mut lacks = |key: &str, help: &'static str| {
            diagnostics
                .push(Diagnostic::warning("missing-key", place, format!("the session has no `{key}`")).help(help));
        };
        if session.meta.session_id.is_none() {
            lacks("session_id", "the file's name without `.md` is a good one; until then it stands for it");
        }
        // Some hosts keep no times, and no note of theirs has one.
        if session.meta.started.is_none() && values.get("started").is_none() && session.meta.cursor.is_none() {
            lacks("started", "a time such as 2026-11-20T09:31:04Z");
        }
        if session.meta.status.is_none() {
            lacks("status", "active, paused, completed, failed or abandoned");
        }
    }
    if let Some(point) = &session.meta.resume_point
        && !session.phases.iter().any(|phase| phase.id == *point)
        && !has_id(note.blocks(), note, point)
    {
        let message = format!("`resume_point` names `{point}`, which no phase has");
        diagnostics.push(Diagnostic::warning("resume-point", values.span("resume_point"), message));
    }
    missing_blocks(note, session, &mut diagnostics);
    lost_headings(note, &mut diagnostics);
    diagnostics
}

/// Links into this very note that lead nowhere; those into other notes are the graph's business.
fn missing_blocks(note: &Note, session: &Session, diagnostics: &mut Vec<Diagnostic>) {
    fn collect<'a>(blocks: &[Block], note: &'a Note, ids: &mut HashSet<Cow<'a, str>>) {
        for block in blocks {
            ids.extend(note.id(block).map(lower_case));
            collect(&block.children, note, ids);
        }
    }
    let links = link::all(note, Span::new(0, note.text().len()));
    let mut links = links.iter().filter(|link| link.target.is_empty() && link.block.is_some()).peekable();
    if links.peek().is_none() {
        return;
    }
    // A phase may be named by the id it would get.
    let mut ids: HashSet<Cow<'_, str>> = session.phases.iter().map(|phase| lower_case(&phase.id)).collect();
    collect(note.blocks(), note, &mut ids);
    for link in links {
        let id = link.block.as_deref().unwrap_or_default();
        if !ids.contains(&lower_case(id)) {
            let message = format!("no block of this note has the id `{id}`");
            diagnostics.push(
                Diagnostic::warning("missing-block", link.span, message)
                    .help("an id stands at the end of its line, or alone below a callout: `^n-001`"),
            );
        }
    }
}

/// `##Build @coder`: meant as a phase, and text.
fn lost_headings(note: &Note, diagnostics: &mut Vec<Diagnostic>) {
    for block in note.blocks().iter().filter(|block| matches!(block.kind, BlockKind::Paragraph)) {
        let line = block.content.of(note.text()).lines().next().unwrap_or_default();
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if (2..=3).contains(&level) && title.starts_with(char::is_alphanumeric) && title.contains(" @") {
            let span = Span::new(block.content.start, block.content.start + line.len());
            diagnostics.push(
                Diagnostic::warning("lost-heading", span, "a phase needs a blank behind its `#`")
                    .help("write `## Title @agent`"),
            );
        }
    }
}

fn has_id(blocks: &[Block], note: &Note, id: &str) -> bool {
    blocks.iter().any(|block| note.id(block) == Some(id) || has_id(&block.children, note, id))
}

/// An id that two blocks carry: links to it are ambiguous.
pub(super) fn duplicate_ids(note: &Note) -> Vec<Diagnostic> {
    fn collect(blocks: &[Block], found: &mut Vec<Span>) {
        for block in blocks {
            collect(&block.children, found);
            // The id at a list's end is that of its last item.
            found.extend(block.id.filter(|id| !found.contains_near(*id)));
        }
    }
    trait Near {
        fn contains_near(&self, span: Span) -> bool;
    }
    impl Near for Vec<Span> {
        fn contains_near(&self, span: Span) -> bool {
            self.iter().rev().take(4).any(|other| *other == span)
        }
    }
    let mut ids = Vec::new();
    collect(note.blocks(), &mut ids);
    ids.sort_unstable();
    ids.dedup();
    let mut first: HashMap<Cow<'_, str>, Span> = HashMap::with_capacity(ids.len());
    let mut diagnostics = Vec::new();
    for span in ids {
        // The editor does not tell upper from lower case in ids.
        match first.entry(lower_case(span.of(note.text()))) {
            Entry::Occupied(taken) => {
                let message =
                    format!("the id `{}` stands on line {} already", taken.key(), note.lines().line(taken.get().start));
                diagnostics.push(
                    Diagnostic::error("duplicate-id", span, message)
                        .help("`cru check --fix` gives the later block another one"),
                );
            }
            Entry::Vacant(place) => {
                place.insert(span);
            }
        }
    }
    diagnostics
}

fn lower_case(id: &str) -> Cow<'_, str> {
    let is_lower = id.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(id) } else { Cow::Owned(id.to_lowercase()) }
}
