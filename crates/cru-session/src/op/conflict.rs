//! What a person reads where both sides changed the same: their text stays, ours is a `[!conflict]` callout.
//!
//! Our text stands in a fence, so that its ids, links and steps are not there twice.

use super::draft::TextDraft;
use super::place::{self, Spot};
use super::unit::{Unit, units};
use crate::model::{Callout, Item};
use crate::render;
use cru_note::edit::EditError;
use cru_note::{LineEnd, Note, Patch};

/// A conflict to be told.
#[derive(Debug)]
pub(super) struct Conflict {
    /// What it is about: `title`, `n-014`, `Decision: Short-lived tokens`.
    pub(super) title: String,
    /// What is wanted now.
    pub(super) wanted: String,
    /// What was wanted before: a callout that says so becomes this one.
    pub(super) before: Option<String>,
    /// What later operations want: where a callout says so, nothing is told.
    pub(super) later: Vec<String>,
}

/// Where a callout goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// Below the title of the note.
    Preface,
    /// Behind a block.
    Behind(Unit),
}

impl Conflict {
    /// Whether the callout stands in the note, or the one of a later operation.
    pub(super) fn is_told(&self, note: &Note) -> bool {
        let all = units(note, false);
        let mut wanted = self.later.iter().chain([&self.wanted]);
        wanted.any(|text| find(note, &all, &self.callout(text)).is_some())
    }

    /// Puts the callout there, once.
    pub(super) fn tell(&self, draft: &mut TextDraft, place: Where) -> Result<(), EditError> {
        let note = draft.note();
        if self.is_told(note) {
            return Ok(());
        }
        let before = self.before.as_ref().and_then(|before| find(note, &units(note, false), &self.callout(before)));
        let text = self.callout(&self.wanted);
        if let Some(unit) = before {
            let text = eol(note.split().line_end, &text);
            let patch = Patch::replace(unit.span, text);
            draft.apply(&patch);
            return Ok(());
        }
        match place {
            Where::Behind(unit) if super::add::insert_behind(draft, Unit { item: None, ..unit }, &text)? => Ok(()),
            Where::Behind(unit) => {
                let spot = Spot { before: unit.top, floor: 0, moved: false };
                place::put(draft, spot, &text)
            }
            Where::Preface => {
                let spot = Spot::preface(draft.note());
                place::put(draft, spot, &text)
            }
        }
    }

    fn callout(&self, body: &str) -> String {
        callout(&self.title, body)
    }
}

/// The block that says exactly this.
fn find(note: &Note, all: &[Unit], text: &str) -> Option<Unit> {
    all.iter().find(|unit| unit.item.is_none() && unit.text(note) == text).copied()
}

fn eol(end: LineEnd, text: &str) -> String {
    end.apply(text)
}

/// A `[!conflict]` callout.
pub(crate) fn callout(title: &str, body: &str) -> String {
    let callout =
        Callout { kind: "conflict".to_owned(), title: title.to_owned(), body: body.to_owned(), ..Callout::default() };
    render::callout(&Item::Callout(callout), None).trim_end().to_owned()
}

/// The words for a block that was to become `text`.
pub(super) fn block(text: &str) -> String {
    let fence = render::fenced("markdown", text.trim_matches('\n'));
    format!("You have changed this block, so it stays as you wrote it. cru wanted it to be\n\n{fence}")
}

/// The words for a property that was to have this line or lines; `None`: that was to go.
pub(super) fn property(lines: Option<&str>, reason: &str) -> String {
    let Some(lines) = lines else { return format!("{reason} cru wanted to remove it.") };
    let lines = lines.trim_end();
    if lines.contains('\n') {
        format!("{reason} cru wanted to write\n\n{}", render::fenced("yaml", lines))
    } else {
        format!("{reason} cru wanted to write {}", crate::escape::code::span(lines))
    }
}
