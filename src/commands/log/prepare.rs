//! What an entry needs from outside the note before it is logged: hashes of files, the note of a sub-agent, what was
//! begun earlier.

use std::path::PathBuf;

use super::kind::LogKind;
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::live::entry::{self, Entry};
use crate::live::file::{self, Place};
use crate::live::log::{Log, Target};
use crate::live::open::Open;
use crate::live::{start, status};
use crate::session::{Agent, Status, SubagentMode};

/// An entry that is ready.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// What goes into the journal; nothing where it is only begun.
    pub(super) entry: Option<Entry>,
    /// What it is called from now on.
    pub(super) handle: Option<String>,
    /// The handle that is used up once the entry is in the journal.
    pub(super) ends: Option<String>,
}

pub(super) fn prepare(
    entry: Entry,
    kind: &LogKind,
    log: &Log<'_>,
    target: &Target,
    cx: &Context<'_>,
) -> Result<Prepared> {
    super::remark(target, &entry, cx);
    match (entry, kind) {
        (Entry::Tool(step), LogKind::Tool(args)) => {
            if args.start {
                let mut step = hashed(step, Moment::Before, target, cx);
                // The moment it began is the moment of the step.
                step.at.get_or_insert(log.now);
                let handle = Open::of(log.state, &target.key()).begin("o", None, &Entry::Tool(step))?;
                return Ok(Prepared { handle: Some(handle), ..Prepared::default() });
            }
            let step = hashed(step, Moment::Behind, target, cx);
            match &args.finish {
                Some(handle) => finish(step, handle, log, target, cx),
                None => Ok(Entry::Tool(step).into()),
            }
        }
        (Entry::SubagentDone(done), kind) => {
            let failed = matches!(kind, LogKind::Subagent(args) if args.failed);
            subagent_done(done, failed, log, target)
        }
        (entry, _) => whole(entry, log, target, cx),
    }
}

/// An entry that stands for itself, as events in JSON do.
pub(super) fn whole(entry: Entry, log: &Log<'_>, target: &Target, cx: &Context<'_>) -> Result<Prepared> {
    match entry {
        Entry::Tool(step) => Ok(Entry::Tool(hashed(step, Moment::Behind, target, cx)).into()),
        Entry::Subagent(it) if it.session.is_none() => subagent(it, log, target),
        Entry::SubagentDone(done) => subagent_done(done, false, log, target),
        entry => Ok(entry.into()),
    }
}

impl From<Entry> for Prepared {
    fn from(entry: Entry) -> Self {
        Self { entry: Some(entry), ..Self::default() }
    }
}

/// When the files of a step are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// What it reads is as it reads it; what it writes is not written yet.
    Before,
    /// What it wrote is as it wrote it; what it read and wrote over is gone.
    Behind,
}

/// Names the step's files, with the hashes of those that are at this moment what the step saw or made.
fn hashed(mut step: entry::Tool, moment: Moment, target: &Target, cx: &Context<'_>) -> entry::Tool {
    let project = target.meta.project.as_deref().map(|project| match (project.strip_prefix('~'), cx.env.home()) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(project),
    });
    let place = Place { cwd: cx.env.cwd(), project: project.as_deref(), home: cx.env.home() };
    let plain = |path: &str| file::plain_name(path, place);
    let written: Vec<String> = step.writes.iter().chain(&step.created).map(|path| plain(path)).collect();
    for path in &mut step.reads {
        let is_lost = moment == Moment::Behind && written.contains(&plain(path));
        *path = if is_lost { file::as_told(path, place) } else { file::named(path, place) };
    }
    for path in step.writes.iter_mut().chain(&mut step.created) {
        *path = if moment == Moment::Before { file::as_told(path, place) } else { file::named(path, place) };
    }
    step
}

/// What was begun, with what came of it.
fn finish(end: entry::Tool, handle: &str, log: &Log<'_>, target: &Target, cx: &Context<'_>) -> Result<Prepared> {
    let open = Open::of(log.state, &target.key());
    let Some(Entry::Tool(mut step)) = open.find(handle)? else {
        let steps = open.all()?.into_iter().filter(|(_, entry)| matches!(entry, Entry::Tool(_)));
        let names: Vec<String> = steps.map(|(name, _)| name).collect();
        let hint = match names.as_slice() {
            [] => "nothing is begun; `cru log tool --start` begins a step".to_owned(),
            names => format!("begun: {}", names.join(", ")),
        };
        return Err(Error::usage(format!("no step '{handle}' is begun in session '{}'", target.id)).with_hint(hint));
    };
    // Where nobody measured it, the clock did.
    let elapsed = step.at.map(|at| log.now.duration_since(at).as_secs_f64()).filter(|seconds| *seconds >= 1.0);
    let begun = entry::Tool {
        writes: std::mem::take(&mut step.writes),
        created: std::mem::take(&mut step.created),
        ..entry::Tool::default()
    };
    let begun = hashed(begun, Moment::Behind, target, cx);
    (step.writes, step.created) = (begun.writes, begun.created);
    step.result = end.result.or(step.result);
    step.failed |= end.failed;
    step.exit = end.exit.or(step.exit);
    step.duration = end.duration.or(elapsed);
    step.reads.extend(end.reads);
    step.writes.extend(end.writes);
    step.created.extend(end.created);
    step.after.extend(end.after);
    step.opened = Some(handle.to_owned());
    Ok(Prepared { entry: Some(Entry::Tool(step)), handle: None, ends: Some(handle.to_owned()) })
}

/// A sub-agent begins: its session where it has one, else a handle.
fn subagent(mut it: entry::Subagent, log: &Log<'_>, target: &Target) -> Result<Prepared> {
    let agent = Agent::parse(&it.agent);
    if agent.name.is_empty() {
        return Err(Error::usage(format!("`{}` is no agent", it.agent)).with_hint("write it as reviewer@1.0"));
    }
    let mode = *it.mode.get_or_insert(log.mode());
    let done = entry::SubagentDone {
        agent: it.agent.clone(),
        model: it.model.clone(),
        task: it.task.clone(),
        mode: Some(mode),
        ..Default::default()
    };
    let open = Open::of(log.state, &target.key());
    if mode == SubagentMode::Inline {
        let handle = open.begin("a", None, &Entry::SubagentDone(done))?;
        return Ok(Prepared { handle: Some(handle), ..Prepared::default() });
    }
    let at = it.at.unwrap_or(log.now);
    let child = start::child(log.vault, log.state, target, &agent, it.model.as_deref(), it.task.as_deref(), at)?;
    let stem = child.target.path.stem().into_owned();
    if mode == SubagentMode::Embed {
        open.begin(
            "a",
            Some(&stem),
            &Entry::SubagentDone(entry::SubagentDone { session: Some(stem.clone()), ..done }),
        )?;
    }
    it.session = Some(stem.clone());
    Ok(Prepared { entry: Some(Entry::Subagent(it)), handle: Some(stem), ends: None })
}

/// A sub-agent is done: what it began with, its tokens, and its session closed.
fn subagent_done(mut it: entry::SubagentDone, failed: bool, log: &Log<'_>, target: &Target) -> Result<Prepared> {
    let name = it.session.clone().unwrap_or_default();
    let open = Open::of(log.state, &target.key());
    let mut ends = None;
    if let Some(Entry::SubagentDone(begun)) = open.find(&name)? {
        it.agent = begun.agent;
        it.model = it.model.or(begun.model);
        it.task = it.task.or(begun.task);
        it.mode = begun.mode;
        it.session = begun.session;
        ends = Some(name.clone());
    } else if !target.meta.subagents.iter().any(|row| row.session == name) {
        let mut known: Vec<String> = target.meta.subagents.iter().map(|row| row.session.clone()).collect();
        known.extend(
            open.all()?.into_iter().filter(|(_, entry)| matches!(entry, Entry::SubagentDone(_))).map(|it| it.0),
        );
        let hint = match known.as_slice() {
            [] => "it has none; `cru log subagent @reviewer` begins one".to_owned(),
            known => format!("begun: {}", known.join(", ")),
        };
        return Err(Error::usage(format!("no sub-agent '{name}' in session '{}'", target.id)).with_hint(hint));
    }
    if let Some(child) = it.session.as_deref().and_then(|stem| Target::by_stem(stem, log.vault)) {
        let status = if failed { Status::Failed } else { Status::Completed };
        // One that was closed before stays what it is.
        if !child.meta.status.as_ref().is_some_and(Status::is_closed) {
            status::change(log, &child, &status, None)?.written?;
        }
        let tokens = Target::by_stem(&child.path.stem(), log.vault).and_then(|child| child.meta.tokens_used);
        it.tokens = it.tokens.or(tokens);
    }
    // By the name that it was given when it began.
    Ok(Prepared { entry: Some(Entry::SubagentDone(it)), handle: Some(name), ends })
}
