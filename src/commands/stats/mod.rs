//! `cru stats`: what all sessions come to.
//!
//! From the rows of sessions alone, no note and no record is read; outcomes and types are those of accepted readings.

mod cost;
mod figures;
mod group;
pub(in crate::commands) mod page;
mod table;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rayon::prelude::*;
use serde::Serialize;

use self::cost::CostReport;
use self::figures::{Counted, Figures};
use self::group::{By, Grouped};

use super::output::{PageFrame, write_sealed};
use super::prices::prices;
use super::read::Shelf;
use super::reading::{self, Asked};
use super::session::filter::SessionFilter;
use super::{Context, Output, PlainOutput, Raw, View};
use crate::base::text::note_name;
use crate::base::{Error, Result};
use crate::index::SessionRow;
use crate::index::table::Families;
use crate::readings::answer::SegmentType;
use crate::vault::Catalog;

/// Tables of an overview.
const OVERVIEW: &[By] = &[By::Status, By::Agent, By::Model, By::Tool, By::Channel, By::Project, By::Week];
/// Rows of each of them.
const OVERVIEW_ROWS: usize = 8;
/// What a page of ours says of itself; only such a page is replaced.
const GENERATOR: &str = "cru stats";

/// Show totals of sessions: tokens, cost, time, failure rates
///
/// Each session counts once and with its own tokens alone, so those of sub-agents are not counted twice; tokens of a
/// sub-agent that has no note here are taken from the session that started it. Sessions failed are out of the closed
/// ones; abandoned sessions are not failed. Steps failed are out of all steps; denied and interrupted steps are not
/// failed. Tokens are without those read from a cache. Pauses of ten minutes and more do not count as active time.
///
/// The cost is an estimate: tokens by list prices, or by `[prices]` of the user's configuration. Tokens of a model
/// without a price are named and not counted as free. With `--cost` a sub-agent counts in the session it worked for.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One table for each of these, instead of the overview; may be given again
    #[arg(long, value_enum, value_name = "KEY", value_delimiter = ',')]
    by: Vec<By>,
    /// Rows of a table; 0 for all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Tokens and estimated cost by model, project and day, or by the keys of `--by`
    #[arg(long, conflicts_with_all = ["no_subagents", "html"])]
    cost: bool,
    /// Keep versions of an agent apart
    #[arg(long)]
    agent_versions: bool,
    /// Exclude the sessions of sub-agents
    #[arg(long)]
    no_subagents: bool,
    /// Write a page with charts to this file; `-` is stdout
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    filter: SessionFilter,
}

impl Args {
    /// Rows of a table: of an overview few on a terminal and more on a page.
    fn rows(&self) -> usize {
        let few = if self.html.is_some() { page::ROWS } else { OVERVIEW_ROWS };
        match self.limit {
            Some(0) => usize::MAX,
            Some(limit) => limit,
            None if self.by.is_empty() => few,
            None => usize::MAX,
        }
    }

    /// The tables, in the order asked for; `overview` where none is.
    fn kinds(&self, overview: &[By]) -> Vec<By> {
        let asked = if self.by.is_empty() { overview } else { &self.by };
        let versions = |by: &By| if self.agent_versions && *by == By::Agent { By::AgentVersion } else { *by };
        let mut kinds: Vec<By> = asked.iter().map(versions).collect();
        let mut seen = Vec::new();
        kinds.retain(|by| {
            !seen.contains(by) && {
                seen.push(*by);
                true
            }
        });
        kinds
    }
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    report(args, None, cx)
}

/// The page of all sessions within a frame.
pub(super) fn framed(frame: &PageFrame<'_>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let filter = SessionFilter::default();
    let (by, html) = (Vec::new(), Some("-".into()));
    report(
        &Args { by, limit: None, cost: false, agent_versions: false, no_subagents: false, html, filter },
        Some(frame),
        cx,
    )
}

fn report(args: &Args, frame: Option<&PageFrame<'_>>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let Asked { chosen, vault, snapshot } = reading::asked(&args.filter, cx)?;
    let prices = prices(cx)?;
    if args.cost {
        if let Some(by) = args.by.iter().find(|by| **by == By::Tool || by.is_read()) {
            return Err(Error::usage(format!("--cost has no table by {}", by.name())).with_hint(
                "tokens are recorded by session and model; use --by model,project,day,agent,channel,status",
            ));
        }
        let report = CostReport::of(snapshot.sessions(), &chosen, &prices, &args.kinds(cost::OVERVIEW), args.rows());
        if report.total.sessions == 0 {
            args.filter.tell_none(snapshot.sessions(), cx);
        }
        return Ok(Box::new(report));
    }
    let zone = snapshot.zone();
    let families = Families::of(snapshot.sessions());
    let mut sessions: Vec<_> = snapshot
        .sessions()
        .iter()
        .filter(|row| chosen.matches_row(row))
        .map(|row| Counted::of(row, &families, &prices))
        .collect();
    if args.no_subagents {
        sessions.retain(|it| !it.subagent);
    }
    if sessions.is_empty() {
        args.filter.tell_none(snapshot.sessions(), cx);
    }
    let overview = args.by.is_empty();
    let mut kinds = args.kinds(OVERVIEW);
    if overview && args.html.is_some() {
        kinds.push(By::Day);
    }
    let starts = || sessions.iter().filter_map(|it| it.row.started);
    let read = if kinds.iter().any(|by| by.is_read()) {
        Shelf::within(&Catalog::read(&vault), &vault, cx.global.reach).all_accepted()
    } else {
        BTreeMap::new()
    };
    let told = |by: By, row: &SessionRow| {
        let it = read.get(note_name(&row.path))?;
        if by == By::Outcome {
            it.outcome.as_ref().map(|it| it.state.as_str())
        } else {
            it.main_type().map(SegmentType::as_str)
        }
    };
    let report = StatsReport {
        schema: 1,
        first: starts().min(),
        last: starts().max(),
        total: Figures::of(&sessions),
        days: Grouped::of(By::Day, &sessions, zone),
        by: kinds.into_par_iter().map(|by| Grouped::with(by, &sessions, zone, |row| told(by, row))).collect(),
        overview,
        limit: args.rows(),
        zone: zone.clone(),
    };
    let Some(file) = &args.html else { return Ok(Box::new(report)) };
    let name = vault.root().canonicalize().ok();
    let name = name.as_deref().and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy().into_owned();
    let most = if args.limit.is_some() { args.rows() } else { page::ROWS };
    // The costs of a session hold those of its sub-agents: without them there is no such table.
    let tables = if args.no_subagents { &[] } else { cost::OVERVIEW };
    let cost = CostReport::of(snapshot.sessions(), &chosen, &prices, tables, most);
    let html = page::render(&report, &cost, &name, cx.env.now(), frame)?;
    if file.as_os_str() == "-" {
        return Ok(Box::new(Raw { name: "html", text: html }));
    }
    write_sealed(&cx.absolute(file), &html, GENERATOR)?;
    Ok(Box::new(WrittenPage { schema: 1, output: file.clone(), sessions: report.total.sessions }))
}

#[derive(Debug, Serialize)]
struct StatsReport {
    schema: u32,
    /// When the first began.
    first: Option<Timestamp>,
    /// When the last began.
    last: Option<Timestamp>,
    total: Figures,
    by: Vec<Grouped<Figures>>,
    #[serde(skip)]
    days: Grouped<Figures>,
    #[serde(skip)]
    overview: bool,
    #[serde(skip)]
    limit: usize,
    /// Whose days they are.
    #[serde(skip)]
    zone: TimeZone,
}

impl PlainOutput for StatsReport {
    fn is_no(&self) -> bool {
        self.total.sessions == 0
    }

    fn shown(&self, view: &View) -> String {
        text::render(self, view)
    }
}

/// A page that was written.
#[derive(Debug, Serialize)]
struct WrittenPage {
    schema: u32,
    output: PathBuf,
    sessions: u64,
}

impl PlainOutput for WrittenPage {
    fn shown(&self, _: &View) -> String {
        let name = super::output::style::paint(super::output::style::ID, self.output.display());
        format!("{name}  {}\n", crate::base::text::plural(self.sessions, "session"))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_limit_is_that_of_a_page_too() {
        let rows = |line: &str| Line::parse_from(["stats"].into_iter().chain(line.split_whitespace())).args.rows();
        assert_eq!([rows(""), rows("--html x"), rows("--by day --html x")], [8, 30, usize::MAX]);
        assert_eq!([rows("-n 0"), rows("-n 0 --html x")], [usize::MAX; 2], "0 is all");
        assert_eq!([rows("-n 3"), rows("-n 3 --html x"), rows("-n 3 --by day --html x")], [3, 3, 3]);
    }
}
