//! Takes back into the context of a case what its answer needs and what was left out of it: the step that showed the
//! lines which an edit quotes, or that told of a file.
//!
//! Only what stands in the record before the answer is taken, and only where nothing that is shown holds it already.

use std::collections::HashSet;
use std::ops::Range;

use crate::case::{Story, Turn};
use crate::context::ground::Ground;
use crate::find::turns::Turns;

/// The texts of a session, looked through.
#[derive(Debug)]
pub(crate) struct Recall<'t, 'a> {
    trail: &'t Turns<'a>,
    ground: Ground,
    /// The number of each round's words; those of what was done follow.
    numbers: Vec<u32>,
}

impl<'t, 'a> Recall<'t, 'a> {
    /// Looks through a session.
    pub(crate) fn of(trail: &'t Turns<'a>) -> Self {
        let mut recall = Self { trail, ground: Ground::default(), numbers: Vec::with_capacity(trail.rounds.len()) };
        let mut number = 0;
        for round in &trail.rounds {
            recall.numbers.push(number);
            recall.ground.add(number, &trail.words(round));
            for beat in &round.beats {
                number += 1;
                recall.ground.add_entry(number, &beat.entry);
            }
            number += 1;
        }
        recall.ground.finish();
        recall
    }

    /// Completes the context of a case whose answer began in a round, where the failure is thing `at` of it, or after its
    /// words. Gives the lines of the answer that stood somewhere before.
    pub(crate) fn complete(
        &self,
        context: &mut Vec<Turn>,
        story: &Story,
        round: usize,
        at: Option<usize>,
    ) -> HashSet<u64> {
        let Some(&words) = self.numbers.get(round) else { return HashSet::new() };
        let failure = at.map_or(words, |at| words + 1 + number(at));
        let mut kept = self.shown(context);
        kept.push(failure..failure + 1);
        if let Story::Correction(_) | Story::Preference(_) = story
            && let Some(before) = round.checked_sub(1)
        {
            // All that was done after what the context shows of the round before is what was corrected.
            let last = context.last().filter(|last| last.rounds.last() == Some(&before));
            let from = last.and_then(|last| last.at.last()).map_or(0, |at| at + 1);
            kept.push(self.numbers[before] + 1 + number(from)..words + 1);
        }
        let needed = self.ground.needed(story.done(), failure + 1, &kept);
        for place in needed.places {
            self.take(context, place);
        }
        self.trail.measure(context);
        needed.recalled
    }

    /// The numbers of what a context shows.
    fn shown(&self, context: &[Turn]) -> Vec<Range<u32>> {
        let mut shown = Vec::new();
        for turn in context {
            let mut numbers = turn.rounds.iter().filter_map(|&round| self.numbers.get(round));
            shown.extend(numbers.clone().map(|&number| number..number + 1));
            if let Some(words) = numbers.next_back() {
                shown.extend(turn.at.iter().map(|&at| words + 1 + number(at)..words + 2 + number(at)));
            }
        }
        shown
    }

    /// Shows one more text.
    fn take(&self, context: &mut Vec<Turn>, place: u32) {
        let Some(round) = self.numbers.partition_point(|number| *number <= place).checked_sub(1) else { return };
        let beat = (place - self.numbers[round]).checked_sub(1).map(|at| at as usize);
        // What stands for the round is the turn that tells its words, or a new one before the first later one.
        let known = context.iter().position(|turn| turn.rounds.contains(&round));
        let index = known.unwrap_or_else(|| {
            let later = |turn: &Turn| turn.rounds.first().is_none_or(|first| *first > round);
            let index = context.iter().position(later).unwrap_or(context.len());
            let turn = Turn { extra: true, ..self.trail.turn(round, std::iter::empty()) };
            context.insert(index, turn);
            index
        });
        let turn = &mut context[index];
        let Some(at) = beat.filter(|at| turn.rounds.last() == Some(&round) && !turn.at.contains(at)) else { return };
        let index = turn.at.partition_point(|other| *other < at);
        turn.at.insert(index, at);
        turn.done.insert(index, self.trail.rounds[round].beats[at].entry.clone());
    }
}

impl Turns<'_> {
    /// Counts what is left out between the things that turns show.
    pub(crate) fn measure(&self, turns: &mut [Turn]) {
        let told = |round: usize, range: Range<usize>| {
            let beats = self.rounds[round].beats.get(range).unwrap_or_default();
            beats.iter().filter(|beat| !beat.entry.is_blank()).count()
        };
        let mut next: Option<(usize, usize)> = None;
        for turn in turns {
            let (Some(&first), Some(&last)) = (turn.rounds.first(), turn.rounds.last()) else { continue };
            turn.skipped_before = next.map_or(0, |(round, from)| {
                let rest = told(round, from..self.rounds[round].beats.len().max(from));
                let between = (round + 1..first).map(|round| told(round, 0..self.rounds[round].beats.len()).max(1));
                if round < first { rest + between.sum::<usize>() } else { 0 }
            });
            let mut from = 0;
            turn.gaps.clear();
            for &at in &turn.at {
                turn.gaps.push(told(last, from..at));
                from = at + 1;
            }
            turn.skipped_done = turn.gaps.iter().sum();
            next = Some((last, from));
        }
    }
}

/// As a number of texts; no session has so many that it does not fit.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX / 2)
}
