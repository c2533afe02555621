//! `cru session mark`.

use serde::Serialize;

use super::closing::closing;
use crate::base::{Result, text};
use crate::commands::derived::DerivedPages;
use crate::commands::events::{self, ChangedNote};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, checkpoint, reading};
use crate::live::log::{Log, Target};
use crate::live::status::{self, Changed};
use crate::session::Status;
use crate::sync::flush::up_to_date;
use crate::vault::{State, Vault};

/// Pause a session, or close it as completed, failed or abandoned
///
/// Steps that were begun and have no result are written as failed, and the totals are updated. `resume_point` names the phase to resume;
/// where a session is closed, its note says what it came to. What keeps a session private, from agents, pages and exports, is no
/// status: put the property `export: false` into its note.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its status from now on
    #[arg(value_name = "STATUS")]
    status: MarkedStatus,
    /// Which session; else `CRU_SESSION`, the host's session, the only active one of this folder
    session: Option<String>,
    /// Why, for the note
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// A status that a person gives.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MarkedStatus {
    /// Somebody will go on with it
    Paused,
    /// It is done
    Completed,
    /// It did not reach its goal
    Failed,
    /// Nobody will go on with it
    Abandoned,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let status = match args.status {
        MarkedStatus::Paused => Status::Paused,
        MarkedStatus::Completed => Status::Completed,
        MarkedStatus::Failed => Status::Failed,
        MarkedStatus::Abandoned => Status::Abandoned,
    };
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = State::of(&vault, cx.env)?;
    let log = Log::new(&vault, &state, cx.env.now())?;
    let target = up_to_date(args.session.as_deref(), &vault, &state, cx.env, &|text| cx.ui.warn(text))?;
    checkpoint::write_waiting(&log, &target, cx)?;
    // What was done is said where the session ends.
    let told = if status.is_closed() {
        let session = reading::vault(cx)?.session(&target.path)?;
        closing(&session, args.reason.as_deref())
    } else {
        args.reason.clone()
    };
    let pages = DerivedPages::begin(&vault, &state, cx);
    let changed = status::change(&log, &target, &status, told.as_deref())?;
    if changed.changed && changed.written.is_ok() {
        checkpoint::finish(&log, &target)?;
    }
    if status.is_closed() && changed.changed && changed.written.is_ok() || pages.were_left() {
        pages.finish();
    } else {
        pages.leave();
    }
    if changed.changed && changed.written.is_ok() {
        events::tell(&[ChangedNote::there(target.path.clone())], &vault, &state, cx);
    }
    tell(changed, &log, &target, cx)
}

/// What became of the session, for people and programs.
pub(in crate::commands) fn tell(
    changed: Changed,
    log: &Log<'_>,
    target: &Target,
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    if changed.unfinished > 0 {
        let steps = text::plural(changed.unfinished as u64, "step");
        cx.ui.note(&format!("{steps} without a result, written as failed"));
    }
    if let Err(error) = changed.written {
        cx.ui.warn(&format!("it is kept in {} until then", log.journal(target).path().display()));
        return Err(error);
    }
    Ok(Box::new(StatusChange {
        schema: 1,
        session: target.id.clone(),
        note: target.path.to_string(),
        before: changed.before,
        status: changed.after,
        changed: changed.changed,
    }))
}

#[derive(Debug, Serialize)]
struct StatusChange {
    schema: u32,
    session: String,
    note: String,
    before: Option<Status>,
    status: Status,
    changed: bool,
}

impl PlainOutput for StatusChange {
    fn shown(&self, _: &View) -> String {
        let already = if self.changed { "" } else { " already" };
        format!("{} is {}{already}\n", paint(style::ID, &self.session), self.status.as_str())
    }
}
