//! A session made into a workflow: what a person needs to do the same work again.
//!
//! The turns of the final path ([`unit`]) are put together to chapters ([`chapter`]), which are cut into drafts of steps
//! ([`drafter`]): a long one by tasks or a plan, in the replay else by what was done ([`activity`]). Sub-phases are steps below,
//! in the replay sub-agents too. [`step_title`] calls them after people's words or after what was done ([`title`]). Flow lines
//! come from files and values ([`data`]), values that belong to one run from [`input`], checks from [`standing`] and
//! [`verification`], the record of the session from [`outcome`]; all of these are [`facts`] of the steps. The [`skeleton`] tells
//! them on a page, the replay the rest of them from [`body`] and [`commands`]; [`head`] puts above them what stands there.
//! Deterministic: the session alone decides.

mod activity;
mod body;
mod call;
mod change;
mod chapter;
mod commands;
mod condense;
mod data;
mod dependency;
mod draft;
mod drafter;
mod facts;
mod file;
pub(crate) mod file_type;
pub(crate) mod head;
mod input;
mod job;
mod looks;
mod outcome;
mod place;
mod profile;
mod replaced;
mod request;
pub mod skeleton;
mod standing;
mod step_title;
#[cfg(test)]
mod tests;
pub(crate) mod title;
mod unit;
mod value;
mod verification;
mod whole;
mod words;

pub(crate) use words::paragraph;
use words::{block_link, clean, head, inline, plain_code, quotation};

use draft::{Cut, Draft};
use facts::{Facts, Setting};
pub use file_type::language_of;
pub use profile::{Profile, profile};
use whole::Whole;

use rayon::prelude::*;

use super::evidence::Evidence;
use super::model::{Part, RemarkKind, Step, Workflow};
use cru_base::text::plural;
use cru_base::{Diagnostic, Span};
use cru_graph::{FinalPath, Plan};
use cru_session::{Session, Status, User};

/// What a person can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Keep the versions of agents: `@planner@1.2`.
    pub versions: bool,
    /// How much is told.
    pub shape: Shape,
}

impl Options {
    /// Everything that can be told.
    pub const REPLAY: Self = Self { versions: false, shape: Shape::Replay };
}

/// How much a workflow tells of its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// The shape of the work on one page: [`skeleton::MAX_LINES`] lines, [`skeleton::MAX_BYTES`] bytes.
    #[default]
    Skeleton,
    /// Every step with its edits, commands and words.
    Replay,
}

/// Makes a workflow of a session. The diagnostics (warnings and remarks) have places in the session's note.
///
/// A session without anything to repeat gives a workflow without steps, and the diagnostic [`NOTHING_TO_REPEAT`].
pub fn codify(session: &Session, options: &Options) -> (Workflow, Vec<Diagnostic>) {
    codify_with(session, options, &Evidence::default())
}

/// As [`codify`], with what the transcript says of the steps.
pub fn codify_with(session: &Session, options: &Options, evidence: &Evidence) -> (Workflow, Vec<Diagnostic>) {
    let Some(work) = Work::of(session) else { return nothing(session) };
    let jobs = job::jobs(&work.chapters).len();
    let (workflow, mut warnings) = work.codify(session, *options, evidence);
    if jobs > 1 {
        let message = format!(
            "the session holds {jobs} jobs that share no file and no request; `--split` gives one workflow for each"
        );
        warnings.push(Diagnostic::info("codify-jobs", Span::default(), message));
    }
    (workflow, warnings)
}

/// Makes a workflow of each job of a session: turns that share a file, a value of a request or a note of the person's own
/// stay together. Never empty; a session with one job gives what [`codify`] gives.
pub fn codify_jobs(session: &Session, options: &Options, evidence: &Evidence) -> Vec<(Workflow, Vec<Diagnostic>)> {
    let Some(work) = Work::of(session) else { return vec![nothing(session)] };
    let jobs = job::jobs(&work.chapters);
    if jobs.len() < 2 {
        return vec![work.codify(session, *options, evidence)];
    }
    let parts = work.split(&jobs);
    parts.into_iter().map(|part| part.codify(session, *options, evidence)).collect()
}

fn nothing(session: &Session) -> (Workflow, Vec<Diagnostic>) {
    let message = if session.meta.tells_changes() {
        "the session has nothing to repeat: nothing was changed, checked or decided in it"
    } else {
        "the session has nothing to repeat: its record names no file that was changed, and nothing was checked or decided in it"
    };
    let workflow = Workflow { title: clean(session.title()), sources: head::sources(session), ..Workflow::default() };
    (workflow, vec![Diagnostic::warning(NOTHING_TO_REPEAT, Span::default(), message)])
}

/// What a workflow is made of.
struct Work<'a> {
    path: FinalPath,
    asked: Plan<'a>,
    /// What stands before the first step.
    before: Vec<unit::Entry<'a>>,
    chapters: Vec<chapter::Chapter<'a>>,
    /// What was asked at the end and not done.
    idle: Vec<&'a User>,
    /// Whether it is a part of the session.
    part: bool,
}

impl<'a> Work<'a> {
    /// `None` where the session has nothing to repeat.
    fn of(session: &'a Session) -> Option<Self> {
        let path = FinalPath::of(session);
        let mut units = unit::units(session, &path);
        if !unit::is_repeatable(&units, session) {
            return None;
        }
        let is_before = |unit: &unit::Unit<'_>| {
            let prose = unit.phase.is_none_or(|(_, phase)| phase.agent.is_none() && phase.channel.is_none());
            let silent = |entry: &unit::Entry<'_>| matches!(entry, unit::Entry::Item(..) | unit::Entry::Conclusion(..));
            prose && !unit.looked && unit.all().all(silent)
        };
        let first = units.iter().position(|unit| !is_before(unit)).unwrap_or(0);
        let before = units.drain(..first).flat_map(|unit| unit.entries).collect();
        let idle = chapter::idle(&mut units);
        let asked = cru_graph::plan(session);
        Some(Self { path, asked, before, chapters: chapter::chapters(units), idle, part: false })
    }

    /// The work of each of `jobs`, which say for each chapter where it belongs.
    fn split(self, jobs: &[Vec<usize>]) -> Vec<Self> {
        let mut chapters: Vec<Option<chapter::Chapter<'a>>> = self.chapters.into_iter().map(Some).collect();
        let last = jobs.len() - 1;
        let (mut before, mut idle) = (Some(self.before), Some(self.idle));
        let part = |(at, job): (usize, &Vec<usize>)| Self {
            path: self.path.clone(),
            asked: self.asked.clone(),
            before: before.take().unwrap_or_default(),
            chapters: job.iter().filter_map(|chapter| chapters.get_mut(*chapter)?.take()).collect(),
            idle: if at == last { idle.take().unwrap_or_default() } else { Vec::new() },
            part: true,
        };
        jobs.iter().enumerate().map(part).collect()
    }

    fn codify(mut self, session: &Session, options: Options, evidence: &Evidence) -> (Workflow, Vec<Diagnostic>) {
        let chapters = std::mem::take(&mut self.chapters);
        let sole = chapters.len() == 1 && !self.part;
        let cut = if options.shape == Shape::Replay { Cut::ByWork } else { Cut::ByName };
        let drafts = drafter::drafts(session, chapters, &self.asked, evidence.groups(), cut);
        let mut warnings = remarks(session, &self.path, drafts.len());
        let setting = Setting { work: &self, session, options, evidence };
        let (workflow, odd) = match options.shape {
            Shape::Skeleton => skeleton::skeleton(&setting, drafts, sole),
            Shape::Replay => replay(&setting, drafts, sole),
        };
        warnings.extend(odd);
        (workflow, warnings)
    }
}

/// The steps of the work with everything that can be told of them.
fn replay<'a>(setting: &Setting<'a>, mut drafts: Vec<Draft<'a>>, sole: bool) -> (Workflow, Vec<Diagnostic>) {
    let session = setting.session;
    step_title::set_titles(session, sole, &mut drafts, Cut::ByWork);
    let facts = Facts::of(setting, &drafts);
    let whole = Whole::of(session, &drafts, &facts, setting.evidence);
    // No step's text depends on another's.
    let step = |(index, draft): (usize, &Draft<'_>)| {
        let mut step = draft.step(session, setting.options);
        step.need = draft.need(facts.outcomes[index].need);
        step.parts = body::parts(index, &whole);
        if facts.outcomes[index].status == outcome::BROKEN_OFF {
            let text = "the session was broken off here; what this step asks for may be unfinished".to_owned();
            step.parts.push(Part::remark(RemarkKind::Trouble, text));
        }
        step
    };
    let mut steps: Vec<Step> = drafts.par_iter().enumerate().map(step).collect();
    steps.extend(outcome::record(session, &drafts, &facts.flows, &facts.outcomes));
    let preface = body::preface(&setting.work.before);
    (facts.workflow(steps, head::MAX_NAMES, preface), facts.odd)
}

/// Code of the diagnostic for a session that gives no workflow.
pub const NOTHING_TO_REPEAT: &str = "codify-empty";

/// What is odd about a session of which so many steps are made.
fn remarks(session: &Session, path: &FinalPath, steps: usize) -> Vec<Diagnostic> {
    let warning = |code, message: String| Diagnostic::warning(code, Span::default(), message);
    let info = |code, message: String| Diagnostic::info(code, Span::default(), message);
    let mut remarks = Vec::new();
    if steps == 1 {
        let message = "the session has one phase with work; the workflow has one step";
        remarks.push(warning("codify-one-step", message.to_owned()));
    }
    let unfinished = match &session.meta.status {
        Some(status @ (Status::Failed | Status::Abandoned)) => {
            Some(format!("the session is {}; its last step may not work as written", status.as_str()))
        }
        Some(Status::Active | Status::Paused) => {
            Some("the session is not finished; the workflow shows what was done so far".to_owned())
        }
        _ => None,
    };
    remarks.extend(unfinished.map(|message| warning("codify-unfinished", message)));
    if path.abandoned > 0 {
        let phases = plural(path.abandoned as u64, "phase");
        let message = format!("{phases} left out: the work went back and took another way");
        remarks.push(info("codify-abandoned", message));
    }
    let tasks = session.tasks();
    let open = tasks.iter().filter(|task| task.is_open()).count();
    if open > 0 {
        let message = format!("{open} of {} tasks were not finished in the session", tasks.len());
        remarks.push(info("codify-open-tasks", message));
    }
    remarks
}
