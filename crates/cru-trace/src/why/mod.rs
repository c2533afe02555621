//! Which step wrote a line.
//!
//! 1. The commit that git blames is one that a step's output shows, by its id; else one of equal subject that was made
//!    within two minutes of the step (a rebase keeps both). Of that session the last step before the commit that wrote
//!    the line in that file; else the session alone.
//! 2. Else by text alone: a step that is not younger than the commit wrote the line, of 25 characters or with two
//!    neighbours, in a file of that name, and no commit of its own session took up the file since.
//! 3. A line that says nothing by itself (`}`) has the answer of its neighbour within the same blamed block.

mod blame;
mod ties;
mod writer;

pub use blame::{Blame, BlamedCommit, BlamedLine, read_blame, uncommitted};
pub use ties::{CommitTie, commits_of};
pub use writer::{FileWriter, WriterInput, is_same_file};

use cru_graph::Place;

/// Characters of a line that can be claimed by its text alone.
const LONG: usize = 25;

/// Neighbouring lines, with the line itself, that can be claimed by their text alone.
const RUN: usize = 3;

/// How an origin is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OriginProof {
    /// The session made the commit, and the step wrote the line.
    CommitAndText,
    /// The session made the commit.
    Commit,
    /// The step wrote the line.
    Text,
}

impl OriginProof {
    /// A few words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::CommitAndText => "by commit and text",
            Self::Commit => "by commit",
            Self::Text => "by text",
        }
    }
}

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOrigin {
    /// Index into the writers.
    pub writer: usize,
    /// The step that wrote it; where only the commit ties, the step that made the commit.
    pub place: Place,
    /// Whether `place` wrote the line.
    pub is_step: bool,
    /// How it is known.
    pub proof: OriginProof,
}

/// The origin of each line of a file; `None` where no session wrote it. Linear in lines and what the sessions wrote.
pub fn origins(blame: &Blame, writers: &[FileWriter<'_>]) -> Vec<Option<LineOrigin>> {
    let ties: Vec<Option<(usize, &CommitTie)>> =
        blame.commits.iter().map(|commit| ties::tie(commit, writers.iter().map(FileWriter::commits))).collect();
    let texts: Vec<&str> = blame.lines.iter().map(|line| line.text.as_str()).collect();
    let mut origins: Vec<Option<LineOrigin>> = (0..texts.len())
        .map(|at| {
            let line = &blame.lines[at];
            let tie = line.commit.and_then(|commit| *ties.get(commit)?);
            match tie {
                Some((writer, tie)) => Some(tied(writers, writer, tie, &texts, at, line)),
                None if is_trivial(texts[at]) => None,
                None => by_text(writers, blame, &texts, at),
            }
        })
        .collect();
    for hunk in blame.hunks() {
        neighbours(&texts, hunk, &mut origins);
    }
    origins
}

/// The session made the commit: which of its steps, or of those of its sub-agents, wrote the line?
fn tied(
    writers: &[FileWriter<'_>],
    writer: usize,
    tie: &CommitTie,
    texts: &[&str],
    at: usize,
    line: &BlamedLine,
) -> LineOrigin {
    let own = LineOrigin { writer, place: tie.place, is_step: false, proof: OriginProof::Commit };
    if is_trivial(texts[at]) {
        return own;
    }
    let step = |writer: usize, place| LineOrigin { writer, place, is_step: true, proof: OriginProof::CommitAndText };
    if let Some(place) = writers[writer].last_before(texts[at], at, &line.path, Some(tie.place), tie.time) {
        return step(writer, place);
    }
    let relatives = writers[writer].relatives().iter().copied().filter(|other| *other < writers.len());
    let found = relatives.filter_map(|other| {
        let place = writers[other].last_before(texts[at], at, &line.path, None, tie.time)?;
        Some((writers[other].time(place), other, place))
    });
    found.max_by_key(|(time, ..)| *time).map_or(own, |(_, other, place)| step(other, place))
}

/// By text alone: the newest step that may have written the line.
fn by_text(writers: &[FileWriter<'_>], blame: &Blame, texts: &[&str], at: usize) -> Option<LineOrigin> {
    let line = &blame.lines[at];
    let until = line.commit.and_then(|commit| blame.commits.get(commit)).map(|commit| commit.time);
    let block = blame.hunk(at);
    let long = texts[at].trim().chars().count() >= LONG;
    let found = writers.iter().enumerate().filter_map(|(writer, it)| {
        let place = it.last_of_text(texts, at, &block, long, RUN, &line.path, until)?;
        Some((it.time(place), writer, place))
    });
    let (_, writer, place) = found.max_by_key(|(time, writer, place)| (*time, *writer, *place))?;
    Some(LineOrigin { writer, place, is_step: true, proof: OriginProof::Text })
}

/// Lines that say nothing take the answer of the nearest line of their block, the one above where two are as near.
fn neighbours(texts: &[&str], hunk: std::ops::Range<usize>, origins: &mut [Option<LineOrigin>]) {
    let takes =
        |at: usize, origins: &[Option<LineOrigin>]| is_trivial(texts[at]) && !origins[at].is_some_and(|it| it.is_step);
    let open: Vec<usize> = hunk.clone().filter(|at| takes(*at, origins)).collect();
    let mut above = Vec::with_capacity(open.len());
    let mut last = None;
    for at in hunk.clone() {
        if is_trivial(texts[at]) {
            above.push((at, last));
        } else {
            last = origins[at].map(|origin| (at, origin));
        }
    }
    let mut below = std::collections::HashMap::new();
    let mut last = None;
    for at in hunk.rev() {
        if is_trivial(texts[at]) {
            below.insert(at, last);
        } else {
            last = origins[at].map(|origin| (at, origin));
        }
    }
    let above: std::collections::HashMap<usize, Option<(usize, LineOrigin)>> = above.into_iter().collect();
    for at in open {
        let up = above.get(&at).copied().flatten();
        let down = below.get(&at).copied().flatten();
        let near = match (up, down) {
            (Some((a, up)), Some((b, down))) => Some(if at - a <= b - at { up } else { down }),
            (up, down) => up.or(down).map(|(_, origin)| origin),
        };
        origins[at] = near.or(origins[at]);
    }
}

/// Whether a line says nothing by itself: under 4 characters, or punctuation alone.
pub fn is_trivial(text: &str) -> bool {
    let text = text.trim();
    text.chars().count() < 4 || !text.chars().any(char::is_alphanumeric)
}
