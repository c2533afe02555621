//! `cru session list`.

use std::cmp::Reverse;

use jiff::Timestamp;
use rayon::prelude::*;
use serde::Serialize;

use super::filter::Filter;
use crate::base::Result;
use crate::base::text::plural;
use crate::commands::output::style;
use crate::commands::output::{Align, Cell, Found, Table, amount, minute, rows};
use crate::commands::reading::{self, Asked};
use crate::commands::{Context, Format, Output, View};
use crate::index::SessionRow;
use crate::index::table::SubagentIds;
use crate::session::Status;

/// List sessions, newest first
///
/// Sessions of sub-agents are left out unless `--all`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// With the sessions of sub-agents
    #[arg(short, long)]
    all: bool,
    /// Order
    #[arg(long, value_enum, default_value = "started", value_name = "KEY")]
    sort: Sort,
    /// The other way round
    #[arg(long)]
    reverse: bool,
    /// At most that many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    filter: Filter,
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
enum Sort {
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
    let subagents = SubagentIds::of(snapshot.sessions());
    let matching = snapshot.sessions().iter().filter(|row| chosen.matches_row(row) && args.more.matches(row));
    let (mut rows, hidden): (Vec<&SessionRow>, Vec<_>) = matching.partition(|row| args.all || !subagents.has(row));
    sort(&mut rows, args.sort);
    if args.reverse {
        rows.reverse();
    }
    if rows.is_empty() {
        cx.ui.note("no session matches");
    }
    let total = rows.len();
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    let sessions = rows.into_par_iter().with_min_len(256).map(|row| Row::of(row, subagents.has(row))).collect();
    Ok(Box::new(List { schema: 1, total, hidden_subagents: hidden.len() as u64, sessions }))
}

fn sort(rows: &mut [&SessionRow], by: Sort) {
    // Ids settle ties, so that the order never depends on the walk.
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    match by {
        Sort::Started => rows.sort_by_key(|row| Reverse(row.started)),
        Sort::Tokens => rows.sort_by_key(|row| Reverse(row.tokens)),
        Sort::Steps => rows.sort_by_key(|row| Reverse(row.steps)),
        Sort::Failures => rows.sort_by_key(|row| Reverse(row.failed_steps)),
        Sort::Title => rows.sort_by_cached_key(|row| row.title.to_lowercase()),
    }
}

#[derive(Debug, Serialize)]
struct List {
    schema: u32,
    total: usize,
    hidden_subagents: u64,
    sessions: Vec<Row>,
}

/// The fields of [`Row`].
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
    "model",
    "project",
    "subagent",
    "path",
];

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    status: Option<Status>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    participants: Vec<String>,
    title: String,
    channel: Option<String>,
    steps: u64,
    failures: u64,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
    model: Option<String>,
    project: Option<String>,
    subagent: bool,
    path: String,
}

impl Row {
    fn of(it: &SessionRow, subagent: bool) -> Self {
        Self {
            id: it.id.clone(),
            status: it.status.as_deref().map(Status::parse),
            started: it.started,
            ended: it.ended,
            participants: it.participants.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            title: it.title.clone(),
            channel: it.channel.clone(),
            steps: it.steps,
            failures: it.failed_steps,
            tokens: it.tokens,
            cost_usd: it.cost_usd,
            model: it.model.clone(),
            project: it.project.clone(),
            subagent,
            path: it.path.clone(),
        }
    }
}

impl Found for List {
    fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        if self.sessions.is_empty() {
            return String::new();
        }
        let mut table = Table::new(&[
            ("SESSION", Align::Left),
            ("STATUS", Align::Left),
            ("STARTED", Align::Left),
            ("AGENTS", Align::Left),
            ("CHANNEL", Align::Left),
            ("STEPS", Align::Right),
            ("FAILED", Align::Right),
            ("TOKENS", Align::Right),
            ("TITLE", Align::Left),
        ]);
        table.extend(&self.sessions, |row| {
            let status = row.status.as_ref().map_or("–", Status::as_str);
            let look = match row.status {
                Some(Status::Active | Status::Paused) => style::WARN,
                Some(Status::Failed | Status::Abandoned) => style::BAD,
                Some(Status::Completed) => style::GOOD,
                Some(Status::Other(_)) | None => style::DIM,
            };
            [
                Cell::new(&row.id).style(style::ID),
                Cell::new(status).style(look),
                Cell::new(row.started.map_or_else(|| "–".into(), minute)),
                Cell::new(agents(&row.participants)).style(style::AGENT),
                Cell::new(row.channel.as_deref().unwrap_or("–")).style(style::CHANNEL),
                Cell::new(row.steps.to_string()),
                if row.failures > 0 {
                    Cell::new(row.failures.to_string()).style(style::BAD)
                } else {
                    Cell::new("–").style(style::DIM)
                },
                Cell::new(row.tokens.map_or_else(|| "–".into(), amount)),
                Cell::new(&row.title),
            ]
        });
        let mut text = table.render(view);
        if view.terminal {
            let mut foot = plural(self.total as u64, "session");
            if self.sessions.len() < self.total {
                foot = format!("{} of {foot}", self.sessions.len());
            }
            if self.hidden_subagents > 0 {
                foot = format!("{foot}; {} of sub-agents left out (--all)", self.hidden_subagents);
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
