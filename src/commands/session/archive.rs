//! `cru session archive`.

use std::fmt::Write as _;

use serde::Serialize;

use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::session::time;
use crate::sync::archive::ArchivePlan;
use crate::sync::rename::{MovedNote, RenameGround};
use crate::sync::report::LeftNote;
use crate::vault::{Catalog, State, Vault, VaultPath};

/// Move closed sessions to the archive
///
/// The notes go to `sessions/archive/YYYY/` with the sessions of their sub-agents, and say so as `archived`. They keep their names:
/// links by name lead on, and everything finds them as before. A note that somebody links by its path stays and is named. `cru undo`
/// takes one back, --back all of them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which sessions; else all that are old enough
    session: Vec<String>,
    /// Only sessions that ended before: `30d`, `2026-11-01`
    #[arg(long, value_name = "TIME", default_value = "30d", conflicts_with_all = ["session", "back"])]
    older: String,
    /// Bring archived sessions back: the named ones, else all
    #[arg(long)]
    back: bool,
    /// Show what would move and move nothing
    #[arg(long)]
    dry_run: bool,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let catalog = Catalog::read(&vault);
    let state = if args.dry_run { State::there_or_not(&vault, cx.env) } else { State::of(&vault, cx.env)? };
    let ground = RenameGround { vault: &vault, catalog: &catalog, state: &state, now: cx.env.now() };
    let named = |name: &String| catalog.session(name, &vault, cx.env).map(|head| head.path.clone());
    let chosen: Vec<VaultPath> = args.session.iter().map(named).collect::<Result<_>>()?;
    let plan = if args.back {
        ground.plan_back(&chosen)
    } else {
        let before = time::moment(&args.older, false, &vault.now(cx.env))
            .ok_or_else(|| Error::usage(format!("--older: `{}` is not a time", sanitise(&args.older))))?;
        ground.plan_archive(&chosen, chosen.is_empty().then_some(before))
    };
    let ArchivePlan { moves, mut stays } = plan;
    let mut moved = Vec::new();
    let progress = cx.ui.progress("moving", moves.len() as u64);
    for it in moves {
        match if args.dry_run { Ok(()) } else { ground.archive(&it) } {
            Ok(()) => moved.push(MovedNote { from: it.from.to_string(), to: it.to.to_string(), session: it.session }),
            Err(error) => stays.push((it.from, error.to_string())),
        }
        progress.advance(1);
    }
    drop(progress);
    if !args.dry_run && !moved.is_empty() {
        reading::refresh(&vault, None, cx);
    }
    let stays = stays.into_iter().map(|(path, why)| LeftNote { note: path.to_string(), why }).collect();
    Ok(Box::new(ArchiveReport { schema: 1, dry_run: args.dry_run, back: args.back, moved, stays }))
}

#[derive(Debug, Serialize)]
struct ArchiveReport {
    schema: u32,
    /// Whether it was only looked at.
    dry_run: bool,
    back: bool,
    moved: Vec<MovedNote>,
    stays: Vec<LeftNote>,
}

impl PlainOutput for ArchiveReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for it in &self.moved {
            let _ = writeln!(out, "{} → {}", sanitise(&it.from), paint(style::ID, sanitise(&it.to)));
        }
        for it in &self.stays {
            let _ =
                writeln!(out, "{}", paint(style::WARN, format!("{} stays: {}", sanitise(&it.note), sanitise(&it.why))));
        }
        let done = match (self.back, self.dry_run) {
            (false, false) => "archived",
            (false, true) => "would be archived",
            (true, false) => "brought back",
            (true, true) => "would be brought back",
        };
        let _ = writeln!(out, "{} {done}", plural(self.moved.len() as u64, "session"));
        out
    }
}
