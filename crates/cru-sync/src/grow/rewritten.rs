//! A note whose transcript no longer begins with the records that the note was made of: lines of it were cut, redacted or
//! written anew, or it is another copy.
//!
//! What the note tells already is found by the last record (its id, else its time), else by the words of both. The part of
//! the transcript up to there is what would be generated of those records now; what differs between that and the whole is what is new, and
//! that alone is written. Steps whose records are gone stay in the note. Steps of that part that the note does not have
//! were deleted by a person or are from another copy; only a person can tell, so they are counted, and written where
//! that is asked for.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use similar::{Algorithm, DiffOp};

use super::counted::Counted;
use super::{Grower, Grown};
use crate::ids::Ids;
use crate::plan::{Old, Rewritten};
use cru_base::diff::diff;
use cru_base::text::fold_whitespace;
use cru_note::{BlockKind, Note};
use cru_session::op::Op;
use cru_session::source::Bundle;
use cru_session::{Item, Session, Step, StepStatus, read, render, usage};

/// What stands for the text that was generated last.
pub(super) struct RewrittenBase {
    pub(super) ids: Ids,
    pub(super) base: String,
    /// Steps of that part that are not in the note and are not written.
    pub(super) missing: usize,
}

const ANOTHER: Grown = Grown::Refused("the transcript is another one than it was");

impl Grower<'_> {
    /// Where the part ends that the note tells; without ids and times behind the last of it that the note has.
    pub(super) fn located(
        &self,
        old: &Old,
        bundle: &Bundle,
        part: Rewritten,
        there: &Session,
    ) -> Result<Rewritten, Grown> {
        let records = part.records.or_else(|| self.told_records(old, bundle, there)).ok_or(ANOTHER)?;
        Ok(Rewritten { records: Some(records), ..part })
    }

    /// How many records the note tells, as far as the same things are said in the same order.
    fn told_records(&self, old: &Old, bundle: &Bundle, there: &Session) -> Option<u64> {
        let (_, end) = told(&old.draft.session, there).filter(|(same, end)| same * 2 >= *end)?;
        let (mut least, mut most) = (0, old.draft.consumed.records);
        while least < most {
            let records = most - (most - least) / 2;
            let first = self.reading.first(bundle, &old.draft.key, Some(records));
            if first.map_or(0, |draft| said(&written(&draft.session)).len()) > end {
                most = records - 1;
            } else {
                least = records;
            }
        }
        Some(least)
    }

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
        let draft = self.reading.first(bundle, &old.draft.key, part.records).ok_or(ANOTHER)?;
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
        let is_same = || told(&session, there).is_some_and(|(same, _)| same * 2 >= said(&written(&session)).len());
        if !part.by_id && (steps == 0 || missing.len() * 2 > steps) && !is_same() {
            return Err(ANOTHER);
        }
        let is_fresh = |item: &Item| match item {
            Item::Step(step) => step.id.as_deref().is_some_and(|id| fresh.contains(id)),
            _ => false,
        };
        session.phases.iter_mut().for_each(|phase| phase.items.retain(|item| !is_fresh(item)));
        ids.apply(&mut session);
        super::carry::carry(there, &mut session);
        // A call that the note tells without a result has one by now: that is new.
        let open: HashMap<&str, &Step> = there
            .steps()
            .filter(|(_, step)| step.status == StepStatus::NoResult)
            .filter_map(|(_, step)| Some((step.id.as_deref()?, step)))
            .collect();
        for item in session.phases.iter_mut().flat_map(|phase| &mut phase.items) {
            if let Item::Step(step) = item
                && let Some(told) = step.id.as_deref().and_then(|id| open.get(id))
            {
                *step = (*told).clone();
            }
        }
        // What is counted was counted of other records: the note's own figures are what they were.
        session.meta.tokens_used = there.meta.tokens_used;
        session.meta.cost_usd = there.meta.cost_usd;
        session.meta.transcript.clone_from(&there.meta.transcript);
        // What all records tell, or something beside them, is what was generated last: the note's own may be a person's.
        if let Some((last, _)) = last.map(read::written_meta) {
            session.meta.open = last.open;
            if old.draft.aside {
                (session.meta.title, session.meta.aliases) = (last.title, last.aliases);
            }
        }
        // The summary is the note's own: it tells of the records of then.
        session.preface.retain(|item| !item.is_top());
        session.preface.splice(0..0, there.preface.iter().find(|item| item.is_top()).cloned());
        let base = with_usage(render::note(&session), note, last);
        Ok(RewrittenBase { ids, base, missing: missing.len() })
    }
}

/// A session as its note says it.
fn written(session: &Session) -> Session {
    read::written(&Note::parse(render::note(session))).0
}

/// What a session says, in its order: words of people, paragraphs, and steps.
fn said(session: &Session) -> Vec<String> {
    let said = session.items().flat_map(|(_, item)| match item {
        Item::User(user) => vec![user.words.clone()],
        Item::Prose(prose) => prose.text.split("\n\n").map(str::to_owned).collect(),
        Item::Step(step) => vec![format!("{} {} {:?}", step.tool, step.args, step.time.map(Timestamp::as_second))],
        // Tables of tokens and the summary on top are made of all of it.
        item if item.is_top() => Vec::new(),
        item => {
            let callout = item.callout().filter(|it| it.kind != usage::KIND);
            callout.map(|it| format!("{} {}", it.kind, it.body)).into_iter().collect()
        }
    });
    said.map(|words| fold_whitespace(&words)).filter(|words| !words.is_empty()).collect()
}

/// How much of what an account says the note says too, and how much it says up to the last of that.
fn told(account: &Session, there: &Session) -> Option<(usize, usize)> {
    let (account, there) = (said(&written(account)), said(there));
    let changes = diff(Algorithm::Patience, &account, &there, None);
    let same = changes.iter().filter(|change| matches!(change, DiffOp::Equal { .. })).map(DiffOp::old_range);
    same.fold(None, |all, run| Some((all.map_or(0, |(same, _)| same) + run.len(), run.end)))
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
