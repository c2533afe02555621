//! All cases of a set of notes, and what was left out and why.
//!
//! The order is that of session ids and lines, so the same notes give the same cases whatever order they are read in.
//! Nothing is left out in silence: a session that its owner keeps from training and a correction that follows nothing
//! are both listed.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::case::{Case, Fidelity, Kind, Origin, Source, Story, Turn};
use super::family::Family;
use super::recall::Recall;
use super::record::Note;
use super::trail::Trail;
use super::whole::Calls;
use super::{correction, demonstration, ending, fault, need, puzzle, redact};
use cru_base::Span;

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

impl Harvest {
    /// Puts cases and what was left out in the order of session ids and lines.
    pub fn sort(&mut self) {
        self.cases.sort_by(|a, b| {
            place(&a.origin.session, &a.origin.source)
                .cmp(&place(&b.origin.session, &b.origin.source))
                .then(a.kind().cmp(&b.kind()))
        });
        self.left_out.sort_by(|a, b| place(&a.session, &a.source).cmp(&place(&b.session, &b.source)));
        // Two notes of one session id may tell the same.
        let mut seen: HashMap<String, usize> = HashMap::new();
        for case in &mut self.cases {
            let times = seen.entry(case.id.clone()).or_default();
            *times += 1;
            if *times > 1 {
                let id = digest(&[&case.id, &times.to_string()]);
                case.id = format!("{}-{}", case.kind().as_str(), &id.to_hex()[..16]);
            }
        }
    }
}

fn place<'a>(session: &'a str, source: &'a Source) -> (&'a str, &'a str, usize) {
    (session, &source.path, source.line_start)
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
    /// A failure that went away after the person had said something more.
    Helped,
    /// A failure of which only a second try is told.
    Retried,
    /// A failure of which nothing says what was wrong.
    Silent,
    /// The check that passed was switched off.
    Shortcut,
    /// The words show a picture that is not in the record.
    PictureUnknown,
    /// What was edited is not in the record, although the calls of its session are.
    ChangeUnknown,
    /// What was done upon a correction, the person corrected too.
    CorrectedAgain,
    /// The answer does what lasts, such as a push, and nobody asked for it.
    Unasked,
    /// What came later shows that the answer was wrong.
    ShownWrong,
    /// A name that the person gave is another one in the answer.
    Swapped,
    /// The answer argues the fault away that it has just granted.
    ArguedAway,
    /// What the words order was not done.
    NotDone,
    /// A check that the words lay down was not made.
    Unchecked,
    /// What was done right before a correction may be right: it is compared with nothing.
    Innocent,
    /// The better answer follows what only the correction says: it is compared with nothing.
    ToldLater,
    /// The better answer goes on from the other one: it is compared with nothing.
    BuildsOn,
    /// What was stopped is a call that was torn off: it is compared with nothing.
    TornOff,
    /// The two answers change different files, and nobody named one: they are not compared.
    Elsewhere,
    /// The last check of what was done upon a correction failed.
    CheckFailed,
    /// The words of a plan that was refused, or of the one that took its place, are not in the record.
    PlanUnknown,
    /// The answer quotes or tells again what stands nowhere before it.
    Unshown,
    /// A person rejected the case.
    Rejected,
    /// Nobody has accepted the case yet.
    NotAccepted,
    /// There is less for it than was asked for.
    LowQuality,
    /// The answer alone takes more tokens than were asked for.
    TooLong,
    /// The same example as another row.
    Duplicate,
    /// The question holds the answer.
    GivenAway,
    /// Its session is trained on: who is asked has seen it.
    Trained,
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
            Self::Helped => "solved only after the person said more",
            Self::Retried => "only a second try is told",
            Self::Shortcut => "a check was switched off",
            Self::PictureUnknown => "the words show a picture that is not in the record",
            Self::ChangeUnknown => "what was edited is not in the record",
            Self::Silent => "nothing says what was wrong",
            Self::CorrectedAgain => "the answer was corrected too",
            Self::Unasked => "commits, pushes or publishes what nobody asked for",
            Self::ShownWrong => "later turns show that it was wrong",
            Self::Swapped => "another name stands where the person gave one",
            Self::ArguedAway => "argues away what it has granted",
            Self::NotDone => "what was ordered was not done",
            Self::Unchecked => "a check that was asked for was not made",
            Self::Innocent => "what was done last shows no fault: no pair",
            Self::ToldLater => "the better answer follows what only the correction says: no pair",
            Self::BuildsOn => "the better answer goes on from the other one: no pair",
            Self::TornOff => "what was stopped was torn off: no pair",
            Self::Elsewhere => "the answers change files that nobody named: no pair",
            Self::CheckFailed => "the last check of the answer failed",
            Self::PlanUnknown => "the plan itself is not in the record",
            Self::Unshown => "the answer quotes what is not shown before it",
            Self::Rejected => "rejected by a person",
            Self::NotAccepted => "not accepted yet",
            Self::LowQuality => "below --min-quality",
            Self::TooLong => "the answer alone is longer than --max-tokens",
            Self::Duplicate => "same example as another row",
            Self::Trained => "of a session that is trained on",
            Self::GivenAway => "the question holds the answer",
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
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
        let tools = tools(note.calls);
        let mut known = redact::Known::default();
        for (mut case, trigger) in cases_of(*note, family, kinds) {
            case.tools = Arc::clone(&tools);
            // The same words twice in one session are two cases: the second one's id says so.
            let key = digest(&[case.kind().as_str(), &case.origin.session, &trigger]);
            let times = seen.entry(*key.as_bytes()).or_default();
            *times += 1;
            let id = if *times == 1 { key } else { digest(&[key.to_hex().as_str(), &times.to_string()]) };
            redact::redact(&mut case, &mut known);
            case.id = format!("{}-{}", case.kind().as_str(), &id.to_hex()[..16]);
            match &case.story {
                Story::Correction(it) | Story::Preference(it) if it.behaviour.is_empty() => {
                    harvest.left_out.push(LeftOut { case: String::new(), ..case.left_out(Reason::NothingBefore) });
                }
                _ => harvest.cases.push(case),
            }
        }
    }
    harvest
}

/// The tools of a session as functions, each with the arguments it was given and their types. No description is made up.
fn tools(calls: Option<&Calls>) -> Arc<str> {
    let mut tools: BTreeMap<&str, BTreeMap<&str, &'static str>> = BTreeMap::new();
    for call in calls.into_iter().flat_map(Calls::values) {
        let known = tools.entry(&call.name).or_default();
        for (name, value) in &call.arguments {
            let kind = match value {
                Value::String(_) => "string",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                Value::Null => "",
            };
            let other = known.entry(name).or_insert(kind);
            if *other != kind {
                *other = "";
            }
        }
    }
    let functions = tools.into_iter().map(|(name, arguments)| {
        let properties: Map<String, Value> = arguments
            .into_iter()
            .map(|(name, kind)| (name.to_owned(), if kind.is_empty() { json!({}) } else { json!({ "type": kind }) }))
            .collect();
        let parameters = json!({ "type": "object", "properties": properties });
        json!({ "type": "function", "function": { "name": name, "description": "", "parameters": parameters } })
    });
    Value::Array(functions.collect()).to_string().into()
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
    // Only calls as they were made quote anything.
    let recall = OnceCell::new();
    let complete = |context: &mut Vec<Turn>, story: &Story, round: usize, at: Option<usize>| {
        let recall = note.calls.map(|_| recall.get_or_init(|| Recall::of(&trail)));
        recall.map(|recall| recall.complete(context, story, round, at)).unwrap_or_default()
    };
    let mut add = |found: (String, Vec<Turn>, Story, String), origin: Origin, round: usize, at: Option<usize>| {
        let (title, mut context, mut story, trigger) = found;
        if note.calls.is_some() {
            ending::complete(&trail, &mut story);
        }
        let fault = fault::judge(&trail, round, &context, &mut story);
        let recalled = complete(&mut context, &story, round, at);
        let picture = !matches!(story, Story::Puzzle(_)) && trail.rounds[round].picture;
        cases.push((Case { picture, fault, ..case(title, origin, context, (story, recalled)) }, trigger));
    };
    if kinds.contains(&Kind::Puzzle) {
        for found in puzzle::all(&trail, note.session.meta.cursor.is_some()) {
            let origin = origin(&trail, note, family, found.round, (found.span, found.block));
            let context = trail.context(found.round, found.at);
            let story = Story::Puzzle(found.puzzle);
            add((found.title, context, story, found.trigger), origin, found.round, Some(found.at));
        }
    }
    if kinds.contains(&Kind::Correction) || kinds.contains(&Kind::Preference) {
        for found in correction::all(&trail).into_iter().filter(|found| kinds.contains(&found.kind)) {
            let origin = origin(&trail, note, family, found.round, (found.span, found.block));
            let words = found.correction.words.clone();
            let story = match found.kind {
                Kind::Preference => Story::Preference(found.correction),
                _ => Story::Correction(found.correction),
            };
            add((found.title, found.context, story, words), origin, found.round, None);
        }
    }
    if kinds.contains(&Kind::Demonstration) {
        for found in demonstration::all(&trail) {
            let origin = origin(&trail, note, family, found.round, (found.span, found.block));
            let story = Story::Demonstration(found.demonstration);
            add((found.title, found.context, story, found.words), origin, found.round, None);
        }
    }
    cases.sort_by_key(|(case, _)| (case.origin.source.line_start, case.kind()));
    cases
}

fn case(title: String, origin: Origin, context: Vec<Turn>, (story, recalled): (Story, HashSet<u64>)) -> Case {
    let mut case = Case {
        id: String::new(),
        title,
        origin,
        context,
        story,
        content_hash: String::new(),
        tools: Arc::default(),
        fidelity: Fidelity::None,
        redactions: 0,
        recalled,
        picture: false,
        fault: None,
        edits: None,
        accepted: false,
    };
    need::shorten(&mut case);
    case.fidelity = case.fidelity_found();
    let mut parts = vec![case.failure(), case.answer().unwrap_or_default()];
    parts.extend(case.correction().map(|it| it.words.clone()));
    if case.fidelity == Fidelity::Full {
        parts.extend(case.entries().filter_map(|entry| serde_json::to_string(entry.whole()?).ok()));
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
