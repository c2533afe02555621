//! A note written anew from records that it tells already, but for what a person changed in it.
//!
//! What was generated last is compared with what would be generated now. It is the text that is kept in the machine state,
//! else what this version would have generated of the same records. That only tells which block is which: whether one may
//! change is decided by its seal ([`cru_session::seal`]), and one without a seal stays as it is. Without seals nothing is
//! written, unless a person agrees that what stands there as it would be generated was generated.
//!
//! What a person took out does not come back. A block that something else links to, or that holds the hash of a file, is not
//! taken out. At the end every line that is in the note and was not generated must still be there, and no block id twice; else
//! nothing is written.

use std::collections::{HashMap, HashSet};

use super::carry::carry;
use super::{Grower, Grown, GrowthFacts, cursor_of, is_told_as};
use crate::ids::Ids;
use crate::plan::Old;
use crate::top::ToldTops;
use cru_base::Span;
use cru_note::{Block, Note};
use cru_session::cursor::Cursor;
use cru_session::op::{self, Op};
use cru_session::seal::Seals;
use cru_session::source::Bundle;
use cru_session::{Session, Step, delta, read, render, seal};
use cru_vault::seals;
use cru_vault::state::key;
use cru_vault::writer::{Generated, Known, Plan};

/// What is known of the notes that are to be written anew.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    /// Whether what stands in a note as it would be generated counts as generated, though nothing proves it.
    pub(crate) trust: bool,
    /// Block ids that other notes link to, by the name of the note in small letters.
    pub(crate) linked: HashMap<String, HashSet<String>>,
}

impl Grower<'_> {
    /// The operations that write the note anew.
    pub(super) fn renew(
        &self,
        renewal: &Renewal,
        old: &Old,
        bundle: &Bundle,
        note: &Note,
        known: &Known,
        found: &mut GrowthFacts,
    ) -> Result<Plan, Grown> {
        let (there, _) = read::written(note);
        let now = cursor_of(&there, old)?;
        if old.rewritten.is_some() {
            return Err(Grown::Refused("its transcript was rewritten since; `cru import --reattach` compares them"));
        }
        let seals = seals::read(self.vault, &key(&old.head.id())).of_revision(now.revision);
        if !seals.is_whole() && !renewal.trust {
            return Err(Grown::Refused(UNSEALED));
        }
        let kept = known.base.as_deref().filter(|text| !text.is_empty()).map(|text| {
            let (ids, text) = Ids::unpack(text);
            (ids, text.to_owned())
        });
        let again = |ids: Option<Ids>| -> Result<_, Grown> {
            let (ids, session) = self.again(old, bundle, &now, &there, ids)?;
            let text = render::note(&session);
            let mut standing = seal::generated_ids(note, &seals);
            if renewal.trust {
                standing.extend(told_ids(&text, note, &there));
            }
            Ok((ids, as_it_stands(&text, note, &standing)))
        };
        let (mut ids, base) = match kept {
            Some(kept) if is_told_as(&kept.1, &there) => kept,
            Some((ids, text)) => again(Some(ids.clone())).unwrap_or((ids, text)),
            None => again(None)?,
        };
        ids.rules = self.reading.rules();
        let base = Note::parse(base);
        let (last, _) = read::written(&base);
        let mut new = old.draft.session.clone();
        let kept = ids.keep_inputs(&new, &last, &there);
        ids.avoid_taken(&new, &last, &kept, (note, &there), known.made.values().map(String::as_str));
        ids.apply(&mut new);
        if !old.draft.patches.is_empty() {
            found.ids = Some(ids.clone());
        }
        carry(&last, &mut new);
        let text = render::note(&new);
        let rendered = Note::parse(text.as_str());
        let tops = ToldTops::of(self.vault, &old.head.path, note, &base, &rendered);
        let (base, rendered) = (tops.base.unwrap_or(base), tops.new.unwrap_or(rendered));
        let mut ops = delta::notes(&base, &rendered, Some(delta::There { note, session: &there }));
        ops.retain(|op| matches!(op, Op::Set { .. } | Op::Tasks { .. }));
        super::follow_file(&mut ops, old, &there);
        if !renewal.trust {
            seal::keep_proven(&mut ops, &seals, &base, note, &there);
        }
        let moved_on = !now.same_records(&Cursor::first(&old.draft.consumed));
        let stem = old.head.path.stem().to_lowercase();
        let proof = Sealed {
            trusted: if renewal.trust { seal::block_texts(&base).into_iter().collect() } else { HashSet::new() },
            held: held_ids(note, &base, &rendered, &there, renewal.linked.get(&stem)),
            seals,
        };
        let held = Held::of(note, &base, &proof);
        let body = op::renewed(&base, note, &rendered, &proof);
        if body != note.text()[note.split().body_start..] {
            ops.insert(0, Op::Body { old: op::body_hash(note), new: body });
        }
        let ops = held.settle(ops).ok_or(Grown::Refused(
            "what was changed by hand in it cannot be told apart from what would be written anew",
        ))?;
        let base = ids.pack(&text);
        if ops.is_empty() && !moved_on && !renewal.trust && known.base.as_deref() == Some(base.as_str()) {
            return Ok(Plan::default());
        }
        Ok(Plan {
            ops,
            cursor: moved_on.then(|| old.draft.consumed.clone()),
            base: Some(base),
            generated: Some(Generated { text: rendered.text().to_owned(), all: renewal.trust }),
            label: self.label.to_owned(),
            ..Plan::default()
        })
    }
}

/// Why a note without seals stays as it is.
pub(crate) const UNSEALED: &str = "it has no seals, so all of it counts as yours";

/// What decides about the blocks of a note.
struct Sealed {
    seals: Seals,
    /// Texts that count as generated because a person agreed.
    trusted: HashSet<String>,
    /// Ids, in small letters, of blocks that are not taken out.
    held: HashSet<String>,
}

impl op::Proof for Sealed {
    fn is_generated(&self, text: &str) -> bool {
        self.seals.has_block(text) || self.trusted.contains(text)
    }

    fn is_deleted(&self, place: &str) -> bool {
        self.seals.is_deleted(place)
    }

    fn is_held(&self, id: &str) -> bool {
        self.held.contains(id)
    }
}

/// `generated`, with the blocks of these ids (in small letters) as they stand in the note.
pub(super) fn as_it_stands(generated: &str, note: &Note, ids: &HashSet<String>) -> String {
    let (ours, theirs) = (spans(&Note::parse(generated)), spans(note));
    let mut swaps: Vec<(Span, String)> = Vec::new();
    for (id, span) in ours.iter().filter(|(id, _)| ids.contains(id.as_str())) {
        let Some(other) = theirs.get(id) else { continue };
        let theirs = other.of(note.text()).replace("\r\n", "\n");
        if span.of(generated) != theirs {
            swaps.push((*span, theirs));
        }
    }
    swaps.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = generated.to_owned();
    for (span, theirs) in swaps {
        text.replace_range(span.start..span.end, &theirs);
    }
    text
}

/// The ids, in small letters, of steps that say the same in a note as is `generated`, and have no line of their own but those
/// that list files: another version wrote them.
fn told_ids(generated: &str, note: &Note, there: &Session) -> HashSet<String> {
    let base = Note::parse(generated);
    let (told, _) = read::written(&base);
    let known: HashMap<&str, &Step> = by_id(&told).collect();
    let (ours, theirs) = (spans(&base), spans(note));
    let is_told = |id: &str| {
        let (Some(ours), Some(theirs)) = (ours.get(id), theirs.get(id)) else { return false };
        let lines: HashSet<&str> = ours.of(generated).lines().map(str::trim).collect();
        theirs.of(note.text()).lines().all(|line| lines.contains(line.trim()) || is_file_line(line))
    };
    let same = by_id(there).filter(|(id, step)| known.get(id).is_some_and(|it| says_the_same(it, step)));
    same.map(|(id, _)| id.to_lowercase()).filter(|id| is_told(id)).collect()
}

/// Where the blocks with an id stand, by that in small letters.
fn spans(note: &Note) -> HashMap<String, Span> {
    let mut spans = HashMap::new();
    blocks(note, &mut |block| {
        let Some(id) = note.id(block) else { return };
        let end = block.id.map_or(0, |id| id.end).max(block.content.end);
        spans.insert(id.to_lowercase(), Span::new(block.content.start, end));
    });
    spans
}

/// A line that lists files.
fn is_file_line(line: &str) -> bool {
    ["- reads: `", "- writes: `"].iter().any(|start| line.trim_start().starts_with(start))
}

/// Whether a step says what was generated; one without line anchors was generated before there were any.
fn says_the_same(generated: &Step, step: &Step) -> bool {
    let bare = |it: &Step| {
        let mut it = Step { span: Span::default(), ..it.clone() };
        for (files, told) in [(&mut it.reads, &step.reads), (&mut it.writes, &step.writes)] {
            for (file, _) in files.iter_mut().zip(told).filter(|(_, told)| told.lines.is_empty()) {
                file.lines.clear();
            }
        }
        it
    };
    bare(generated) == bare(step)
}

fn by_id(session: &Session) -> impl Iterator<Item = (&str, &Step)> {
    session.steps().filter_map(|(_, step)| Some((step.id.as_deref()?, step)))
}

fn blocks(note: &Note, each: &mut dyn FnMut(&Block)) {
    let mut open: Vec<&Block> = note.blocks().iter().collect();
    while let Some(block) = open.pop() {
        each(block);
        open.extend(&block.children);
    }
}

/// The ids, in small letters, of blocks that are not taken out though they are not generated any more: something links to
/// them, or they hold the hash of a file.
fn held_ids(
    note: &Note,
    base: &Note,
    new: &Note,
    there: &Session,
    linked: Option<&HashSet<String>>,
) -> HashSet<String> {
    let mut ids: HashSet<String> = linked.into_iter().flatten().cloned().collect();
    let known = counted(base.text());
    for line in counted(note.text()).keys().filter(|line| !known.contains_key(*line)) {
        ids.extend(links_in(line).map(str::to_lowercase));
    }
    let hashed = |step: &Step| step.reads.iter().chain(&step.writes).any(|file| file.hash.is_some());
    ids.extend(by_id(there).filter(|(_, step)| hashed(step)).map(|(id, _)| id.to_lowercase()));
    blocks(new, &mut |block| {
        if let Some(id) = new.id(block) {
            ids.remove(&id.to_lowercase());
        }
    });
    ids
}

/// What must still be in a note when it is written anew.
struct Held<'a> {
    note: &'a Note,
    /// Lines that were not generated, and how often each stands there.
    lines: HashMap<&'a str, usize>,
}

impl<'a> Held<'a> {
    fn of(note: &'a Note, base: &Note, proof: &Sealed) -> Self {
        let mut generated = seal::generated_properties(note, &proof.seals);
        for text in seal::block_texts(note).iter().filter(|text| op::Proof::is_generated(proof, text)) {
            generated.push_str(text);
            generated.push('\n');
        }
        let (generated, known) = (counted(&generated), counted(base.text()));
        let mut lines = counted(note.text());
        for (line, count) in &mut lines {
            let of = |counts: &HashMap<&str, usize>| counts.get(line).copied().unwrap_or_default();
            *count = count.saturating_sub(of(&generated).max(of(&known)));
        }
        lines.retain(|_, count| *count > 0);
        Self { note, lines }
    }

    /// The operations that leave all of it in the note; `None` where that cannot be.
    fn settle(&self, mut ops: Vec<Op>) -> Option<Vec<Op>> {
        // How often operations are tried that meet no change of a person.
        for _ in 0..4 {
            if ops.is_empty() {
                return Some(ops);
            }
            let applied = match op::apply(self.note.text().as_bytes(), &ops, op::Mode::First) {
                Ok(applied) => applied,
                Err((at, _)) => {
                    ops.remove(at);
                    continue;
                }
            };
            let outcomes: Vec<op::Outcome> = applied.done.iter().map(|done| done.outcome).collect();
            let is_free = |outcome: &op::Outcome| matches!(outcome, op::Outcome::Done | op::Outcome::Moved);
            if outcomes.iter().all(is_free) {
                let text = String::from_utf8(applied.bytes).ok()?;
                return self.is_in(&text).then_some(ops);
            }
            let mut outcomes = outcomes.iter();
            ops.retain(|_| outcomes.next().is_none_or(is_free));
        }
        None
    }

    fn is_in(&self, text: &str) -> bool {
        let lines = counted(text);
        let has = |(line, count): (&&str, &usize)| lines.get(line).is_some_and(|there| there >= count);
        self.lines.iter().all(has) && repeated(&Note::parse(text)).is_subset(&repeated(self.note))
    }
}

/// The lines of a text that say something, and how often each stands there. A cursor is the machine's.
fn counted(text: &str) -> HashMap<&str, usize> {
    let mut lines = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("cru_cursor:")) {
        *lines.entry(line).or_default() += 1;
    }
    lines
}

/// Block ids that stand there more than once.
fn repeated(note: &Note) -> HashSet<String> {
    let (mut seen, mut twice) = (HashSet::new(), HashSet::new());
    blocks(note, &mut |block| {
        if let Some(id) = note.id(block).map(str::to_lowercase)
            && !seen.insert(id.clone())
        {
            twice.insert(id);
        }
    });
    twice
}

/// The block ids that links in a line lead to.
pub(crate) fn links_in(line: &str) -> impl Iterator<Item = &str> {
    line.split("#^").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        &rest[..end]
    })
}
