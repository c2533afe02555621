//! `cru import` alone: which agents there are on this machine and what an import of each would do.

use serde::Serialize;

use super::Args;
use super::what::{TranscriptSource, nothing};
use crate::base::Result;
use crate::base::text::{plural, sanitise, thousands};
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, Table};
use crate::commands::{Context, PlainOutput, View};
use crate::import::{self, places};
use crate::session::source::Importer;
use crate::sync::report::{Outcome, Report};

/// The table.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    schema: u32,
    /// Whether there is a vault that was compared with.
    vault: bool,
    agents: Vec<OverviewRow>,
    /// Imports all of them.
    command: String,
    /// Notes that are as before an import that was undone.
    held_back: u64,
}

/// One agent.
#[derive(Debug, Default, Serialize)]
struct OverviewRow {
    agent: &'static str,
    title: &'static str,
    /// Its folders that are there.
    folders: Vec<String>,
    files: u64,
    /// With those of sub-agents.
    sessions: u64,
    /// Would get a note.
    new: u64,
    /// Their notes would get more.
    grown: u64,
    /// Their notes have all of it.
    known: u64,
    /// Would be left as they are: empty, deleted, excluded, filtered.
    left_out: u64,
    /// Imports it.
    command: String,
}

impl Overview {
    pub(super) fn of(reports: &[(&'static Importer, Report)], held_back: u64, args: &Args, cx: &Context<'_>) -> Self {
        let options = options(args);
        let row = |(importer, report): &(&'static Importer, Report)| {
            let (new, grown, known) =
                (report.count(Outcome::Created), report.count(Outcome::Updated), report.count(Outcome::Unchanged));
            let sessions: u64 = report.outcomes.values().sum();
            OverviewRow {
                agent: importer.id,
                title: importer.title(),
                folders: folders(importer, cx),
                files: report.files.len() as u64 + report.earlier_files + report.known_files,
                sessions,
                new,
                grown,
                known,
                left_out: sessions - new - grown - known,
                command: format!("cru import {}{options}", importer.id),
            }
        };
        let agents = reports.iter().map(row).collect();
        Self { schema: 1, vault: true, agents, command: format!("cru import --all{options}"), held_back }
    }

    /// What there is for a vault that is still to be made: no transcript is read for it. `Error::No` where there is
    /// nothing.
    pub(super) fn without_vault(
        sources: &[(&'static Importer, TranscriptSource)],
        args: &Args,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let options = options(args);
        let mut agents = Vec::new();
        for (importer, source) in sources {
            let TranscriptSource::Paths(paths) = source else { continue };
            let bundles = import::search(importer, paths)?.bundles;
            let sessions = bundles.len() as u64;
            if sessions > 0 {
                agents.push(OverviewRow {
                    agent: importer.id,
                    title: importer.title(),
                    folders: folders(importer, cx),
                    files: bundles.iter().map(|bundle| bundle.files.len() as u64).sum(),
                    sessions,
                    new: sessions,
                    command: format!("cru import {}{options}", importer.id),
                    ..OverviewRow::default()
                });
            }
        }
        if agents.is_empty() {
            return Err(nothing());
        }
        Ok(Self { schema: 1, vault: false, agents, command: format!("cru import --all{options}"), held_back: 0 })
    }
}

/// What an import says of notes that an undoing keeps as they were.
pub(super) fn held_back(notes: u64) -> String {
    let (notes, are) = (plural(notes, "note"), if notes == 1 { "is" } else { "are" });
    format!("{notes} {are} as before an import that was undone; the same import with --restore writes the rest again")
}

/// The folders of an agent that are there.
fn folders(importer: &Importer, cx: &Context<'_>) -> Vec<String> {
    let there = places::of(importer, cx.env).into_iter().filter(|path| path.exists());
    there.map(|path| sanitise(&cx.env.at(path).folder()).into_owned()).collect()
}

/// The options of the command line that the commands take over.
fn options(args: &Args) -> String {
    let mut options = String::new();
    let filters = [("--since", &args.filter.since), ("--project", &args.filter.project)];
    for (name, value) in filters.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        let plain = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/+~".contains(c));
        let quoted = format!("'{}'", value.replace('\'', "'\\''"));
        options.push_str(&format!(" {name} {}", if plain { value } else { &quoted }));
    }
    let flags = [("--thinking", args.thinking), ("--no-redact", args.no_redact), ("--restore", args.restore)];
    if let Some(keep) = args.keep_evidence {
        options.push_str(&format!(" --keep-evidence={}", keep.as_str()));
    }
    if let Some(level) = args.detail {
        options.push_str(&format!(" --detail {}", level.as_str()));
    }
    for (name, _) in flags.into_iter().filter(|(_, given)| *given) {
        options.push_str(&format!(" {name}"));
    }
    options
}

impl PlainOutput for Overview {
    fn shown(&self, view: &View) -> String {
        let mut text = format!("{}\n\n", paint(style::TITLE, "Transcripts on this machine"));
        let right = Align::Right;
        let mut columns = vec![("AGENT", Align::Left), ("FILES", right), ("SESSIONS", right), ("NEW", right)];
        columns.extend([("UPDATED", right), ("UP TO DATE", right), ("SKIPPED", right)]);
        columns.extend([("COMMAND", Align::Left), ("FOLDERS", Align::Left)]);
        let mut table = Table::new(&columns);
        for row in &self.agents {
            let number = |count: u64, look| match count {
                0 => Cell::new("–").style(style::DIM),
                count => Cell::new(thousands(count)).style(look),
            };
            let plain = anstyle::Style::new();
            table.row([
                Cell::new(row.title),
                number(row.files, plain),
                number(row.sessions, plain),
                number(row.new, style::GOOD),
                number(row.grown, style::GOOD),
                number(row.known, plain),
                number(row.left_out, style::DIM),
                Cell::new(&row.command).style(style::ID),
                Cell::new(row.folders.join(", ")).style(style::DIM),
            ]);
        }
        text.push_str(&table.render(view));
        let todo = self.agents.iter().any(|row| row.new + row.grown > 0);
        let known = self.agents.iter().any(|row| row.known > 0);
        text.push_str(&match (todo, self.agents.len()) {
            _ if !self.vault => format!(
                "\nThere is no vault here yet: `cru init` makes one, then `{}` fills it.\n",
                sanitise(&self.command)
            ),
            (false, _) if self.held_back > 0 => format!("\n{}\n", held_back(self.held_back)),
            (false, _) if known => "\nThe notes have all of it; there is nothing to do.\n".to_owned(),
            (false, _) => "\nNothing of it would get a note.\n".to_owned(),
            (true, 1) => "\nNothing was written. The command in the table imports them.\n".to_owned(),
            (true, _) => format!(
                "\nNothing was written. `{}` imports all of them, the commands in the table one.\n",
                sanitise(&self.command)
            ),
        });
        text
    }
}
