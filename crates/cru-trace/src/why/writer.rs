//! What one session wrote into a file, ready to be asked line by line.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use cru_action::patch::{Hunk, PatchLine};
use cru_graph::Place;
use cru_graph::place::items;
use cru_session::evidence_patch;
use cru_session::{FileRef, Item, LineAnchor, Session, StepStatus};
use jiff::Timestamp;

use super::ties::{CommitTie, commits_of};
use super::{COPIES, is_trivial};
use crate::project;
use crate::text::{SearchedText, Sighting, Spot};

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
    /// When the first commit of the session behind it took up the file; the earliest time of all where its own is not
    /// known.
    taken: Option<Timestamp>,
    /// Whether it is known what it wrote, by its text or by the hashes of its lines.
    is_known: bool,
}

/// Lines of the file at hand that an anchor of a note claims.
#[derive(Debug)]
struct AnchoredLines {
    range: Range<usize>,
    step: usize,
    /// Whether they stand where the note says.
    in_place: bool,
}

/// A line of the file at hand, and who may have written it.
#[derive(Clone)]
pub(super) struct AskedLine<'q> {
    /// The lines of the file.
    pub(super) texts: &'q [&'q str],
    /// Which of them.
    pub(super) at: usize,
    /// Lines around a line of the file that are of its commit.
    pub(super) block: &'q dyn Fn(usize) -> Range<usize>,
    /// The lines of its commit that say the same, without blanks at their ends; one more than [`COPIES`] at most.
    pub(super) copies: &'q [usize],
    /// The file's name in that commit.
    pub(super) path: &'q str,
    /// When that was written.
    pub(super) until: Option<Timestamp>,
    /// Whether that commit is the first that took up what was written at a time.
    pub(super) takes: &'q dyn Fn(Timestamp) -> bool,
    /// Whether it is long enough to be known by itself.
    pub(super) is_long: bool,
    /// Lines side by side that are enough where it is not.
    pub(super) run: usize,
}

/// What a session wrote to files of one name.
#[derive(Debug, Default)]
pub struct FileWriter<'a> {
    commits: Vec<CommitTie>,
    relatives: Vec<usize>,
    is_here: bool,
    steps: Vec<FileStep>,
    /// The lines of its changes, hunk after hunk, with the step where it wrote them; between hunks stands `None`.
    lines: Vec<Option<(&'a str, Option<usize>)>>,
    /// Where a line was written, by its text without blanks at its ends.
    places: HashMap<&'a str, Vec<usize>>,
    anchored: Vec<AnchoredLines>,
    times: HashMap<Place, Timestamp>,
}

impl<'a> FileWriter<'a> {
    /// What a session wrote to files called like one of `names` (the last names of paths). `file` is the file at hand.
    pub fn of(input: &WriterInput<'a>, names: &[&str], file: &SearchedText<'_>) -> Self {
        let session = input.session;
        let project = session.meta.project.as_deref().unwrap_or_default();
        let mut writer = Self { commits: commits_of(session), is_here: input.is_here, ..Self::default() };
        let mut taken: Vec<CommitTie> =
            writer.commits.iter().filter(|tie| input.taken.contains(&tie.id)).cloned().collect();
        taken.sort_by_key(|tie| tie.place);
        let is_named = |path: &str| names.contains(&path.rsplit(['/', '\\']).next().unwrap_or(path));
        let mut hunks: HashMap<(&str, &str), Vec<Hunk<'a>>> = HashMap::new();
        for entry in evidence_patch::read(input.patch).into_iter().filter(|entry| is_named(entry.path)) {
            hunks.entry((entry.step, entry.path)).or_default().extend(entry.hunks());
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
                let taken = taken
                    .get(taken.partition_point(|tie| tie.place <= place))
                    .map(|tie| tie.time.unwrap_or(Timestamp::MIN));
                let hunks = hunks.remove(&(step.id.as_deref().unwrap_or_default(), written.path.as_str()));
                let is_known = hunks.is_some() || !written.lines.is_empty();
                writer.steps.push(FileStep { place, time: step.time, path, taken, is_known });
                hunks.iter().flatten().for_each(|hunk| writer.add(hunk, number));
                writer.anchored.extend(anchored(written, file, number));
            }
        }
        writer
    }

    fn add(&mut self, hunk: &Hunk<'a>, step: usize) {
        // What only takes the place of the same text is not written.
        let runs = evidence_patch::written(hunk);
        let written: HashSet<*const u8> = runs.iter().flat_map(|run| &run.lines).map(|line| line.as_ptr()).collect();
        for line in &hunk.lines {
            let (text, of) = match line {
                PatchLine::Removed(_) => continue,
                PatchLine::Kept(text) => (*text, None),
                PatchLine::Added(text) => (*text, written.contains(&text.as_ptr()).then_some(step)),
            };
            if of.is_some() {
                self.places.entry(text.trim()).or_default().push(self.lines.len());
            }
            self.lines.push(Some((text, of)));
        }
        self.lines.push(None);
    }

    /// The step that wrote the line at a place of its changes.
    fn step_at(&self, place: usize) -> Option<&FileStep> {
        let (_, step) = self.lines.get(place).copied().flatten()?;
        self.steps.get(step?)
    }

    /// Sessions whose steps may be behind its commits: its sub-agents, and who it is one of.
    pub fn set_relatives(&mut self, relatives: Vec<usize>) {
        self.relatives = relatives;
    }

    pub(super) fn relatives(&self) -> &[usize] {
        &self.relatives
    }

    /// When its first step wrote to such a file.
    pub fn first(&self) -> Option<Timestamp> {
        self.steps.iter().filter_map(|step| step.time).min()
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
        let mut steps = places.iter().rev().filter_map(|place| self.step_at(*place));
        let anchored = || {
            let lines = self.anchored.iter().rev().filter(|it| it.range.contains(&at));
            lines.filter_map(|it| self.steps.get(it.step)).find(|step| may(step)).map(|step| step.place)
        };
        steps.find(|step| may(step)).map(|step| step.place).or_else(anchored)
    }

    /// Whether a step may have written the line: it was called before, in a file of that name, and no other commit took up what
    /// it wrote.
    fn may(&self, step: &FileStep, line: &AskedLine<'_>) -> bool {
        let in_time = step.time.zip(line.until).is_none_or(|(time, until)| time.as_second() <= until.as_second());
        let is_taken = step.taken.is_some_and(|taken| line.until.is_none_or(|until| taken <= until));
        let is_it = is_same_file(&step.path, line.path) || self.is_here && name(&step.path) == name(line.path);
        in_time && !is_taken && is_it && step.time.is_none_or(|time| (line.takes)(time))
    }

    /// The last step that wrote the line by text alone: a long line, one that its hash proves where it stands, or one of some
    /// lines that stand side by side as they did when it was written.
    pub(super) fn last_of_text(&self, line: &AskedLine<'_>) -> Option<Place> {
        // Places of one text in what a session wrote that are looked at.
        let texts = self.places_of(line).take(64).find_map(|place| {
            let step = self.step_at(place).filter(|step| self.may(step, line))?;
            let is_enough = line.is_long || self.neighbours(line, line.at, place) >= line.run;
            (is_enough && self.is_where(line, place)).then_some(step.place)
        });
        let anchored = || {
            let lines = self.anchored.iter().rev().filter(|it| it.range.contains(&line.at));
            let proven = lines.filter(|it| it.in_place || line.is_long || it.range.len() >= line.run);
            proven.filter_map(|it| self.steps.get(it.step)).find(|step| self.may(step, line)).map(|step| step.place)
        };
        texts.or_else(anchored)
    }

    /// Whether it cannot be told that no step wrote the line: one wrote such a line, or one wrote into the file and nobody knows
    /// what.
    pub(super) fn may_have_written(&self, line: &AskedLine<'_>) -> bool {
        let mut steps = self.places_of(line).filter_map(|place| self.step_at(place));
        let is_unknown = |step: &FileStep| !step.is_known && is_same_file(&step.path, line.path);
        steps.any(|step| self.may(step, line)) || self.steps.iter().any(|step| is_unknown(step) && self.may(step, line))
    }

    /// Where such a line was written, the last first.
    fn places_of(&self, line: &AskedLine<'_>) -> impl Iterator<Item = usize> {
        let text = line.texts.get(line.at).map_or("", |text| text.trim());
        self.places.get(text).map(Vec::as_slice).unwrap_or_default().iter().rev().copied()
    }

    /// Whether what was written at `place` stands where the line does, and not in a copy of it: where lines are indented alike,
    /// those alone; of these the one whose neighbours agree best.
    fn is_where(&self, line: &AskedLine<'_>, place: usize) -> bool {
        let Some((written, _)) = self.lines.get(place).copied().flatten() else { return false };
        let is_exact = |at: &usize| line.texts.get(*at).is_some_and(|text| text.trim_end() == written.trim_end());
        let has_exact = line.copies.iter().any(is_exact);
        if has_exact && !is_exact(&line.at) {
            return false;
        }
        let mut others = line.copies.iter().filter(|at| **at != line.at && (!has_exact || is_exact(at))).peekable();
        if others.peek().is_none() {
            return true;
        }
        let own = self.neighbours(line, line.at, place);
        line.copies.len() <= COPIES && others.all(|other| self.neighbours(line, *other, place) < own)
    }

    /// Lines of the file around the one at `at` that agree with those around `place`, those that say nothing left out. A line that
    /// the change only kept may be of another commit.
    fn neighbours(&self, asked: &AskedLine<'_>, at: usize, place: usize) -> usize {
        let (texts, block) = (asked.texts, (asked.block)(at));
        let same = |line: usize, there: usize| {
            let Some((text, step)) = self.lines.get(there).copied().flatten() else { return false };
            (step.is_none() || block.contains(&line)) && texts.get(line).map(|it| it.trim()) == Some(text.trim())
        };
        let mut count = 1;
        for step in 1.. {
            match (at.checked_sub(step), place.checked_sub(step)) {
                (Some(line), Some(there)) if same(line, there) => count += usize::from(!is_trivial(texts[line])),
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
fn anchored(written: &FileRef, file: &SearchedText<'_>, step: usize) -> Vec<AnchoredLines> {
    let lines = |anchor: &LineAnchor| {
        let spot =
            Spot::Lines { first: anchor.first.or(Some(u64::MAX)), count: anchor.count, hash: anchor.hash.clone() };
        let (first, in_place) = match file.find(&spot, None) {
            Sighting::InPlace => (anchor.first?, true),
            Sighting::At(line) => (line, false),
            Sighting::Missing | Sighting::TooMuchWork => return None,
        };
        let from = usize::try_from(first.checked_sub(1)?).ok()?;
        let range = from..from.checked_add(usize::try_from(anchor.count).ok()?)?;
        Some(AnchoredLines { range, step, in_place })
    };
    written.lines.iter().filter_map(lines).collect()
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
