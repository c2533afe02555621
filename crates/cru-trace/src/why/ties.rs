//! Which session made a commit.

use cru_graph::Place;
use cru_graph::place::items;
use cru_session::{Item, Session};
use jiff::{SignedDuration, Timestamp};

use super::blame::BlamedCommit;

/// How far the author's date of a commit may lie from the step that made it.
const NEAR: SignedDuration = SignedDuration::from_secs(120);

/// A commit that a step's output shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitTie {
    /// Its id, as far as it is known; empty where the step's output did not show it.
    pub id: String,
    /// Its subject; empty where it was not shown.
    pub subject: String,
    /// The step.
    pub place: Place,
    /// When the step was called.
    pub time: Option<Timestamp>,
}

/// The commits of a session's steps, whether the steps failed or not, in order.
pub fn commits_of(session: &Session) -> Vec<CommitTie> {
    let mut ties = Vec::new();
    for (place, item) in items(session) {
        let Item::Step(step) = item else { continue };
        ties.extend(step.commits().map(|(id, subject)| CommitTie {
            id: id.to_ascii_lowercase(),
            subject: subject.to_owned(),
            place,
            time: step.time,
        }));
    }
    ties
}

/// The steps that a commit is tied to, with the numbers of their sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct CommitMakers<'c> {
    /// It was written in the step: by subject and author's date, the nearest first, then by its id.
    pub(super) wrote: Vec<(usize, &'c CommitTie)>,
    /// The step made it as it is of one that was written before: `rebase`, `cherry-pick`, `am`, an amendment.
    pub(super) carried: Vec<(usize, &'c CommitTie)>,
}

/// Who made a commit. A step whose output or hook shows one that was there before the step has pulled it, and no more.
pub(super) fn makers<'c>(
    commit: &BlamedCommit,
    sessions: impl Iterator<Item = &'c [CommitTie]> + Clone,
) -> CommitMakers<'c> {
    let id = commit.id.to_ascii_lowercase();
    let away = |tie: &CommitTie| tie.time.map(|time| time.duration_since(commit.time).abs());
    let mut makers = CommitMakers::default();
    let all = sessions.enumerate().flat_map(|(at, ties)| ties.iter().map(move |tie| (at, tie)));
    for (at, tie) in all {
        // The clock of notes and of git is one of seconds.
        let is_behind = |time: Timestamp| tie.time.is_none_or(|began| time.as_second() >= began.as_second());
        let is_named = is_subject(&tie.subject, &commit.subject) && away(tie).is_some_and(|away| away <= NEAR);
        let is_made = !tie.id.is_empty() && id.starts_with(&tie.id) && is_behind(commit.committed);
        if is_named || is_made && is_behind(commit.time) {
            makers.wrote.push((at, tie));
        } else if is_made {
            makers.carried.push((at, tie));
        }
    }
    makers.wrote.sort_by_key(|(_, tie)| {
        let is_named = is_subject(&tie.subject, &commit.subject);
        (!is_named, away(tie).unwrap_or(SignedDuration::MAX))
    });
    makers
}

/// Whether a session made a commit about when this one was written: then it was an amendment of its own.
pub(super) fn is_amended(commit: &BlamedCommit, ties: &[CommitTie]) -> bool {
    ties.iter().any(|tie| tie.time.is_some_and(|time| time.duration_since(commit.time).abs() <= NEAR))
}

/// Whether a note's subject, which may be cut, is that of a commit.
fn is_subject(noted: &str, subject: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (noted, subject) = (words(noted), words(subject));
    match noted.strip_suffix('…') {
        Some(start) => start.chars().count() > 20 && subject.starts_with(start),
        None => !noted.is_empty() && noted == subject,
    }
}
