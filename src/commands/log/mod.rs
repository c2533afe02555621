//! `cru log`.

mod kind;
mod output;
mod prepare;
mod stream;
mod text;

use super::{Context, Output, Reach};
use crate::base::{Error, Result};
use crate::live::entry::Entry;
use crate::live::log::{Flushed, Log, Target};
use crate::session::time;
use crate::sync::flush::{known, to_log};
use crate::vault::{Head, State, Vault};
use kind::LogKind;
use output::Logged;
use prepare::{Prepared, prepare};

/// Log what happens in a session
///
/// Each verb puts one thing into the session's note: a phase, a step, a decision, an error, a person's words. It goes
/// into a journal first, so it is safe at once, and then into the note with everything else that waits. Text comes from
/// the arguments, or from stdin where it is `-` or missing. With --json, stdin holds one event, or one a line:
/// `{"event":"tool","tool":"Bash","args":"cargo test","result":"41 passed"}`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, subcommand_negates_reqs = true)]
pub struct Args {
    /// Read events from stdin as JSON
    #[arg(long)]
    json: bool,
    /// Which session; else `CRU_SESSION`, the host's session, the only active one of this folder
    #[arg(long, global = true, value_name = "SESSION")]
    session: Option<String>,
    /// When it happened, if not now: `2026-11-20T09:31:04Z`
    #[arg(long, global = true, value_name = "TIME")]
    at: Option<String>,
    /// Write secrets as they are; else `[secret:github-token]` takes the place of each
    #[arg(long, global = true)]
    no_redact: bool,
    #[command(subcommand)]
    kind: Option<LogKind>,
}

impl Args {
    /// Whether secrets are written as they are.
    pub(super) const fn keeps_secrets(&self) -> bool {
        self.no_redact
    }
}

pub(super) fn run(args: Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    run_with(args, None, cx)
}

/// Logs events that are written as `cru log --json` reads them.
pub(super) fn events(session: Option<&str>, input: String, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let session = session.map(str::to_owned);
    run_with(Args { json: true, session, at: None, no_redact: false, kind: None }, Some(input), cx)
}

fn run_with(args: Args, input: Option<String>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let at = match args.at.as_deref() {
        None => None,
        Some(text) => Some(time::parse(text).ok_or_else(|| {
            Error::usage(format!("--at: `{text}` is not a time")).with_hint("write it as 2026-11-20T09:31:04Z")
        })?),
    };
    let (vault, broken) = Vault::find_even_broken(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let (log, broken) = match (Log::new(&vault, &state, cx.env.now()), broken) {
        (Ok(log), None) => (log, None),
        // What is logged is kept until somebody has corrected the configuration.
        (log, error) => (Log::to_journals(&vault, &state, cx.env.now()), error.or(log.err())),
    };
    let log = log.keeping_secrets(args.no_redact);
    let mut to = LogTarget::find(args.session.as_deref(), broken, &log, cx)?;
    let target = to.target.clone();
    if cx.global.reach != Reach::All {
        cx.global.reach.check(&Head::read(&vault, target.path.clone()).meta)?;
    }
    let kind = match args.kind {
        None => {
            let input = input.map_or_else(text::stdin, Ok)?;
            return stream::run(&log, &mut to, at, &input, cx);
        }
        Some(_) if args.json => {
            return Err(
                Error::usage("--json takes no subcommand").with_hint("each event says what it is: \"event\":\"tool\"")
            );
        }
        Some(kind) => kind,
    };
    let mut entry = kind.entry()?;
    if let Some(at) = at {
        entry.set_at(at);
    }
    entry.check().map_err(Error::usage)?;
    let entry = log.masked(entry).map_err(|bad| Error::usage(bad.message))?;
    if let Some(missing) = log.missing(&target, std::slice::from_ref(&entry)).into_iter().flatten().next() {
        return Err(Error::usage(missing.message).with_hint(missing.hint));
    }
    to.check(&entry)?;
    let Prepared { entry, handle, ends } = prepare(entry, &kind, &log, &target, cx)?;
    let mut logged = Logged::of(&target);
    match entry {
        Some(entry) => {
            let id = log.add(&target, &entry)?;
            if let Some(ends) = ends {
                crate::live::open::Open::of(&state, &target.key()).end(&ends)?;
            }
            let flushed = to.flush(&log, &id, &format!("log {}", entry.name()))?;
            logged.push(&entry, id);
            logged.settle(flushed, &log, &target, cx);
        }
        None => logged.begun(),
    }
    if let Some(handle) = handle {
        logged.name(handle);
    }
    Ok(Box::new(logged))
}

/// The session that is logged to, and whether its note can be written.
struct LogTarget {
    target: Target,
    /// Why entries only reach the journal.
    only_kept: Option<Error>,
}

impl LogTarget {
    fn find(name: Option<&str>, broken: Option<Error>, log: &Log<'_>, cx: &Context<'_>) -> Result<Self> {
        let Some(error) = broken else {
            let found = to_log(name, log.vault, log.state, cx.env, &|text| cx.ui.warn(text))?;
            return Ok(Self { target: found.target, only_kept: found.away });
        };
        let known = name.or_else(|| cx.env.var("CRU_SESSION")).and_then(|name| known(name, log.state));
        match known.map_or_else(|| Target::find(name, log.vault, cx.env), Ok) {
            Ok(target) => Ok(Self { target, only_kept: Some(error) }),
            // The configuration may be why it is not found.
            Err(_) => Err(error),
        }
    }

    /// Whether an entry may be kept: one that makes a note cannot wait for the configuration.
    fn check(&self, entry: &Entry) -> Result<()> {
        match (&self.only_kept, entry) {
            (Some(why), Entry::Subagent(it)) if it.session.is_none() => Err(Error::usage(why.to_string())
                .with_hint("a sub-agent that begins gets a note of its own, which cannot be written now")),
            _ => Ok(()),
        }
    }

    /// Has the entry with this id written, and all before it. An error of the answer: its note is gone, and whoever logs
    /// should know it though the entry is kept.
    fn flush(&mut self, log: &Log<'_>, id: &str, label: &str) -> Result<Result<Flushed>> {
        let Some(error) = self.only_kept.take() else { return Ok(log.flush_entry(&self.target, id, label)) };
        if log.vault.is_broken() || self.target.is_about(log.vault) {
            return Ok(Err(error));
        }
        let path = log.journal(&self.target).path().display().to_string();
        Err(error.with_hint(format!("its note is gone; the entry is kept in {path} and written once the note is back")))
    }
}

/// What is told of a session that takes an entry though it is closed.
fn remark(target: &Target, entry: &Entry, cx: &Context<'_>) {
    let closed = target.meta.status.as_ref().filter(|status| status.is_closed());
    if let (Some(status), false) = (closed, matches!(entry, Entry::Status(_))) {
        let (id, word) = (&target.id, status.as_str());
        cx.ui.note(&format!("session '{id}' is {word}; `cru session resume {id}` takes it up again"));
    }
}
