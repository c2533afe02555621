//! `cru import`.

mod account;
mod carry;
mod collect;
mod evidence;
mod existing;
pub mod facts;
mod grow;
mod handover;
mod ids;
pub mod ingest;
mod made;
mod plan;
mod quote;
mod reading;
pub mod report;
mod slices;
mod standing;
pub mod sync;
#[cfg(test)]
mod tests;
pub mod transcript;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Context, Output, Progress, Ui};
use crate::base::{Error, Result};
use crate::commands::reading as notes;
use crate::import::{self, IMPORTERS};
use crate::session::fold;
use crate::session::source::Importer;
use crate::vault::{State, Vault};
use account::Account;
use ingest::{Machine, Options, Watch, ingest};

/// Turn the transcripts of an agent into notes
///
/// AGENT is one of the list below. Without PATH its usual folders are searched. The command can be
/// run again at any time: a note that is there gets what its transcript gained since, and what a person changed or
/// deleted in it stays so; a note that a person deleted is not made again. At the end stands the account of every
/// record: in a note, or left out for a named reason.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Args {
    /// Whose transcripts
    #[arg(value_parser = agents())]
    agent: String,
    /// Transcripts, or folders to search
    paths: Vec<PathBuf>,
    /// Say what would be done and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep the agent's thinking, as folded callouts
    #[arg(long)]
    thinking: bool,
    /// Write secrets as they are; else `[secret:github-token-1]` takes the place of each
    #[arg(long)]
    no_redact: bool,
    /// Make notes again that you deleted
    #[arg(long)]
    restore: bool,
}

fn agents() -> clap::builder::PossibleValuesParser {
    let values = IMPORTERS.iter().map(|importer| clap::builder::PossibleValue::new(importer.id).help(importer.title));
    clap::builder::PossibleValuesParser::new(values)
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let Some(importer) = import::find(&args.agent) else {
        return Err(Error::usage(format!("no importer for `{}`", args.agent)));
    };
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let paths = paths(importer, args, cx)?;
    let machine = Machine { state: State::of(&vault, cx.env)?, now: cx.env.now() };
    let options = Options {
        dry_run: args.dry_run,
        fold: fold::Options { thinking: args.thinking, no_redact: args.no_redact },
        restore: args.restore,
        machine: Some(machine),
    };
    let watch = Bar { ui: cx.ui, bar: Mutex::new(None) };
    let report = ingest(&vault, importer, &paths, &options, &watch)?;
    // The bar goes before anything is printed.
    drop(watch);
    if !args.dry_run {
        notes::refresh(&vault, cx);
    }
    let home = cx.env.home().map(Path::to_owned);
    Ok(Box::new(Account { report, home, verbose: cx.global.verbose > 0 }))
}

/// A progress bar for each stage.
struct Bar<'a> {
    ui: &'a dyn Ui,
    bar: Mutex<Option<Box<dyn Progress>>>,
}

impl Watch for Bar<'_> {
    fn begin(&self, what: &str, total: u64) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.ui.progress(what, total));
    }

    fn step(&self) {
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.advance(1);
        }
    }
}

/// The path without `..` and links, as the notes name it; as it is where that cannot be known.
fn whole(path: PathBuf) -> PathBuf {
    std::fs::canonicalize(&path).unwrap_or(path)
}

/// The paths that were named, else the agent's own folders that exist.
fn paths(importer: &Importer, args: &Args, cx: &Context<'_>) -> Result<Vec<PathBuf>> {
    if !args.paths.is_empty() {
        return Ok(args.paths.iter().map(|path| whole(cx.absolute(path))).collect());
    }
    let home = cx.env.home().ok_or_else(|| Error::usage("no home folder is known").with_hint("name a path"))?;
    let expand = |place: &&str| match place.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(place),
    };
    let places: Vec<PathBuf> = importer.places.iter().map(expand).filter(|path| path.exists()).collect();
    if places.is_empty() {
        return Err(Error::no(format!("no transcripts of {} in {}", importer.title, importer.places.join(", ")))
            .with_hint(format!("`cru import {} PATH` reads them from elsewhere", importer.id)));
    }
    Ok(places)
}
