//! All cases of a set of notes, and what was left out and why.
//!
//! The order is that of session ids and lines, so the same notes give the same cases whatever order they are read in.
//! Nothing is left out in silence: a session that its owner keeps from training and a correction that follows nothing
//! are both listed.

pub(crate) mod correction;
pub(crate) mod demonstration;
pub(crate) mod ending;
pub(crate) mod failure;
pub(crate) mod planned;
pub(crate) mod proof;
pub(crate) mod puzzle;
pub(crate) mod recovery;
pub(crate) mod turns;
pub(crate) mod typed;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use self::turns::Turns;
use crate::case::call::Calls;
use crate::case::entry::Entry;
use crate::case::family::Family;
use crate::case::left_out::{LeftOut, Reason};
use crate::case::note::Note;
use crate::case::{Case, Evidence, Fidelity, Kind, Origin, Repository, Source, Story, Turn};
use crate::context::need;
use crate::context::recall::Recall;
use crate::fault::aftermath;
use crate::hygiene;
use cru_base::Span;
use cru_session::open::{OpenPoint, open_points};

/// Cases, and what became none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Extraction {
    /// In the order of session ids and lines.
    pub cases: Vec<Case>,
    /// In the same order.
    pub left_out: Vec<LeftOut>,
}

impl Extraction {
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

/// Makes the cases of notes; only those of `kinds`. `family` knows the parents, also of sessions that are not among them.
pub fn extract(notes: &[Note<'_>], kinds: &[Kind], family: &Family) -> Extraction {
    let mut notes = notes.to_vec();
    notes.sort_by_key(|note| (note.id(), note.path));
    let mut extraction = Extraction::default();
    let mut seen: HashMap<[u8; 32], usize> = HashMap::new();
    for note in &notes {
        if let Some(reason) = withheld(note) {
            extraction.left_out.push(LeftOut {
                reason,
                evidence: Evidence::Rule,
                session: note.id().to_owned(),
                case: String::new(),
                title: note.session.title().to_owned(),
                source: Source { path: note.path.to_owned(), line_start: 1, line_end: 1, block_id: String::new() },
            });
            continue;
        }
        let tools = tools(note.calls);
        let mut known = hygiene::RedactedTexts::default();
        for (mut case, trigger) in cases_of(*note, family, kinds) {
            case.tools = Arc::clone(&tools);
            // The same words twice in one session are two cases: the second one's id says so.
            let key = digest(&[case.kind().as_str(), &case.origin.session, &trigger]);
            let times = seen.entry(*key.as_bytes()).or_default();
            *times += 1;
            let id = if *times == 1 { key } else { digest(&[key.to_hex().as_str(), &times.to_string()]) };
            hygiene::redact(&mut case, &mut known);
            case.id = format!("{}-{}", case.kind().as_str(), &id.to_hex()[..16]);
            match &case.story {
                Story::Correction(it) | Story::Preference(it) if it.behaviour.is_empty() => {
                    extraction.left_out.push(LeftOut { case: String::new(), ..case.left_out(Reason::NothingBefore) });
                }
                _ => extraction.cases.push(case),
            }
        }
    }
    extraction
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
    if meta.export == Some(false) {
        Some(Reason::ExportFalse)
    } else {
        meta.has_tag("no-train").then_some(Reason::NoTrain)
    }
}

/// The cases of one note, without ids, each with the text that its id is made of.
fn cases_of(note: Note<'_>, family: &Family, kinds: &[Kind]) -> Vec<(Case, String)> {
    let trail = Turns::of(note);
    let mut cases = Vec::new();
    // Only calls as they were made quote anything.
    let recall = OnceCell::new();
    let complete = |context: &mut Vec<Turn>, story: &Story, round: usize, at: Option<usize>| {
        let recall = note.calls.map(|_| recall.get_or_init(|| Recall::of(&trail)));
        recall.map(|recall| recall.complete(context, story, round, at)).unwrap_or_default()
    };
    let plan_is_open = open_points(note.session).iter().any(|it| matches!(it, OpenPoint::NotRun(_)));
    let mut add = |found: (String, Vec<Turn>, Story, String), origin: Origin, round: usize, at: Option<usize>| {
        let (title, mut context, mut story, trigger) = found;
        if note.calls.is_some() {
            ending::complete(&trail, &mut story);
        }
        let fault = aftermath::shows_wrong(&trail, round, story.done()).then_some(Reason::ShownWrong);
        let recalled = complete(&mut context, &story, round, at);
        let picture = !matches!(story, Story::Puzzle(_)) && trail.rounds[round].picture;
        let leaves_open = plan_is_open && matches!(story, Story::Demonstration(_));
        let unfinished = leaves_open || aftermath::is_reworked(&trail, round, story.done());
        cases.push((Case { picture, fault, unfinished, ..case(title, origin, context, (story, recalled)) }, trigger));
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
    if kinds.contains(&Kind::Trajectory) {
        cases.extend(trajectory(&trail, note, family));
    }
    cases.sort_by_key(|(case, _)| (case.origin.source.line_start, case.kind()));
    cases
}

/// The whole session, where the agent did something in it.
fn trajectory(trail: &Turns<'_>, note: Note<'_>, family: &Family) -> Option<(Case, String)> {
    let turns = trail.rounds.iter().enumerate();
    let context: Vec<Turn> = turns.map(|(index, round)| trail.turn(index, 0..round.beats.len())).collect();
    if !context.iter().any(|turn| turn.done.iter().any(Entry::is_step)) {
        return None;
    }
    let origin = origin(trail, note, family, 0, (Span::default(), None));
    let meta = &note.session.meta;
    // The parent of the first commit of a session is where its work began.
    let first = note
        .session
        .steps()
        .flat_map(|(_, step)| step.commits())
        .map(|(id, _)| id)
        .find(|id| !id.is_empty())
        .map(|id| format!("{id}^"));
    let began = meta.commit.clone().filter(|commit| !commit.is_empty()).or(first);
    let repository = Repository { name: meta.project.clone().unwrap_or_default(), commit: began.unwrap_or_default() };
    let case = case(trail.title(), origin, context, (Story::Trajectory, HashSet::new()));
    Some((Case { repository, ..case }, String::new()))
}

fn case(title: String, origin: Origin, context: Vec<Turn>, (story, recalled): (Story, HashSet<u64>)) -> Case {
    let mut case = Case { title, origin, context, story, recalled, ..Case::default() };
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
    trail: &Turns<'_>,
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
