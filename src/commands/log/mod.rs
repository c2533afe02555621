//! `cru log`.

mod kind;
mod output;
mod prepare;
mod stream;
mod text;

use super::{Context, Output};
use crate::base::{Error, Result};
use crate::live::entry::Entry;
use crate::live::log::{Log, Target};
use crate::session::time;
use crate::sync::flush::up_to_date;
use crate::vault::{State, Vault};
use kind::Kind;
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
    kind: Option<Kind>,
}

pub(super) fn run(args: Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let at = match args.at.as_deref() {
        None => None,
        Some(text) => Some(time::parse(text).ok_or_else(|| {
            Error::usage(format!("--at: `{text}` is no time")).with_hint("write it as 2026-11-20T09:31:04Z")
        })?),
    };
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let log = Log::new(&vault, &state, cx.env.now())?.keeping_secrets(args.no_redact);
    let target = up_to_date(args.session.as_deref(), &vault, &state, cx.env, &|text| cx.ui.warn(text))?;
    let kind = match args.kind {
        Some(Kind::Json) | None => return stream::run(&log, &target, at, cx),
        Some(_) if args.json => {
            return Err(Error::usage("--json stands alone").with_hint("each event says what it is: \"event\":\"tool\""));
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
    let Prepared { entry, handle, ends } = prepare(entry, &kind, &log, &target, cx)?;
    let mut logged = Logged::of(&target);
    match entry {
        Some(entry) => {
            let id = log.add(&target, &entry)?;
            if let Some(ends) = ends {
                crate::live::open::Open::of(&state, &target.key()).end(&ends)?;
            }
            let flushed = log.flush_entry(&target, &id, &format!("log {}", entry.name()));
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

/// What is told of a session that takes an entry though it is closed.
fn remark(target: &Target, entry: &Entry, cx: &Context<'_>) {
    let closed = target.meta.status.as_ref().filter(|status| status.is_closed());
    if let (Some(status), false) = (closed, matches!(entry, Entry::Status(_))) {
        let (id, word) = (&target.id, status.as_str());
        cx.ui.note(&format!("session '{id}' is {word}; `cru session resume {id}` takes it up again"));
    }
}
