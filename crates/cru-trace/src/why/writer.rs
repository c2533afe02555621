//! What one session wrote into a file, ready to be asked line by line.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use cru_graph::Place;
use cru_graph::place::items;
use cru_session::evidence_patch;
use cru_session::{Item, Session, StepStatus};
use jiff::Timestamp;

use super::is_trivial;
use super::ties::{CommitTie, commits_of};
use crate::project;
use crate::text::{SearchedText, Sighting, Spot};

/// Places of one text in what a session wrote that are looked at.
const MOST: usize = 64;

/// What a session is known by.
#[derive(Clone, Copy, Debug)]
pub struct WriterInput<'a> {
    /// Its note.
    pub session: &'a Session,
    /// The text of its `evidence/<session_id>.patch`; empty where there is none: then the note's anchors tell less.
    pub patch: &'a str,
    /// Whether its project is the repository of the file, or lies in it.
    pub is_here: bool,
    /// Those of its commits, by id as the note has it, that touched the file and are in the history that is looked at:
    /// what its steps wrote before them is no uncommitted text that a later commit could have taken up.
    pub taken: &'a HashSet<String>,
}

/// A step that wrote to the file.
#[derive(Clone, Debug)]
struct FileStep {
    place: Place,
    time: Option<Timestamp>,
    path: String,
    /// When the first commit of the session behind it took up the file: `Some(None)` where the time is not known.
    taken: Option<Option<Timestamp>>,
}

/// What a session wrote to files of one name.
#[derive(Debug)]
pub struct FileWriter<'a> {
    commits: Vec<CommitTie>,
    relatives: Vec<usize>,
    is_here: bool,
    steps: Vec<FileStep>,
    /// The lines that were written, run after run; between runs stands `None`.
    lines: Vec<Option<(&'a str, usize)>>,
    /// Where a line was written, by its text without blanks at its ends.
    places: HashMap<&'a str, Vec<usize>>,
    /// Lines of the file at hand that the note's anchors claim: range and step. For steps whose text is not known.
    anchored: Vec<(Range<usize>, usize)>,
    times: HashMap<Place, Timestamp>,
}

impl<'a> FileWriter<'a> {
    /// What a session wrote to files called like one of `names` (the last names of paths). `file` is the file at hand.
    pub fn of(input: &WriterInput<'a>, names: &[&str], file: &SearchedText<'_>) -> Self {
        let session = input.session;
        let project = session.meta.project.as_deref().unwrap_or_default();
        let mut writer = Self {
            commits: commits_of(session),
            relatives: Vec::new(),
            is_here: input.is_here,
            steps: Vec::new(),
            lines: Vec::new(),
            places: HashMap::new(),
            anchored: Vec::new(),
            times: HashMap::new(),
        };
        let mut taken: Vec<CommitTie> =
            writer.commits.iter().filter(|tie| input.taken.contains(&tie.id)).cloned().collect();
        taken.sort_by_key(|tie| tie.place);
        let is_named = |path: &str| names.contains(&path.rsplit(['/', '\\']).next().unwrap_or(path));
        let mut runs: HashMap<(&str, &str), Vec<Vec<&'a str>>> = HashMap::new();
        for entry in evidence_patch::read(input.patch).into_iter().filter(|entry| is_named(entry.path)) {
            let lines = runs.entry((entry.step, entry.path)).or_default();
            lines.extend(entry.written().into_iter().map(|run| run.lines));
        }
        for (place, item) in items(session) {
            let Item::Step(step) = item else { continue };
            if let Some(time) = step.time {
                writer.times.insert(place, time);
            }
            if matches!(step.status, StepStatus::Denied) {
                continue;
            }
            for written in step.writes.iter().filter(|written| is_named(&written.path)) {
                let path = project::inside(project, &written.path).unwrap_or_else(|| written.path.clone());
                let number = writer.steps.len();
                let taken = taken.get(taken.partition_point(|tie| tie.place <= place)).map(|tie| tie.time);
                writer.steps.push(FileStep { place, time: step.time, path, taken });
                match runs.remove(&(step.id.as_deref().unwrap_or_default(), written.path.as_str())) {
                    Some(runs) => runs.into_iter().for_each(|run| writer.add(run, number)),
                    None => writer.anchored.extend(anchored(written, file).into_iter().map(|range| (range, number))),
                }
            }
        }
        writer
    }

    fn add(&mut self, run: Vec<&'a str>, step: usize) {
        for line in run {
            self.places.entry(line.trim()).or_default().push(self.lines.len());
            self.lines.push(Some((line, step)));
        }
        self.lines.push(None);
    }

    /// Sessions whose steps may be behind its commits: its sub-agents, and who it is one of.
    pub fn set_relatives(&mut self, relatives: Vec<usize>) {
        self.relatives = relatives;
    }

    pub(super) fn relatives(&self) -> &[usize] {
        &self.relatives
    }

    /// The commits that its steps show.
    pub fn commits(&self) -> &[CommitTie] {
        &self.commits
    }

    /// When a step was called.
    pub(super) fn time(&self, place: Place) -> Option<Timestamp> {
        self.times.get(&place).copied()
    }

    /// The last step that wrote this line (`at` in the file), before `place` where it is one of this session, and not after `until`.
    pub(super) fn last_before(
        &self,
        text: &str,
        at: usize,
        path: &str,
        before: Option<Place>,
        until: Option<Timestamp>,
    ) -> Option<Place> {
        let may = |step: &FileStep| {
            let in_time = match before {
                Some(before) => step.place < before,
                None => step.time.zip(until).is_none_or(|(time, until)| time <= until),
            };
            in_time && is_same_file(&step.path, path)
        };
        let places = self.places.get(text.trim()).map(Vec::as_slice).unwrap_or_default();
        let steps = places.iter().rev().filter_map(|at| self.lines.get(*at).copied().flatten());
        let texts = steps.filter_map(|(_, step)| self.steps.get(step)).find(|step| may(step)).map(|step| step.place);
        let anchored = || {
            let steps = self.anchored.iter().rev().filter(|(range, _)| range.contains(&at));
            steps.filter_map(|(_, step)| self.steps.get(*step)).find(|step| may(step)).map(|step| step.place)
        };
        texts.or_else(anchored)
    }

    /// The last step, not after `until`, that wrote line `at` of `texts` by text alone: a long line, or one of `run`
    /// lines in `block` that were written side by side.
    #[expect(clippy::too_many_arguments, reason = "the rule has as many parts")]
    pub(super) fn last_of_text(
        &self,
        texts: &[&str],
        at: usize,
        block: &Range<usize>,
        long: bool,
        run: usize,
        path: &str,
        until: Option<Timestamp>,
    ) -> Option<Place> {
        let may = |step: &FileStep| {
            let in_time = step.time.zip(until).is_none_or(|(time, until)| time <= until);
            let until = |taken: Option<Timestamp>| taken.zip(until).is_none_or(|(taken, until)| taken <= until);
            let is_taken = step.taken.is_some_and(until);
            in_time && !is_taken && (is_same_file(&step.path, path) || self.is_here && name(&step.path) == name(path))
        };
        let places = self.places.get(texts[at].trim()).map(Vec::as_slice).unwrap_or_default();
        let texts = places.iter().rev().take(MOST).find_map(|&place| {
            let (_, step) = self.lines.get(place).copied().flatten()?;
            let step = self.steps.get(step).filter(|step| may(step))?;
            (long || self.neighbours(texts, at, block, place) >= run).then_some(step.place)
        });
        let anchored = || {
            let steps = self.anchored.iter().rev().filter(|(range, _)| range.contains(&at));
            // A single short line is no proof, as above.
            let proven = steps.filter(|(range, _)| long || range.len() >= run);
            proven.filter_map(|(_, step)| self.steps.get(*step)).find(|step| may(step)).map(|step| step.place)
        };
        texts.or_else(anchored)
    }

    /// Lines of the file around line `at` that agree with those written around `place`, those that say nothing left out.
    fn neighbours(&self, texts: &[&str], at: usize, block: &Range<usize>, place: usize) -> usize {
        let same = |line: usize, written: usize| {
            let text = self.lines.get(written).copied().flatten().map(|(text, _)| text.trim());
            block.contains(&line) && texts.get(line).map(|text| text.trim()) == text && text.is_some()
        };
        let mut count = 1;
        for step in 1.. {
            match (at.checked_sub(step), place.checked_sub(step)) {
                (Some(line), Some(written)) if same(line, written) => count += usize::from(!is_trivial(texts[line])),
                _ => break,
            }
        }
        for step in 1.. {
            if !same(at + step, place + step) {
                break;
            }
            count += usize::from(!is_trivial(texts[at + step]));
        }
        count
    }
}

/// The lines of a file that the anchors of a write claim, where they stand there.
fn anchored(written: &cru_session::FileRef, file: &SearchedText<'_>) -> Vec<Range<usize>> {
    let range = |anchor: &cru_session::LineAnchor| {
        let spot =
            Spot::Lines { first: anchor.first.or(Some(u64::MAX)), count: anchor.count, hash: anchor.hash.clone() };
        let first = match file.find(&spot, None) {
            Sighting::InPlace => anchor.first?,
            Sighting::At(line) => line,
            Sighting::Missing | Sighting::TooMuchWork => return None,
        };
        let from = usize::try_from(first.checked_sub(1)?).ok()?;
        Some(from..from.checked_add(usize::try_from(anchor.count).ok()?)?)
    };
    written.lines.iter().filter_map(range).collect()
}

/// Whether two paths name one file, as far as the shorter one tells: `src/a.rs` of a package and `pkg/src/a.rs` of its
/// repository.
pub fn is_same_file(a: &str, b: &str) -> bool {
    let ends =
        |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    ends(a, b) || ends(b, a)
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
