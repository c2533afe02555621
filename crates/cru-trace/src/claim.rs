//! The claims of sessions: what their steps read and wrote.
//!
//! Sessions that are one work (a session and its sub-agents) are judged together: what one of them wrote over is
//! superseded, and not drifted.

use std::collections::{BTreeMap, HashMap, HashSet};

use cru_action::ToolKind;
use cru_action::patch::PatchLine;
use cru_graph::place::items;
use cru_graph::{Place, dependencies};
use cru_session::evidence_patch::{self, StepPatch};
use cru_session::{FileRef, Item, Session, Step, StepStatus};
use jiff::Timestamp;

use crate::answer::{Question, answers};
use crate::cache::AnswerCache;
use crate::files::ReadFiles;
use crate::project::{self, ProjectRoots};
use crate::removals;
use crate::rests::rests;
use crate::text::{CHECKSUMS, Spot};
use crate::verdict::{ClaimVerdict, UnknownReason};

/// A session of a work.
#[derive(Clone, Copy, Debug)]
pub struct WorkMember<'a> {
    /// What its note says.
    pub session: &'a Session,
    /// The text of its `evidence/<session_id>.patch`; empty where there is none.
    pub patch: &'a str,
    /// Whether it began at a commit that is no ancestor of what is checked out.
    pub other_branch: bool,
    /// Steps that were run again with equal output in another session: nothing is in doubt because of them.
    pub cleared: &'a [Place],
}

/// Sessions that are judged together.
#[derive(Clone, Debug, Default)]
pub struct Work<'a> {
    /// They.
    pub members: Vec<WorkMember<'a>>,
}

/// An anchor of a step with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedAnchor {
    /// The file as the note names it.
    pub path: String,
    /// `118-129`, `140`, `~3`; empty for a whole file and where there is no hash.
    pub place: String,
    /// Whether the step wrote it; else it read it.
    pub written: bool,
    /// What became of it.
    pub verdict: ClaimVerdict,
}

/// A step with its anchors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedStep {
    /// Index of its session in [`Work::members`].
    pub member: usize,
    /// Its place in that session.
    pub place: Place,
    /// Its anchors, those that it read first.
    pub anchors: Vec<JudgedAnchor>,
    /// The worst of its anchors; `None` where it has none.
    pub own: Option<ClaimVerdict>,
    /// The step, an index into the list, that it rests on and that does not hold.
    pub rests_on: Option<usize>,
}

impl JudgedStep {
    /// The worst verdict of what it wrote; `None` where it wrote nothing.
    pub fn written(&self) -> Option<ClaimVerdict> {
        ClaimVerdict::worst(self.anchors.iter().filter(|it| it.written).map(|it| it.verdict.clone()))
    }

    /// The worst verdict of what it read.
    pub fn read(&self) -> Option<ClaimVerdict> {
        ClaimVerdict::worst(self.anchors.iter().filter(|it| !it.written).map(|it| it.verdict.clone()))
    }
}

/// A step of a work, in the order in which they were done.
struct WorkStep<'a> {
    member: usize,
    place: Place,
    step: &'a Step,
    time: Option<Timestamp>,
}

/// An anchor of which a file was asked.
struct AskedAnchor<'a> {
    /// Index of its step in the order of the work.
    at: usize,
    written: bool,
    file: &'a FileRef,
    place: String,
    /// Number of the question; else why there is none.
    question: Result<usize, UnknownReason>,
}

/// How much of a file a step wrote.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
    /// It deleted it.
    Deletion,
}

/// A change of a file by a step.
struct Change<'a> {
    /// Index in the order of the work.
    at: usize,
    removed: HashSet<&'a str>,
    /// Whether the diff is known.
    told: bool,
    /// The lines of the file before that it took away: first and last, where they are known.
    taken: Vec<(u64, u64)>,
    file: &'a FileRef,
    extent: Extent,
    failed: bool,
    /// Whether the file is as it left it.
    holds: bool,
}

/// Judges all steps of a work; in the order in which they were done, as far as times tell it.
pub fn judge(
    work: &Work<'_>,
    roots: &ProjectRoots,
    files: &dyn ReadFiles,
    cache: &mut AnswerCache,
    now: Timestamp,
) -> Vec<JudgedStep> {
    let steps = ordered(work);
    let patches: Vec<HashMap<(&str, &str), Vec<StepPatch<'_>>>> =
        work.members.iter().map(|member| by_step(member.patch)).collect();
    let mut questions = Vec::new();
    let mut asked: Vec<AskedAnchor<'_>> = Vec::new();
    let mut changes: HashMap<String, Vec<Change<'_>>> = HashMap::new();
    let mut removed: HashMap<String, usize> = HashMap::new();
    for (at, it) in steps.iter().enumerate() {
        let member = &work.members[it.member];
        let project = member.session.meta.project.as_deref().unwrap_or_default();
        removed.extend(removals::of_step(it.step, project).into_iter().map(|path| (path, at)));
        let id = it.step.id.as_deref().unwrap_or_default();
        for (file, written) in
            it.step.reads.iter().map(|it| (it, false)).chain(it.step.writes.iter().map(|it| (it, true)))
        {
            let entries = patches[it.member].get(&(id, file.path.as_str()));
            let own = entries.filter(|_| written).map(Vec::as_slice).unwrap_or_default();
            if written {
                let name = project::inside(project, &file.path).unwrap_or_else(|| file.path.clone());
                changes.entry(name).or_default().push(Change::of(at, file, own, it.step));
            }
            for (place, spot, text) in spots(it.step, file, own) {
                let question = spot.ok_or(UnknownReason::NoHash).and_then(|spot| {
                    let (root, path) = roots.file(project, &file.path)?;
                    questions.push(Question { root, path, spot, text });
                    Ok(questions.len() - 1)
                });
                asked.push(AskedAnchor { at, written, file, place, question });
            }
        }
    }
    let answers = answers(&questions, files, cache, now);
    for it in asked.iter().filter(|it| it.written && it.place.is_empty()) {
        let Ok(number) = it.question else { continue };
        let changes = changes.values_mut().flatten();
        for change in changes.filter(|change| change.at == it.at && std::ptr::eq(change.file, it.file)) {
            change.holds = answers[number].stands();
        }
    }
    let mut judged: Vec<JudgedStep> = steps
        .iter()
        .map(|it| JudgedStep { member: it.member, place: it.place, anchors: Vec::new(), own: None, rests_on: None })
        .collect();
    for AskedAnchor { at, written, file, place, question } in asked {
        let member = &work.members[steps[at].member];
        let project = member.session.meta.project.as_deref().unwrap_or_default();
        let verdict = match question {
            Err(reason) => ClaimVerdict::unknown(reason),
            Ok(number) => {
                let name = project::inside(project, &file.path).unwrap_or_else(|| file.path.clone());
                let later = changes.get(&name).map(Vec::as_slice).unwrap_or_default();
                // What a step read, it read before it wrote.
                let is_behind = |change: &Change<'_>| change.at > at || !written && change.at == at;
                let later = &later[later.partition_point(|change| !is_behind(change))..];
                let verdict = answers[number].clone();
                let is_removed = || verdict == ClaimVerdict::Gone && removals::is_removed(&name, at, &removed);
                let over = || is_superseded(&questions[number], &verdict, later);
                match verdict.is_stale().then(|| if is_removed() { Some(true) } else { over() }) {
                    Some(Some(true)) => ClaimVerdict::Superseded,
                    Some(_) if member.other_branch => ClaimVerdict::unknown(UnknownReason::OtherBranch),
                    Some(None) => ClaimVerdict::unknown(UnknownReason::NoHash),
                    Some(Some(false)) | None => verdict,
                }
            }
        };
        judged[at].anchors.push(JudgedAnchor { path: file.path.clone(), place, written, verdict });
    }
    for step in &mut judged {
        step.own = ClaimVerdict::worst(step.anchors.iter().map(|anchor| anchor.verdict.clone()));
    }
    rest(work, &steps, &mut judged);
    judged
}

/// Adds what rests on what. Dependencies are those of each session alone.
fn rest(work: &Work<'_>, steps: &[WorkStep<'_>], judged: &mut [JudgedStep]) {
    let numbers: HashMap<(usize, Place), usize> =
        steps.iter().enumerate().map(|(at, it)| ((it.member, it.place), at)).collect();
    let mut edges = Vec::new();
    let mut cleared = vec![false; steps.len()];
    for (member, it) in work.members.iter().enumerate() {
        let number = |place: Place| numbers.get(&(member, place)).copied();
        for dependency in dependencies(it.session) {
            edges.extend(number(dependency.of).zip(number(dependency.on)));
        }
        for old in it.cleared.iter().filter_map(|place| number(*place)) {
            cleared[old] = true;
        }
        let blocks = cru_graph::place::Blocks::of(it.session);
        for (place, item) in items(it.session) {
            let Item::Step(step) = item else { continue };
            let Some(link) = &step.replays else { continue };
            let replayed = blocks.follow(it.session, link);
            let equal = |old: &Step| has_equal_output(old, step);
            let same = replayed.filter(|old| *old < place && old.step_in(it.session).is_some_and(equal));
            if let Some(old) = same.and_then(number) {
                cleared[old] = true;
            }
        }
    }
    let own: Vec<ClaimVerdict> = judged.iter().map(|it| it.own.clone().unwrap_or(ClaimVerdict::Holds)).collect();
    for (step, rest) in judged.iter_mut().zip(rests(&own, &edges, &cleared)) {
        step.rests_on = rest.on;
        if rest.in_cycle && !step.own.as_ref().is_some_and(ClaimVerdict::is_stale) {
            step.own = Some(ClaimVerdict::unknown(UnknownReason::Cycle));
        }
    }
}

/// Whether a step that ran again came to the same: the files that it wrote, where both have hashes of them, else the line
/// of its result.
pub fn has_equal_output(old: &Step, new: &Step) -> bool {
    let hashes = |step: &Step| -> Option<BTreeMap<String, String>> {
        step.writes.iter().map(|file| Some((file.path.clone(), file.hash.clone()?))).collect()
    };
    let written = hashes(old).zip(hashes(new)).filter(|(old, new)| !old.is_empty() && !new.is_empty());
    old.status == new.status && written.map_or_else(|| old.result == new.result, |(old, new)| old == new)
}

/// The steps of all members by time; within a session the order is that of the page, whatever its clock says.
fn ordered<'a>(work: &Work<'a>) -> Vec<WorkStep<'a>> {
    let mut steps = Vec::new();
    for (member, it) in work.members.iter().enumerate() {
        let mut latest = it.session.meta.started;
        for (place, item) in items(it.session) {
            let Item::Step(step) = item else { continue };
            latest = latest.max(step.time);
            steps.push(WorkStep { member, place, step, time: latest });
        }
    }
    if work.members.len() > 1 {
        steps.sort_by_key(|it| (it.time, it.member, it.place));
    }
    steps
}

/// The entries of a patch file by step and file.
fn by_step(text: &str) -> HashMap<(&str, &str), Vec<StepPatch<'_>>> {
    let mut all: HashMap<(&str, &str), Vec<StepPatch<'_>>> = HashMap::new();
    for entry in evidence_patch::read(text) {
        all.entry((entry.step, entry.path)).or_default().push(entry);
    }
    all
}

/// What is known of all bytes of a file: our hash, else the checksum that another program gave, with its method.
fn whole_sum(step: &Step, file: &FileRef) -> Option<String> {
    let told = |(name, value): &(String, String)| {
        let method = CHECKSUMS.iter().find(|method| name.eq_ignore_ascii_case(method))?;
        let (path, digits) = value.trim().trim_matches('`').rsplit_once(' ')?;
        (path.trim_end() == file.path).then(|| format!("{method}:{digits}"))
    };
    file.hash.clone().or_else(|| step.fields.iter().find_map(told))
}

/// What is claimed of a file: each anchor with its place as text and its lines where they are known.
fn spots(step: &Step, file: &FileRef, patches: &[StepPatch<'_>]) -> Vec<(String, Option<Spot>, Option<Vec<String>>)> {
    if file.lines.is_empty() {
        return vec![(String::new(), whole_sum(step, file).map(Spot::Whole), None)];
    }
    let runs: Vec<_> = patches.iter().flat_map(StepPatch::written).collect();
    let text = |anchor: &cru_session::LineAnchor| {
        let run = runs.iter().find(|run| anchor.is_of(run.lines.iter().copied()))?;
        Some(run.lines.iter().map(|line| (*line).to_owned()).collect())
    };
    let spot = |anchor: &cru_session::LineAnchor| {
        // Blank lines stand everywhere: an edit that adds nothing else only takes away.
        if is_blank(anchor) {
            return (anchor.place(), None, None);
        }
        let spot = Spot::Lines { first: anchor.first, count: anchor.count, hash: anchor.hash.clone() };
        (anchor.place(), Some(spot), text(anchor))
    };
    file.lines.iter().map(spot).collect()
}

/// Whether an anchor is of blank lines alone.
fn is_blank(anchor: &cru_session::LineAnchor) -> bool {
    const MOST: u64 = 16;
    usize::try_from(anchor.count.min(MOST))
        .is_ok_and(|count| anchor.count <= MOST && anchor.is_of(std::iter::repeat_n("", count)))
}

impl<'a> Change<'a> {
    fn of(at: usize, file: &'a FileRef, patches: &[StepPatch<'a>], step: &Step) -> Self {
        let (mut removed, mut taken) = (HashSet::new(), Vec::new());
        for hunk in patches.iter().flat_map(StepPatch::hunks) {
            let mut line = hunk.old_start.filter(|first| *first > 0);
            for it in hunk.lines {
                if let PatchLine::Removed(text) = it {
                    removed.insert(text);
                    taken.extend(line.map(|line| (line, line)));
                }
                if !matches!(it, PatchLine::Added(_)) {
                    line = line.map(|line| line.saturating_add(1));
                }
            }
        }
        let kind = step.action().kind;
        let is_part = matches!(kind, ToolKind::Edit | ToolKind::Patch);
        Self {
            at,
            removed,
            told: !patches.is_empty(),
            taken,
            file,
            extent: match kind {
                ToolKind::Delete => Extent::Deletion,
                _ if file.created || file.lines.is_empty() && !is_part && whole_sum(step, file).is_some() => {
                    Extent::Whole
                }
                _ => Extent::Part,
            },
            failed: step.status != StepStatus::Complete,
            holds: false,
        }
    }

    /// Whether it took away lines of a spot; lines without a place may be any.
    fn takes(&self, spot: &Spot) -> bool {
        let Spot::Lines { first: Some(first), count, .. } = spot else { return true };
        let last = first.saturating_add(*count);
        self.taken.is_empty() || self.taken.iter().any(|(from, to)| *from <= last && to >= first)
    }
}

/// Whether later steps of the work wrote over what is claimed; `None` where one wrote into the file and the note does not say
/// what. A step's diff tells it; without one, its lines do. A deletion takes away what is gone, and nothing of a file that is
/// there again.
fn is_superseded(question: &Question, verdict: &ClaimVerdict, later: &[Change<'_>]) -> Option<bool> {
    let is_gone = *verdict == ClaimVerdict::Gone;
    let by = |change: &Change<'_>| {
        let deletes = change.extent == Extent::Deletion;
        if is_gone || deletes {
            return Some(is_gone && deletes);
        }
        if change.extent == Extent::Whole || matches!(question.spot, Spot::Whole(_)) {
            return Some(true);
        }
        match &question.text {
            Some(text) if change.told && !change.removed.is_empty() => {
                // Braces and blank lines are everybody's.
                let tells = |line: &&String| line.trim().chars().filter(|c| c.is_alphanumeric()).count() > 2;
                Some(text.iter().filter(tells).any(|line| change.removed.contains(line.as_str())))
            }
            _ if !change.file.lines.is_empty() => Some(overlaps(&question.spot, change.file)),
            _ if change.told => Some(change.takes(&question.spot)),
            // The file is as that step left it: what is not there, it took or one before it.
            _ if change.holds => Some(true),
            _ => None,
        }
    };
    let mut is_known = true;
    for change in later.iter().filter(|change| !change.failed) {
        match by(change) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(false)
}

/// Whether lines that were written later begin or end within those of a spot; lines without a place may.
fn overlaps(spot: &Spot, file: &FileRef) -> bool {
    let Spot::Lines { first: Some(first), count, .. } = spot else { return true };
    let last = first.saturating_add(*count);
    file.lines.iter().any(|anchor| match (anchor.first, anchor.last()) {
        (Some(from), Some(to)) => from <= last && to >= *first,
        _ => true,
    })
}
