//! `cru session rename`.

use std::fmt::Write as _;

use serde::Serialize;

use crate::base::Result;
use crate::base::text::{plural, sanitise};
use crate::commands::derived::{self, DerivedPages};
use crate::commands::output::note_diff;
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::sync::rename::{RenameGround, Renamed};
use crate::vault::{Catalog, State, Vault};

/// Rename a session and its note
///
/// Sets `title` and `aliases`, and the heading and summary where they say the old title. The file gets a name made of the
/// title; the date in front stays. Links to the note in all notes and canvases of the vault follow: wikilinks, embeds,
/// properties, markdown links. The `session_id` and the names of sub-agent notes stay. Refuses while another process writes
/// the session. `cru undo` takes it back.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which session
    session: String,
    /// The new title
    title: String,
    /// Show the changes and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let state = if args.dry_run { State::there_or_not(&vault, cx.env) } else { State::of(&vault, cx.env)? };
    if !args.dry_run {
        derived::catch_up(&vault, &state, cx);
    }
    let catalog = Catalog::read(&vault);
    let head = catalog.session(&args.session, &vault, cx.env)?;
    let pages = (!args.dry_run).then(|| DerivedPages::begin(&vault, &state, cx));
    let ground = RenameGround { vault: &vault, catalog: &catalog, state: &state, now: cx.env.now() };
    let renamed = ground.rename(head, &args.title, args.dry_run)?;
    if let Some(pages) = pages {
        reading::refresh(&vault, None, cx);
        pages.finish();
    }
    Ok(Box::new(RenameReport::of(renamed, head.id(), args.dry_run, cx)))
}

/// What a rename did.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct RenameReport {
    schema: u32,
    session: String,
    /// Whether it was only looked at.
    dry_run: bool,
    from: String,
    to: String,
    /// Links that were rewritten.
    links: usize,
    /// The other files that were changed.
    files: Vec<String>,
    diff: String,
}

impl RenameReport {
    /// Says on stderr what could not be written.
    pub(in crate::commands) fn of(renamed: Renamed, session: String, dry_run: bool, cx: &Context<'_>) -> Self {
        for (path, why) in &renamed.failed {
            cx.ui.warn(&format!("links in {path} are as they were: {why}"));
        }
        let (before, after) = &renamed.note;
        let mut diff = unified(&renamed.to, before, after);
        let mut files = Vec::new();
        for (path, before, after) in &renamed.linking {
            diff.push_str(&unified(path, before, after));
            files.push(path.clone());
        }
        Self { schema: 1, session, dry_run, from: renamed.from, to: renamed.to, links: renamed.links, files, diff }
    }
}

fn unified(path: &str, before: &str, after: &str) -> String {
    format!("--- {path}\n+++ {path}\n{}", note_diff(before, after, 0))
}

impl PlainOutput for RenameReport {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        let would = if self.dry_run { "would rename" } else { "renamed" };
        let (from, to) = (sanitise(&self.from), sanitise(&self.to));
        if self.from == self.to {
            let retitle = if self.dry_run { "would change the title of" } else { "changed the title of" };
            let _ = writeln!(text, "{retitle} {}", paint(style::ID, to));
        } else {
            let _ = writeln!(text, "{would} {from} to {}", paint(style::ID, to));
        }
        for line in self.diff.lines().filter(|line| !line.starts_with("@@") && !line.starts_with("--- ")) {
            if let Some(path) = line.strip_prefix("+++ ") {
                let _ = writeln!(text, "  {}", sanitise(path));
                continue;
            }
            let look = match line.as_bytes().first() {
                Some(b'-') => style::BAD,
                Some(b'+') => style::GOOD,
                _ => style::DIM,
            };
            let _ = writeln!(text, "    {}", paint(look, sanitise(line)));
        }
        let count =
            format!("{} in {}", plural(self.links as u64, "link"), plural(self.files.len() as u64, "other file"));
        let _ = writeln!(text, "{}", paint(style::DIM, count));
        text
    }
}
