//! `cru session list`.

use std::cmp::Reverse;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rayon::prelude::*;
use serde::Serialize;

use super::filter::SessionFilter;
use crate::base::text::plural;
use crate::base::{Env, Result};
use crate::commands::output::style;
use crate::commands::output::{
    Align, Cell, Estimate, Found, Table, amount, duration, minute, most, proof_text, rows, usd,
};
use crate::commands::prices::prices;
use crate::commands::reading::{self, Asked};
use crate::commands::{Context, Format, Output, View};
use crate::index::SessionRow;
use crate::index::table::Families;
use crate::price::Prices;
use crate::session::{Meta, Status};
use crate::sync::hooked;
use crate::vault::Vault;

/// List sessions, newest first
///
/// Sessions of sub-agents are excluded unless `--all` is given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Include the sessions of sub-agents
    #[arg(short, long)]
    all: bool,
    /// Order
    #[arg(long, value_enum, default_value = "started", value_name = "KEY")]
    sort: ListSort,
    /// Reverse the order
    #[arg(long)]
    reverse: bool,
    /// Sessions to show; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    limit: usize,
    /// Columns of the table, in this order
    #[arg(long, value_enum, value_name = "COLUMN", value_delimiter = ',')]
    columns: Vec<ListColumn>,
    #[command(flatten)]
    filter: SessionFilter,
    #[command(flatten)]
    more: More,
}

/// Filters of this command alone; all that are given must hold, and case does not matter.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filters")]
struct More {
    /// Part of the primary model's name
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// A tag, or one that it is nested under; may be given again: all must be there
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// The session it was started from, as its note names it
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
}

impl More {
    fn matches(&self, row: &SessionRow) -> bool {
        let same = |wanted: &String, own: &str| wanted.to_lowercase() == own.to_lowercase();
        let model = self.model.as_ref().is_none_or(|wanted| {
            row.model.as_ref().is_some_and(|own| own.to_lowercase().contains(&wanted.to_lowercase()))
        });
        let branch = self.branch.as_ref().is_none_or(|wanted| row.branch.as_ref().is_some_and(|own| same(wanted, own)));
        let tag = self.tag.iter().all(|wanted| {
            let wanted = wanted.trim_start_matches('#').to_lowercase();
            row.tags
                .to_lowercase()
                .split(", ")
                .any(|own| own.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        });
        let parent = self.parent.as_ref().is_none_or(|wanted| {
            // A link may name the note by its path.
            let name = |link: &str| link.rsplit('/').next().unwrap_or(link).trim_end_matches(".md").to_lowercase();
            row.parent.as_ref().is_some_and(|own| name(own) == name(wanted))
        });
        model && branch && tag && parent
    }
}

/// What to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ListSort {
    /// Newest first
    Started,
    /// Most first
    Tokens,
    /// Most first
    Steps,
    /// Most first
    Failures,
    /// A to Z
    Title,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let Asked { chosen, snapshot, .. } = reading::asked(&args.filter, cx)?;
    let subagents = Families::of(snapshot.sessions());
    let matching = snapshot.sessions().iter().filter(|row| chosen.matches_row(row) && args.more.matches(row));
    let (mut rows, hidden): (Vec<&SessionRow>, Vec<_>) =
        matching.partition(|row| args.all || !subagents.is_shown_by_another(row));
    sort(&mut rows, args.sort);
    if args.reverse {
        rows.reverse();
    }
    if rows.is_empty() {
        cx.ui.note("no session matches");
    }
    let total = rows.len();
    rows.truncate(most(args.limit));
    let (prices, vault) = (prices(cx)?, reading::vault(cx)?);
    let of = |row: &SessionRow| SessionListRow {
        copies: snapshot.copies(&row.path),
        idle_since: idle_since(row, &vault, cx.env),
        ..SessionListRow::of(row, subagents.is_subagent(row), &prices)
    };
    let sessions = rows.into_par_iter().with_min_len(256).map(of).collect();
    let columns = if args.columns.is_empty() { ListColumn::USUAL.to_vec() } else { args.columns.clone() };
    Ok(Box::new(SessionList { schema: 1, total, hidden_subagents: hidden.len() as u64, sessions, columns }))
}

/// Since when nothing happened in an active session that is due to be paused.
fn idle_since(row: &SessionRow, vault: &Vault, env: &Env) -> Option<Timestamp> {
    let status = Some(Status::parse(row.status.as_deref()?));
    let (host, host_session) = (row.host.clone(), row.host_session.clone());
    let meta = Meta { status, started: row.started, host, host_session, ..Meta::default() };
    let took = SignedDuration::try_from(Duration::from_millis(row.duration_ms.unwrap_or(0))).ok()?;
    hooked::idle_since(vault, env, &meta, row.started.and_then(|started| started.checked_add(took).ok()))
}

fn sort(rows: &mut [&SessionRow], by: ListSort) {
    // Ids settle ties, so that the order never depends on the walk.
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    match by {
        ListSort::Started => rows.sort_by_key(|row| Reverse(row.started)),
        ListSort::Tokens => rows.sort_by_key(|row| Reverse(row.tokens)),
        ListSort::Steps => rows.sort_by_key(|row| Reverse(row.steps)),
        ListSort::Failures => rows.sort_by_key(|row| Reverse(row.failed_steps)),
        ListSort::Title => rows.sort_by_cached_key(|row| row.title.to_lowercase()),
    }
}

/// A column of the table for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ListColumn {
    /// Id
    Id,
    /// Status; `idle` for an active session that the next flush pauses or closes
    Status,
    /// What checks prove of the writes
    Proof,
    /// Begin, UTC
    Started,
    /// End, UTC
    Ended,
    /// Time without pauses of ten minutes and more
    Active,
    /// Time by the wall clock
    Duration,
    /// Agents
    Agents,
    /// Channel
    Channel,
    /// Steps
    Steps,
    /// Failed steps
    Failed,
    /// Tokens, without those read from a cache
    Tokens,
    /// Cost of its own tokens by list prices, an estimate in US dollars
    Cost,
    /// Primary model
    Model,
    /// Project
    Project,
    /// Title
    Title,
    /// Path of the note
    Path,
}

impl ListColumn {
    /// Where none are asked for.
    const USUAL: &'static [Self] = &[
        Self::Id,
        Self::Status,
        Self::Started,
        Self::Agents,
        Self::Channel,
        Self::Steps,
        Self::Failed,
        Self::Tokens,
        Self::Title,
    ];

    const fn heading(self) -> (&'static str, Align) {
        match self {
            Self::Id => ("SESSION", Align::Left),
            Self::Status => ("STATUS", Align::Left),
            Self::Proof => ("PROOF", Align::Left),
            Self::Started => ("STARTED", Align::Left),
            Self::Ended => ("ENDED", Align::Left),
            Self::Active => ("ACTIVE", Align::Right),
            Self::Duration => ("WALL CLOCK", Align::Right),
            Self::Agents => ("AGENTS", Align::Left),
            Self::Channel => ("CHANNEL", Align::Left),
            Self::Steps => ("STEPS", Align::Right),
            Self::Failed => ("FAILED", Align::Right),
            Self::Tokens => ("TOKENS", Align::Right),
            Self::Cost => ("US$ (ESTIMATE)", Align::Right),
            Self::Model => ("MODEL", Align::Left),
            Self::Project => ("PROJECT", Align::Left),
            Self::Title => ("TITLE", Align::Left),
            Self::Path => ("PATH", Align::Left),
        }
    }

    fn cell(self, row: &SessionListRow) -> Cell {
        let or_none = |text: Option<&str>| Cell::new(text.unwrap_or("–"));
        let time = |time: Option<Timestamp>| Cell::new(time.map_or_else(|| "–".into(), minute));
        let took = |ms: Option<u64>| Cell::new(ms.map_or_else(|| "–".into(), |ms| duration(ms / 1_000)));
        match self {
            Self::Id => Cell::new(&row.id).style(style::ID),
            Self::Status => {
                let look = match row.status {
                    Some(Status::Active | Status::Paused | Status::Abandoned) => style::WARN,
                    Some(Status::Failed) => style::BAD,
                    Some(Status::Completed) => style::GOOD,
                    Some(Status::Other(_)) | None => style::DIM,
                };
                let status = row.status.as_ref().map(Status::as_str);
                or_none(row.idle_since.map(|_| "idle").or(status)).style(look)
            }
            Self::Proof => or_none(row.proof_text.as_deref()).style(match row.proof.as_deref() {
                Some("green") => style::GOOD,
                Some("failing") => style::BAD,
                Some(_) => style::WARN,
                None => style::DIM,
            }),
            Self::Started => time(row.started),
            Self::Ended => time(row.ended),
            Self::Active => took(row.active_ms),
            Self::Duration => took(row.duration_ms),
            Self::Agents => Cell::new(agents(&row.participants)).style(style::AGENT),
            Self::Channel => or_none(row.channel.as_deref()).style(style::CHANNEL),
            Self::Steps => Cell::new(row.steps.to_string()),
            Self::Failed if row.failures > 0 => Cell::new(row.failures.to_string()).style(style::BAD),
            Self::Failed => Cell::new("–").style(style::DIM),
            Self::Tokens => Cell::new(row.tokens.map_or_else(|| "–".into(), amount)),
            // What has tokens without a price costs more than is known.
            Self::Cost => Cell::new(match (row.estimated_cost_usd, row.unpriced_tokens) {
                (None, _) => "unknown".to_owned(),
                (Some(cost), 0) => usd(cost),
                (Some(cost), _) => format!("{} + unknown", usd(cost)),
            }),
            Self::Model => or_none(row.model.as_deref()),
            Self::Project => or_none(row.project.as_deref()),
            Self::Title if row.copies > 0 => Cell::new(format!("{} ({})", row.title, plural_copies(row.copies))),
            Self::Title => Cell::new(&row.title),
            Self::Path => Cell::new(&row.path),
        }
    }
}

#[derive(Debug, Serialize)]
struct SessionList {
    schema: u32,
    total: usize,
    hidden_subagents: u64,
    sessions: Vec<SessionListRow>,
    #[serde(skip)]
    columns: Vec<ListColumn>,
}

/// The fields of [`SessionListRow`].
const COLUMNS: &[&str] = &[
    "id",
    "status",
    "started",
    "ended",
    "participants",
    "title",
    "channel",
    "steps",
    "failures",
    "tokens",
    "cost_usd",
    "estimated_cost_usd",
    "unpriced_tokens",
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

#[derive(Debug, Serialize)]
struct SessionListRow {
    id: String,
    status: Option<Status>,
    /// Since when nothing happened, where the next flush pauses or closes it for that.
    idle_since: Option<Timestamp>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    participants: Vec<String>,
    title: String,
    channel: Option<String>,
    steps: u64,
    failures: u64,
    tokens: Option<u64>,
    /// As the record of the agent has it.
    cost_usd: Option<f64>,
    /// By list prices, for its own tokens.
    estimated_cost_usd: Option<f64>,
    /// Tokens that the estimate leaves out.
    unpriced_tokens: u64,
    active_ms: Option<u64>,
    duration_ms: Option<u64>,
    proof: Option<String>,
    writes_after_check: u64,
    #[serde(skip)]
    proof_text: Option<String>,
    model: Option<String>,
    project: Option<String>,
    subagent: bool,
    path: String,
    /// Copies of the note that a sync service left.
    #[serde(skip_serializing_if = "is_zero")]
    copies: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn plural_copies(count: u64) -> String {
    if count == 1 { "1 copy".to_owned() } else { format!("{count} copies") }
}

impl SessionListRow {
    fn of(it: &SessionRow, subagent: bool, prices: &Prices) -> Self {
        let estimate = Estimate::of(it, prices);
        Self {
            id: it.id.clone(),
            status: it.status.as_deref().map(Status::parse),
            idle_since: None,
            started: it.started,
            ended: it.ended,
            participants: it.participants.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            title: it.title.clone(),
            channel: it.channel.clone(),
            steps: it.steps,
            failures: it.failed_steps,
            tokens: it.tokens,
            cost_usd: it.cost_usd,
            estimated_cost_usd: estimate.known_usd,
            unpriced_tokens: estimate.unpriced,
            active_ms: it.active_ms,
            duration_ms: it.duration_ms,
            proof: it.proof.clone(),
            writes_after_check: it.writes_after_check,
            proof_text: proof_text(it),
            model: it.model.clone(),
            project: it.project.clone(),
            subagent,
            path: it.path.clone(),
            copies: 0,
        }
    }
}

impl Found for SessionList {
    fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        if self.sessions.is_empty() {
            return String::new();
        }
        let head: Vec<_> = self.columns.iter().map(|column| column.heading()).collect();
        let mut table = Table::new(&head);
        for row in &self.sessions {
            table.row(self.columns.iter().map(|column| column.cell(row)));
        }
        let mut text = table.render(view);
        if view.terminal {
            let mut foot = plural(self.total as u64, "session");
            if self.sessions.len() < self.total {
                foot = format!("{} of {foot}", self.sessions.len());
            }
            if self.hidden_subagents > 0 {
                foot = format!("{foot}; {} of sub-agents excluded (--all shows them)", self.hidden_subagents);
            }
            text.push_str(&style::paint(style::DIM, foot));
            text.push('\n');
        }
        text
    }

    fn rows(&self, format: Format) -> Option<String> {
        let rows = self.sessions.iter().filter_map(|row| serde_json::to_value(row).ok());
        rows::export(format, COLUMNS, rows)
    }
}

/// The first agent and how many more there are: a column must not grow with the busiest session.
fn agents(participants: &[String]) -> String {
    match participants {
        [] => "–".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_must_hold() {
        let row = SessionRow {
            model: Some("claude-opus-4-5".into()),
            branch: Some("feature/tides".into()),
            tags: "auth/tokens, API".into(),
            parent: Some("sessions/2026-11-02-plan".into()),
            ..SessionRow::default()
        };
        let holds = |model: &str, branch: &str, tags: &[&str], parent: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let tag = tags.iter().map(ToString::to_string).collect();
            More { model: some(model), branch: some(branch), tag, parent: some(parent) }.matches(&row)
        };
        assert!(holds("", "", &[], ""));
        assert!(holds("OPUS", "Feature/tides", &["#api", "auth"], "2026-11-02-plan"));
        assert!(holds("", "", &["auth/tokens"], "other/2026-11-02-plan.md"));
        assert!(!holds("haiku", "", &[], ""));
        assert!(!holds("", "feature", &[], ""));
        assert!(!holds("", "", &["api", "au"], ""));
        assert!(!holds("", "", &[], "2026-11-02"));
        assert!(
            !More { model: Some("x".into()), branch: None, tag: Vec::new(), parent: None }
                .matches(&SessionRow::default())
        );
    }
}
