//! A note whose transcript no longer begins with the records that the note was made of: lines of it were cut, redacted or
//! written anew, or it is another copy.
//!
//! What the note tells already is found by the last record (its id, else its time). The part of the transcript up to
//! there is what would be generated of those records now; what differs between that and the whole is what is new, and
//! that alone is written. Steps whose records are gone stay in the note. Steps of that part that the note does not have
//! were deleted by a person or are from another copy; only a person can tell, so they are counted, and written where
//! that is asked for.

use std::collections::HashSet;

use super::counted::Counted;
use super::{Grower, Grown};
use crate::ids::Ids;
use crate::plan::{Old, Rewritten};
use cru_note::{BlockKind, Note};
use cru_session::op::Op;
use cru_session::source::Bundle;
use cru_session::{Item, Session, Step, render, usage};

/// What stands for the text that was generated last.
pub(super) struct RewrittenBase {
    pub(super) ids: Ids,
    pub(super) base: String,
    /// Steps of that part that are not in the note and are not written.
    pub(super) missing: usize,
}

impl Grower<'_> {
    /// The part of the transcript that the note tells already, as it would be generated now.
    pub(super) fn rewritten(
        &self,
        old: &Old,
        bundle: &Bundle,
        part: Rewritten,
        note: &Note,
        there: &Session,
        last: Option<&str>,
    ) -> Result<RewrittenBase, Grown> {
        const ANOTHER: Grown = Grown::Refused("the transcript is another one than it was");
        let draft = self.reading.first(bundle, &old.draft.key, Some(part.records)).ok_or(ANOTHER)?;
        let mut session = self.linked(old, draft, there);
        let (mut ids, mut missing) = Ids::found_rewritten(&session, there);
        ids.lost = Counted::of(there).since(&Counted::of(&session));
        ids.keep_inputs(&session, there, there);
        // What is newer than the note was when it was written is in none of its versions.
        let is_new = |step: &Step| {
            step.time.zip(there.meta.ended).is_some_and(|(time, ended)| time.as_second() > ended.as_second())
        };
        let new: HashSet<String> =
            session.steps().filter(|(_, step)| is_new(step)).filter_map(|(_, step)| step.id.clone()).collect();
        let fresh: HashSet<String> = missing.iter().filter(|id| self.reattach || new.contains(*id)).cloned().collect();
        missing.retain(|id| !fresh.contains(id));
        let steps = session.steps().filter(|(_, step)| step.id.is_some()).count();
        if !part.by_id && (steps == 0 || missing.len() * 2 > steps) {
            return Err(ANOTHER);
        }
        let is_fresh = |item: &Item| match item {
            Item::Step(step) => step.id.as_deref().is_some_and(|id| fresh.contains(id)),
            _ => false,
        };
        session.phases.iter_mut().for_each(|phase| phase.items.retain(|item| !is_fresh(item)));
        ids.apply(&mut session);
        super::carry::carry(there, &mut session);
        // What is counted was counted of other records: the note's own figures are what they were.
        session.meta.tokens_used = there.meta.tokens_used;
        session.meta.cost_usd = there.meta.cost_usd;
        session.meta.transcript.clone_from(&there.meta.transcript);
        let base = with_usage(render::note(&session), note, last);
        Ok(RewrittenBase { ids, base, missing: missing.len() })
    }
}

/// Gives a text the note's own table of tokens, unless a person edited that. `last` is the text that was generated last,
/// where it is known.
fn with_usage(text: String, note: &Note, last: Option<&str>) -> String {
    fn table(note: &Note) -> Option<std::ops::Range<usize>> {
        let is_table =
            |kind: &BlockKind| matches!(kind, BlockKind::Callout { kind, .. } if kind.of(note.text()) == usage::KIND);
        note.blocks().iter().find(|block| is_table(&block.kind)).map(|block| block.content.start..block.content.end)
    }
    let base = Note::parse(text.as_str());
    let (Some(at), Some(own)) = (table(&base), table(note)) else { return text };
    let last = last.map(Note::parse);
    let is_known = last.as_ref().is_none_or(|last| {
        table(last).is_some_and(|range| last.text()[range].lines().eq(note.text()[own.clone()].lines()))
    });
    if !is_known || !usage::is_generated(&note.text()[own.clone()]) {
        return text;
    }
    format!("{}{}{}", &text[..at.start], &note.text()[own], &text[at.end..])
}

/// Leaves out changes of blocks that do not stand in the note as they would be generated: they came of records that are
/// gone or changed, and what the note says of those stays.
pub(super) fn keep_sure(ops: &mut Vec<Op>, note: &Note) {
    let unix = note.text().replace("\r\n", "\n");
    ops.retain(|op| !matches!(op, Op::Replace { old, .. } if !unix.contains(old.trim_end())));
}
