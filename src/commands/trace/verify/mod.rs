//! `cru verify`: whether what a session claims still holds.

mod count;
mod region;
mod session;

use std::fmt::Write as _;

use serde::Serialize;

use self::session::VerifiedSession;
use super::TraceWorld;
use crate::base::text::{one_line, plural};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::session::current_or_newest;
use crate::commands::subject::marked;
use crate::commands::{Context, Output, PlainOutput, View, lessons};
use crate::vault::Head;

/// Check whether what sessions read and wrote still stands
///
/// Compares the files of the project, or those of a commit, with what each step read and wrote. Shows the proof (whether
/// a check passed after the last write), writes, reads, commits and decisions, then each claim that does not hold:
/// `drifted` (the file is there and the lines are not) or `gone` (no such file). What stands elsewhere in the file is
/// `moved`, what a later step wrote over `superseded`; both hold. Without SESSION: the current one, else the newest.
///
/// `l:` is accepted lessons instead: one holds where the lines of files that it rests on are as they were; it drifted where one changed,
/// is orphaned where nothing of it is left, and unanchored where it rests on nothing that can be compared. With --run, the commands behind
/// `Check:` run as well, each in the folder of its project: those that `[run] allow` of your own configuration names, and those that you
/// agree to. A lesson whose command fails has drifted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 all hold or cannot be told, 1 something does not hold, 2 usage error, 3 I/O error."
)]
pub struct Args {
    /// Which sessions; or `l:ID …`, which lessons (`l:` for all)
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Compare with this commit
    #[arg(long, value_name = "REV")]
    at: Option<String>,
    /// Exit with 1 also where nothing can be said; of lessons, where one does not hold
    #[arg(long)]
    strict: bool,
    /// Run the commands of lessons (`Check:`)
    #[arg(long, conflicts_with_all = ["at", "write"])]
    run: bool,
    /// Write the result into the note, below `## Verified`
    #[arg(long)]
    write: bool,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if let Some(names) = marked("l:", &args.sessions) {
        return lessons::check(&names, args.run, args.strict, cx);
    }
    if args.run {
        return Err(Error::usage("--run is an option of lessons").with_hint("`cru verify l: --run`"));
    }
    let world = TraceWorld::read(cx)?;
    let mut heads: Vec<Head> = Vec::new();
    for name in &args.sessions {
        heads.push(world.catalog.session(name, &world.vault, cx.env)?.clone());
    }
    if heads.is_empty() {
        heads.push(current_or_newest(&world.catalog, &world.vault, cx)?.clone());
    }
    let mut cache = world.answers();
    let mut sessions = Vec::new();
    for head in &heads {
        sessions.push(VerifiedSession::of(head, args.at.as_deref(), &world, &mut cache, cx)?);
    }
    world.keep(&cache);
    if args.write {
        for (head, verified) in heads.iter().zip(&sessions) {
            region::write(&world, head, verified, args.at.as_deref(), cx)?;
        }
    }
    Ok(Box::new(Verified { schema: 1, strict: args.strict, sessions }))
}

#[derive(Debug, Serialize)]
struct Verified {
    schema: u32,
    #[serde(skip)]
    strict: bool,
    sessions: Vec<VerifiedSession>,
}

impl PlainOutput for Verified {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for (at, it) in self.sessions.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let _ = writeln!(out, "{}", paint(style::ID, one_line(&it.session)));
            for (name, value) in it.head() {
                let _ = writeln!(out, "  {}  {}", paint(style::DIM, format_args!("{name:<9}")), one_line(&value));
            }
            if let Some(why) = it.unknown {
                let _ = writeln!(out, "  {}", paint(style::WARN, format_args!("{why}: its files cannot be compared")));
            } else if it.has_no_hashes {
                let why = "the note has no hashes of what was read and written: its files cannot be compared";
                let _ = writeln!(out, "  {}", paint(style::WARN, why));
                let how =
                    format!("`cru import --again {}` adds them while its transcript is there", one_line(&it.session));
                let _ = writeln!(out, "  {}", paint(style::DIM, how));
            }
            for stale in &it.stale {
                let path = if stale.path.is_empty() { String::new() } else { format!("{}  ", one_line(&stale.path)) };
                let step = paint(style::ID, one_line(&stale.step));
                let _ = writeln!(out, "  {step}  {path}{}", paint(style::DIM, one_line(&stale.detail)));
            }
        }
        if self.sessions.len() > 1 {
            let bad = self.sessions.iter().filter(|it| !it.holds(self.strict)).count() as u64;
            let _ = writeln!(
                out,
                "\n{}, {bad} with something that does not hold",
                plural(self.sessions.len() as u64, "session")
            );
        }
        out
    }

    fn is_no(&self) -> bool {
        !self.sessions.iter().all(|it| it.holds(self.strict))
    }
}
