//! `cru init`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde::Serialize;

use super::output::style::{self, paint};
use super::{Context, Output, View};
use crate::base::Result;
use crate::vault::scaffold::{Action, Change, scaffold};

/// Initialize a vault in a folder
///
/// Works in an empty folder and in an Obsidian vault alike. Adds the settings in `.cru/`, a CSS snippet that colours
/// the callouts, property types, a template and the view `Sessions.base`; files that exist are completed, never
/// replaced.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder; created if it is missing
    #[arg(default_value = ".")]
    dir: PathBuf,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let root = cx.absolute(&args.dir);
    let (changes, problems) = scaffold(&root, &new_id(&root, cx), &zone(cx))?;
    for problem in problems {
        cx.ui.warn(&problem.to_string());
    }
    let root = std::fs::canonicalize(&root).unwrap_or(root);
    Ok(Box::new(InitReport { schema: 1, vault: root, changes }))
}

/// A name for the vault's state on each machine: unlike any other, and nobody has to choose it.
fn new_id(root: &Path, cx: &Context<'_>) -> String {
    let seed = format!("{}\n{}", root.display(), cx.env.now());
    blake3::hash(seed.as_bytes()).to_hex()[..12].to_owned()
}

/// The time zone of the system, by its name; `TZ` comes first.
fn zone(cx: &Context<'_>) -> String {
    let named = cx.env.var("TZ").filter(|name| TimeZone::get(name).is_ok()).map(str::to_owned);
    let system = || TimeZone::try_system().ok()?.iana_name().map(str::to_owned);
    named.or_else(system).unwrap_or_else(|| "UTC".to_owned())
}

#[derive(Debug, Serialize)]
struct InitReport {
    schema: u32,
    vault: PathBuf,
    changes: Vec<Change>,
}

impl Output for InitReport {
    fn text(&self, _: &View) -> String {
        let mut text = format!("Vault {}\n", paint(style::TITLE, self.vault.display()));
        for change in &self.changes {
            let (mark, word) = match change.action {
                Action::Created => (paint(style::GOOD, "+"), "created"),
                Action::Merged => (paint(style::WARN, "~"), "completed"),
                Action::Kept => (paint(style::DIM, "="), "kept"),
            };
            let _ = writeln!(text, "  {mark} {:<28} {}", change.path, paint(style::DIM, word));
        }
        text.push_str("\nNext: `cru import claude` brings in the sessions of Claude Code.\n");
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}
