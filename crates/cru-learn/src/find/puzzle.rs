//! Puzzles: something failed, and what the record shows to have helped.
//!
//! Two sources. An `[!error]` callout is always one; what helped is its resolution, the steps that it names, and a later
//! success of the step that failed. A failed step without a callout is one only where it succeeded later and the
//! record tells what was wrong ([`super::slip`], [`super::recovery`]).

use std::collections::{BTreeSet, HashMap};

use crate::case::Puzzle;
use crate::case::entry::{self, Entry, Told};
use crate::find::failure;
use crate::find::planned;
use crate::find::recovery;
use crate::find::turns::{SessionTurn, TurnItem, Turns};
use cru_action::Verdict;
use cru_base::{Span, text};
use cru_graph::recovery::names_steps;
use cru_session::attempt::{Attempt, is_same_command, is_shell};
use cru_session::{Error, Item, Step, StepStatus};

/// How far before an error callout its failing step is looked for, in things done.
const BEFORE: usize = 6;

/// How many things done between failure and success are shown whole; of a longer way only the named steps.
const BETWEEN: usize = 25;

/// So many failures on the way to a success are guesses: what helped is what came after the last of them.
const TRIES: usize = 3;

/// Characters of a title.
const TITLE: usize = 90;

/// A puzzle with its place.
#[derive(Debug)]
pub(crate) struct FoundPuzzle {
    /// Index of the round it happened in.
    pub(crate) round: usize,
    /// Index of the beat at which it went wrong: everything before is context.
    pub(crate) at: usize,
    /// The callout or step it was made from.
    pub(crate) span: Span,
    /// Its block id.
    pub(crate) block: Option<String>,
    /// One line.
    pub(crate) title: String,
    /// What stays the same when the note is edited elsewhere.
    pub(crate) trigger: String,
    /// The puzzle.
    pub(crate) puzzle: Puzzle,
}

/// The puzzles of one session, in the order of the note. `marked`: whether whoever wrote the note marks failures
/// itself, so that a failed step without a callout was not worth one, or a person has taken it out.
pub(crate) fn all(trail: &Turns<'_>, marked: bool) -> Vec<FoundPuzzle> {
    let mut found = Vec::new();
    for (index, round) in trail.rounds.iter().enumerate() {
        let mut taken = vec![false; round.beats.len()];
        let mut here = Vec::new();
        for at in 0..round.beats.len() {
            if let Item::Error(error) = round.beats[at].item {
                // An import links a failure to its step: an error without one is the model service's.
                if marked && error.steps.is_empty() {
                    continue;
                }
                let failing = failing_step(trail, (index, at), error, &taken);
                if let Some(failing) = failing {
                    // Failures on the way to the success belong to this one.
                    let end = success(trail, (index, failing), error).unwrap_or(failing);
                    taken[failing..=end].fill(true);
                }
                here.extend(from_callout(trail, index, at, error, failing));
            }
        }
        for (at, taken) in taken.iter().enumerate() {
            let step = recovery::step_at(&round.beats, at).filter(|_| !taken && !marked);
            here.extend(step.and_then(|step| from_step(index, round, at, step)));
        }
        here.sort_by_key(|found| found.at);
        found.append(&mut here);
    }
    found
}

/// The step that an error is about: the one it names, else the nearest failed one before it.
fn failing_step(trail: &Turns<'_>, (index, at): (usize, usize), error: &Error, taken: &[bool]) -> Option<usize> {
    let beats = &trail.rounds[index].beats;
    let named =
        error.steps.iter().filter(|link| !error.resolved_by.contains(link)).filter_map(|link| trail.place(link));
    let mut named = named.filter(|&(round, at)| round == index && recovery::step_at(beats, at).is_some());
    if let Some((_, step)) = named.next() {
        return Some(step);
    }
    let failed = |&step: &usize| {
        !taken[step] && recovery::step_at(beats, step).is_some_and(|step| step.status == StepStatus::Failed)
    };
    (at.saturating_sub(BEFORE)..at).rev().find(failed)
}

fn from_callout(
    trail: &Turns<'_>,
    index: usize,
    at: usize,
    error: &Error,
    failing: Option<usize>,
) -> Option<FoundPuzzle> {
    let round = &trail.rounds[index];
    let span = error.callout.span;
    let clean = |words: &str| trail.cleaner.text(words);
    let title = clean(&error.callout.title);
    let told = entry::paragraphs([title.as_str(), &clean(&error.text)]);
    if told.is_empty() {
        return None;
    }
    let resolution = error.resolution.as_deref().filter(|words| !names_steps(words)).map(clean);
    let resolution = resolution.filter(|text| !text.trim().is_empty());
    let success = failing.and_then(|step| success(trail, (index, step), error));
    let result = failing.and_then(|step| recovery::step_at(&round.beats, step)?.result.as_deref()).unwrap_or_default();
    // What the step already tells is not told twice.
    let repeated = !result.is_empty() && clean(result).starts_with(title.trim_end_matches('…').trim());
    // After many attempts what helped is what came after the last one that failed.
    let long = |(from, to): &(usize, usize)| to - from > BETWEEN || failures(&round.beats, *from, *to) >= TRIES;
    let nearer = failing.zip(success).filter(|way| repeated && long(way));
    let nearer = nearer.and_then(|(from, to)| last_failure(&round.beats, from, to));
    let failing = nearer.or(failing);
    let helped = trail.written() && resolution.is_none() && success.is_none() && resolved_later(trail, index, error);
    let mut fix = if helped { Vec::new() } else { named_steps(trail, error) };
    if let (Some(from), Some(to)) = (failing, success)
        && to - from <= BETWEEN
    {
        let between = steps_between(&round.beats, from, to, at);
        fix.retain(|entry| !between.contains(entry));
        fix.extend(between);
    }
    if let Some(from) = nearer {
        // What was done before the last attempt stands in the prompt.
        let before: Vec<&Entry> = round.beats[..from].iter().map(|beat| &beat.entry).collect();
        fix.retain(|entry| entry.block.is_none() || !before.iter().any(|done| done.block == entry.block));
    }
    let hosts = |at: usize| recovery::step_at(&round.beats, at).is_some_and(failure::is_hosts);
    if trail.written() && resolution.is_none() && failing.is_some_and(hosts) {
        return None;
    }
    let step = failing.map(|step| round.beats[step].entry.clone());
    // A second try alone, far from the first, does not say what made it work.
    let retried = trail.written() && resolution.is_none() && !fix.is_empty() && only_repeats(&fix, step.as_ref());
    if retried {
        fix.clear();
    }
    let complete = failing.zip(success).is_some_and(|(from, to)| to - from <= BETWEEN) && !retried;
    let verified = success.is_some() || !helped && failing.is_some_and(|step| succeeded(trail, round, step, error));
    let text = clean(&error.text);
    let text = if failing.is_some() && entry::only_counts(&text) { String::new() } else { text };
    Some(FoundPuzzle {
        round: index,
        at: nearer.unwrap_or_else(|| failing.unwrap_or(at).min(first_named(trail, index, error).unwrap_or(at)).min(at)),
        span,
        block: error.callout.id.clone(),
        title: match nearer.and_then(|step| recovery::step_at(&round.beats, step)) {
            // It is about the last of several failures, which need not be the first.
            Some(last) => name(last.result.as_deref().unwrap_or_default(), &told, Some(last)),
            None => {
                name(&title, &told, failing.filter(|_| repeated).and_then(|step| recovery::step_at(&round.beats, step)))
            }
        },
        trigger: told,
        puzzle: Puzzle {
            step,
            title: if repeated { String::new() } else { title },
            text,
            resolution,
            fix,
            verified,
            helped,
            planned: failing.is_some_and(|step| planned::is_planned(&round.beats, step)),
            complete,
            straight: nearer.is_none()
                && failing.zip(success).is_some_and(|(failed, success)| is_straight(&round.beats, failed, success)),
            disputed: success.is_some_and(|success| is_disputed(&round.beats, success)),
            retried,
        },
    })
}

/// Whether a check that ran behind a success in its turn failed at last.
fn is_disputed(beats: &[TurnItem<'_>], success: usize) -> bool {
    let mut last: HashMap<String, bool> = HashMap::new();
    for entry in beats[success + 1..].iter().map(|beat| &beat.entry) {
        if let (Some(Attempt::Check(key)), Some(verdict @ (Verdict::Passed | Verdict::Failed))) =
            (entry.attempt(), entry.verdict())
        {
            last.insert(key, verdict == Verdict::Failed);
        }
    }
    last.into_values().any(|failed| failed)
}

/// Whether the very command of a shell that failed worked at the first try behind it.
fn is_straight(beats: &[TurnItem<'_>], failed: usize, success: usize) -> bool {
    let steps = recovery::step_at(beats, failed).zip(recovery::step_at(beats, success));
    steps.is_some_and(|(failed, success)| is_shell(&failed.tool) && is_same_command(failed, success))
        && failures(beats, failed, success) == 0
}

/// Whether all that was done is what had failed, to the letter, and looks between.
fn only_repeats(fix: &[Entry], failed: Option<&Entry>) -> bool {
    let call = |entry: &Entry| match &entry.told {
        Told::Step { call, .. } => Some(call.clone()),
        _ => None,
    };
    let failed = failed.and_then(call);
    let mut steps = fix.iter().filter(|entry| entry.is_step());
    steps.all(|entry| call(entry) == failed || entry.is_look())
}

/// One line for a puzzle: its title, behind what was tried where the title is only what that answered.
fn name(title: &str, told: &str, tried: Option<&Step>) -> String {
    match tried.and_then(failure::key) {
        Some(key) => one_line(&format!("{key}: {title}")),
        None => one_line(if title.trim().is_empty() { told } else { title }),
    }
}

fn from_step(index: usize, round: &SessionTurn<'_>, at: usize, step: &Step) -> Option<FoundPuzzle> {
    if step.status != StepStatus::Failed || !failure::tells(step) {
        return None;
    }
    let to = recovery::of(&round.beats, at)?;
    let entry = round.beats[at].entry.clone();
    let key = failure::key(step)?;
    let told = step.result.as_deref().unwrap_or_default();
    Some(FoundPuzzle {
        round: index,
        at,
        span: step.span,
        block: step.id.clone(),
        title: one_line(&format!("{key}: {told}")),
        trigger: entry.text(),
        puzzle: Puzzle {
            step: Some(entry),
            title: String::new(),
            text: String::new(),
            resolution: None,
            fix: steps_between(&round.beats, at, to, at),
            verified: true,
            helped: false,
            planned: planned::is_planned(&round.beats, at),
            complete: true,
            straight: is_straight(&round.beats, at, to),
            disputed: is_disputed(&round.beats, to),
            retried: false,
        },
    })
}

/// What was done after `from` up to `to`, without the error callout itself.
fn steps_between(beats: &[TurnItem<'_>], from: usize, to: usize, error: usize) -> Vec<Entry> {
    let between = beats.iter().enumerate().take(to + 1).skip(from + 1);
    between.filter(|(at, beat)| *at != error && !beat.entry.is_blank()).map(|(_, beat)| beat.entry.clone()).collect()
}

/// The last failure of what failed at `from`, before it succeeded at `to`.
fn last_failure(beats: &[TurnItem<'_>], from: usize, to: usize) -> Option<usize> {
    let key = failure::key(recovery::step_at(beats, from)?)?;
    (from + 1..to).rev().find(|&at| fails_again(beats, at, &key))
}

/// How often what failed at `from` failed again before it succeeded at `to`.
fn failures(beats: &[TurnItem<'_>], from: usize, to: usize) -> usize {
    let key = recovery::step_at(beats, from).and_then(failure::key);
    key.map_or(0, |key| (from + 1..to).filter(|&at| fails_again(beats, at, &key)).count())
}

fn fails_again(beats: &[TurnItem<'_>], at: usize, key: &str) -> bool {
    recovery::step_at(beats, at)
        .is_some_and(|step| step.status == StepStatus::Failed && failure::key(step).as_deref() == Some(key))
}

/// The steps that the resolution links to, in the order of the note.
fn named_steps(trail: &Turns<'_>, error: &Error) -> Vec<Entry> {
    let places: BTreeSet<(usize, usize)> = error.resolved_by.iter().filter_map(|link| trail.place(link)).collect();
    let entries = places.into_iter().map(|(round, at)| &trail.rounds[round].beats[at].entry);
    entries.filter(|entry| entry.is_step()).cloned().collect()
}

/// Where the failing step succeeded in its turn: at the last step that the resolution names, else by the record.
fn success(trail: &Turns<'_>, (index, failing): (usize, usize), error: &Error) -> Option<usize> {
    let beats = &trail.rounds[index].beats;
    let places = error.resolved_by.iter().filter_map(|link| trail.place(link));
    let later = places.filter(|&(round, at)| round == index && at > failing).map(|(_, at)| at);
    let named = later.filter(|&at| again(recovery::step_at(beats, failing), recovery::step_at(beats, at))).max();
    named.or_else(|| recovery::of(beats, failing))
}

/// Whether the resolution names a success of what had failed anywhere in the session.
fn succeeded(trail: &Turns<'_>, round: &SessionTurn<'_>, failing: usize, error: &Error) -> bool {
    let failed = recovery::step_at(&round.beats, failing);
    let mut places = error.resolved_by.iter().filter_map(|link| trail.place(link));
    places.any(|(round, at)| again(failed, recovery::step_at(&trail.rounds[round].beats, at)))
}

/// Whether what solved it stands behind further words of the person. A note that `cru` wrote links steps by what they
/// tried alone: between them the person may have given the answer, and the links do not tell it.
fn resolved_later(trail: &Turns<'_>, index: usize, error: &Error) -> bool {
    error.resolved_by.iter().filter_map(|link| trail.place(link)).any(|(round, _)| round > index)
}

/// Whether `later` is a success of what `failed` tried.
fn again(failed: Option<&Step>, later: Option<&Step>) -> bool {
    let (Some(failed), Some(later)) = (failed, later) else { return false };
    let same = match failure::key(failed) {
        Some(key) => failure::key(later) == Some(key),
        None => later.tool == failed.tool && later.args == failed.args,
    };
    same && later.status == StepStatus::Complete
}

/// The first step of a round that the resolution names: a callout may stand behind what it tells of.
fn first_named(trail: &Turns<'_>, index: usize, error: &Error) -> Option<usize> {
    let places = error.resolved_by.iter().filter_map(|link| trail.place(link));
    places.filter(|(round, _)| *round == index).map(|(_, at)| at).min()
}

/// The first line of a text, short enough for a list.
pub(crate) fn one_line(words: &str) -> String {
    let line = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    text::truncate(&text::fold_whitespace(line), TITLE).into_owned()
}
