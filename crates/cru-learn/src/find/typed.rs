//! Cases that somebody else has found: places in a note become a case with its texts.
//!
//! Who reads a session says where it went wrong and where it was set right; all texts are the note's, and what stands
//! between the two places stands between them in the case. What a reader says in words of its own is told to persons and
//! graders and never trained on.

use std::collections::HashSet;

use crate::case::entry::{Entry, Told};
use crate::case::family::Family;
use crate::case::left_out::{LeftOut, Reason};
use crate::case::note::Note;
use crate::case::{Case, CaseUses, Correction, Demonstration, Evidence, Kind, Puzzle, Story, Turn};
use crate::context::recall::Recall;
use crate::find::turns::{self, TurnItem, Turns};
use crate::find::{ending, failure, origin};
use cru_action::Verdict;
use cru_session::attempt::Attempt;
use cru_session::{Item, Session, Step, StepStatus};

/// Where a case stands in a note, and what is said of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypedCase<'a> {
    /// One line.
    pub title: &'a str,
    /// The first and the last step of what was wrong.
    pub wrong: Option<(&'a str, &'a str)>,
    /// The step that failed, of a puzzle in which none of `wrong` did.
    pub failed: Option<&'a str>,
    /// What went wrong, where no step was: places that tell it.
    pub fault: FaultPlaces<'a>,
    /// The words of the person that set right; without them those that the answer follows.
    pub said: Option<&'a str>,
    /// The first and the last step of what is right, of one turn; all between belongs to it.
    pub right: Option<(&'a str, &'a str)>,
    /// Whether, without steps that are right, what the agent said behind the words is.
    pub in_words: bool,
    /// The check behind what is right.
    pub check: Option<&'a str>,
    /// Whether a check that passed shows that it is right.
    pub verified: bool,
    /// Whether the failure was meant to happen.
    pub planned: bool,
    /// What is right, in the reader's words.
    pub expected: Option<&'a str>,
    /// What it may be used for.
    pub uses: CaseUses,
    /// The key of the reading.
    pub reading: &'a str,
}

/// Where it is told what went wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlaces<'a> {
    /// Steps.
    pub steps: Vec<&'a str>,
    /// Words of the agent.
    pub quotes: Vec<&'a str>,
}

/// A turn and a place in it.
type Place = (usize, usize);

/// The case of one kind at these places. Refused where a place is not in the note any more, where the right answer is not
/// of one turn, or where a correction has no words.
pub fn typed(note: Note<'_>, family: &Family, kind: Kind, wanted: &TypedCase<'_>) -> Result<Case, Box<LeftOut>> {
    if let Some(reason) = super::withheld(&note) {
        return Err(Box::new(untyped(note, wanted, reason)));
    }
    let trail = Turns::of(note);
    made(&trail, note, family, kind, wanted).map_err(|reason| Box::new(untyped(note, wanted, reason)))
}

/// Places that make no case, and why.
pub fn untyped(note: Note<'_>, wanted: &TypedCase<'_>, reason: Reason) -> LeftOut {
    let block = wanted.wrong.or(wanted.right).map_or("", |range| range.0);
    let source = crate::Source { path: note.path.to_owned(), line_start: 1, line_end: 1, block_id: block.to_owned() };
    let (session, title) = (note.id().to_owned(), wanted.title.to_owned());
    LeftOut { reason, evidence: Evidence::Reading, session, case: String::new(), title, source }
}

fn made(
    trail: &Turns<'_>,
    note: Note<'_>,
    family: &Family,
    kind: Kind,
    wanted: &TypedCase<'_>,
) -> Result<Case, Reason> {
    // What is named must be there.
    let places_of =
        |ends: Option<(&str, &str)>| ends.map(|ends| places(trail, ends).ok_or(Reason::NotOneTurn)).transpose();
    let (wrong, right) = (places_of(wanted.wrong)?, places_of(wanted.right)?);
    if right.is_some_and(|(from, to)| from.0 != to.0) {
        return Err(Reason::NotOneTurn);
    }
    let answer = match right {
        Some((from, to)) => {
            let beats = &trail.rounds[from.0].beats;
            let check = wanted.check.and_then(|check| trail.place_of(check)).filter(|place| place.0 == to.0);
            let changes = beats[from.1..=to.1].iter().any(|beat| beat.entry.is_edit() && !beat.entry.is_failed());
            let may_fail = wanted.check.is_some() || !changes;
            let end = whole_answer(beats, to.1, check.map(|place| place.1), may_fail)?;
            let start = before_prose(trail, from);
            let mut told = turns::told(&beats[start..=end]);
            // An edit that failed changed nothing: nobody is to learn it as an answer.
            told.retain(|entry| !(entry.is_edit() && entry.is_failed()));
            Some(((from.0, start), told))
        }
        None => wanted.in_words.then(|| answered_in_words(trail, wanted)).flatten(),
    };
    let answer = answer.filter(|(_, told)| !told.is_empty());
    let found = made_of(trail, kind, wanted, wrong, answer).ok_or(Reason::NotOneTurn)?;
    let FoundStory { at, mut story, between, uses, answered } = found;
    let kind = story.kind();
    if note.calls.is_some() && !story.done().is_empty() {
        ending::complete(trail, &mut story);
    }
    let mut context = trail.context(at.0, at.1);
    if context.is_empty() {
        let asked = trail.words(&trail.rounds[at.0]);
        context.push(Turn { asked, rounds: vec![at.0], ..Turn::default() });
    }
    let mut recalled = HashSet::new();
    if between.is_empty() && note.calls.is_some() {
        let of = answered.unwrap_or(at.0);
        let failure = matches!(story, Story::Puzzle(_)).then_some(at.1);
        recalled = Recall::of(trail).complete(&mut context, &story, of, failure);
    }
    let beats = &trail.rounds[at.0].beats;
    let beat = beats.get(at.1).or(beats.last()).ok_or(Reason::NotOneTurn)?;
    let origin = origin(trail, note, family, at.0, (beat.item.span(), beat.item.id().map(str::to_owned)));
    let mut case = super::case(wanted.title.to_owned(), origin, context, (story, recalled));
    case.between = between;
    case.fidelity = case.fidelity_found();
    case.picture = trail.rounds[at.0].picture;
    case.evidence = Evidence::Reading;
    case.uses = uses;
    case.checked = wanted.verified;
    wanted.expected.unwrap_or_default().clone_into(&mut case.expected);
    wanted.reading.clone_into(&mut case.reading);
    case.tools = super::tools(note.calls);
    case.clean();
    // Edits elsewhere in the note and another reading of the same steps leave it as it is.
    let ends = |range: Option<(&str, &str)>| range.map_or_else(String::new, |(from, to)| format!("{from}..{to}"));
    let words = wanted.said.filter(|_| wanted.wrong.is_none() && wanted.right.is_none());
    let failed = wanted.failed.filter(|_| wanted.wrong.is_none());
    let places = [ends(wanted.wrong), ends(wanted.right), failed.or(words).unwrap_or_default().to_owned()];
    let id = super::digest(&[kind.as_str(), &case.origin.session, &places.join(" ")]);
    case.id = format!("{}-{}", kind.as_str(), &id.to_hex()[..16]);
    let hash =
        super::digest(&[&case.content_hash, &case.expected, &case.between.iter().map(Turn::done).collect::<String>()]);
    hash.to_hex()[..16].clone_into(&mut case.content_hash);
    Ok(case)
}

/// What happened, and where it begins.
struct FoundStory {
    /// Where it begins: all before is context.
    at: Place,
    story: Story,
    between: Vec<Turn>,
    uses: CaseUses,
    /// The turn of the answer.
    answered: Option<usize>,
}

/// What happened, of the answer as it was found.
fn made_of(
    trail: &Turns<'_>,
    kind: Kind,
    wanted: &TypedCase<'_>,
    wrong: Option<(Place, Place)>,
    answer: Option<(Place, Vec<Entry>)>,
) -> Option<FoundStory> {
    let mut uses = wanted.uses;
    let answered = answer.as_ref().map(|(from, _)| from.0);
    let failure = match (kind, wrong) {
        (Kind::Trajectory, _) => return None,
        (Kind::Demonstration, _) => None,
        (Kind::Puzzle, _) => {
            let failed = failed(trail, wanted, wrong, answer.as_ref().map(|(from, _)| *from))?;
            let behind = (failed.0, failed.1 + 1);
            let (fix, between) = match answer {
                Some((from, fix)) => (fix, between(trail, behind, from)?),
                None => (Vec::new(), Vec::new()),
            };
            let puzzle = Puzzle {
                step: Some(trail.rounds[failed.0].beats[failed.1].entry.clone()),
                fix,
                verified: wanted.verified,
                planned: wanted.planned,
                complete: true,
                ..Puzzle::default()
            };
            let story = Story::Puzzle(puzzle);
            return Some(FoundStory { at: failed, story, between, uses, answered });
        }
        (Kind::Correction | Kind::Preference, Some((first, last))) => {
            let from = if first.0 == last.0 { before_prose(trail, first) } else { 0 };
            let beats = &trail.rounds[last.0].beats;
            // What the agent said of it was wrong with it.
            let end =
                if beats[last.1 + 1..].iter().any(|beat| beat.entry.is_step()) { last.1 + 1 } else { beats.len() };
            uses.pair &= first.0 == last.0;
            Some(((last.0, from), turns::told(&beats[from..end]), (last.0, end)))
        }
        // Words were set right, and no step: the turn that told them is what was said and done.
        (Kind::Correction | Kind::Preference, None) => {
            uses.pair = false;
            let words = named_turn(trail, wanted)?;
            faulty_turn(trail, &wanted.fault, words).map(|turn| {
                let beats = &trail.rounds[turn].beats;
                ((turn, 0), turns::told(beats), (turn, beats.len()))
            })
        }
    };
    let Some((at, behaviour, behind)) = failure else {
        // Nothing was wrong before: the words ask, and what was done upon them is right.
        let (from, done) = answer?;
        let check = wanted.verified.then(String::new);
        let story = Story::Demonstration(Demonstration { done, check });
        let uses = CaseUses { pair: false, ..uses };
        return Some(FoundStory { at: from, story, between: Vec::new(), uses, answered });
    };
    let (response, between) = match answer {
        Some((from, response)) => (response, between(trail, behind, from)?),
        None => (Vec::new(), Vec::new()),
    };
    // What is compared must answer the same: nothing was done between the words and the answer.
    uses.pair &= between.len() < 3 && between.iter().skip(1).all(|turn| turn.done.is_empty());
    let words = said(trail, wanted, at.0, answered)?;
    let story = Story::Correction(Correction { behaviour, words, rule: "reading", response, ..Correction::default() });
    Some(FoundStory { at, story, between, uses, answered })
}

/// Where an answer ends that was named up to `to`: with its check, where that ran soon behind it in the same turn, with checks right
/// behind, and with the words that end the turn. Refused where the next check fails before anything else is changed, unless it
/// `may_fail`: the answer is not whole.
fn whole_answer(beats: &[TurnItem<'_>], to: usize, check: Option<usize>, may_fail: bool) -> Result<usize, Reason> {
    let mut whole = check.filter(|check| (to..=to + WAY).contains(check)).unwrap_or(to);
    // Looks belong to what comes next.
    let mut is_next = true;
    for (at, beat) in beats.iter().enumerate().skip(whole + 1) {
        let entry = &beat.entry;
        let checks = matches!(entry.attempt(), Some(Attempt::Check(_)));
        if checks && entry.is_failed() {
            return if may_fail { Ok(whole) } else { Err(Reason::CheckFailed) };
        }
        if entry.is_step() && !checks && !entry.is_look() {
            break;
        }
        is_next &= !entry.is_step() || checks;
        let ends = !beats[at + 1..].iter().any(|beat| beat.entry.is_step());
        match &entry.told {
            Told::Step { .. } if is_next => whole = at,
            // Words that lead to a call, or announce one, are no end.
            Told::Prose(text) if is_next && ends && !ending::announces(text) => whole = at,
            _ => {}
        }
    }
    Ok(whole)
}

/// How many things done behind an answer its check is looked for.
const WAY: usize = 25;

/// Both ends of a range, in their order.
fn places(trail: &Turns<'_>, (first, last): (&str, &str)) -> Option<(Place, Place)> {
    let (first, last) = (trail.place_of(first)?, trail.place_of(last)?);
    (first <= last).then_some((first, last))
}

/// Where the words begin that led to what was done at a place.
fn before_prose(trail: &Turns<'_>, (round, mut at): Place) -> usize {
    let beats = &trail.rounds[round].beats;
    while at > 0 && matches!(beats[at - 1].item, Item::Prose(_)) {
        at -= 1;
    }
    at
}

/// What the agent said behind the words that are named, up to the next ones; nothing where it did more than look.
fn answered_in_words(trail: &Turns<'_>, wanted: &TypedCase<'_>) -> Option<(Place, Vec<Entry>)> {
    let turn = named_turn(trail, wanted)?;
    let told = turns::told(&trail.rounds[turn].beats);
    let only_says = told.iter().all(|entry| !entry.is_step() || entry.is_look());
    (only_says && told.iter().any(|entry| !entry.is_step())).then_some(((turn, 0), told))
}

/// The step of a puzzle that failed: the last one of what was wrong that says why, else the one that is named, as far as it ran
/// before the answer; else the last one of what was wrong.
fn failed(
    trail: &Turns<'_>,
    wanted: &TypedCase<'_>,
    wrong: Option<(Place, Place)>,
    answer: Option<Place>,
) -> Option<Place> {
    let of_wrong = wrong.and_then(|(first, last)| {
        let fails = |&at: &usize| {
            let is_failed = |step: &Step| step.status == StepStatus::Failed && !failure::is_hosts(step);
            (last.0, at) >= first && matches!(trail.rounds[last.0].beats[at].item, Item::Step(step) if is_failed(step))
        };
        Some((last.0, (0..=last.1).rev().find(fails)?))
    });
    let is_before = |place: &Place| answer.is_none_or(|answer| *place < answer);
    let named = || wanted.failed.and_then(|named| trail.place_of(named)).filter(is_before);
    of_wrong.or_else(named).or(wrong.map(|(_, last)| last))
}

/// All that was said and done from one place up to another; nothing where the other one comes first.
fn between(trail: &Turns<'_>, from: Place, to: Place) -> Option<Vec<Turn>> {
    if from > to {
        return None;
    }
    let all = |round: usize| trail.rounds[round].beats.len();
    let mut turns = Vec::new();
    for round in from.0..=to.0 {
        let start = if round == from.0 { from.1 } else { 0 };
        let end = if round == to.0 { to.1 } else { all(round) };
        let mut turn = trail.turn(round, start..end);
        if round == from.0 || turn.heading {
            // Those words stand before the place, or are nobody's.
            turn.asked.clear();
            turn.heading = false;
        }
        turns.push(turn);
    }
    let tells = turns.iter().any(|turn| !turn.asked.trim().is_empty() || !turn.done.is_empty());
    Some(if tells { turns } else { Vec::new() })
}

/// Whether a turn opens with the words that are named.
fn is_named(round: &turns::SessionTurn<'_>, wanted: &TypedCase<'_>) -> bool {
    round.users.iter().any(|user| user.callout.id.is_some() && user.callout.id.as_deref() == wanted.said)
}

/// The last turn before `words` in which the agent did or said what was wrong.
fn faulty_turn(trail: &Turns<'_>, fault: &FaultPlaces<'_>, words: usize) -> Option<usize> {
    // Marks, blanks and escapes differ between a quote and the note.
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let quotes: Vec<String> = fault.quotes.iter().map(|quote| letters(quote)).filter(|it| !it.is_empty()).collect();
    let tells = |round: &turns::SessionTurn<'_>| {
        round.beats.iter().any(|beat| match beat.item {
            Item::Prose(prose) => {
                let text = letters(&prose.text);
                quotes.iter().any(|quote| text.contains(quote.as_str()))
            }
            item => item.id().is_some_and(|id| fault.steps.contains(&id)),
        })
    };
    trail.rounds[..words].iter().rposition(tells)
}

/// The turn of the words that are named.
fn named_turn(trail: &Turns<'_>, wanted: &TypedCase<'_>) -> Option<usize> {
    trail.rounds.iter().position(|round| is_named(round, wanted))
}

/// Whether a check proves an answer: it passed, the same check had failed before, and none of its later runs failed before
/// the person's next words. `failed` is the step that it repeats; without it a failed run of it in `wrong` counts.
pub fn is_proof(session: &Session, check: &str, failed: Option<&str>, wrong: Option<(&str, &str)>) -> bool {
    let items: Vec<&Item> = session.items().map(|(_, item)| item).collect();
    let step = |at: usize| match items.get(at) {
        Some(Item::Step(step)) => Some(step),
        _ => None,
    };
    let place = |id: &str| items.iter().position(|item| matches!(item, Item::Step(_)) && item.id() == Some(id));
    let Some((at, run)) = place(check).and_then(|at| Some((at, step(at)?))) else { return false };
    let fails = |step: &Step| step.status == StepStatus::Failed || step.verdict() == Some(Verdict::Failed);
    let passes = match run.verdict() {
        Some(verdict) => verdict == Verdict::Passed && !fails(run),
        None => run.status == StepStatus::Complete,
    };
    let key = |step: &Step| Attempt::of_action(&step.action(), &step.tool).key().map(str::to_owned);
    let own = key(run);
    // It may stand among other commands.
    let keys = Attempt::keys(&run.action(), &run.tool);
    let is_same = |other: &Step| match &own {
        Some(_) => key(other).is_some_and(|other| keys.contains(&other)),
        None => other.tool == run.tool && other.full_args() == run.full_args(),
    };
    let failed_before = match (failed, wrong) {
        // Which check it repeats was checked when the session was read.
        (Some(failed), _) => place(failed).filter(|failed| *failed < at).and_then(step).is_some_and(fails),
        (None, Some((from, to))) => match (place(from), place(to)) {
            (Some(from), Some(to)) => (from..=to.min(at)).filter_map(step).any(|step| fails(step) && is_same(step)),
            _ => false,
        },
        (None, None) => false,
    };
    let rest = items.get(at + 1..).unwrap_or_default();
    let mut later = rest.iter().take_while(|item| !matches!(item, Item::User(_)));
    let fails_later = later.any(|item| matches!(item, Item::Step(step) if fails(step) && is_same(step)));
    passes && failed_before && !fails_later
}

/// The words that set right: those that are named, else the first ones behind what was wrong.
fn said(trail: &Turns<'_>, wanted: &TypedCase<'_>, wrong: usize, right: Option<usize>) -> Option<String> {
    let named = |round: &turns::SessionTurn<'_>| is_named(round, wanted);
    let end = right.map_or(trail.rounds.len(), |right| right + 1);
    let behind = trail.rounds.get(wrong + 1..end)?;
    let words = behind
        .iter()
        .find(|round| named(round))
        .or_else(|| behind.iter().find(|round| !trail.words(round).trim().is_empty()));
    words.map(|round| trail.words(round)).filter(|words| !words.trim().is_empty())
}
