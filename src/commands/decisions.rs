//! `cru decisions`: what was decided, over all sessions, and why.

use std::cmp::Reverse;
use std::fmt::Write as _;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::history::line;
use super::output::style::{self, paint};
use super::output::{PlainOutput, minute, most, wrap};
use super::reading::{self, Asked};
use super::session::filter::SessionFilter;
use super::{Context, Output, Raw, View};
use crate::base::Result;
use crate::base::text::plural;
use crate::index::table::{RowView, ViewedRow, rows};
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
    let mut decisions: Vec<ViewedRow> = Vec::new();
    let view = RowView::of(Table::Decisions.columns(), VIEW);
    let matching = |record: Record| {
        let mut made = made(&view, &record, snapshot.zone());
        made.retain(|it| wanted.as_deref().is_none_or(|wanted| has(it, wanted)));
        made
    };
    let with = |row: &SessionRow| row.decisions > 0 && chosen.matches_row(row);
    snapshot.each_record(with, &[Table::Phases, Table::Decisions], matching, |some| decisions.extend(some))?;
    let time = |it: &ViewedRow| (Reverse(it.time("time")), Reverse(it.time("session_started")));
    let place = |it: &ViewedRow| (it.text("path").unwrap_or_default().to_owned(), it.count("line"));
    if args.by_session {
        decisions.sort_by(|a, b| {
            let key = |it: &ViewedRow| (Reverse(it.time("session_started")), place(it));
            key(a).cmp(&key(b))
        });
    } else {
        let newest = |a: &ViewedRow, b: &ViewedRow| {
            let ((path, line), (other, last)) = (place(a), place(b));
            time(a).cmp(&time(b)).then_with(|| (path, last).cmp(&(other, line)))
        };
        decisions.sort_by(newest);
    }
    let total = decisions.len();
    decisions.truncate(most(args.limit));
    if decisions.is_empty() {
        cx.ui.note("no decision matches");
    }
    let log = DecisionLog { schema: 1, total, by_session: args.by_session, decisions };
    if args.markdown && !log.decisions.is_empty() {
        return Ok(Box::new(Raw { name: "markdown", text: log.markdown() }));
    }
    Ok(Box::new(log))
}

#[derive(Debug, Serialize)]
struct DecisionLog {
    schema: u32,
    total: usize,
    #[serde(skip)]
    by_session: bool,
    decisions: Vec<ViewedRow>,
}

/// A decision with where it was made. Its time is its own, else that its phase or session began.
const VIEW: &[&str] = &[
    "session",
    "session_title",
    "session_started",
    "agent",
    "phase_title",
    "time",
    "path=session_path",
    "link",
    "id",
    "phase",
    "title",
    "text",
    "why",
    "rejected",
    "impact",
    "at",
    "line",
];

/// The decisions of a session.
fn made(view: &RowView, record: &Record, zone: &TimeZone) -> Vec<ViewedRow> {
    let made = |row| {
        let mut made = view.row(row);
        let phase = row.phase.map(|phase| phase.title.as_str());
        made.set("link", link(&record.session.path, made.text("id"), phase));
        made
    };
    rows(record, false, Table::Decisions.rows(), zone).map(made).collect()
}

fn has(it: &ViewedRow, wanted: &str) -> bool {
    let texts = ["title", "text", "why", "rejected", "impact"].into_iter().filter_map(|key| it.text(key));
    texts.into_iter().any(|text| text.to_lowercase().contains(wanted))
}

/// Labels and values of what it says beside its title.
fn fields(it: &ViewedRow) -> impl Iterator<Item = (&'static str, String)> {
    let rows = [("", "text"), ("Why: ", "why"), ("Rejected: ", "rejected"), ("Impact: ", "impact")];
    let field = |(label, key)| Some((label, line(it.text(key)?)));
    rows.into_iter().filter_map(field).filter(|(_, text)| !text.is_empty())
}

fn text_of(it: &ViewedRow, by_session: bool, view: &View, out: &mut String) {
    let own = |key: &str| line(it.text(key).unwrap_or_default());
    let time = it.time("time").map_or_else(|| "–".to_owned(), minute);
    let title = own("title");
    let title = if title.is_empty() { "untitled".to_owned() } else { title };
    let _ = writeln!(out, "{}  {}", paint(style::DIM, time), paint(style::TITLE, title));
    for (label, value) in fields(it) {
        let text = format!("{label}{value}");
        let width = if view.terminal { view.width.saturating_sub(2).max(20) } else { usize::MAX };
        for (at, part) in wrap(&text, width).iter().enumerate() {
            let (label, rest) = part.split_at(if at == 0 { label.len().min(part.len()) } else { 0 });
            let _ = writeln!(out, "  {}{rest}", paint(style::DIM, label));
        }
    }
    let agent = it.text("agent").map(|agent| format!("  {}", paint(style::AGENT, format_args!("@{}", line(agent)))));
    let session = if by_session { String::new() } else { format!("{}  ", own("session_title")) };
    let place = paint(style::ID, format_args!("{}:{}", own("path"), it.count("line")));
    let _ = writeln!(out, "  {session}{}  {place}{}", paint(style::CHANNEL, own("link")), agent.unwrap_or_default());
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

impl DecisionLog {
    /// One item for each decision, its reasons below it.
    fn markdown(&self) -> String {
        let mut out = String::new();
        let mut last = None;
        for it in &self.decisions {
            let path = it.text("path");
            if self.by_session && last != path {
                if last.is_some() {
                    out.push('\n');
                }
                let _ = writeln!(out, "## {}\n", link(path.unwrap_or_default(), None, None));
                last = path;
            }
            let day = it.time("time").map(|time| format!("{} ", time.strftime("%F"))).unwrap_or_default();
            let own = |key: &str| it.text(key).unwrap_or_default();
            let _ = writeln!(out, "- {day}**{}** {}", line(own("title")), own("link"));
            for (label, value) in fields(it) {
                let _ = writeln!(out, "    - {label}{value}");
            }
        }
        out
    }
}

impl PlainOutput for DecisionLog {
    fn is_no(&self) -> bool {
        self.decisions.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        let mut out = String::new();
        let mut last = None;
        for it in &self.decisions {
            if last.is_some() {
                out.push('\n');
            }
            if self.by_session && last != it.text("path") {
                let started = it.time("session_started").map_or_else(|| "–".to_owned(), minute);
                let own = |key: &str| line(it.text(key).unwrap_or_default());
                let (id, title) = (paint(style::ID, own("session")), paint(style::TITLE, own("session_title")));
                let _ = writeln!(out, "{}  {id}  {title}\n", paint(style::DIM, started));
            }
            text_of(it, self.by_session, view, &mut out);
            last = it.text("path");
        }
        if self.decisions.len() < self.total {
            let foot = format!("{} of {}", self.decisions.len(), plural(self.total as u64, "decision"));
            let _ = writeln!(out, "\n{}", paint(style::DIM, foot));
        }
        out
    }
}
