//! `cru session list`.

use std::cmp::Reverse;
use std::collections::HashSet;

use jiff::Timestamp;
use serde::Serialize;

use super::filter::Filter;
use crate::base::Result;
use crate::base::text::plural;
use crate::commands::output::style;
use crate::commands::output::{Align, Cell, Table, amount, minute};
use crate::commands::{Context, Output, View, reading};
use crate::session::{Session, Status, StepStatus};
use crate::vault::{Catalog, Loaded};

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
    let chosen = args.filter.read(cx.env)?;
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let (loaded, problems) = vault.load_sessions(&catalog);
    for problem in &problems {
        cx.ui.warn(&problem.diagnostic.message);
    }
    let children: HashSet<&str> =
        loaded.iter().flat_map(|it| it.session.meta.subagents.iter()).map(|row| row.session.as_str()).collect();
    let mut hidden = 0;
    let mut sessions = Vec::new();
    for it in &loaded {
        let row = Row::of(it, &children);
        if !chosen.matches(&it.session.meta) {
            continue;
        }
        if row.subagent && !args.all {
            hidden += 1;
            continue;
        }
        sessions.push(row);
    }
    sort(&mut sessions, args.sort);
    if args.reverse {
        sessions.reverse();
    }
    if sessions.is_empty() {
        cx.ui.note("no session matches");
    }
    let total = sessions.len();
    sessions.truncate(args.limit.unwrap_or(usize::MAX));
    Ok(Box::new(List { schema: 1, total, hidden_subagents: hidden, sessions }))
}

fn sort(rows: &mut [Row], by: Sort) {
    // Ids settle ties, so that the order never depends on the walk.
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    match by {
        Sort::Started => rows.sort_by_key(|row| Reverse(row.started)),
        Sort::Tokens => rows.sort_by_key(|row| Reverse(row.tokens)),
        Sort::Steps => rows.sort_by_key(|row| Reverse(row.steps)),
        Sort::Failures => rows.sort_by_key(|row| Reverse(row.failures)),
        Sort::Title => rows.sort_by_key(|row| row.title.to_lowercase()),
    }
}

#[derive(Debug, Serialize)]
struct List {
    schema: u32,
    total: usize,
    hidden_subagents: u64,
    sessions: Vec<Row>,
}

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
    fn of(it: &Loaded, children: &HashSet<&str>) -> Self {
        let meta = &it.session.meta;
        let id = meta.session_id.clone().unwrap_or_else(|| it.path.stem().into_owned());
        let steps = it.session.steps().count() as u64;
        let failures = it.session.steps().filter(|(_, step)| step.status == StepStatus::Failed).count() as u64;
        let of_subagent = meta.host_session.as_ref().is_some_and(|host| host.contains("/agent-"));
        Self {
            subagent: of_subagent || children.contains(id.as_str()),
            status: meta.status.clone(),
            started: meta.started,
            ended: meta.ended,
            participants: participants(&it.session),
            title: it.session.title().to_owned(),
            channel: meta.channel.clone().or_else(|| it.session.phases.iter().find_map(|phase| phase.channel.clone())),
            steps,
            failures,
            tokens: meta.tokens_used,
            cost_usd: meta.cost_usd,
            model: meta.model.clone(),
            project: meta.project.clone(),
            path: it.path.text().into_owned(),
            id,
        }
    }
}

/// Who took part: the frontmatter's list, else the agents of the phases, for a note written by hand.
fn participants(session: &Session) -> Vec<String> {
    let mut names: Vec<String> = session.meta.participants.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        for agent in session.phases.iter().filter_map(|phase| phase.agent.as_ref()) {
            let name = agent.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

impl Output for List {
    fn text(&self, view: &View) -> String {
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
        for row in &self.sessions {
            let status = row.status.as_ref().map_or("–", Status::as_str);
            let look = match row.status {
                Some(Status::Active | Status::Paused) => style::WARN,
                Some(Status::Failed | Status::Abandoned) => style::BAD,
                Some(Status::Completed) => style::GOOD,
                Some(Status::Other(_)) | None => style::DIM,
            };
            table.row([
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
            ]);
        }
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

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn paged(&self) -> bool {
        true
    }

    /// Nothing found is the answer "no".
    fn exit_code(&self) -> u8 {
        u8::from(self.sessions.is_empty())
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
