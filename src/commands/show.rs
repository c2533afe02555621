//! `cru show`: one thing, by its name.

use super::{Context, Output, cases, checkpoint, lessons, read, session, step, workflow};
use crate::base::{Error, Result};
use crate::trace::reference;

/// Show a session, steps, a workflow, a case, a lesson, a reading or a checkpoint
///
/// A session is named by a path, a file name, its id, the id that its agent's program gave it, a unique part of one, or words of its title. Without WHAT: the
/// current session, else the newest. Steps are `n-014`, `14`, `^` (the last step), `^2`, `SESSION#n-014`, `@NAME` (a bookmark) or a
/// range `n-003..n-007`; give the session before or behind them; else the current one is meant. `w:NAME` is a workflow, `c:ID` a case, `l:ID`
/// a lesson, `r:NAME` a reading (or the newest one of a session), `cp-20261116-101212` or `cp:latest` a checkpoint.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to show
    what: Vec<String>,
    /// WHAT are steps, whatever their ids look like
    #[arg(long, requires = "what")]
    step: bool,
    #[command(flatten)]
    session: session::show::ShowOptions,
    #[command(flatten)]
    steps: step::StepOptions,
    #[command(flatten)]
    workflow: workflow::WorkflowOptions,
    #[command(flatten)]
    checkpoint: checkpoint::CheckpointOptions,
}

/// What is named.
enum Subject<'a> {
    Session(Option<&'a str>),
    /// Words of a title, or blocks of a session.
    Words(&'a [String]),
    Steps(&'a [String]),
    Workflow(&'a str),
    Case(&'a str),
    Lesson(&'a str),
    Reading(&'a str),
    Checkpoint(&'a str),
}

impl Args {
    /// Whether what it shows leaves out sessions that are kept from who asks.
    pub(super) fn minds_reach(&self) -> bool {
        matches!(self.subject(), Ok(Subject::Session(_) | Subject::Steps(_) | Subject::Words(_)))
    }

    /// Whether a number may also be a part of a session's name.
    fn may_be_session(&self, word: &str) -> bool {
        !self.step && self.steps.given().is_none() && word.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn subject(&self) -> Result<Subject<'_>> {
        let [first, rest @ ..] = self.what.as_slice() else { return Ok(Subject::Session(None)) };
        if self.step {
            return Ok(Subject::Steps(&self.what));
        }
        let subject = if let Some(name) = first.strip_prefix("w:") {
            Subject::Workflow(name)
        } else if let Some(id) = first.strip_prefix("c:") {
            Subject::Case(id)
        } else if let Some(id) = first.strip_prefix("l:") {
            Subject::Lesson(id)
        } else if let Some(name) = first.strip_prefix("r:") {
            Subject::Reading(name)
        } else if let Some(id) = checkpoint::named(first) {
            Subject::Checkpoint(id)
        } else if self.may_be_session(first) && self.session.given().is_some() {
            Subject::Session(Some(first))
        } else if self.what.iter().any(|word| reference::names_step(word)) {
            return Ok(Subject::Steps(&self.what));
        } else if !rest.is_empty() {
            return Ok(Subject::Words(&self.what));
        } else {
            Subject::Session(Some(first))
        };
        match rest {
            [] => Ok(subject),
            _ => Err(Error::usage("only of steps several are shown at once").with_hint("name one thing")),
        }
    }
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let subject = args.subject()?;
    let of = [
        ("a session", matches!(subject, Subject::Session(_) | Subject::Words(_)), args.session.given()),
        ("steps", matches!(subject, Subject::Steps(_) | Subject::Words(_)), args.steps.given()),
        ("a workflow", matches!(subject, Subject::Workflow(_)), args.workflow.given()),
        ("a checkpoint", matches!(subject, Subject::Checkpoint(_)), args.checkpoint.given()),
    ];
    if let Some((what, option)) =
        of.into_iter().find_map(|(what, is_it, given)| Some((what, given.filter(|_| !is_it)?)))
    {
        return Err(Error::usage(format!("{option} is an option of {what}")));
    }
    match subject {
        Subject::Steps([number]) if args.may_be_session(number) => session::show::run(Some(number), &args.session, cx)
            .or_else(|_| step::run(std::slice::from_ref(number), &args.steps, cx)),
        Subject::Session(name) => session::show::run(name, &args.session, cx),
        Subject::Words(words) => session::show::run(Some(&words.join(" ")), &args.session, cx)
            .or_else(|error| step::run(words, &args.steps, cx).map_err(|_| error)),
        Subject::Steps(steps) => step::run(steps, &args.steps, cx),
        Subject::Workflow(name) => workflow::show(name, &args.workflow, cx),
        Subject::Case(id) => cases::show(id, cx),
        Subject::Lesson(name) => lessons::show(name, cx),
        Subject::Reading(name) => read::show(name, cx),
        Subject::Checkpoint(id) => checkpoint::show(id, &args.checkpoint, cx),
    }
}
