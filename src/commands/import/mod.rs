//! `cru import`.

pub mod ingest;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Serialize;

use super::output::style::{self, paint};
use super::{Context, Output, Progress, View};
use crate::base::text::{plural, thousands};
use crate::base::{Error, Result};
use crate::import::{self, IMPORTERS};
use crate::session::source::Importer;
use crate::vault::Vault;
use ingest::{Ingested, Outcome, Plan, ingest};

/// Turn the transcripts of an agent into notes
///
/// AGENT is one of the list below. Without PATH its usual folder is searched (`~/.claude/projects`). Sessions that
/// have a note already are left alone, so the command can be run again at any time; what a person changed or deleted
/// in a note stays so. At the end stands the account of every record: in a note, or left out for a named reason.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Whose transcripts: `claude`
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
    let plan = Plan { dry_run: args.dry_run, fold: crate::session::fold::Options { thinking: args.thinking } };
    let bar: OnceLock<Box<dyn Progress>> = OnceLock::new();
    let ingested = ingest(
        &vault,
        importer,
        &paths,
        plan,
        |files| {
            let _ = bar.set(cx.ui.progress("reading", files as u64));
        },
        &|file| {
            if let Some(bar) = bar.get() {
                bar.say(&file.file_name().unwrap_or_default().to_string_lossy());
                bar.advance(1);
            }
        },
    )?;
    drop(bar);
    let verbose = cx.global.verbose > 0;
    Ok(Box::new(Report {
        schema: 1,
        agent: importer.id,
        title: importer.title,
        dry_run: args.dry_run,
        ingested,
        verbose,
    }))
}

/// The paths that were named, else the agent's own folders that exist.
fn paths(importer: &Importer, args: &Args, cx: &Context<'_>) -> Result<Vec<PathBuf>> {
    if !args.paths.is_empty() {
        return Ok(args.paths.iter().map(|path| cx.absolute(path)).collect());
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

#[derive(Serialize)]
struct Report {
    schema: u32,
    agent: &'static str,
    #[serde(skip)]
    title: &'static str,
    dry_run: bool,
    #[serde(flatten)]
    ingested: Ingested,
    #[serde(skip)]
    verbose: bool,
}

/// What is said of sessions with an outcome; nothing when there is none.
const SAID: &[(Outcome, &str)] = &[
    (Outcome::Created, "new"),
    (Outcome::Unchanged, "unchanged"),
    (Outcome::Grown, "with another transcript than their note was made from; the notes were left alone"),
    (Outcome::Empty, "without a conversation"),
    (Outcome::Excluded, "left out by the settings"),
];

impl Output for Report {
    fn text(&self, _: &View) -> String {
        let ingested = &self.ingested;
        let mut text = String::new();
        if self.verbose {
            for session in ingested.sessions.iter().filter(|session| session.outcome == Outcome::Created) {
                let note = session.note.as_deref().unwrap_or_default();
                let _ = writeln!(text, "{} {note}", paint(style::GOOD, "+"));
            }
        }
        let verb = if self.dry_run { "Would import" } else { "Imported" };
        let _ = writeln!(text, "{}", paint(style::TITLE, format_args!("{verb} from {}", self.title)));
        for (outcome, words) in SAID {
            let count = ingested.count(*outcome);
            if count == 0 && *outcome != Outcome::Created {
                continue;
            }
            let of_agents =
                ingested.sessions.iter().filter(|session| session.outcome == *outcome && session.subagent).count();
            let of_agents = if of_agents > 0 { format!(" ({of_agents} of sub-agents)") } else { String::new() };
            let look = if *outcome == Outcome::Grown { style::WARN } else { anstyle::Style::new() };
            let _ = writeln!(
                text,
                "  {} {}",
                paint(look, plural(count, "session")),
                paint(look, format_args!("{words}{of_agents}"))
            );
        }
        let total = ingested.total();
        let _ = writeln!(
            text,
            "  {} in {}: {} in notes, {} left out",
            plural(total.records, "record"),
            plural(ingested.files.len() as u64, "file"),
            thousands(total.represented),
            thousands(total.records - total.represented)
        );
        let mut skipped: Vec<_> = total.skipped.iter().collect();
        skipped.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), **reason));
        for (reason, count) in skipped {
            let _ = writeln!(text, "    {:>8}  {}", thousands(*count), paint(style::DIM, reason));
        }
        let without: Vec<_> =
            ingested.files.iter().filter_map(|file| Some((&file.path, file.reason.as_ref()?))).collect();
        if !without.is_empty() {
            let _ = writeln!(text, "\nFiles that gave no note:");
            for (path, reason) in without {
                let _ = writeln!(text, "  {}  {}", shown(path), paint(style::DIM, reason));
            }
        }
        if ingested.count(Outcome::Created) > 0 && !self.dry_run {
            let _ = writeln!(text, "\nNext: `cru session list` shows them.");
        }
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut value = serde_json::to_value(self)?;
        value["total"] = serde_json::to_value(self.ingested.total())?;
        Ok(value)
    }
}

fn shown(path: &Path) -> String {
    crate::base::text::sanitise(&path.to_string_lossy()).into_owned()
}
