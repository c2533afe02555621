//! `cru import` alone: which agents there are on this machine and what an import of each would do.

use std::path::Path;

use serde::Serialize;

use super::Args;
use super::report::{Outcome, Report};
use crate::base::text::{sanitise, thousands};
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, Table};
use crate::commands::{Context, Output, View};
use crate::import::places;
use crate::session::source::Importer;

/// The table.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    schema: u32,
    agents: Vec<Row>,
    /// Imports all of them.
    command: String,
}

/// One agent.
#[derive(Debug, Serialize)]
struct Row {
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
    pub(super) fn of(reports: &[(&'static Importer, Report)], args: &Args, cx: &Context<'_>) -> Self {
        let mut options = String::new();
        let filters = [("--since", &args.filter.since), ("--project", &args.filter.project)];
        for (name, value) in filters.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            let plain = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/+~".contains(c));
            let quoted = format!("'{}'", value.replace('\'', "'\\''"));
            options.push_str(&format!(" {name} {}", if plain { value } else { &quoted }));
        }
        let flags = [("--thinking", args.thinking), ("--no-redact", args.no_redact), ("--restore", args.restore)];
        let flags = flags.into_iter().chain([("--keep-evidence", args.keep_evidence)]);
        for (name, _) in flags.filter(|(_, given)| *given) {
            options.push_str(&format!(" {name}"));
        }
        let row = |(importer, report): &(&'static Importer, Report)| {
            let short = |path: &Path| sanitise(&cx.env.at(path).folder()).into_owned();
            let there = places::of(importer, cx.env).into_iter().filter(|path| path.exists());
            let (new, grown, known) =
                (report.count(Outcome::Created), report.count(Outcome::Updated), report.count(Outcome::Unchanged));
            let sessions: u64 = report.outcomes.values().sum();
            Row {
                agent: importer.id,
                title: importer.title,
                folders: there.map(|path| short(&path)).collect(),
                files: report.files.len() as u64 + report.earlier_files + report.known_files,
                sessions,
                new,
                grown,
                known,
                left_out: sessions - new - grown - known,
                command: format!("cru import {}{options}", importer.id),
            }
        };
        Self { schema: 1, agents: reports.iter().map(row).collect(), command: format!("cru import --all{options}") }
    }
}

impl Output for Overview {
    fn text(&self, view: &View) -> String {
        let mut text = format!("{}\n\n", paint(style::TITLE, "Transcripts on this machine"));
        let right = Align::Right;
        let mut columns = vec![("AGENT", Align::Left), ("FILES", right), ("SESSIONS", right), ("NEW", right)];
        columns.extend([("GROWN", right), ("KNOWN", right), ("LEFT OUT", right)]);
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

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}
