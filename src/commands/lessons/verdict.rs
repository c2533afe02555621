//! Whether a lesson still holds: its anchors and its evidence, by the engine of `cru stale`, and corrections that it did
//! not prevent.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::base::Result;
use crate::commands::Context;
use crate::commands::trace::probe::ProbeEnd;
use crate::commands::trace::stale::{StaleQuestion, gather};
use crate::commands::trace::{JudgedNote, TraceWorld, judge_notes};
use crate::index::{Record, SessionRow, Table};
use crate::note::Note;
use crate::readings::lesson::{Lesson, LessonNote};
use crate::readings::note::ReviewStatus;
use crate::session::words::list;
use crate::session::{Link, Session, read};
use crate::trace::ClaimVerdict;
use crate::vault::VaultPath;

/// What became of a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub(in crate::commands) enum LessonVerdict {
    /// All that it rests on is as it was.
    Holds,
    /// Something that it rests on has changed.
    Drifted {
        /// What.
        reasons: Vec<String>,
    },
    /// Nothing that it rests on is there any more.
    Orphaned,
    /// It rests on nothing that could be compared.
    Unanchored,
    /// It was learned at a commit that is no ancestor of what is checked out.
    #[serde(rename = "other branch")]
    OtherBranch,
    /// Somebody has ended it.
    Retired,
}

impl LessonVerdict {
    /// Its word.
    pub(in crate::commands) const fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Drifted { .. } => "drifted",
            Self::Orphaned => "orphaned",
            Self::Unanchored => "unanchored",
            Self::OtherBranch => "other branch",
            Self::Retired => "retired",
        }
    }

    /// Whether it may be told as a fact.
    pub(in crate::commands) const fn is_sound(&self) -> bool {
        matches!(self, Self::Holds | Self::Unanchored)
    }
}

/// A lesson and what became of it.
#[derive(Clone, Debug, Serialize)]
pub(in crate::commands) struct JudgedLesson {
    #[serde(flatten)]
    pub(in crate::commands) note: LessonNote,
    #[serde(flatten)]
    pub(in crate::commands) verdict: LessonVerdict,
    /// Corrections after it that say the same.
    pub(in crate::commands) broken: u64,
    /// What came of its own check, where that was to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) check: Option<ProbeEnd>,
}

impl JudgedLesson {
    /// Its check was run: one that fails shows that it does not hold.
    pub(super) fn checked(&mut self, end: ProbeEnd) {
        if let (ProbeEnd::Failed { why }, Some(command)) = (&end, &self.note.lesson.check) {
            let reason = format!("`{command}` {why}");
            match &mut self.verdict {
                LessonVerdict::Drifted { reasons } => reasons.push(reason),
                verdict => *verdict = LessonVerdict::Drifted { reasons: vec![reason] },
            }
        }
        self.check = Some(end);
    }
}

/// Corrections of one project that are alike by so much of their words.
const ALIKE: f64 = 0.6;

/// Judges lessons.
pub(in crate::commands) fn judge(
    lessons: Vec<LessonNote>,
    world: &TraceWorld,
    cx: &Context<'_>,
) -> Result<Vec<JudgedLesson>> {
    let anchored: Vec<JudgedNote> = lessons.iter().map(|it| JudgedNote { session: anchors(&it.lesson) }).collect();
    let anchored = judge_notes(&anchored, world, cx);
    let mut stale: HashMap<String, Vec<String>> = HashMap::new();
    if lessons.iter().any(|it| it.lesson.status == ReviewStatus::Accepted && !it.lesson.evidence.is_empty()) {
        for row in gather(&StaleQuestion::default(), world, cx)?.rows {
            if let Some(id) = row.kept.strip_prefix("lesson ") {
                stale.entry(id.to_owned()).or_default().push(row.reason);
            }
        }
    }
    let corrections = corrections(&lessons, world, cx)?;
    let judged = lessons.into_iter().zip(anchored).map(|(note, (own, other_branch))| {
        let lesson = &note.lesson;
        let leads = leads(&note, world);
        let mut reasons = stale.remove(&lesson.id).unwrap_or_default();
        let changed = own.iter().filter(|(_, verdict)| verdict.is_stale());
        reasons.extend(changed.map(|(path, verdict)| format!("{path}: {}", verdict.words())));
        reasons.dedup();
        let all_gone = !own.is_empty() && own.iter().all(|(_, verdict)| *verdict == ClaimVerdict::Gone);
        let verdict = match () {
            () if lesson.ended.is_some() || lesson.status == ReviewStatus::Rejected => LessonVerdict::Retired,
            () if other_branch => LessonVerdict::OtherBranch,
            () if (leads == Some(false) && own.is_empty()) || (leads != Some(true) && all_gone) => {
                LessonVerdict::Orphaned
            }
            () if !reasons.is_empty() => LessonVerdict::Drifted { reasons },
            () if own.iter().any(|(_, verdict)| verdict.stands()) => LessonVerdict::Holds,
            () => LessonVerdict::Unanchored,
        };
        let broken = broken(lesson, &corrections);
        JudgedLesson { note, verdict, broken, check: None }
    });
    Ok(judged.collect())
}

/// The lesson as a session of one step that read its anchors.
fn anchors(lesson: &Lesson) -> Session {
    let files: Vec<_> = lesson.anchors.iter().map(|text| crate::session::file_ref::parse(text)).collect();
    let mut session = Session::default();
    session.meta.project.clone_from(&lesson.project);
    session.meta.commit.clone_from(&lesson.commit);
    session.meta.started = lesson.learned.as_deref().and_then(crate::session::time::parse);
    if !files.is_empty() {
        let step = crate::session::Step { tool: "Read".to_owned(), reads: files, ..Default::default() };
        session.preface.push(crate::session::Item::Step(step));
    }
    session
}

/// Whether any link of its evidence leads somewhere; `None` where it has none.
fn leads(note: &LessonNote, world: &TraceWorld) -> Option<bool> {
    let from = VaultPath::new(&note.path)?;
    let text = note.lesson.evidence.join("\n");
    let links: Vec<Link> = read::links(&Note::parse(text.as_str()));
    let mut found = links.iter().filter(|link| !link.target.is_empty());
    let first = found.next()?;
    Some(std::iter::once(first).chain(found).any(|link| world.catalog.note(&link.target, &from).is_some()))
}

/// A correction: where it was said, when, and its words.
struct SaidCorrection {
    /// `session#u-11`
    key: String,
    project: Option<String>,
    at: Option<jiff::Timestamp>,
    words: HashSet<String>,
}

/// The corrections of the projects that the lessons are of.
fn corrections(lessons: &[LessonNote], world: &TraceWorld, cx: &Context<'_>) -> Result<Vec<SaidCorrection>> {
    // One of no project holds in all.
    let projects: HashSet<Option<&str>> = lessons.iter().map(|it| it.lesson.project.as_deref()).collect();
    let counts = |row: &SessionRow| {
        row.corrections > 0 && (projects.contains(&None) || projects.contains(&row.project.as_deref()))
    };
    if projects.is_empty() {
        return Ok(Vec::new());
    }
    let snapshot = world.snapshot(cx)?;
    let mut all = Vec::new();
    let of = |record: Record| {
        let (row, user) = (record.session, record.user);
        let said = user.into_iter().filter(|it| it.correction).map(|it| SaidCorrection {
            key: format!(
                "{}#^{}",
                row.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md"),
                it.id.unwrap_or_default()
            ),
            project: row.project.clone(),
            at: it.at.or(row.started),
            words: content_words(&it.words),
        });
        said.collect::<Vec<_>>()
    };
    snapshot.each_record(counts, &[Table::User], of, |it| all.extend(it));
    Ok(all)
}

/// Words that tell something, in small letters.
pub(in crate::commands) fn content_words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !list::STOP.has(word)).collect()
}

/// Whether two corrections say the same, by the words they have in common.
pub(in crate::commands) fn is_alike(a: &HashSet<String>, b: &HashSet<String>) -> bool {
    let (common, all) = (a.intersection(b).count() as f64, a.union(b).count() as f64);
    all > 0.0 && common >= ALIKE * all
}

/// How many later corrections in its project say the same, by their words or by a link that somebody wrote.
fn broken(lesson: &Lesson, corrections: &[SaidCorrection]) -> u64 {
    let own = content_words(&lesson.text);
    let learned = lesson.learned.as_deref().and_then(crate::session::time::parse);
    let is_told = |it: &&SaidCorrection| {
        if lesson.broke.iter().any(|link| link.trim_end_matches("]]") == it.key) {
            return true;
        }
        let is_of_project = lesson.project.is_none() || lesson.project == it.project;
        let is_later = matches!((it.at, learned), (Some(at), Some(learned)) if at > learned);
        // The words that the lesson was made of are none that broke it.
        let is_source = lesson.evidence.iter().any(|line| line.contains(&it.key));
        is_of_project && is_later && !is_source && is_alike(&own, &it.words)
    };
    corrections.iter().filter(is_told).count() as u64
}
