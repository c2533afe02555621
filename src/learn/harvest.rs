//! All cases of a set of notes, and what was left out and why.
//!
//! The order is that of session ids and lines, so the same notes give the same cases whatever order they are read in.
//! Nothing is left out in silence: a session that its owner keeps from training and a correction that follows nothing
//! are both listed.

use std::collections::HashMap;

use serde::Serialize;

use super::case::{Case, Kind, Origin, Source, Story};
use super::family::Family;
use super::record::Note;
use super::trail::Trail;
use super::{correction, puzzle};
use crate::base::Span;

/// Cases, and what became none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Harvest {
    /// In the order of session ids and lines.
    pub cases: Vec<Case>,
    /// In the same order.
    pub left_out: Vec<LeftOut>,
}

/// Something that is no case, or no row of an export.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// Why.
    pub reason: Reason,
    /// Session id.
    pub session: String,
    /// Id of the case, empty where there is none.
    pub case: String,
    /// One line: what it is about.
    pub title: String,
    /// Where.
    pub source: Source,
}

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Frontmatter says `export: false`.
    ExportFalse,
    /// Tagged `no-train`.
    NoTrain,
    /// A failure without resolution and without later success.
    Unresolved,
    /// A correction after which nothing is written down.
    Unanswered,
    /// A correction before which the agent did nothing.
    NothingBefore,
    /// What was done after is what was done before.
    Unchanged,
    /// The same example as another row.
    Duplicate,
    /// The question holds the answer.
    GivenAway,
}

impl Reason {
    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExportFalse => "export: false",
            Self::NoTrain => "tagged no-train",
            Self::Unresolved => "no resolution and no later success",
            Self::Unanswered => "nothing written after the correction",
            Self::NothingBefore => "nothing done before the correction",
            Self::Unchanged => "same behaviour before and after",
            Self::Duplicate => "same example as another row",
            Self::GivenAway => "the question holds the answer",
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Case {
    /// Why an export that needs a right answer leaves the case out.
    pub fn gap(&self) -> Option<Reason> {
        match (self.answer(), self.kind()) {
            (None, Kind::Puzzle) => Some(Reason::Unresolved),
            (None, Kind::Correction) => Some(Reason::Unanswered),
            (Some(answer), _) if answer == self.failure() => Some(Reason::Unchanged),
            (Some(_), _) => None,
        }
    }

    /// The case as something left out.
    pub fn left_out(&self, reason: Reason) -> LeftOut {
        LeftOut {
            reason,
            session: self.origin.session.clone(),
            case: self.id.clone(),
            title: self.title.clone(),
            source: self.origin.source.clone(),
        }
    }
}

/// Makes the cases of notes; only those of `kinds`. `family` knows the parents, also of sessions that are not among them.
pub fn harvest(notes: &[Note<'_>], kinds: &[Kind], family: &Family) -> Harvest {
    let mut notes = notes.to_vec();
    notes.sort_by_key(|note| (note.id(), note.path));
    let mut harvest = Harvest::default();
    let mut seen: HashMap<[u8; 32], usize> = HashMap::new();
    for note in &notes {
        if let Some(reason) = withheld(note) {
            harvest.left_out.push(LeftOut {
                reason,
                session: note.id().to_owned(),
                case: String::new(),
                title: note.session.title().to_owned(),
                source: Source { path: note.path.to_owned(), line_start: 1, line_end: 1, block_id: String::new() },
            });
            continue;
        }
        for (mut case, trigger) in cases_of(*note, family, kinds) {
            // The same words twice in one session are two cases: the second one's id says so.
            let key = digest(&[case.kind().as_str(), &case.origin.session, &trigger]);
            let times = seen.entry(*key.as_bytes()).or_default();
            *times += 1;
            let id = if *times == 1 { key } else { digest(&[key.to_hex().as_str(), &times.to_string()]) };
            case.id = format!("{}-{}", case.kind().as_str(), &id.to_hex()[..16]);
            match &case.story {
                Story::Correction(it) if it.behaviour.is_empty() => {
                    harvest.left_out.push(LeftOut { case: String::new(), ..case.left_out(Reason::NothingBefore) });
                }
                Story::Correction(_) | Story::Puzzle(_) => harvest.cases.push(case),
            }
        }
    }
    harvest
}

/// Why a whole session stays out.
fn withheld(note: &Note<'_>) -> Option<Reason> {
    let meta = &note.session.meta;
    let no_train = |tag: &String| tag.trim_start_matches('#').eq_ignore_ascii_case("no-train");
    if meta.export == Some(false) {
        Some(Reason::ExportFalse)
    } else {
        meta.tags.iter().any(no_train).then_some(Reason::NoTrain)
    }
}

/// The cases of one note, without ids, each with the text that its id is made of.
fn cases_of(note: Note<'_>, family: &Family, kinds: &[Kind]) -> Vec<(Case, String)> {
    let trail = Trail::of(note);
    let mut cases = Vec::new();
    if kinds.contains(&Kind::Puzzle) {
        for found in puzzle::all(&trail, note.session.meta.cursor.is_some()) {
            let origin = origin(&trail, note, family, found.round, (found.span, found.block));
            let context = trail.context(found.round, found.at);
            cases.push((case(found.title, origin, context, Story::Puzzle(found.puzzle)), found.trigger));
        }
    }
    if kinds.contains(&Kind::Correction) {
        for found in correction::all(&trail) {
            let origin = origin(&trail, note, family, found.round, (found.span, found.block));
            let words = found.correction.words.clone();
            cases.push((case(found.title, origin, found.context, Story::Correction(found.correction)), words));
        }
    }
    cases.sort_by_key(|(case, _)| (case.origin.source.line_start, case.kind()));
    cases
}

fn case(title: String, origin: Origin, context: Vec<super::case::Turn>, story: Story) -> Case {
    let mut case = Case { id: String::new(), title, origin, context, story, content_hash: String::new() };
    let mut parts = vec![case.failure(), case.answer().unwrap_or_default()];
    if let Story::Correction(it) = &case.story {
        parts.push(it.words.clone());
    }
    for turn in &case.context {
        parts.push(turn.asked.clone());
        parts.push(turn.done());
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    case.content_hash.push_str(&digest(&parts).to_hex()[..16]);
    case
}

/// BLAKE3 of texts, each with its length, so that no two lists of texts are one.
fn digest(parts: &[&str]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

fn origin(
    trail: &Trail<'_>,
    note: Note<'_>,
    family: &Family,
    round: usize,
    (span, block): (Span, Option<String>),
) -> Origin {
    let session = note.session;
    let phase = trail.rounds[round].phase.and_then(|index| session.phases.get(index));
    let agent = phase.and_then(|phase| phase.agent.as_ref()).or_else(|| session.meta.participants.first());
    let channel = phase.and_then(|phase| phase.channel.as_ref()).or(session.meta.channel.as_ref());
    let (line_start, line_end) = trail.cleaner.lines(span);
    Origin {
        session: note.id().to_owned(),
        root: family.root(note.id()).to_owned(),
        note: note.name().to_owned(),
        session_title: trail.title(),
        source: Source { path: note.path.to_owned(), line_start, line_end, block_id: block.unwrap_or_default() },
        phase: trail.phase_title(trail.rounds[round].phase),
        agent: agent.map(ToString::to_string).unwrap_or_default(),
        model: session.meta.model.clone().unwrap_or_default(),
        host: session.meta.host.clone().unwrap_or_default(),
        channel: channel.cloned().unwrap_or_default(),
        outcome: session.meta.status.as_ref().map(|status| status.as_str().to_owned()).unwrap_or_default(),
        tags: session.meta.tags.clone(),
    }
}
