//! `cru history`: what was done, the newest first.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::output::style::{self, paint};
use super::output::{PlainOutput, clock, cut, duration, minute, most};
use super::reading::{self, Asked};
use super::session::filter::SessionFilter;
use super::trace::TraceWorld;
use super::trace::stale::{self, StaleQuestion, StaleReport};
use super::{Context, Output, View, current};
use crate::base::Result;
use crate::base::text::{fold_whitespace, plural, sanitise, thousands};
use crate::index::record::{PhaseRow, StepRow};
use crate::index::table::{CellValue, Families, RowView, ViewedRow};
use crate::index::{Record, SessionRow, Table};
use crate::session::StepStatus;

/// List what was done: sessions and the steps of each, newest first
///
/// The current session is marked. Sessions of sub-agents are excluded unless `--all` is given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Sessions to show; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Steps of each session to show; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: usize,
    /// Include the sessions of sub-agents
    #[arg(short, long)]
    all: bool,
    #[command(flatten)]
    filter: SessionFilter,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let Asked { chosen, vault, snapshot } = reading::asked(&args.filter, cx)?;
    let rows = snapshot.sessions();
    let subagents = Families::of(rows);
    let mut meant: Vec<&SessionRow> = rows.iter().filter(|row| chosen.matches_row(row)).collect();
    let before = meant.len();
    meant.retain(|row| args.all || !subagents.is_shown_by_another(row));
    let hidden = before - meant.len();
    meant.sort_by(|a, b| (Reverse(a.started), &a.path).cmp(&(Reverse(b.started), &b.path)));
    let total = meant.len();
    meant.truncate(most(args.limit));
    if meant.is_empty() {
        args.filter.tell_none(snapshot.sessions(), cx);
    }
    let current = current::path(rows, &vault, cx.env);
    let wanted: HashSet<&str> = meant.iter().map(|row| row.path.as_str()).collect();
    let told = |record: Record| {
        let is_current = current.as_deref() == Some(record.session.path.as_str());
        SessionHistory::of(record, is_current, most(args.steps))
    };
    let mut found: HashMap<String, SessionHistory> = HashMap::new();
    let take = |told: SessionHistory| drop(found.insert(told.path(), told));
    snapshot.each_record(|row| wanted.contains(row.path.as_str()), &[Table::Phases, Table::Steps], told, take);
    let mut sessions: Vec<SessionHistory> = meant.iter().filter_map(|row| found.remove(&row.path)).collect();
    // What a step was replayed by began later: older sessions have no part in it.
    let oldest = meant.iter().map(|row| row.started).min().flatten();
    let newest = oldest.map(|oldest| rows.iter().filter(|row| row.started >= Some(oldest)).count());
    let asked = StaleQuestion { newest, ..StaleQuestion::default() };
    if let Ok(report) = TraceWorld::with(vault, Arc::clone(&snapshot), cx).and_then(|it| stale::gather(&asked, &it, cx))
    {
        mark_stale(&mut sessions, report);
    }
    Ok(Box::new(History { schema: 1, total, hidden_subagents: hidden, sessions }))
}

/// Marks the steps that `cru stale` lists. What cannot be told is not marked.
fn mark_stale(sessions: &mut [SessionHistory], report: StaleReport) {
    let mut reasons: HashMap<(String, String), Vec<String>> = HashMap::new();
    for row in report.rows {
        let id = row.reference.rsplit('#').next().unwrap_or_default().to_owned();
        reasons.entry((row.path.to_string(), id)).or_default().push(row.reason);
    }
    for session in sessions {
        let path = session.path();
        for step in &mut session.steps {
            let id = step.step.id.clone().unwrap_or_default();
            step.stale = reasons.remove(&(path.clone(), id)).unwrap_or_default();
        }
    }
}

#[derive(Debug, Serialize)]
struct History {
    schema: u32,
    total: usize,
    hidden_subagents: usize,
    sessions: Vec<SessionHistory>,
}

#[derive(Debug, Serialize)]
struct SessionHistory {
    #[serde(flatten)]
    row: ViewedRow,
    steps: Vec<HistoryStep>,
}

/// What is told of a session.
const VIEW: &[&str] =
    &["id", "path", "title", "current", "status", "started", "ended", "agent", "total_steps=steps", "failed_steps"];

#[derive(Debug, Serialize)]
struct HistoryStep {
    #[serde(flatten)]
    step: StepRow,
    phase_title: Option<String>,
    /// Why it does not hold any more, where it is kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale: Vec<String>,
}

impl SessionHistory {
    fn of(record: Record, current: bool, most: usize) -> Self {
        let phases: HashMap<&str, &PhaseRow> = record.phases.iter().map(|it| (it.id.as_str(), it)).collect();
        let deed = |step: StepRow| HistoryStep {
            phase_title: step.phase.as_deref().and_then(|id| phases.get(id)).map(|phase| phase.title.clone()),
            step,
            stale: Vec::new(),
        };
        // A step without a time stands where it stands: the later in the note, the newer.
        let steps = record.steps.into_iter().rev().take(most).map(deed).collect();
        let mut row = RowView::of_sessions(VIEW).session(&record.session, false);
        row.set("current", current);
        Self { row, steps }
    }

    fn path(&self) -> String {
        self.row.text("path").unwrap_or_default().to_owned()
    }

    fn head(&self, view: &View, out: &mut String) {
        let own = |key: &str| self.row.text(key).map(line);
        let current = *self.row.get("current") == CellValue::Bool(true);
        let mark = if current { paint(style::GOOD, "▶ ") } else { String::new() };
        let started = self.row.time("started");
        let started = started.map_or_else(|| "–".repeat(16), |time| minute(time, &view.zone));
        let (id, title) = (own("id").unwrap_or_default(), own("title").unwrap_or_default());
        let _ = write!(out, "{mark}{}  {}", paint(style::DIM, started), paint(style::ID, &id));
        if title != id {
            let _ = write!(out, "  {}", paint(style::TITLE, title));
        }
        let mut facts = Vec::new();
        facts.extend(own("status").map(|status| paint(style::of_session(&status), &status)));
        facts.extend(current.then(|| paint(style::GOOD, "current")));
        facts.extend(own("agent").map(|agent| paint(style::AGENT, format_args!("@{agent}"))));
        facts.push(plural(self.row.count("total_steps"), "step"));
        let failed = self.row.count("failed_steps");
        if failed > 0 {
            facts.push(paint(style::BAD, format_args!("{} failed", thousands(failed))));
        }
        let _ = writeln!(out, "  {}", facts.join(" · "));
    }
}

/// Text of a note as part of a line.
pub(super) fn line(text: &str) -> String {
    fold_whitespace(&sanitise(text))
}

impl HistoryStep {
    fn text(&self, phase: Option<&str>, id: usize, view: &View, out: &mut String) {
        let step = &self.step;
        let (mark, look) = match StepStatus::named(&step.status) {
            None => ("?", style::WARN),
            Some(StepStatus::Complete) if !self.stale.is_empty() => ("!", style::WARN),
            Some(status) => (status.mark(), style::of_step(status)),
        };
        let clock = step.time.map_or_else(|| " ".repeat(8), |time| clock(time, &view.zone));
        let call = line(&format!("{} {}", step.tool, step.args));
        let mut rest = String::new();
        if let Some(result) = &step.result {
            let _ = write!(rest, " → {}", line(result));
        }
        if let Some(ms) = step.duration_ms.filter(|ms| *ms >= 10_000) {
            let _ = write!(rest, " ({})", duration(ms / 1_000));
        }
        if let Some(phase) = phase {
            let _ = writeln!(out, "    {}", paint(style::DIM, line(phase)));
        }
        let name = step.id.as_deref().unwrap_or("–");
        let room = if view.terminal { view.width.saturating_sub(18 + id).max(20) } else { usize::MAX };
        let shown = cut(&format!("{call}{rest}"), room);
        let (call, rest) = shown.split_at(if shown.starts_with(&call) { call.len() } else { shown.len() });
        let (rest, painted) = (paint(style::DIM, rest), paint(look, mark));
        let clock = paint(style::DIM, clock);
        let _ = writeln!(out, "    {painted} {clock}  {}  {call}{rest}", paint(style::ID, format_args!("{name:<id$}")));
        for reason in &self.stale {
            let blank = " ".repeat(id);
            let _ =
                writeln!(out, "                {blank}{}", paint(style::WARN, format_args!("stale: {}", line(reason))));
        }
    }
}

impl PlainOutput for History {
    fn is_no(&self) -> bool {
        self.sessions.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        let mut out = String::new();
        for (at, told) in self.sessions.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            told.head(view, &mut out);
            let id = told.steps.iter().filter_map(|it| it.step.id.as_ref()).map(String::len).max().unwrap_or(1);
            let mut last = None;
            for deed in &told.steps {
                let changed = last != Some(&deed.step.phase);
                deed.text(deed.phase_title.as_deref().filter(|_| changed), id.min(24), view, &mut out);
                last = Some(&deed.step.phase);
            }
            let earlier = told.row.count("total_steps").saturating_sub(told.steps.len() as u64);
            if earlier > 0 {
                let more = format!("    {} (--steps 0 shows all)", plural(earlier, "earlier step"));
                let _ = writeln!(out, "{}", paint(style::DIM, more));
            }
        }
        let mut foot = Vec::new();
        let more = self.total - self.sessions.len();
        if more > 0 {
            foot.push(format!("{} (-n 0 shows all)", plural(more as u64, "earlier session")));
        }
        if self.hidden_subagents > 0 && view.terminal {
            foot.push(format!("{} of sub-agents excluded (--all shows them)", self.hidden_subagents));
        }
        if !foot.is_empty() && !self.sessions.is_empty() {
            let _ = writeln!(out, "\n{}", paint(style::DIM, foot.join("; ")));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_cut_to_the_terminal_whatever_its_letters() {
        let args = "日本 – “é” ".repeat(9);
        let step = StepRow { tool: "Bash".into(), args, result: Some("–".repeat(40)), ..StepRow::default() };
        let step = HistoryStep { step, phase_title: None, stale: Vec::new() };
        for width in 1..240 {
            let mut out = String::new();
            step.text(None, 5, &View { width, terminal: true, ..View::plain() }, &mut out);
            assert!(out.contains("Bash"), "{width}: {out}");
        }
    }
}
