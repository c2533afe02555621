//! `cru import`.

mod account;
mod again;
mod back;
mod filter;
mod follow;
mod forget;
mod memories;
mod overview;
mod sample;
mod what;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::words::words;
use super::{Context, Output, Progress, Ui, events};
use crate::base::text::plural;
use crate::base::{Result, files};
use crate::commands::derived::{self, DerivedPages};
use crate::commands::reading as notes;
use crate::session::detail::Level;
use crate::session::fold;
use crate::sync::evidence::Transcripts;
use crate::sync::import::{Machine, Options, Watch, ingest, ingest_found};
use crate::sync::report::{Outcome, SessionReport};
use crate::vault::config::KeepEvidence;
use crate::vault::{State, Vault, VaultPath};
use account::{Account, Accounts};
use what::{FoundTranscripts, TranscriptSource, What};

/// Import the transcripts of agents as notes
///
/// Without an argument it looks for transcripts of every agent on this machine, says what it would do with them, and
/// writes nothing. With an AGENT (and no PATH) the agent's usual folders are searched; a PATH without an agent is told
/// apart by its content. `memories` imports the memory files of Serena and SuperClaude, of the projects that are named or of
/// all that have sessions.
///
/// The command can be run again at any time: a note that is there gets what its transcript gained since, and what a
/// person changed or deleted in it stays so; a note that a person deleted is not made again. At the end stands the
/// account of every record: in a note, or skipped for a named reason. The exit code is 2 where a file could not be read,
/// which is named. --again shows what this version would write otherwise in notes that are there, and writes it.
/// A session is kept private, from agents, pages and exports, by the property `export: false` in its note, which stays.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Args {
    /// Whose transcripts (one of the list below), then transcripts or folders to search; with --again, sessions
    #[arg(value_name = "AGENT|PATH", value_parser = what::Parser)]
    what: Vec<std::path::PathBuf>,
    /// Every agent that is found on this machine
    #[arg(long, conflicts_with = "what")]
    all: bool,
    /// Show what would be done and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Rewrite notes that were imported before (all, or the sessions that are named), with the level of --detail where
    /// it is given; what a person changed in them, their ids and file names stay
    #[arg(long, conflicts_with_all = ["all", "restore", "reattach", "watch", "keep_evidence", "forget"])]
    again: bool,
    /// With --again, rewrite notes too that have no seals in `.cru/seals` (of older versions, or lost): what stands there as it
    /// would be generated counts as generated; shows all of the change before it asks
    #[arg(long, requires = "again")]
    trust: bool,
    /// With --again, do not ask
    #[arg(long, short = 'y', requires = "again")]
    yes: bool,
    /// Keep the agent's thinking, as folded callouts
    #[arg(long)]
    thinking: bool,
    /// How much of a transcript new notes tell: `brief` (what was asked, decided, changed, and what failed), `normal`, or
    /// `full` (with inputs and outputs); a note that is there goes on as it was made, unless --again rewrites it
    #[arg(long, value_name = "LEVEL", value_parser = words::<Level>())]
    detail: Option<Level>,
    /// Write secrets as they are; else `[secret:github-token-1]` takes the place of each
    #[arg(long)]
    no_redact: bool,
    /// Import notes again that are gone, what --undo took out of others, and sessions that you excluded with --forget
    #[arg(long)]
    restore: bool,
    /// Never import this session, on no machine that shares the vault: a note, or the host's id of a session
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["what", "all", "restore", "reattach", "watch", "dry_run"])]
    forget: Vec<String>,
    /// Take back what the last import wrote: notes that it made are removed and what it added to others is taken out, where nobody has
    /// touched it since and the transcript is still there
    #[arg(long, conflicts_with_all = ["what", "all", "again", "restore", "reattach", "watch", "forget", "keep_evidence", "detail", "thinking"])]
    undo: bool,
    /// Import nothing: print the names of members and the types of values of the files, no text, to be put into a report of a
    /// format that is not known
    #[arg(long, conflicts_with_all = ["all", "again", "restore", "reattach", "watch", "undo"])]
    report_format: bool,
    /// Write the steps of a transcript that its note lacks: those of another copy, and those that you deleted
    #[arg(long)]
    reattach: bool,
    /// Follow sessions until stopped: write what agents do into the notes while they do it
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    /// What is kept in `evidence/` of the vault: `writes` (what each step wrote into files, secrets masked), `all` (that,
    /// and compressed copies of the transcripts as they are, secrets included; also without a value), or `none`
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = words::<KeepEvidence>())]
    keep_evidence: Option<KeepEvidence>,
    #[command(flatten)]
    filter: filter::ImportFilter,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if !args.forget.is_empty() {
        return forget::run(&args.forget, cx);
    }
    if args.undo {
        return back::run(args.dry_run, cx);
    }
    if let Some((word, paths)) = args.what.split_first()
        && word.as_os_str() == memories::WORD
    {
        return memories::run(paths, args.restore, args.dry_run, cx);
    }
    if args.again {
        return again::run(args, cx);
    }
    let what = What::of(args, cx)?;
    if args.report_format {
        return sample::run(&what, cx);
    }
    let preview = matches!(what, What::Overview);
    let found = if preview || args.dry_run {
        Vault::find_to_read(cx.vault_arg(), cx.env)
    } else {
        Vault::find(cx.vault_arg(), cx.env)
    };
    let vault = match found {
        // Who has no vault yet may still look what there is for one.
        Err(_) if preview && cx.vault_arg().is_none() && cx.env.var("CRU_VAULT").is_none() => {
            return overview::Overview::without_vault(&what.search(true, cx)?.sources, args, cx)
                .map(|overview| Box::new(overview) as Box<dyn Output>);
        }
        vault => vault?,
    };
    let dry_run = args.dry_run || preview;
    // Read-only commands create no folder.
    let state = if dry_run { State::there_or_not(&vault, cx.env) } else { State::of(&vault, cx.env)? };
    let keep = args.keep_evidence.unwrap_or(vault.config().import.keep_evidence);
    let options = Options {
        dry_run,
        fold: fold::Options {
            thinking: args.thinking,
            no_redact: args.no_redact,
            level: args.detail.unwrap_or(vault.config().import.detail),
            patches: keep.keeps_writes(),
        },
        restore: args.restore,
        reattach: args.reattach,
        heard: Transcripts::of(&vault, cx.env).listen().filter(|_| !dry_run && !args.watch),
        live: args.watch,
        choice: args.filter.read(&vault, cx.env)?,
        keep: (keep == KeepEvidence::All).then(|| cx.env.clone()),
        machine: Some(Machine { state, now: cx.env.now() }),
    };
    let home = cx.env.home().map(Path::to_owned);
    let kept = if args.restore { what.kept(&vault, cx) } else { Vec::new() };
    if let Some(machine) = options.machine.as_ref().filter(|_| !dry_run) {
        derived::catch_up(&vault, &machine.state, cx);
    }
    let held = match &options.machine {
        Some(machine) => back::restore(&vault, &machine.state, dry_run, args.restore, cx)?,
        None => 0,
    };
    let FoundTranscripts { sources, strangers, others } = what.search(!kept.is_empty(), cx)?;
    if args.watch {
        follow::follow(&vault, sources, &options, cx)?;
        return Ok(Box::new(Accounts::default()));
    }
    let pages = options.machine.as_ref().filter(|_| !dry_run).map(|it| DerivedPages::begin(&vault, &it.state, cx));
    let mut reports = Vec::new();
    for (importer, source) in sources.into_iter().chain(kept) {
        let watch = ImportBar { ui: cx.ui, bar: Mutex::new(None) };
        let report = match source {
            TranscriptSource::Paths(paths) => ingest(&vault, importer, &paths, &options, &watch)?,
            TranscriptSource::Found(found) => ingest_found(&vault, importer, found, &options, &watch)?,
        };
        // The bar goes before anything is printed.
        drop(watch);
        reports.push((importer, report));
    }
    let wrote = |outcome| reports.iter().any(|(_, report)| report.count(outcome) > 0);
    if !dry_run && (wrote(Outcome::Created) || wrote(Outcome::Updated)) {
        notes::refresh(&vault, options.heard.clone(), cx);
        if let Some(machine) = &options.machine {
            let created = |session: &&SessionReport| session.outcome == Outcome::Created && !session.subagent;
            let made = reports.iter().flat_map(|(_, report)| report.sessions.iter().filter(created));
            let made: Vec<VaultPath> = made.filter_map(|it| VaultPath::new(it.note.as_ref()?)).collect();
            events::imported(&made, &vault, &machine.state, cx);
            back::keep(reports.iter().map(|(_, report)| report), &vault, &machine.state, machine.now)?;
        }
    }
    let unsealed: u64 = reports.iter().map(|(_, report)| report.unsealed).sum();
    if let Some(machine) = options.machine.as_ref().filter(|_| unsealed > 0 && !dry_run) {
        tell_unsealed(unsealed, &machine.state, cx)?;
    }
    if let Some(pages) = pages {
        pages.finish();
    }
    if matches!(what, What::All | What::Overview) {
        reports.retain(|(_, report)| report.files.len() as u64 + report.known_files + report.earlier_files > 0);
        if reports.is_empty() {
            return Err(what::nothing());
        }
    }
    if preview {
        return Ok(Box::new(overview::Overview::of(&reports, held, args, cx)));
    }
    if held > 0 {
        cx.ui.note(&overview::held_back(held));
    }
    let verbose = cx.global.verbose > 0;
    let mut accounts = reports.into_iter().map(|(_, report)| Account { report, home: home.clone(), verbose });
    Ok(match (what, accounts.len()) {
        (What::Agent(..), 1) => match accounts.next() {
            Some(account) => Box::new(account),
            None => Box::new(Accounts::default()),
        },
        _ => Box::new(Accounts { agents: accounts.collect(), strangers, others, home, verbose }),
    })
}

/// Says once for each vault that notes have no seals, and what to do.
fn tell_unsealed(count: u64, state: &State, cx: &Context<'_>) -> Result<()> {
    if files::create_private(&state.dir().join("unsealed"), b"")? {
        cx.ui.note(&format!(
            "{} without seals in .cru/seals: all that stands in them counts as yours, and only what is new is added.\n\
             hint: `cru import --again --trust` shows what would be written anew in them, and asks",
            plural(count, "note")
        ));
    }
    Ok(())
}

/// A progress bar for each stage.
struct ImportBar<'a> {
    ui: &'a dyn Ui,
    bar: Mutex<Option<Box<dyn Progress>>>,
}

impl ImportBar<'_> {
    /// Takes the bar away before something is printed or asked.
    fn end(&self) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Watch for ImportBar<'_> {
    fn begin(&self, what: &str, total: u64) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.ui.progress(what, total));
    }

    fn warn(&self, message: &str) {
        self.ui.warn(message);
    }

    fn step(&self) {
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.advance(1);
        }
    }
}
