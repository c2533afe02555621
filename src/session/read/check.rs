//! What is odd about a session as a whole.

use std::collections::HashMap;

use crate::base::{Diagnostic, Span};
use crate::note::frontmatter::Values;
use crate::note::{Block, Note};
use crate::session::model::Session;

use super::meta;

pub(super) fn check(note: &Note, values: &Values, session: &mut Session, diagnostics: &mut Vec<Diagnostic>) {
    if session.meta.kind.as_deref() == Some("session") {
        let place = meta::place(note.split());
        let mut lacks = |key: &str, help: &'static str| {
            diagnostics
                .push(Diagnostic::warning("missing-key", place, format!("the session has no `{key}`")).help(help));
        };
        if session.meta.session_id.is_none() {
            lacks("session_id", "the file's name without `.md` is a good one; until then it stands for it");
        }
        if session.meta.started.is_none() && values.get("started").is_none() {
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
    duplicate_ids(note, diagnostics);
}

fn has_id(blocks: &[Block], note: &Note, id: &str) -> bool {
    blocks.iter().any(|block| note.id(block) == Some(id) || has_id(&block.children, note, id))
}

/// An id that two blocks carry: links to it are ambiguous.
fn duplicate_ids(note: &Note, diagnostics: &mut Vec<Diagnostic>) {
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
    let mut first: HashMap<String, usize> = HashMap::new();
    for span in ids {
        // The editor does not tell upper from lower case in ids.
        let id = span.of(note.text()).to_lowercase();
        if let Some(line) = first.get(&id) {
            let message = format!("the id `{id}` stands on line {line} already");
            diagnostics.push(
                Diagnostic::error("duplicate-id", span, message)
                    .help("`cru check --fix` gives the later block another one"),
            );
        } else {
            first.insert(id, note.lines().line(span.start));
        }
    }
}
