//! Which step wrote a line.
//!
//! What proves more goes first:
//!
//! 1. A step of a session that wrote the commit which git blames, or made it as it is, wrote the line in that file. A session
//!    wrote a commit when a step's output shows one of equal subject within two minutes of the author's date (a rebase keeps
//!    both), or its id and it was written in the call; it made it (`rebase`, `cherry-pick`, `am`, an amendment) when it was only
//!    committed in the call. A commit that was there before the call was pulled, and is nobody's here.
//! 2. A step of any session wrote the line, and the blamed commit is the first behind it that added it: text that one session
//!    left and the next committed. The line has 25 characters, or its neighbours are those of the step, or it stands where the
//!    note's own hash proves it. Where the file says the same in several places, it is the one that is written like it and has
//!    most of the neighbours; where two have as many, nobody knows.
//! 3. The session wrote the commit.
//! 4. A line that says nothing by itself (`}`) has the answer of its neighbour within the same blamed block.
//!
//! Where none of it answers, and a step wrote such a line, or wrote into the file and nobody knows what, it cannot be told.

mod added;
mod blame;
mod ties;
mod writer;

pub use added::AddedLines;
pub use blame::{Blame, BlamedCommit, BlamedLine, read_blame, uncommitted};
use ties::CommitMakers;
pub use ties::{CommitTie, commits_of};
use writer::AskedLine;
pub use writer::{FileWriter, WriterInput, is_same_file};

use std::collections::HashMap;

use cru_graph::Place;

/// Neighbouring lines, with the line itself, that can be claimed by their text alone.
const RUN: usize = 3;

/// Lines of one commit that say the same and are compared; of more nobody knows which is which.
const COPIES: usize = 64;

cru_base::words! {
    /// How an origin is known.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum OriginProof {
        /// The session made the commit, and the step wrote the line.
        CommitAndText = "by commit and text",
        /// The session made the commit.
        Commit = "by commit",
        /// The step wrote the line.
        Text = "by text",
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

/// What is known of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineAnswer {
    /// Where it comes from.
    pub origin: Option<LineOrigin>,
    /// Where that cannot be told: a session that may have written it, an index into the writers.
    pub perhaps: Option<usize>,
}

/// The origin of each line of a file. Linear in lines and what the sessions wrote.
pub fn origins(blame: &Blame, writers: &[FileWriter<'_>], added: &AddedLines) -> Vec<LineAnswer> {
    let makers: Vec<CommitMakers<'_>> =
        blame.commits.iter().map(|commit| ties::makers(commit, writers.iter().map(FileWriter::commits))).collect();
    let texts: Vec<&str> = blame.lines.iter().map(|line| line.text.as_str()).collect();
    let mut copies: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, text) in texts.iter().enumerate() {
        copies.entry(text.trim()).or_default().push(at);
    }
    let file = BlamedFile { blame, writers, added, makers, texts, copies };
    let mut origins: Vec<Option<LineOrigin>> = (0..file.texts.len()).map(|at| file.origin(at)).collect();
    for hunk in blame.hunks() {
        neighbours(&file.texts, hunk, &mut origins);
    }
    let answer = |(at, origin): (usize, Option<LineOrigin>)| {
        let perhaps = if origin.is_none() && !is_trivial(file.texts[at]) { file.perhaps(at) } else { None };
        LineAnswer { origin, perhaps }
    };
    origins.into_iter().enumerate().map(answer).collect()
}

/// A file with all that may answer.
struct BlamedFile<'b, 'w> {
    blame: &'b Blame,
    writers: &'b [FileWriter<'w>],
    added: &'b AddedLines,
    /// Of each commit.
    makers: Vec<CommitMakers<'b>>,
    texts: Vec<&'b str>,
    /// Where a line stands in it, by its text without blanks at its ends.
    copies: HashMap<&'b str, Vec<usize>>,
}

impl BlamedFile<'_, '_> {
    fn origin(&self, at: usize) -> Option<LineOrigin> {
        let none = CommitMakers::default();
        let commit = self.blame.lines[at].commit;
        let makers = commit.and_then(|commit| self.makers.get(commit)).unwrap_or(&none);
        let made = || makers.wrote.first().copied().or_else(|| self.amended(commit?, makers));
        let by_commit = || {
            let (writer, tie) = made()?;
            Some(LineOrigin { writer, place: tie.place, is_step: false, proof: OriginProof::Commit })
        };
        if is_trivial(self.texts[at]) {
            return by_commit();
        }
        let told = self.of_makers(at, makers, commit);
        let told = told.or_else(|| self.by_text(at, RUN));
        let Some((maker, _)) = made().filter(|_| told.is_none()) else { return told };
        // Where one session committed and another one wrote such a line before, that text is the better proof, however short;
        // where the line stands in the file several times, none is.
        if self.is_only(at) {
            return self.by_text(at, 1).or_else(by_commit);
        }
        by_commit().filter(|_| self.perhaps(at).is_none_or(|other| other == maker))
    }

    /// A session that made the commit as it is of one that it wrote itself.
    fn amended<'m>(&self, commit: usize, makers: &CommitMakers<'m>) -> Option<(usize, &'m CommitTie)> {
        let commit = self.blame.commits.get(commit)?;
        let own = |(writer, _): &&(usize, &CommitTie)| ties::is_amended(commit, self.writers[*writer].commits());
        makers.carried.iter().find(own).copied()
    }

    /// The last step that wrote the line, of the sessions that made the commit or of their sub-agents.
    fn of_makers(&self, at: usize, makers: &CommitMakers<'_>, commit: Option<usize>) -> Option<LineOrigin> {
        let commit = commit.and_then(|commit| self.blame.commits.get(commit));
        let found = makers.wrote.iter().find_map(|(writer, tie)| self.step_of(at, *writer, tie));
        let (writer, place) = found.or_else(|| {
            // Of a commit that was written before only what came behind that is theirs, unless they amended their own.
            let is_behind = |(writer, place): &(usize, Place)| {
                let writer = &self.writers[*writer];
                let times = writer.time(*place).zip(commit);
                times.is_none_or(|(time, commit)| time >= commit.time || ties::is_amended(commit, writer.commits()))
            };
            makers.carried.iter().filter_map(|(writer, tie)| self.step_of(at, *writer, tie)).find(is_behind)
        })?;
        Some(LineOrigin { writer, place, is_step: true, proof: OriginProof::CommitAndText })
    }

    /// The step before a commit of a session that wrote the line: its own, else of its sub-agents or of who it is one of.
    fn step_of(&self, at: usize, writer: usize, tie: &CommitTie) -> Option<(usize, Place)> {
        let (writers, path) = (self.writers, self.blame.lines[at].path.as_str());
        if let Some(place) = writers[writer].last_before(self.texts[at], at, path, Some(tie.place), tie.time) {
            return Some((writer, place));
        }
        let relatives = writers[writer].relatives().iter().copied().filter(|other| *other < writers.len());
        let found = relatives.filter_map(|other| {
            let place = writers[other].last_before(self.texts[at], at, path, None, tie.time)?;
            Some((writers[other].time(place), other, place))
        });
        found.max_by_key(|(time, ..)| *time).map(|(_, other, place)| (other, place))
    }

    /// By text alone: the newest step that may have written the line; `run` lines side by side prove a short one.
    fn by_text(&self, at: usize, run: usize) -> Option<LineOrigin> {
        let found = self.asked(at, run, |line| {
            let steps = self.writers.iter().enumerate();
            let steps = steps.filter_map(|(writer, it)| {
                let place = it.last_of_text(line)?;
                Some((it.time(place), writer, place))
            });
            steps.max()
        });
        found.map(|(_, writer, place)| LineOrigin { writer, place, is_step: true, proof: OriginProof::Text })
    }

    /// The session that may have written the line though nothing proves it.
    fn perhaps(&self, at: usize) -> Option<usize> {
        let only = self.is_only(at) || is_long(self.texts[at]);
        self.asked(at, RUN, |line| {
            // Of a short line that stands there several times nobody knows which commit took up which.
            let line = AskedLine { takes: if only { line.takes } else { &|_| true }, ..line.clone() };
            self.writers.iter().position(|it| it.may_have_written(&line))
        })
    }

    /// Whether no other line of the file says the same.
    fn is_only(&self, at: usize) -> bool {
        self.copies.get(self.texts[at].trim()).is_none_or(|copies| copies.len() == 1)
    }

    fn asked<T>(&self, at: usize, run: usize, answer: impl FnOnce(&AskedLine<'_>) -> T) -> T {
        let line = &self.blame.lines[at];
        let commit = line.commit.and_then(|commit| self.blame.commits.get(commit));
        let text = self.texts[at];
        let takes = |written| self.added.takes(commit.map(|commit| commit.id.as_str()), text, written);
        let copies = self.copies.get(text.trim()).map(Vec::as_slice).unwrap_or_default();
        let of_commit = |other: &&usize| self.blame.lines.get(**other).is_some_and(|it| it.commit == line.commit);
        let copies: Vec<usize> = copies.iter().filter(of_commit).copied().take(COPIES + 1).collect();
        answer(&AskedLine {
            texts: &self.texts,
            at,
            block: &|at| self.blame.hunk(at),
            copies: &copies,
            path: &line.path,
            until: commit.map(|commit| commit.time),
            takes: &takes,
            is_long: is_long(text),
            run,
        })
    }
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
    let mut below = HashMap::new();
    let mut last = None;
    for at in hunk.rev() {
        if is_trivial(texts[at]) {
            below.insert(at, last);
        } else {
            last = origins[at].map(|origin| (at, origin));
        }
    }
    let above: HashMap<usize, Option<(usize, LineOrigin)>> = above.into_iter().collect();
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

/// Whether a line can be claimed by its text alone.
fn is_long(text: &str) -> bool {
    // Characters of a line that can be claimed by its text alone.
    text.trim().chars().count() >= 25
}

/// Whether a line says nothing by itself: under 4 characters, or punctuation alone.
pub fn is_trivial(text: &str) -> bool {
    let text = text.trim();
    text.chars().count() < 4 || !text.chars().any(char::is_alphanumeric)
}
