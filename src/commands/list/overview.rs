//! `cru list` without a kind: an overview of the sessions.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rayon::prelude::*;
use serde::Serialize;

use super::args::Args;
use crate::base::text::{plural, thousands};
use crate::base::{Env, Error, Result};
use crate::commands::output::style;
use crate::commands::output::{
    Align, Cell, Estimate, PlainOutput, Spent, Table, amount, cut, duration, minute, most, proof_text, rows, usd,
};
use crate::commands::pick;
use crate::commands::prices::prices;
use crate::commands::reading::{self, Asked};
use crate::commands::{Context, Format, Output, View};
use crate::index::SessionRow;
use crate::index::table::{Families, RowView};
use crate::session::{Meta, Status};
use crate::sync::hooked;
use crate::vault::Vault;

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if args.interactive {
        return pick::run(None, cx);
    }
    if let Some(odd) = args.columns.iter().find(|name| COLUMNS.iter().all(|column| column.name != **name)) {
        return Err(Error::usage(format!("--columns: the overview has no column `{odd}`"))
            .with_hint(format!("{}; `cru list sessions` has all", columns().join(", "))));
    }
    let Asked { mut chosen, vault, snapshot } = reading::asked(&args.filter, cx)?;
    args.more.add_all_to(&mut chosen, &vault.now(cx.env))?;
    let subagents = Families::of(snapshot.sessions());
    let matching = snapshot.sessions().iter().filter(|row| chosen.matches_row(row) && args.more.is_child(row));
    let (mut rows, hidden): (Vec<&SessionRow>, Vec<_>) =
        matching.partition(|row| args.all || !subagents.is_shown_by_another(row));
    let prices = prices(cx)?;
    // Sub-agents that are not listed count where they are shown.
    let family = |row: &SessionRow| Spent::of_family(row, &subagents, &prices).cost;
    let spent = |row: &SessionRow| if args.all { Estimate::of(row, &prices) } else { family(row) };
    sort(&mut rows, args.sort.as_deref().unwrap_or("started"), spent)?;
    if args.reverse {
        rows.reverse();
    }
    if rows.is_empty() {
        args.filter.tell_none(snapshot.sessions(), cx);
    }
    let total = rows.len();
    rows.truncate(most(args.limit.unwrap_or(if cx.global.format == Format::Text { SHOWN } else { 0 })));
    let names = ShortNames::of(snapshot.sessions());
    let of = |row: &SessionRow| ListedSession {
        name: names.shortest(row).to_owned(),
        copies: snapshot.copies(&row.path),
        idle_since: idle_since(row, &vault, cx.env),
        subagent: subagents.is_subagent(row),
        estimate: Estimate::of(row, &prices),
        family: family(row),
        spent: spent(row),
        row: row.clone(),
    };
    let sessions = rows.into_par_iter().with_min_len(256).map(of).collect();
    Ok(Box::new(SessionList {
        schema: 1,
        total,
        hidden_subagents: hidden.len() as u64,
        sessions,
        columns: args.columns.clone(),
    }))
}

/// The names that tell each session of a vault apart, sorted, each with the path of its note.
struct ShortNames<'a>(Vec<(&'a str, &'a str)>);

impl<'a> ShortNames<'a> {
    fn of(sessions: &'a [SessionRow]) -> Self {
        let stem = |path: &'a str| path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
        let both = sessions.iter().flat_map(|it| [(it.id.as_str(), it.path.as_str()), (stem(&it.path), &it.path)]);
        let mut names: Vec<_> = both.collect();
        names.sort_unstable();
        Self(names)
    }

    /// The beginning of a session's id that no name of another session begins with, to the end of a word.
    fn shortest(&self, row: &'a SessionRow) -> &'a str {
        let is_other = |(_, path): &&(&str, &str)| *path != row.path;
        let at = self.0.partition_point(|it| *it < (row.id.as_str(), row.path.as_str()));
        let beside = [self.0[..at].iter().rev().find(is_other), self.0[at..].iter().find(is_other)];
        let shared = |(name, _): &(&str, &str)| row.id.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        let shared = beside.into_iter().flatten().map(shared).max().unwrap_or(0);
        let rest = row.id.as_bytes().get(shared + 1..).unwrap_or_default();
        let end = rest.iter().position(|byte| matches!(byte, b'-' | b' ')).map_or(row.id.len(), |at| shared + 1 + at);
        // A date alone is no name that a person knows again.
        let word = row.id.match_indices('-').nth(3).map_or(row.id.len(), |(at, _)| at);
        row.id.get(..end.max(word)).unwrap_or(&row.id)
    }
}

/// Since when nothing happened in an active session that is due to be paused.
fn idle_since(row: &SessionRow, vault: &Vault, env: &Env) -> Option<Timestamp> {
    let status = Some(Status::parse(row.status.as_deref()?));
    let (host, host_session) = (row.host.clone(), row.host_session.clone());
    let meta = Meta { status, started: row.started, host, host_session, ..Meta::default() };
    let took = SignedDuration::try_from(Duration::from_millis(row.duration_ms.unwrap_or(0))).ok()?;
    hooked::idle_since(vault, env, &meta, row.started.and_then(|started| started.checked_add(took).ok()))
}

fn sort(rows: &mut [&SessionRow], by: &str, spent: impl Fn(&SessionRow) -> Estimate) -> Result<()> {
    // Ids settle ties, so that the order never depends on the walk.
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    match by {
        "started" => rows.sort_by_key(|row| Reverse(row.started)),
        "tokens" => rows.sort_by_key(|row| Reverse(row.tokens)),
        "steps" => rows.sort_by_key(|row| Reverse(row.steps)),
        "active" => rows.sort_by_key(|row| Reverse(row.active_ms)),
        "duration" => rows.sort_by_key(|row| Reverse(row.duration_ms)),
        // Bits of a number that is not negative have its order.
        "cost" => rows.sort_by_cached_key(|row| Reverse(spent(row).known_usd.map(f64::to_bits))),
        "failures" | "failed" => rows.sort_by_key(|row| Reverse(row.failed_steps)),
        "title" => rows.sort_by_cached_key(|row| row.title.to_lowercase()),
        other => {
            return Err(Error::usage(format!("--sort: the overview has no order `{other}`")).with_hint(
                "started, cost, tokens, steps, failures, active, duration, title; `cru list sessions` has more columns",
            ));
        }
    }
    Ok(())
}

/// A session of the list.
#[derive(Debug)]
struct ListedSession {
    row: SessionRow,
    /// The beginning of its id that tells it apart.
    name: String,
    subagent: bool,
    /// What its own tokens cost by list prices.
    estimate: Estimate,
    /// The same with all its sub-agents.
    family: Estimate,
    /// What is shown: with its sub-agents where they are not listed.
    spent: Estimate,
    /// Since when nothing happened, where the next flush pauses or closes it for that.
    idle_since: Option<Timestamp>,
    /// Copies of the note that a sync service left.
    copies: u64,
}

/// A column of the table for people.
#[derive(Debug)]
struct ListColumn {
    name: &'static str,
    heading: (&'static str, Align),
    cell: fn(&ListedSession, &TimeZone) -> Cell,
}

const fn left(name: &'static str, heading: &'static str, cell: fn(&ListedSession, &TimeZone) -> Cell) -> ListColumn {
    ListColumn { name, heading: (heading, Align::Left), cell }
}

const fn right(name: &'static str, heading: &'static str, cell: fn(&ListedSession, &TimeZone) -> Cell) -> ListColumn {
    ListColumn { name, heading: (heading, Align::Right), cell }
}

/// The columns of the table for people.
const COLUMNS: [ListColumn; 19] = [
    left("id", "SESSION", |it, _| Cell::new(&it.row.id).style(style::ID)),
    left("name", "SESSION", |it, _| Cell::new(&it.name).style(style::ID)),
    left("status", "STATUS", |it, _| status(it)),
    left("proof", "PROOF", |it, _| proof(it)),
    left("started", "STARTED", |it, zone| or_none(it.row.started.map(|time| minute(time, zone)))),
    left("ended", "ENDED", |it, zone| or_none(it.row.ended.map(|time| minute(time, zone)))),
    right("active", "ACTIVE", |it, _| took(it.row.active_ms)),
    right("duration", "WALL CLOCK", |it, _| took(it.row.duration_ms)),
    left("agents", "AGENTS", |it, _| Cell::new(agents(&it.row.participants)).style(style::AGENT)),
    left("channel", "CHANNEL", |it, _| or_none(it.row.channel.as_ref()).style(style::CHANNEL)),
    right("steps", "STEPS", |it, _| Cell::new(it.row.steps.to_string())),
    right("failed", "FAILED", |it, _| match it.row.failed_steps {
        0 => Cell::new("–").style(style::DIM),
        failed => Cell::new(failed.to_string()).style(style::BAD),
    }),
    right("tokens", "TOKENS", |it, _| or_none(it.row.tokens.map(amount))),
    right("cost", "US$ (ESTIMATE)", |it, _| cost(it)),
    left("model", "MODEL", |it, _| or_none(it.row.model.as_ref())),
    left("project", "PROJECT", |it, _| or_none(it.row.project.as_ref())),
    left("folder", "PROJECT", |it, _| {
        or_none(it.row.project.as_ref().map(|path| path.rsplit('/').find(|name| !name.is_empty()).unwrap_or(path)))
            .style(style::CHANNEL)
    }),
    left("title", "TITLE", |it, _| match it.copies {
        0 => Cell::new(&it.row.title),
        1 => Cell::new(format!("{} (1 copy)", it.row.title)),
        copies => Cell::new(format!("{} ({copies} copies)", it.row.title)),
    }),
    left("path", "PATH", |it, _| Cell::new(&it.row.path)),
];

/// Where none are asked for, each with the order in which it leaves a narrow terminal.
const USUAL: [(&str, u8); 6] = [("title", 0), ("folder", 3), ("status", 4), ("agents", 1), ("cost", 2), ("name", 0)];
/// Sessions of the text where no number is asked for.
const SHOWN: usize = 30;

/// The names of the columns.
pub(super) fn columns() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.name).collect()
}

fn or_none(text: Option<impl AsRef<str>>) -> Cell {
    text.map_or_else(|| Cell::new("–"), Cell::new)
}

fn took(ms: Option<u64>) -> Cell {
    or_none(ms.map(|ms| duration(ms / 1_000)))
}

fn status(it: &ListedSession) -> Cell {
    if let Some(open) = left_open(&it.row) {
        return Cell::new(open).style(style::WARN);
    }
    let status = it.row.status.as_deref();
    or_none(it.idle_since.map(|_| "idle").or(status)).style(style::of_session(status.unwrap_or_default()))
}

/// What a session that is over left open, where that is known: that it is over says little.
fn left_open(row: &SessionRow) -> Option<String> {
    let is_open = row.status.as_deref() == Some("completed") && !row.open.is_empty();
    // The first point is the most urgent one.
    is_open.then(|| cut(&row.open, 28))
}

fn proof(it: &ListedSession) -> Cell {
    or_none(proof_text(&it.row)).style(match it.row.proof.as_deref() {
        Some("green") => style::GOOD,
        Some("failing") => style::BAD,
        Some(_) => style::WARN,
        None => style::DIM,
    })
}

/// What has tokens without a price costs more than is known.
fn cost(it: &ListedSession) -> Cell {
    Cell::new(match (it.spent.known_usd, it.spent.unpriced) {
        (None, _) => "unknown".to_owned(),
        (Some(cost), 0) => usd(cost),
        (Some(cost), _) => format!("{} + unknown", usd(cost)),
    })
}

/// The keys for programs, in order: columns of `cru list sessions`, and what only this list knows.
const KEYS: &[&str] = &[
    "id",
    "status",
    "started",
    "ended",
    "participants",
    "title",
    "channel",
    "steps",
    "failures=failed_steps",
    "tokens",
    "cost_usd",
    "estimated_cost_usd",
    "unpriced_tokens",
    "with_subagents_usd",
    "with_subagents_unpriced",
    "active_ms",
    "duration_ms",
    "proof",
    "writes_after_check",
    "idle_since",
    "model",
    "project",
    "subagent",
    "path",
];

impl Serialize for ListedSession {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let participants = self.row.participants.split(", ").filter(|name| !name.is_empty()).map(str::to_owned);
        let mut row = RowView::of_sessions(KEYS).session(&self.row, self.subagent);
        row.set("participants", participants.collect::<Vec<_>>());
        row.set("estimated_cost_usd", self.estimate.known_usd);
        row.set("unpriced_tokens", self.estimate.unpriced);
        row.set("with_subagents_usd", self.family.known_usd);
        row.set("with_subagents_unpriced", self.family.unpriced);
        row.set("idle_since", self.idle_since);
        if self.copies > 0 {
            row.set("copies", self.copies);
        }
        row.serialize(serializer)
    }
}

#[derive(Debug, Serialize)]
struct SessionList {
    schema: u32,
    total: usize,
    hidden_subagents: u64,
    sessions: Vec<ListedSession>,
    #[serde(skip)]
    columns: Vec<String>,
}

impl SessionList {
    /// The columns that are meant, each with the order in which it leaves a narrow terminal.
    fn columns(&self, view: &View) -> (Vec<&'static ListColumn>, Vec<u8>) {
        // Only a terminal has no room for whole ids.
        let name = |name: &'static str| if name == "name" && !view.terminal { "id" } else { name };
        let usual = USUAL.iter().filter(|_| self.columns.is_empty()).map(|(it, rank)| (name(it), *rank));
        let all = usual.chain(self.columns.iter().map(|name| (name.as_str(), 0)));
        all.filter_map(|(name, rank)| Some((COLUMNS.iter().find(|it| it.name == name)?, rank))).unzip()
    }
}

impl PlainOutput for SessionList {
    fn is_no(&self) -> bool {
        self.sessions.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        if self.sessions.is_empty() {
            return String::new();
        }
        let (columns, ranks) = self.columns(view);
        let head: Vec<_> = columns.iter().map(|column| column.heading).collect();
        let wide = columns.iter().position(|column| column.name == "title").unwrap_or(columns.len().saturating_sub(1));
        let mut table = Table::new(&head).wide(wide).leaving(ranks);
        for row in &self.sessions {
            table.row(columns.iter().map(|column| (column.cell)(row, &view.zone)));
        }
        let mut text = table.render(view);
        let more = self.total - self.sessions.len();
        let mut foot = Vec::new();
        if view.terminal {
            foot.push(plural(self.total as u64, "session"));
        }
        if more > 0 {
            foot.push(format!("{} more (-n 0 shows all)", thousands(more as u64)));
        }
        if view.terminal && self.hidden_subagents > 0 {
            foot.push(format!("{} of sub-agents excluded (--all shows them)", self.hidden_subagents));
        }
        if !foot.is_empty() {
            let _ = writeln!(text, "{}", style::paint(style::DIM, foot.join("; ")));
        }
        text
    }

    fn rows(&self, format: Format) -> Option<String> {
        let keys: Vec<&str> = KEYS.iter().map(|key| key.split('=').next().unwrap_or(key)).collect();
        rows::export(format, &keys, self.sessions.iter().filter_map(|row| serde_json::to_value(row).ok()))
    }
}

/// The first agent and how many more there are: a column must not grow with the busiest session.
fn agents(participants: &str) -> String {
    match participants.split_once(", ") {
        None if participants.is_empty() => "–".to_owned(),
        None => participants.to_owned(),
        Some((first, rest)) => format!("{first} +{}", rest.split(", ").count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_stands_in_the_place_of_completed() {
        let shown = |status: &str, open: &str| {
            left_open(&SessionRow { status: Some(status.into()), open: open.into(), ..SessionRow::default() })
        };
        assert_eq!(shown("completed", ""), None);
        assert_eq!(shown("active", "not pushed"), None);
        assert_eq!(shown("completed", "not pushed").as_deref(), Some("not pushed"));
        let long = shown("completed", "task not done: write the tests of the parser");
        assert_eq!(long.as_deref(), Some("task not done: write the te…"));
    }

    #[test]
    fn a_short_name_tells_a_session_apart() {
        let row = |id: &str, stem: &str| SessionRow {
            id: id.into(),
            path: format!("sessions/{stem}.md"),
            ..SessionRow::default()
        };
        let rows = [
            row("2026-11-02-plan-tide-api", "2026-11-02-plan-tide-api"),
            row("2026-11-02-plan-tide-api-researcher", "2026-11-02-plan-tide-api-researcher"),
            row("2026-11-02-plan-tides", "renamed"),
            row("2026-11-04-été", "2026-11-04-étude"),
            row("0199-7", "2026-11-05-a"),
            row("", "empty"),
        ];
        let names = ShortNames::of(&rows);
        let shortest: Vec<&str> = rows.iter().map(|row| names.shortest(row)).collect();
        assert_eq!(
            shortest,
            [
                "2026-11-02-plan-tide-api",
                "2026-11-02-plan-tide-api-researcher",
                "2026-11-02-plan-tides",
                "2026-11-04-été",
                "0199-7",
                ""
            ]
        );
        for (name, row) in shortest.iter().zip(&rows).filter(|(name, _)| !name.is_empty()) {
            let begins = |it: &&SessionRow| it.id.starts_with(*name);
            let found = rows.iter().filter(begins).count();
            assert!(found == 1 || row.id == *name, "{name}");
        }
    }
}
