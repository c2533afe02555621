//! A session made into a workflow: what a person needs to do the same work again.
//!
//! The turns of the final path ([`unit`]) are put together to chapters ([`chapter`]), each a step; a long one is cut into
//! parts by tasks or a plan, in the replay else by what was done ([`activity`]). Sub-phases are steps below, in the replay
//! sub-agents too. Titles come from people's words or from what was done ([`title`]), flow lines from files and values
//! ([`data`]), values that belong to one run from [`input`], checks from [`standing`] and [`verification`], the record of the
//! session from [`outcome`]; all of these are [`facts`] of the steps. The [`skeleton`] tells them on a page, the replay the
//! rest of them from [`body`] and [`commands`]. Deterministic: the session alone decides.

mod activity;
mod body;
mod call;
mod change;
mod chapter;
mod commands;
mod data;
mod dependency;
mod draft;
mod facts;
mod file;
mod file_type;
pub(crate) mod head;
mod input;
mod job;
mod looks;
mod named;
mod outcome;
mod place;
mod profile;
mod replaced;
mod request;
pub mod skeleton;
mod standing;
#[cfg(test)]
mod tests;
mod title;
mod unit;
mod value;
mod verification;
mod whole;
mod words;

pub(crate) use words::paragraph;
use words::{block_link, inline, quotation};

use draft::Draft;
use facts::{Facts, Setting};
pub use profile::{Profile, profile};
use whole::Whole;

use std::collections::HashSet;

use rayon::prelude::*;

use super::evidence::Evidence;
use super::model::{Goal, Part, Remark, RemarkKind, Step, Workflow};
use cru_action::Action;
use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_base::{Diagnostic, Span};
use cru_graph::{FinalPath, Plan};
use cru_session::words::title::tells;
use cru_session::{Link, Session, Status, User};

/// Tasks listed as goals at most.
const MAX_GOALS: usize = 30;

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
    let workflow = Workflow { title: clean(session.title()), sources: sources(session), ..Workflow::default() };
    (workflow, vec![Diagnostic::warning(NOTHING_TO_REPEAT, Span::default(), message)])
}

fn sources(session: &Session) -> Vec<Link> {
    session.meta.session_id.iter().map(|id| Link::to_note(clean(id))).collect()
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
        if !is_repeatable(&units, session) {
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
        let cut = if options.shape == Shape::Replay { draft::Cut::ByWork } else { draft::Cut::ByName };
        let drafts = named::drafts(session, chapters, &self.asked, evidence.groups(), cut);
        let mut warnings = Vec::new();
        remarks(session, &self.path, drafts.len(), &mut warnings);
        open_tasks(session, &mut warnings);
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
    draft::set_titles(session, sole, &mut drafts, draft::Cut::ByWork);
    let facts = Facts::of(setting, &drafts);
    let whole = Whole::of(session, &drafts, &facts, setting.evidence);
    // No step's text depends on another's.
    let step = |(index, draft): (usize, &Draft<'_>)| {
        let mut step = draft.step(session, setting.options);
        step.need = draft.need(facts.outcomes[index].need);
        step.parts = body::parts(index, &whole);
        if facts.outcomes[index].status == outcome::BROKEN_OFF {
            let text = "the session was broken off here; what this step asks for may be unfinished".to_owned();
            step.parts.push(Part::Remark(Remark { kind: RemarkKind::Trouble, text, span: Span::default() }));
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

/// Looks from which a session that did nothing else is a review and no chat.
const REVIEW: usize = 3;

/// Whether there is anything that somebody could do again: something was changed, run, checked, decided or handed to
/// another agent, or looking around was the work.
fn is_repeatable(units: &[unit::Unit<'_>], session: &Session) -> bool {
    let mut looks = 0;
    let calls = units.iter().flat_map(unit::Unit::all).filter_map(unit::Entry::call);
    for call in calls.filter(|call| call.ended != call::Ended::Denied) {
        if call.acts() {
            return true;
        }
        looks += usize::from(call.succeeded());
    }
    let counts = |item: &cru_session::Item| match item {
        cru_session::Item::Decision(_) | cru_session::Item::Subagent(_) => true,
        cru_session::Item::Callout(callout) => callout.kind == "gate",
        _ => false,
    };
    looks >= REVIEW || session.items().any(|(_, item)| counts(item))
}

/// The session's title where it names something; else the title of the step in which most was done.
fn workflow_title(session: &Session, drafts: &[draft::Draft<'_>], part: bool) -> String {
    let own = clean(session.title());
    let named = own.contains(char::is_alphanumeric) && (session.meta.host.is_none() || tells(&own));
    if named && !part && !draft::is_of_idle_end(session) {
        return own;
    }
    let work = |draft: &&draft::Draft<'_>| draft.calls().filter(|call| call.acts()).count();
    let most = drafts.iter().filter(|draft| draft.level == 2).max_by_key(work);
    let made = most.map(|draft| draft.title.clone()).or_else(|| Some(own).filter(|_| named));
    made.unwrap_or_else(|| "Untitled".to_owned())
}

/// What makes two commands the same kind: program and verb of what it checks, else of its last command, `cargo test`.
pub(crate) fn command_key(command: &str) -> String {
    let action = Action::of("Bash", command);
    let telling = action.checks().last().map(|check| check.command()).or(action.commands.last());
    telling.map(cru_action::Command::key).unwrap_or_default()
}

/// Program and verb of every command of a line that says what it does, and whether it only looks. What prints and filters
/// says nothing.
pub(crate) fn command_keys(command: &str) -> Vec<(String, bool)> {
    let action = Action::of("Bash", command);
    let tells = |it: &&cru_action::Command<'_>| {
        let local = it.class == cru_action::Class::Look && it.verb.is_empty();
        !it.program.is_empty() && !local
    };
    let keys = action.commands.iter().filter(tells);
    keys.map(|it| (it.key(), matches!(it.class, cru_action::Class::Look | cru_action::Class::GitLook))).collect()
}

/// The programs that a command line starts.
pub(crate) fn programs(command: &str) -> Vec<String> {
    let action = Action::of("Bash", command);
    let named = action.commands.iter().filter_map(|it| it.words.first());
    named.map(|word| cru_action::program_name(word).to_owned()).filter(|word| !word.is_empty()).collect()
}

/// The type that a file's name tells.
pub(crate) fn file_type_of(path: &str) -> &'static str {
    file_type::common(&[path]).unwrap_or("Path")
}

/// The language that a file's name tells; `None` for prose and what is no text of a program.
pub fn language_of(path: &str) -> Option<&'static str> {
    Some(file_type_of(path)).filter(|ty| !matches!(*ty, "Path" | "Text" | "Markdown") && !file_type::is_prose(path))
}

/// A title as a short name of data.
pub(crate) fn short_name(title: &str) -> String {
    title::short_name(title)
}

/// At most the first `max` bytes.
fn head(text: &str, max: usize) -> &str {
    &text[..cru_base::lines::floor_char_boundary(text, max)]
}

/// One line of foreign text, safe to be shown.
fn clean(text: &str) -> String {
    fold_whitespace(&place::homeless(&sanitise(text)))
}

fn remarks(session: &Session, path: &FinalPath, steps: usize, warnings: &mut Vec<Diagnostic>) {
    let mut warn = |code, message: String| warnings.push(Diagnostic::warning(code, Span::default(), message));
    if steps == 1 {
        warn("codify-one-step", "the session has one phase with work; the workflow has one step".into());
    }
    match &session.meta.status {
        Some(status @ (Status::Failed | Status::Abandoned)) => {
            warn(
                "codify-unfinished",
                format!("the session is {}; its last step may not work as written", status.as_str()),
            );
        }
        Some(Status::Active | Status::Paused) => {
            warn("codify-unfinished", "the session is not finished; the workflow shows what was done so far".into());
        }
        _ => {}
    }
    if path.abandoned > 0 {
        let message = format!(
            "{} left out: the work went back and took another way",
            cru_base::text::plural(path.abandoned as u64, "phase")
        );
        warnings.push(Diagnostic::info("codify-abandoned", Span::default(), message));
    }
}

fn open_tasks(session: &Session, warnings: &mut Vec<Diagnostic>) {
    let tasks = session.tasks();
    let open = tasks.iter().filter(|task| task.is_open()).count();
    if open > 0 {
        let message = format!("{} of {} tasks were not finished in the session", open, tasks.len());
        warnings.push(Diagnostic::info("codify-open-tasks", Span::default(), message));
    }
}

fn goals(session: &Session) -> Vec<Goal> {
    let tasks = session.tasks();
    let mut seen = HashSet::new();
    let texts = tasks.iter().map(|task| truncate(&clean(&task.content), 160).into_owned());
    let texts: Vec<String> = texts.filter(|text| !text.is_empty() && seen.insert(text.to_lowercase())).collect();
    // A workflow is to be done again: there is nothing to tick.
    texts.into_iter().take(MAX_GOALS).map(|text| Goal { text, plain: true, ..Goal::default() }).collect()
}

/// A command in a remark: without backticks, so that cutting the text cannot leave a code span open.
fn plain_code(command: &str) -> String {
    truncate(&clean(command).replace('`', "'"), 120).into_owned()
}
