//! Cases that somebody else has found: places in a note become a case with its texts.
//!
//! Who reads a session says where it went wrong and where it was set right; the texts are the note's. Nothing of what is
//! said is checked here but that the places are there, in this order, and that right and wrong are one turn each.

use crate::case::entry::Entry;
use crate::case::family::Family;
use crate::case::note::Note;
use crate::case::{Case, Correction, Demonstration, Evidence, Kind, Puzzle, Story, Turn};
use crate::context::recall::Recall;
use crate::find::origin;
use crate::find::turns::{self, Turns};

/// Where a case stands in a note, and what is said of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedCase<'a> {
    /// One line.
    pub title: &'a str,
    /// The first and the last block of what was wrong; of a demonstration nothing.
    pub wrong: Option<(&'a str, &'a str)>,
    /// The first and the last block of what is right, of one turn; all between belongs to it.
    pub right: Option<(&'a str, &'a str)>,
    /// Whether a later success of what had failed, or a check, stands in the record.
    pub verified: bool,
    /// What was expected, in words.
    pub expected: Option<&'a str>,
    /// The key of the reading; empty where a rule found it.
    pub reading: &'a str,
}

/// The case of one kind at these places; `None` where a place is not in the note, or the order is another.
pub fn typed(note: Note<'_>, family: &Family, kind: Kind, wanted: &TypedCase<'_>) -> Option<Case> {
    let trail = Turns::of(note);
    let range = |(first, last): (&str, &str)| {
        let (first, last) = (trail.place_of(first)?, trail.place_of(last)?);
        (first.0 == last.0 && first.1 <= last.1).then_some((first.0, first.1, last.1 + 1))
    };
    let told = |(round, from, to): (usize, usize, usize)| turns::told(&trail.rounds[round].beats[from..to]);
    // What is named must be there.
    let wrong = wanted.wrong.map(|it| range(it).ok_or(())).transpose().ok()?;
    let right = wanted.right.map(|it| range(it).ok_or(())).transpose().ok()?;
    if wrong.zip(right).is_some_and(|(wrong, right)| (wrong.0, wrong.2) > (right.0, right.1 + 1)) {
        return None;
    }
    let place = wrong.or(right)?;
    let (round, at) = (place.0, place.1);
    let resolution = wanted.expected.map(str::to_owned);
    let right_round = right.map_or(round, |right| right.0);
    let right = right.map(told).unwrap_or_default();
    let (context, story, at) = match kind {
        Kind::Puzzle => {
            let wrong = told(wrong?);
            let step = wrong.into_iter().rfind(Entry::is_step);
            let puzzle =
                Puzzle { step, resolution, fix: right, verified: wanted.verified, complete: true, ..Puzzle::default() };
            (trail.context(round, at), Story::Puzzle(puzzle), Some(at))
        }
        Kind::Correction | Kind::Preference => {
            let wrong = wrong?;
            let later =
                trail.rounds.iter().skip(round + 1).map(|next| trail.words(next)).find(|words| !words.is_empty());
            let correction = Correction {
                behaviour: told(wrong),
                words: later?,
                rule: "reading",
                interpretation: resolution,
                response: right,
                ..Correction::default()
            };
            let story =
                if kind == Kind::Preference { Story::Preference(correction) } else { Story::Correction(correction) };
            (trail.context(round, at), story, None)
        }
        Kind::Demonstration => {
            let check = wanted.verified.then(String::new);
            let asked = trail.words(&trail.rounds[round]);
            let context = vec![Turn { asked, rounds: vec![round], ..Turn::default() }];
            (context, Story::Demonstration(Demonstration { done: right, check }), None)
        }
        Kind::Trajectory => return None,
    };
    let beat = trail.rounds[round].beats.get(place.1)?;
    let origin = origin(&trail, note, family, round, (beat.item.span(), beat.item.id().map(str::to_owned)));
    let mut context = context;
    let recalled = note.calls.map(|_| Recall::of(&trail).complete(&mut context, &story, right_round, at));
    let title = wanted.title.to_owned();
    let mut case = super::case(title, origin, context, (story, recalled.unwrap_or_default()));
    case.evidence = if wanted.reading.is_empty() { Evidence::Rule } else { Evidence::Reading };
    wanted.reading.clone_into(&mut case.reading);
    case.tools = super::tools(note.calls);
    case.clean();
    // Edits elsewhere in the note leave it as it is.
    let trigger = format!("{:?} {:?}", wanted.wrong, wanted.right);
    let id = super::digest(&[kind.as_str(), &case.origin.session, &trigger]);
    case.id = format!("{}-{}", kind.as_str(), &id.to_hex()[..16]);
    Some(case)
}
