//! `cru init`.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde::Serialize;

use super::output::style::{self, paint};
use super::{Context, Output, View};
use crate::base::Result;
use crate::live::hook::shell;
use crate::vault::scaffold::{Action, Change, scaffold};

/// Initialize a vault in a folder
///
/// Works in an empty folder and in an Obsidian vault alike, and asks nothing. Adds the settings in `.cru/config.toml`, a
/// CSS snippet that colours the callouts, property types, colours of the graph view, a template, and the views
/// `Sessions.base`, `Workflows.base`, `Cases.base`, `Lessons.base` and `Projects.base`. Files that exist are completed, never
/// replaced. A property that other notes of the vault use gets no type.
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
    let is_here = cx.env.cwd().canonicalize().is_ok_and(|here| here.starts_with(&root));
    let enter =
        if is_here { String::new() } else { format!("`cd {}`, then ", shell::quote(&args.dir.to_string_lossy())) };
    Ok(Box::new(InitReport { schema: 1, vault: root, changes, enter }))
}

/// A name for the vault's state on each machine: unlike any other, and nobody has to choose it.
fn new_id(root: &Path, cx: &Context<'_>) -> String {
    // The same folder at the same time may be another vault: the first was removed.
    let chance = || RandomState::new().build_hasher().finish();
    let seed = format!("{}\n{}\n{:x}{:x}", root.display(), cx.env.now(), chance(), chance());
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
    /// What comes before the next command where the vault is another folder than this one.
    #[serde(skip)]
    enter: String,
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
        let _ = writeln!(text, "\nNext: {}`cru import` lists the sessions of agents on this machine.", self.enter);
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}
