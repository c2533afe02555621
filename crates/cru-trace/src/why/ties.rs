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
    /// Its id, as far as it is known.
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
        for (_, text) in step.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("commit")) {
            let text = text.trim();
            let (id, subject) = match text.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
                Some((id, subject)) => (id, subject),
                None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
            };
            let id = id.trim().to_ascii_lowercase();
            if (7..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                ties.push(CommitTie { id, subject: subject.trim().to_owned(), place, time: step.time });
            }
        }
    }
    ties
}

/// The session and step that made a commit: by its id, else by subject and time, the nearest.
pub(super) fn tie<'c>(
    commit: &BlamedCommit,
    sessions: impl Iterator<Item = &'c [CommitTie]> + Clone,
) -> Option<(usize, &'c CommitTie)> {
    let all = sessions.enumerate().flat_map(|(at, ties)| ties.iter().map(move |tie| (at, tie)));
    let id = commit.id.to_ascii_lowercase();
    if let Some(found) = all.clone().find(|(_, tie)| id.starts_with(&tie.id)) {
        return Some(found);
    }
    let away = |tie: &CommitTie| Some(tie.time?.duration_since(commit.time).abs());
    let near = all.filter(|(_, tie)| is_subject(&tie.subject, &commit.subject));
    let near = near.filter_map(|(at, tie)| Some((away(tie).filter(|away| *away <= NEAR)?, at, tie)));
    near.min_by_key(|(away, ..)| *away).map(|(_, at, tie)| (at, tie))
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
