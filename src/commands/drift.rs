//! `cru check hosts`: the versions of hosts that wrote the transcripts on this machine, the versions that their importers
//! were compared with, and what the importers do not know.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rayon::prelude::*;
use serde::Serialize;

use super::output::style::{self, paint};
use super::output::{Align, Cell, Table};
use super::{Context, Output, PlainOutput, View};
use crate::base::Result;
use crate::base::text::{plural, sanitise};
use crate::import::{self, IMPORTERS, places};
use crate::session::agent_table::Evidence;
use crate::session::fold::Options;
use crate::session::source::Importer;
use crate::sync::read::FileAccount;
use crate::sync::read::alone::drafts;
use crate::sync::report::UnknownKind;

#[derive(Debug, Serialize)]
struct Drift {
    schema: u32,
    hosts: Vec<HostDrift>,
}

#[derive(Debug, Serialize)]
struct HostDrift {
    host: &'static str,
    #[serde(skip)]
    title: &'static str,
    files: u64,
    /// The versions that wrote them, the newest last.
    seen: Vec<String>,
    /// What the importer was last compared with.
    known: &'static Evidence,
    unknown: Vec<UnknownKind>,
}

/// Reads the transcripts of all agents that are found and writes nothing.
pub(super) fn run(cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let mut hosts = Vec::new();
    for importer in IMPORTERS {
        let there: Vec<_> = places::of(importer, cx.env).into_iter().filter(|path| path.exists()).collect();
        let bundles = import::search(importer, &there)?.bundles;
        if bundles.is_empty() {
            continue;
        }
        let progress = cx.ui.progress(importer.title(), bundles.len() as u64);
        let read = |bundle| {
            let files = drafts(importer, bundle, Options::default()).accounts;
            progress.advance(1);
            files
        };
        let files: Vec<FileAccount> = bundles.par_iter().flat_map_iter(read).collect();
        drop(progress);
        hosts.push(HostDrift::of(importer, &files));
    }
    Ok(Box::new(Drift { schema: 1, hosts }))
}

impl HostDrift {
    fn of(importer: &Importer, files: &[FileAccount]) -> Self {
        let seen: BTreeSet<&String> = files.iter().filter_map(|file| file.version.as_ref()).collect();
        let mut seen: Vec<String> = seen.into_iter().cloned().collect();
        seen.sort_by_key(|version| numbers(version));
        Self {
            host: importer.host(),
            title: importer.title(),
            files: files.len() as u64,
            seen,
            known: &importer.agent().evidence,
            unknown: UnknownKind::all(files),
        }
    }

    /// Whether a newer version wrote one of the files than the importer was compared with.
    fn is_newer(&self) -> bool {
        let newest = self.seen.last().filter(|_| !self.known.version.is_empty());
        newest.is_some_and(|newest| numbers(newest) > numbers(&self.known.version))
    }
}

/// The numbers of a version, by which one is older than another.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

impl PlainOutput for Drift {
    fn shown(&self, view: &View) -> String {
        let left = Align::Left;
        let mut table =
            Table::new(&[("HOST", left), ("FILES", Align::Right), ("SEEN", left), ("KNOWN", left), ("COMPARED", left)]);
        let known = |text: &str| Cell::new(if text.is_empty() { "–" } else { text });
        for host in &self.hosts {
            let look = if host.is_newer() { style::WARN } else { anstyle::Style::new() };
            let seen = host.seen.last().map_or("–", String::as_str);
            table.row([
                Cell::new(host.title),
                Cell::new(host.files.to_string()),
                Cell::new(sanitise(seen)).style(look),
                known(&host.known.version),
                known(&host.known.date),
            ]);
        }
        let mut text = table.render(view);
        for host in self.hosts.iter().filter(|host| !host.unknown.is_empty()) {
            let _ = writeln!(text, "\n{}", paint(style::TITLE, format_args!("Not known of {}", host.title)));
            for kind in &host.unknown {
                let _ = writeln!(text, "  {}", sanitise(&kind.line(host.host)));
            }
        }
        if self.hosts.iter().all(|host| host.unknown.is_empty()) {
            let hosts = plural(self.hosts.len() as u64, "host");
            let _ = writeln!(text, "\nAll kinds of records of {hosts} are known.");
        } else {
            text.push_str("\n`cru import --report-format AGENT` prints keys and types, no text, for a report.\n");
        }
        text
    }
}
