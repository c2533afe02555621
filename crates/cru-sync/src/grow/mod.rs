//! A note that is there, brought up to what its transcript now tells.
//!
//! What is written is the difference between what `cru` generated last and what it would generate now; so a person's
//! edits are in neither and stay. What was generated last is in the machine state; where that is gone it is made again
//! from the records behind the note's cursor, whose hash must be the same.

mod carry;
mod completed;
pub(crate) mod counted;
pub(crate) mod renew;
mod rewritten;
mod status;

use std::cell::Cell;
use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::evidence::patches;
use crate::existing::Existing;
use crate::grow::carry::carry;
use crate::grow::status::goes_on;
use crate::ids::Ids;
use crate::plan::{Old, Rewritten, Rules, is_moved};
use crate::read::reading::Reading;
use crate::top::ToldTops;
use cru_base::{Error, Result};
use cru_note::Note;
use cru_session::cursor::Cursor;
use cru_session::detail::Detail;
use cru_session::fold::{Draft, Linked};
use cru_session::op::Op;
use cru_session::source::Bundle;
use cru_session::{Session, delta, mask, read, render, seal};
use cru_vault::journal::Mark;
use cru_vault::state::key;
use cru_vault::writer::{Generated, Known, Plan, Writer};
use cru_vault::{Journal, State, Vault, VaultPath, seals};

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Grown {
    /// The note's bytes changed.
    Written,
    /// There was nothing to write.
    Same,
    /// What is new was written, and `missing` steps of the part that the note had before are not in it.
    Partly {
        /// How many.
        missing: usize,
        /// Whether the note's bytes changed.
        changed: bool,
    },
    /// The transcript is a copy of the time before the note was last written: there was nothing to write.
    Older,
    /// The note has come further than this reading: read again.
    Stale,
    /// It could not be told what is new.
    Refused(&'static str),
}

/// Writes what notes lack.
#[derive(Clone, Copy)]
pub(crate) struct Grower<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) state: &'a State,
    pub(crate) now: Timestamp,
    pub(crate) reading: Reading<'a>,
    pub(crate) rules: &'a Rules<'a>,
    /// What it is, for `cru undo`.
    pub(crate) label: &'a str,
    /// Write the steps of a transcript that the note lacks.
    pub(crate) reattach: bool,
    /// Write the note anew.
    pub(crate) renewal: Option<&'a renew::Renewal>,
    /// Counts the notes of which something stays as it is because they have no seals.
    pub(crate) unsealed: &'a Cell<u64>,
}

/// What a plan finds beside its operations.
#[derive(Debug, Default)]
struct GrowthFacts {
    /// How many steps of a transcript that was rewritten the note lacks.
    missing: usize,
    /// The ids that the note gives the steps of the draft, where that wrote into files.
    ids: Option<Ids>,
    /// Whether something stays as it is because the note has no seals.
    is_unsealed: bool,
}

impl Grower<'_> {
    /// Brings one note up to its draft. `consumed` are the journals whose entries the draft holds.
    pub(crate) fn grow(&self, old: &Old, bundle: &Bundle, consumed: &BTreeMap<String, Mark>) -> Result<Grown> {
        let mut grown = Grown::Same;
        let mut found = GrowthFacts::default();
        let mut plan = |note: &Note, known: &Known| -> Result<Plan> {
            found = GrowthFacts::default();
            let made = match self.renewal {
                Some(renewal) => self.renew(renewal, old, bundle, note, known, &mut found),
                None => self.plan(old, bundle, consumed, note, known, &mut found),
            };
            grown = made.as_ref().err().cloned().unwrap_or(Grown::Same);
            // Before the note, which says how far its transcript was read: behind it a kill would lose them.
            if let (Ok(_), Some(ids)) = (&made, &found.ids) {
                patches::append(self.vault, &old.head.id(), &old.draft.patches, |step| ids.now(step))?;
            }
            Ok(made.unwrap_or_default())
        };
        let session = key(&old.head.id());
        let written = Writer::new(self.vault, self.state, self.now).write(&session, &old.head.path, &mut plan)?;
        self.unsealed.set(self.unsealed.get() + u64::from(found.is_unsealed));
        Ok(match grown {
            Grown::Same if found.missing > 0 => Grown::Partly { missing: found.missing, changed: written.changed },
            Grown::Same if written.changed => Grown::Written,
            grown => grown,
        })
    }

    /// The text that the note would have, and nothing is written; why not, where it stays as it is.
    pub(crate) fn preview(&self, old: &Old, bundle: &Bundle, text: &str) -> Result<Result<String, Grown>> {
        let Some(renewal) = self.renewal else { return Ok(Err(Grown::Same)) };
        let session = key(&old.head.id());
        let writer = Writer::new(self.vault, self.state, self.now);
        let mut refused = None;
        let mut plan = |note: &Note, known: &Known| -> Result<Plan> {
            let made = self.renew(renewal, old, bundle, note, known, &mut GrowthFacts::default());
            refused = made.as_ref().err().cloned();
            Ok(made.unwrap_or_default())
        };
        let bytes = writer.preview(&session, text.as_bytes(), &mut plan)?;
        Ok(match refused {
            Some(grown) => Err(grown),
            None => Ok(String::from_utf8(bytes).map_err(|_| Error::usage("the note is not UTF-8"))?),
        })
    }

    /// Keeps what was generated of a note that was just made of `draft`.
    pub(crate) fn remember(&self, draft: &Draft, path: &VaultPath) -> Result<()> {
        let Some(id) = draft.session.meta.session_id.as_deref() else { return Ok(()) };
        let mut ids = Ids::default();
        ids.rules = self.reading.rules();
        let text = ids.pack(&render::note(&draft.session));
        let mut plan = |_: &Note, known: &Known| -> Result<Plan> {
            let text = known.base.is_none().then(|| text.clone());
            Ok(Plan { base: text, label: self.label.to_owned(), ..Plan::default() })
        };
        Writer::new(self.vault, self.state, self.now).write(&key(id), path, &mut plan).map(drop)
    }

    fn plan(
        &self,
        old: &Old,
        bundle: &Bundle,
        consumed: &BTreeMap<String, Mark>,
        note: &Note,
        known: &Known,
        found: &mut GrowthFacts,
    ) -> Result<Plan, Grown> {
        let (there, _) = read::written(note);
        let now = cursor_of(&there, old)?;
        // A note that an editor had saved from an old buffer tells another detail than the one that was read of it.
        if detail(old.draft.session.meta.detail.as_deref()) != detail(there.meta.detail.as_deref()) {
            return Err(Grown::Stale);
        }
        // Empty where a copy of the note that had more records was merged into it.
        let kept = known.base.as_deref().filter(|text| !text.is_empty()).map(|text| {
            let (ids, text) = Ids::unpack(text);
            (ids, text.to_owned())
        });
        let seals = seals::read(self.vault, &key(&old.head.id())).of_revision(now.revision);
        let again = |ids: Option<Ids>| -> Result<_, Grown> {
            let (ids, session) = self.again(old, bundle, &now, &there, ids)?;
            let text = render::note(&session);
            // What a note says already stays as it is, also what is masked now.
            let is_masked = || mask::find(note.text()).is_empty();
            let generated = || seal::generated_ids(note, &seals);
            Ok((ids, if is_masked() { renew::as_it_stands(&text, note, &generated()) } else { text }))
        };
        // Where it was freed of secrets by other rules, or not at all, the difference would tell of nothing but that; what
        // a note says already stays as it is.
        let rules = self.reading.rules();
        let kept = kept.map(|kept| (is_told_as(&kept.1, &there), kept));
        let last_text = kept.as_ref().map(|(_, (_, text))| text.as_str());
        let part = old.rewritten.map(|part| self.located(old, bundle, part, &there)).transpose()?;
        let merged = part.map(|part| self.rewritten(old, bundle, part, note, &there, last_text)).transpose()?;
        // A copy of the time before the note was last written: its cursor stays, else the records behind it would be new to
        // whoever has them.
        let records = old.draft.consumed.records;
        let is_older =
            |part: Rewritten| !part.by_id && part.records >= Some(records) && records < now.records && !self.reattach;
        if part.is_some_and(is_older) {
            if consumed.is_empty() {
                return Err(Grown::Older);
            }
            // What hooks told of it is in the note.
            return Ok(Plan { consumed: consumed.clone(), label: self.label.to_owned(), ..Plan::default() });
        }
        let (mut ids, base) = match kept {
            _ if merged.is_some() => match merged {
                Some(merged) => {
                    found.missing = merged.missing;
                    (merged.ids, merged.base)
                }
                None => return Err(Grown::Same),
            },
            Some((true, kept))
                if kept.0.is_current()
                    && (kept.0.rules == rules || (kept.0.rules.is_none() && old.draft.masked.is_empty())) =>
            {
                kept
            }
            Some((_, (ids, text))) => again(Some(ids.clone())).unwrap_or((ids, text)),
            None => again(None)?,
        };
        ids.rules = rules;
        let base = Note::parse(base);
        let (last, _) = read::written(&base);
        let mut new = old.draft.session.clone();
        ids.lost.add_to(&mut new);
        let kept = ids.keep_inputs(&new, &last, &there);
        ids.avoid(&new, &last, &kept, note, known.made.values().map(String::as_str));
        ids.apply(&mut new);
        if !old.draft.patches.is_empty() {
            found.ids = Some(ids.clone());
        }
        carry(&last, &mut new);
        let text = render::note(&new);
        let there_now = delta::There { note, session: &there };
        let rendered = Note::parse(text.as_str());
        let tops = ToldTops::of(self.vault, &old.head.path, note, &base, &rendered);
        let (told, rendered) = (tops.base.as_ref().unwrap_or(&base), tops.new.as_ref().unwrap_or(&rendered));
        let mut ops = delta::notes(told, rendered, Some(there_now));
        if old.rewritten.is_some() {
            rewritten::keep_sure(&mut ops, note);
        }
        follow_file(&mut ops, old, &there);
        let is_all = seal::keep_proven(&mut ops, &seals, told, note, &there);
        found.is_unsealed = !is_all && !seals.is_whole();
        if !consumed.is_empty() {
            let journals = consumed.keys().map(|key| (Journal::at(self.state.journal(key)), known.consumed.get(key)));
            status::settle(&mut ops, &there, &new, || {
                journals.into_iter().any(|(journal, from)| goes_on(&journal, from))
            });
        }
        let done = |(key, mark): &(&String, &Mark)| known.consumed.get(*key) != Some(mark);
        let consumed: BTreeMap<String, Mark> =
            consumed.iter().filter(done).map(|(key, mark)| (key.clone(), mark.clone())).collect();
        let moved_on = !now.same_records(&Cursor::first(&old.draft.consumed));
        // What hooks told is not there to be read again: it must be known from the first.
        let kept = known.base.is_some() || !now.is_hooked();
        if ops.is_empty() && !moved_on && consumed.is_empty() && kept {
            return Ok(Plan::default());
        }
        Ok(Plan {
            ops,
            consumed,
            generated: Some(Generated { text: rendered.text().to_owned(), all: false }),
            cursor: moved_on.then(|| old.draft.consumed.clone()),
            base: Some(ids.pack(&text)),
            label: self.label.to_owned(),
            ..Plan::default()
        })
    }

    /// What was generated last, made again from the records behind the cursor.
    fn again(
        &self,
        old: &Old,
        bundle: &Bundle,
        cursor: &Cursor,
        there: &Session,
        ids: Option<Ids>,
    ) -> Result<(Ids, Session), Grown> {
        const GONE: Grown = Grown::Refused("the transcript is another one than it was");
        let draft = self.reading.again(bundle, &old.draft.key).ok_or(GONE)?;
        if draft.consumed.records != cursor.records || !cursor.is_of(&draft.consumed.hash) {
            return Err(GONE);
        }
        let mut session = self.linked(old, draft, there);
        if !old.draft.aside {
            completed::as_told(&mut session, there);
        }
        let ids = match ids {
            Some(mut ids) => {
                ids.keep_inputs(&session, there, there);
                ids.lost.add_to(&mut session);
                ids
            }
            None => Ids::found(&session, there),
        };
        ids.apply(&mut session);
        carry(there, &mut session);
        Ok((ids, session))
    }

    /// A draft of records that the note told before, with the name and the links that the note has.
    fn linked(&self, old: &Old, mut draft: Draft, there: &Session) -> Session {
        self.rules.apply(&mut draft);
        draft.name(&old.head.id());
        // As the note links to its sub-agents, so it did then.
        let rows = &there.meta.subagents;
        let linked = draft.children.iter().filter_map(|child| {
            let note = self.existing().stem(&child.stream)?;
            let row = rows.iter().find(|row| row.session == note)?;
            let linked = Linked { note, agent: row.agent.clone(), model: row.model.clone(), tokens: row.tokens };
            Some((child.stream.clone(), linked))
        });
        let linked = linked.collect();
        draft.link_children(linked);
        let mut session = draft.session;
        session.meta.subagents.clone_from(rows);
        session.meta.parent.clone_from(&there.meta.parent);
        // How somebody closed it was generated by nobody.
        if there.meta.status.as_ref().is_some_and(|status| !status.is_closed()) {
            session.meta.status.clone_from(&there.meta.status);
        }
        session.meta.ended = there.meta.ended;
        session
    }

    fn existing(&self) -> &Existing<'_> {
        self.reading.existing
    }
}

/// Names the file that the transcript is in now, where the one that the note names is gone.
fn follow_file(ops: &mut Vec<Op>, old: &Old, there: &Session) {
    const KEY: &str = "transcript";
    let told = ops.iter().any(|op| matches!(op, Op::Set { key, .. } if key == KEY));
    if !told && is_moved(&there.meta, &old.draft) {
        let (then, now) = (there.meta.transcript.clone(), old.draft.session.meta.transcript.clone());
        ops.push(Op::Set { key: KEY.to_owned(), old: then.map(Into::into), new: now.map(Into::into) });
    }
}

/// The cursor of a note, which must be that of the reading: else somebody wrote in between, and it was marked at another place.
fn cursor_of(there: &Session, old: &Old) -> Result<Cursor, Grown> {
    let [now, then] = [&there.meta, &old.head.meta].map(|meta| meta.cursor.as_deref().and_then(Cursor::parse));
    let now = now.ok_or(Grown::Refused("the note has no cru_cursor"))?;
    if then.is_some_and(|then| then.same_records(&now)) { Ok(now) } else { Err(Grown::Stale) }
}

/// Whether what was generated last told as much as the note is to tell: a person may have changed that there.
fn is_told_as(base: &str, note: &Session) -> bool {
    const KEY: &str = "cru_detail: ";
    let head = base.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or("", |(head, _)| head);
    let told = head.lines().find_map(|line| line.strip_prefix(KEY));
    detail(told) == detail(note.meta.detail.as_deref())
}

fn detail(text: Option<&str>) -> Detail {
    Detail::parse(text.unwrap_or_default())
}
