//! `cru decisions`: what was decided, over all sessions, and why.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use super::history::line;
use super::output::style::{self, paint};
use super::output::{Found, minute, most, wrap};
use super::reading::{self, Asked};
use super::session::filter::SessionFilter;
use super::{Context, Output, Raw, View};
use crate::base::Result;
use crate::base::text::plural;
use crate::index::record::{DecisionRow, PhaseRow};
use crate::index::{Record, SessionRow, Table};
use crate::session::Link;

/// List decisions with their reasons, newest first
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only decisions with this text in title, body, reason, what was rejected or impact; case does not matter
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Group by session, in the order of the note
    #[arg(long)]
    by_session: bool,
    /// Decisions to show; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    limit: usize,
    /// As a list of links for a note
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    filter: SessionFilter,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let Asked { chosen, snapshot, .. } = reading::asked(&args.filter, cx)?;
    let wanted = args.grep.as_deref().map(str::to_lowercase);
    let mut decisions: Vec<MadeDecision> = Vec::new();
    let made = |record: Record| {
        let mut made = MadeDecision::all(record);
        made.retain(|it| wanted.as_deref().is_none_or(|wanted| it.has(wanted)));
        made
    };
    let with = |row: &SessionRow| row.decisions > 0 && chosen.matches_row(row);
    snapshot.each_record(with, &[Table::Phases, Table::Decisions], made, |some| decisions.extend(some))?;
    let time = |it: &MadeDecision| (Reverse(it.time), Reverse(it.session_started));
    if args.by_session {
        decisions.sort_by(|a, b| {
            let key = |it: &MadeDecision| (Reverse(it.session_started), it.path.clone(), it.row.line);
            key(a).cmp(&key(b))
        });
    } else {
        decisions.sort_by(|a, b| time(a).cmp(&time(b)).then_with(|| (&a.path, b.row.line).cmp(&(&b.path, a.row.line))));
    }
    let total = decisions.len();
    decisions.truncate(most(args.limit));
    if decisions.is_empty() {
        cx.ui.note("no decision matches");
    }
    let log = Log { schema: 1, total, by_session: args.by_session, decisions };
    if args.markdown && !log.decisions.is_empty() {
        return Ok(Box::new(Raw { name: "markdown", text: log.markdown() }));
    }
    Ok(Box::new(log))
}

#[derive(Debug, Serialize)]
struct Log {
    schema: u32,
    total: usize,
    #[serde(skip)]
    by_session: bool,
    decisions: Vec<MadeDecision>,
}

/// A decision with where it was made.
#[derive(Debug, Serialize)]
struct MadeDecision {
    session: String,
    session_title: String,
    session_started: Option<Timestamp>,
    agent: Option<String>,
    phase_title: Option<String>,
    /// When: its own time, else that its phase or session began.
    time: Option<Timestamp>,
    path: String,
    link: String,
    #[serde(flatten)]
    row: DecisionRow,
}

impl MadeDecision {
    fn all(record: Record) -> Vec<Self> {
        let phases: HashMap<&str, &PhaseRow> = record.phases.iter().map(|it| (it.id.as_str(), it)).collect();
        let session = &record.session;
        let made = |row: DecisionRow| {
            let phase = row.phase.as_deref().and_then(|id| phases.get(id));
            Self {
                session: session.id.clone(),
                session_title: session.title.clone(),
                session_started: session.started,
                agent: phase.and_then(|phase| phase.agent.clone()).or_else(|| session.agent.clone()),
                phase_title: phase.map(|phase| phase.title.clone()),
                time: row.at.or_else(|| phase.and_then(|phase| phase.started)).or(session.started),
                path: session.path.clone(),
                link: link(&session.path, row.id.as_deref(), phase.map(|phase| phase.title.as_str())),
                row,
            }
        };
        record.decisions.into_iter().map(made).collect()
    }

    fn has(&self, wanted: &str) -> bool {
        let row = &self.row;
        let texts = [Some(&row.title), Some(&row.text), row.why.as_ref(), row.rejected.as_ref(), row.impact.as_ref()];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(wanted))
    }

    /// Names and values of what it says beside its title.
    fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let row = &self.row;
        let rows = [
            ("", Some(&row.text)),
            ("Why", row.why.as_ref()),
            ("Rejected", row.rejected.as_ref()),
            ("Impact", row.impact.as_ref()),
        ];
        rows.into_iter().filter_map(|(name, text)| Some((name, line(text?)))).filter(|(_, text)| !text.is_empty())
    }

    fn text(&self, by_session: bool, view: &View, out: &mut String) {
        let time = self.time.map_or_else(|| "–".to_owned(), minute);
        let title = line(&self.row.title);
        let title = if title.is_empty() { "untitled".to_owned() } else { title };
        let _ = writeln!(out, "{}  {}", paint(style::DIM, time), paint(style::TITLE, title));
        for (name, value) in self.fields() {
            let label = if name.is_empty() { String::new() } else { format!("{name}: ") };
            let text = format!("{label}{value}");
            let width = if view.terminal { view.width.saturating_sub(2).max(20) } else { usize::MAX };
            for (at, part) in wrap(&text, width).iter().enumerate() {
                let (label, rest) = part.split_at(if at == 0 { label.len().min(part.len()) } else { 0 });
                let _ = writeln!(out, "  {}{rest}", paint(style::DIM, label));
            }
        }
        let agent = self.agent.as_deref().map(|it| format!("  {}", paint(style::AGENT, format_args!("@{}", line(it)))));
        let session = if by_session { String::new() } else { format!("{}  ", line(&self.session_title)) };
        let place = format!("{}:{}", line(&self.path), self.row.line);
        let _ = writeln!(
            out,
            "  {session}{}  {}{}",
            paint(style::CHANNEL, line(&self.link)),
            paint(style::ID, place),
            agent.unwrap_or_default()
        );
    }
}

/// `[[session#^d-01]]`; without an id to the heading that it stands under.
fn link(path: &str, id: Option<&str>, phase: Option<&str>) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut link = Link::to_note(name.strip_suffix(".md").unwrap_or(name));
    link.block = id.map(str::to_owned);
    // A heading with marks of links in it cannot be named in one.
    link.heading = phase
        .filter(|title| id.is_none() && !title.is_empty() && !title.contains(['[', ']', '|', '#', '^', '\n']))
        .map(str::to_owned);
    link.to_string()
}

impl Log {
    /// One item for each decision, its reasons below it.
    fn markdown(&self) -> String {
        let mut out = String::new();
        let mut last = None;
        for it in &self.decisions {
            if self.by_session && last != Some(&it.path) {
                if last.is_some() {
                    out.push('\n');
                }
                let _ = writeln!(out, "## {}\n", link(&it.path, None, None));
                last = Some(&it.path);
            }
            let day = it.time.map(|time| format!("{} ", time.strftime("%F"))).unwrap_or_default();
            let _ = writeln!(out, "- {day}**{}** {}", line(&it.row.title), it.link);
            for (name, value) in it.fields() {
                let label = if name.is_empty() { String::new() } else { format!("{name}: ") };
                let _ = writeln!(out, "    - {label}{value}");
            }
        }
        out
    }
}

impl Found for Log {
    fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        let mut out = String::new();
        let mut last = None;
        for it in &self.decisions {
            if last.is_some() {
                out.push('\n');
            }
            if self.by_session && last != Some(&it.path) {
                let started = it.session_started.map_or_else(|| "–".to_owned(), minute);
                let (id, title) = (paint(style::ID, line(&it.session)), paint(style::TITLE, line(&it.session_title)));
                let _ = writeln!(out, "{}  {id}  {title}\n", paint(style::DIM, started));
            }
            it.text(self.by_session, view, &mut out);
            last = Some(&it.path);
        }
        if self.decisions.len() < self.total {
            let foot = format!("{} of {}", self.decisions.len(), plural(self.total as u64, "decision"));
            let _ = writeln!(out, "\n{}", paint(style::DIM, foot));
        }
        out
    }
}
