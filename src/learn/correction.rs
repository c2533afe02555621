//! Corrections: a person set the agent right, and what it then did.
//!
//! A callout counts by its title (`Correction`, a denial, an interruption), and an untitled one by its words
//! ([`correction::opens_correction`]) or because the agent was stopped right before. What is right is what the agent did afterwards, as far
//! as it is written down: nothing is made of the person's sentence.

use super::case::{Correction, Turn};
use super::entry::Entry;
use super::puzzle::one_line;
use super::slip;
use super::trail::{self, Beat, Round, Trail};
use crate::base::Span;
use crate::session::{Item, User, correction};

/// Titles by which a callout is a correction, in lower case; any other title says that it is something else.
const TITLES: &[&str] =
    &["correction", "denied", "denial", "refused", "refusal", "rejected", "interruption", "interrupted", "interrupt"];

/// How much of what the agent did right before counts as the behaviour that was corrected: things done, and bytes.
const BEHAVIOUR: usize = 8;
const BEHAVIOUR_BYTES: usize = 4_000;

/// A correction with its place.
#[derive(Debug)]
pub(super) struct Found {
    /// Index of the round that the words open.
    pub(super) round: usize,
    /// The callout.
    pub(super) span: Span,
    /// Its block id.
    pub(super) block: Option<String>,
    /// One line.
    pub(super) title: String,
    /// What was asked and done before the behaviour.
    pub(super) context: Vec<Turn>,
    /// The correction; without behaviour where nothing was done before the words.
    pub(super) correction: Correction,
}

/// The corrections of one session, in the order of the note.
pub(super) fn all(trail: &Trail<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, round) in trail.rounds.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| trail.rounds.get(before));
        let Some((user, rule)) = corrects(round, before) else { continue };
        let (split, behaviour) = before.map(behaviour).unwrap_or_default();
        let interpretation = |user: &&User| {
            let words = user.interpretation.as_deref()?;
            Some(trail.cleaner.text(user.callout.span, words)).filter(|text| !text.trim().is_empty())
        };
        let words = trail.words(round);
        if words.is_empty() {
            continue;
        }
        found.push(Found {
            round: index,
            span: user.callout.span,
            block: user.callout.id.clone(),
            title: one_line(&trail.cleaner.words(user.callout.span, &user.words)),
            context: if index == 0 { Vec::new() } else { trail.context(index - 1, split) },
            correction: Correction {
                behaviour,
                words,
                rule,
                interpretation: round.users.iter().find_map(interpretation),
                response: response(round),
                corrected_again: trail.rounds.get(index + 1).is_some_and(|next| corrects(next, Some(round)).is_some()),
            },
        });
    }
    found
}

/// The callout of a round that corrects what was done before, and why it does.
fn corrects<'a>(round: &Round<'a>, before: Option<&Round<'_>>) -> Option<(&'a User, &'static str)> {
    let stopped = before.is_some_and(|before| {
        let refused =
            matches!(before.beats.last().map(|beat| beat.item), Some(Item::Step(step)) if slip::stopped(step));
        before.interrupted || refused
    });
    round.users.iter().find_map(|user| {
        let title = user.callout.title.trim().to_lowercase();
        if user.words.trim().is_empty() {
            return None;
        }
        if user.correction || TITLES.iter().any(|known| title.starts_with(known)) {
            return Some((*user, "titled"));
        }
        if !title.is_empty() {
            return None;
        }
        if stopped {
            return (!correction::goes_on(&user.words)).then_some((*user, "stopped"));
        }
        // The very first words of a session correct nothing.
        (before.is_some() && correction::opens_correction(&user.words)).then_some((*user, "words"))
    })
}

/// What was done upon a correction: a call at its end that a person refused is no part of what is right.
fn response(round: &Round<'_>) -> Vec<Entry> {
    let refused = |beat: &Beat<'_>| matches!(beat.item, Item::Step(step) if slip::stopped(step));
    let end = round.beats.iter().rposition(|beat| !refused(beat)).map_or(0, |last| last + 1);
    trail::told(&round.beats[..end])
}

/// The last things done in a round, and the index of the first of them.
fn behaviour(round: &Round<'_>) -> (usize, Vec<Entry>) {
    let mut from = round.beats.len();
    let mut bytes = 0;
    while from > 0 && round.beats.len() - from < BEHAVIOUR {
        bytes += round.beats[from - 1].entry.text().len();
        if bytes > BEHAVIOUR_BYTES && from < round.beats.len() {
            break;
        }
        from -= 1;
    }
    (from, trail::told(&round.beats[from..]))
}
