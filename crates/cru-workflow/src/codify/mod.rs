//! A session made into a workflow: what a person needs to do the same work again.
//!
//! The final path is cut into chapters ([`chapter`]), each a step; sub-phases and sub-agents are steps below it. Titles
//! come from people's words ([`request`]) or from what was done ([`title`]), flow lines from files and values ([`data`]), the rest of a
//! step from [`body`] and [`commands`], checks and the record of the session from [`outcome`]. Deterministic: the session alone decides.

mod body;
mod chapter;
mod commands;
mod core;
mod data;
mod deed;
mod dependency;
mod draft;
mod file;
mod file_type;
mod kind;
mod outcome;
mod place;
mod request;
mod shell;
#[cfg(test)]
mod tests;
mod title;
mod value;
mod verdict;

use std::collections::HashSet;

use rayon::prelude::*;

use super::model::{Goal, Part, Prose, Remark, RemarkKind, Step, Workflow};
use super::text;
use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_base::{Diagnostic, Span};
use cru_graph::{FinalPath, plan};
use cru_session::words::title::tells;
use cru_session::{Link, Session, Status};

/// Tasks listed as goals at most.
const MAX_GOALS: usize = 30;

/// What a person can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Keep the versions of agents: `@planner@1.2`.
    pub versions: bool,
}

/// Makes a workflow of a session. The diagnostics (warnings and remarks) have places in the session's note.
pub fn codify(session: &Session, options: &Options) -> (Workflow, Vec<Diagnostic>) {
    let mut warnings = Vec::new();
    let path = FinalPath::of(session);
    let deeds = deed::of_phases(session, &path);
    let chapters = chapter::chapters(session, &path, &deeds);
    let mut drafts = draft::drafts(session, &path, &chapters, deeds);
    // What files and values they touch does not depend on what they are called.
    let (titles, flows) = rayon::join(|| draft::titles(session, &chapters, &drafts), || draft::flows(&drafts));
    let flows = dependency::joined(session, &drafts, flows);
    for (draft, title) in drafts.iter_mut().zip(titles) {
        draft.title = title;
    }
    remarks(session, &path, drafts.len(), &mut warnings);
    let title = workflow_title(session, &drafts);
    let mut workflow = Workflow {
        title,
        sources: session.meta.session_id.iter().map(|id| Link::to_note(clean(id))).collect(),
        goals: goals(session, &mut warnings),
        ..Workflow::default()
    };
    let passes = outcome::Passes::of(&drafts);
    let outcomes = outcome::outcomes(session, &drafts, &passes);
    // No step's text depends on another's.
    let step = |(index, draft): (usize, &draft::Draft<'_>)| {
        let mut step = draft.step(session, *options);
        step.need = outcomes[index].need;
        step.parts = body::parts(index, &drafts, &flows[index], &passes);
        if outcomes[index].status == outcome::BROKEN_OFF {
            let text = "the session was broken off here; what this step asks for may be unfinished".to_owned();
            step.parts.push(Part::Remark(Remark { kind: RemarkKind::Trouble, text, span: Span::default() }));
        }
        step
    };
    let steps = || -> Vec<Step> { drafts.par_iter().enumerate().map(step).collect() };
    let ends = || (outcome::checks(&drafts), outcome::record(session, &drafts, &flows, &outcomes));
    let (steps, ((checks, odd), record)) = rayon::join(steps, ends);
    workflow.steps = steps;
    workflow.steps.extend(record);
    workflow.checks = checks;
    warnings.extend(odd);
    if drafts.is_empty() {
        let markdown = "The session has nothing to repeat: no tool was used and nothing was decided.".to_owned();
        workflow.preface.push(Part::Prose(Prose { markdown, span: Span::default() }));
    }
    (workflow, warnings)
}

/// The session's title where it names something; else the title of the step in which most was done.
fn workflow_title(session: &Session, drafts: &[draft::Draft<'_>]) -> String {
    let own = clean(session.title());
    let named = own.contains(char::is_alphanumeric) && (session.meta.host.is_none() || tells(&own));
    if named && !draft::is_of_idle_end(session) {
        return own;
    }
    let work = |draft: &&draft::Draft<'_>| draft.deeds.iter().filter(|deed| deed.tells()).count();
    let most = drafts.iter().filter(|draft| draft.level == 2).max_by_key(work);
    let made = most.map(|draft| draft.title.clone()).or_else(|| Some(own).filter(|_| named));
    made.unwrap_or_else(|| "Untitled".to_owned())
}

/// What makes two commands the same kind: program and verb, `cargo test`.
pub(crate) fn command_key(command: &str) -> String {
    kind::check_key(command)
}

/// The programs that a command line starts.
pub(crate) fn programs(command: &str) -> Vec<String> {
    let parts = shell::split(command);
    let programs = parts.iter().filter_map(|part| shell::words(part.text).first().map(|word| (*word).to_owned()));
    programs.filter(|word| !word.starts_with('#')).collect()
}

/// The type that a file's name tells.
pub(crate) fn file_type_of(path: &str) -> &'static str {
    file_type::common(&[path]).unwrap_or("Path")
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
    fold_whitespace(&sanitise(text))
}

fn remarks(session: &Session, path: &FinalPath, steps: usize, warnings: &mut Vec<Diagnostic>) {
    let mut warn = |code, message: String| warnings.push(Diagnostic::warning(code, Span::default(), message));
    match steps {
        0 => warn("codify-empty", "the session has no phase with a step or decision; the workflow is empty".into()),
        1 => warn("codify-one-step", "the session has one phase with work; the workflow has one step".into()),
        _ => {}
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

fn goals(session: &Session, warnings: &mut Vec<Diagnostic>) -> Vec<Goal> {
    let tasks = session.tasks();
    let open = tasks.iter().filter(|task| plan::is_open(task)).count();
    if open > 0 {
        let message = format!("{} of {} tasks were not finished in the session", open, tasks.len());
        warnings.push(Diagnostic::info("codify-open-tasks", Span::default(), message));
    }
    let mut seen = HashSet::new();
    let texts = tasks.iter().map(|task| truncate(&clean(&task.content), 160).into_owned());
    let texts: Vec<String> = texts.filter(|text| !text.is_empty() && seen.insert(text.to_lowercase())).collect();
    // A workflow is to be done again: nothing is ticked.
    texts.into_iter().take(MAX_GOALS).map(|text| Goal { text, ..Goal::default() }).collect()
}

/// One line of foreign text as markdown, without an arrow that would be read as a flow.
fn inline(words: &str) -> String {
    let words = clean(words);
    let arrow = |mark: &str| memchr::memmem::find(words.as_bytes(), mark.as_bytes()).is_some();
    if !["→", "->", "â†’"].into_iter().any(arrow) {
        return text::escape(&words);
    }
    text::escape(&words.replace('→', "⇒").replace("->", "⇒").replace("â†’", "⇒"))
}

/// Foreign text as one paragraph of markdown that opens no structure.
pub(crate) fn paragraph(words: &str) -> String {
    let mut escaped = inline(words);
    if escaped.starts_with(['>', '-', '+', '*', '=', '~', '|', '_', '$', ':']) || escaped.starts_with('[') {
        escaped.insert(0, '\\');
    } else if is_numbered(&escaped) {
        let at = escaped.find(['.', ')']).unwrap_or(0);
        escaped.insert(at, '\\');
    }
    escaped
}

/// Whether a line would begin a numbered list.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(['.', ')'])
}
