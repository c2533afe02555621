//! Figures for people: a few lines, then a table for each kind of group.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::StatsReport;
use super::figures::Figures;
use super::group::{By, Grouped, SessionGroup};
use crate::base::text::{plural, thousands};
use crate::commands::View;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, Table, amount, bar, cost_text, cut, duration, percent, spark, usd};
use crate::price::Prices;

/// Columns of a table beside its key, the ones that go first on a narrow terminal at the end.
const NARROW: [Column; 9] = [
    Column::Sessions,
    Column::Steps,
    Column::Tokens,
    Column::Cost,
    Column::StepsFailed,
    Column::SessionsFailed,
    Column::Active,
    Column::CacheReads,
    Column::WallClock,
];
/// The longest key that a terminal shows whole.
pub(super) const LONGEST_KEY: usize = 32;
/// Columns of the widest bar.
const BAR: usize = 16;

pub(super) fn render(report: &StatsReport, view: &View) -> String {
    if report.total.sessions == 0 {
        return String::new();
    }
    let mut out = head(report);
    if view.terminal {
        lines(&report.days, view, &mut out);
    }
    for grouped in &report.by {
        // A group of all says what the head has said.
        if report.overview && grouped.groups.iter().all(|it| it.key.is_none()) {
            continue;
        }
        out.push('\n');
        table(grouped, report, view, &mut out);
    }
    out
}

fn head(report: &StatsReport) -> String {
    let all = &report.total;
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{}  {text}", paint(style::DIM, format_args!("{name:<15}")));
    };
    let mut sessions = thousands(all.sessions);
    if all.subagent_sessions > 0 {
        let _ = write!(sessions, ", {} of sub-agents", thousands(all.subagent_sessions));
    }
    if let (Some(first), Some(last)) = (report.first, report.last) {
        let (first, last) = (super::group::day(first, &report.zone), super::group::day(last, &report.zone));
        let _ = if first == last { write!(sessions, "; {first}") } else { write!(sessions, "; {first} to {last}") };
    }
    line("Sessions", sessions);
    line(
        "Sessions failed",
        match all.closed_sessions {
            0 => "–, none is closed".to_owned(),
            closed => {
                let abandoned = match all.abandoned_sessions {
                    0 => String::new(),
                    count => format!("; {} abandoned", thousands(count)),
                };
                let (failed, share) = (thousands(all.failed_sessions), percent(all.failed_sessions, closed));
                format!("{failed} of {} closed ones, {share}{abandoned}", thousands(closed))
            }
        },
    );
    line("Steps", thousands(all.steps));
    line(
        "Steps failed",
        match all.steps {
            0 => "–".to_owned(),
            steps => format!("{}, {}", thousands(all.failed_steps), percent(all.failed_steps, steps)),
        },
    );
    let without = match all.tokens_without_note {
        0 => String::new(),
        tokens => format!(", {} of sub-agents without a note", thousands(tokens)),
    };
    let reads =
        all.cache_read_tokens.map_or_else(String::new, |tokens| format!("; {} read from caches", thousands(tokens)));
    line(
        "Tokens",
        all.tokens.map_or_else(|| "unknown".to_owned(), |tokens| format!("{}{without}{reads}", thousands(tokens))),
    );
    let prices = if all.estimated_cost_usd.is_some() {
        format!("; estimate by list prices of {}", Prices::date())
    } else {
        String::new()
    };
    line("Cost, estimated", format!("{}{prices}", cost_text(all.estimated_cost_usd, all.unpriced_tokens)));
    if let Some(cost) = all.cost_usd {
        let by = plural(all.sessions_with_cost, "session");
        line("Cost, recorded", format!("US$ {cost:.2} by the agents of {by}"));
    }
    let time = |whole: Option<u64>, average: Option<u64>, median: Option<u64>| match (whole, average, median) {
        (Some(whole), Some(average), Some(median)) => format!(
            "{}; {} on average, median {}",
            duration(whole / 1_000),
            duration(average / 1_000),
            duration(median / 1_000)
        ),
        _ => "–".to_owned(),
    };
    line("Active time", time(all.active_ms, all.average_active_ms, all.median_active_ms));
    line("Wall clock", time(all.duration_ms, all.average_duration_ms, all.median_duration_ms));
    out
}

/// One character for each of the last days.
fn lines(days: &Grouped, view: &View, out: &mut String) {
    let dated = || days.groups.iter().filter_map(|it| Some((it.key.as_ref()?.parse().ok()?, &it.figures)));
    let dated: std::collections::BTreeMap<jiff::civil::Date, &Figures> = dated().collect();
    let (Some((first, _)), Some((last, _))) = (dated.first_key_value(), dated.last_key_value()) else { return };
    let room = view.width.saturating_sub(44).clamp(7, 120);
    let mut shown = Vec::new();
    let mut day = *last;
    while day >= *first && shown.len() < room {
        shown.push(day);
        let Ok(before) = day.yesterday() else { break };
        day = before;
    }
    shown.reverse();
    let Some(from) = shown.first().filter(|_| shown.len() > 1) else { return };
    let values = |of: fn(&Figures) -> u64| -> Vec<u64> {
        shown.iter().map(|day| dated.get(day).map_or(0, |figures| of(figures))).collect()
    };
    out.push('\n');
    for (name, of) in
        [("Sessions a day", (|it| it.sessions) as fn(&Figures) -> u64), ("Tokens a day", |it| it.tokens.unwrap_or(0))]
    {
        let values = values(of);
        let most = amount(values.iter().copied().max().unwrap_or(0));
        let line = paint(style::CHART, spark(&values));
        let label = paint(style::DIM, format_args!("{name:<15}"));
        let _ = writeln!(out, "{label}  {line}  {}", paint(style::DIM, format_args!("at most {most}")));
    }
    let gap = shown.len().saturating_sub(20).max(1);
    let scale = if shown.len() < 21 { format!("{from} to {last}") } else { format!("{from}{:gap$}{last}", "") };
    let _ = writeln!(out, "{:17}{}", "", paint(style::DIM, scale));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Sessions,
    SessionsFailed,
    Steps,
    StepsFailed,
    Tokens,
    CacheReads,
    Cost,
    Active,
    WallClock,
}

impl Column {
    /// In the order of the table.
    const ALL: [Self; 9] = [
        Self::Sessions,
        Self::SessionsFailed,
        Self::Steps,
        Self::StepsFailed,
        Self::Tokens,
        Self::CacheReads,
        Self::Cost,
        Self::Active,
        Self::WallClock,
    ];

    const fn heading(self) -> &'static str {
        match self {
            Self::Sessions => "SESSIONS",
            Self::SessionsFailed => "SESSIONS FAILED",
            Self::Steps => "STEPS",
            Self::StepsFailed => "STEPS FAILED",
            Self::Tokens => "TOKENS",
            Self::CacheReads => "CACHE READS",
            Self::Cost => "US$ (ESTIMATE)",
            Self::Active => "ACTIVE TIME",
            Self::WallClock => "WALL CLOCK",
        }
    }

    fn cell(self, it: &Figures) -> Cell {
        let none = || "–".to_owned();
        let failed = |part: u64, whole: u64| match (part, whole) {
            (_, 0) => Cell::new("–").style(style::DIM),
            (0, _) => Cell::new("0").style(style::DIM),
            _ => Cell::new(format!("{part} ({})", percent(part, whole))).style(style::BAD),
        };
        let time = |ms: Option<u64>| Cell::new(ms.map_or_else(none, |ms| duration(ms / 1_000)));
        match self {
            Self::Sessions => Cell::new(thousands(it.sessions)),
            Self::SessionsFailed => failed(it.failed_sessions, it.closed_sessions),
            Self::Steps => Cell::new(thousands(it.steps)),
            Self::StepsFailed => failed(it.failed_steps, it.steps),
            Self::Tokens => Cell::new(it.tokens.map_or_else(none, amount)),
            Self::CacheReads => Cell::new(it.cache_read_tokens.map_or_else(none, amount)),
            Self::Cost => Cell::new(it.estimated_cost_usd.map_or_else(|| "unknown".to_owned(), usd)),
            Self::Active => time(it.active_ms),
            Self::WallClock => time(it.duration_ms),
        }
    }
}

fn table(grouped: &Grouped, report: &StatsReport, view: &View, out: &mut String) {
    let all = &grouped.groups;
    // Of times the newest are meant.
    let from = if grouped.by.is_time() { all.len().saturating_sub(report.limit) } else { 0 };
    let shown: Vec<&SessionGroup> = all.iter().skip(from).take(report.limit).collect();
    let key = |it: &SessionGroup| {
        let key = it.key.as_deref().unwrap_or("–");
        if view.terminal { cut(key, LONGEST_KEY) } else { key.to_owned() }
    };
    let (cost, reads) = (report.total.estimated_cost_usd.is_some(), report.total.cache_read_tokens.is_some());
    let has = |column: &Column| match column {
        Column::Sessions | Column::Steps | Column::StepsFailed => true,
        // What a step cost and how long it took is not recorded.
        _ if grouped.by == By::Tool => false,
        Column::Cost => cost,
        Column::CacheReads => reads,
        _ => true,
    };
    let mut columns: Vec<Column> = Column::ALL.into_iter().filter(has).collect();
    let share = Share::of(grouped.by, &report.total);
    if view.terminal {
        let keys = shown.iter().map(|it| key(it).width()).max().unwrap_or(0).max(grouped.by.heading().width());
        let width =
            |columns: &[Column]| keys + columns.iter().map(|it| it.heading().len().max(8) + 2).sum::<usize>() + 2;
        for last in NARROW.iter().rev() {
            if width(&columns) + share.heading().len() <= view.width {
                break;
            }
            columns.retain(|it| it != last);
        }
    }
    let mut head = vec![(grouped.by.heading(), Align::Left)];
    head.extend(columns.iter().map(|it| (it.heading(), Align::Right)));
    head.push((share.heading(), Align::Left));
    let mut table = Table::new(&head);
    for it in shown {
        let mut cells = vec![Cell::new(key(it)).style(key_style(grouped.by, it.key.as_deref()))];
        cells.extend(columns.iter().map(|column| column.cell(&it.figures)));
        let (part, whole) = (share.value(&it.figures), share.value(&report.total));
        let text = percent(part, whole);
        cells.push(if view.terminal {
            Cell::new(format!("{text:>6} {}", bar(part, whole, BAR))).style(style::CHART)
        } else {
            Cell::new(text)
        });
        table.row(cells);
    }
    out.push_str(&table.render(view));
    let hidden = all.len().saturating_sub(report.limit);
    if hidden > 0 {
        let more = if grouped.by.is_time() { "earlier ones" } else { "more" };
        let all = if report.overview { format!(" (--by {})", grouped.by.name()) } else { String::new() };
        let _ = writeln!(out, "{}", paint(style::DIM, format_args!("{} {more}{all}", thousands(hidden as u64))));
    }
}

/// What a row's bar is a share of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    Tokens,
    Sessions,
    Steps,
}

impl Share {
    /// Of tokens, where any are known; of tools their steps.
    pub(super) fn of(by: By, total: &Figures) -> Self {
        match total.tokens {
            _ if by == By::Tool => Self::Steps,
            Some(1..) => Self::Tokens,
            _ => Self::Sessions,
        }
    }

    /// Heading of a text table.
    const fn heading(self) -> &'static str {
        match self {
            Self::Tokens => "SHARE OF TOKENS",
            Self::Sessions => "SHARE OF SESSIONS",
            Self::Steps => "SHARE OF STEPS",
        }
    }

    pub(super) fn value(self, it: &Figures) -> u64 {
        match self {
            Self::Tokens => it.tokens.unwrap_or(0),
            Self::Sessions => it.sessions,
            Self::Steps => it.steps,
        }
    }
}

/// The style of a group's name.
pub(super) fn key_style(by: By, key: Option<&str>) -> anstyle::Style {
    match (by, key) {
        (_, None) => style::DIM,
        (By::Agent | By::AgentVersion, _) => style::AGENT,
        (By::Channel, _) => style::CHANNEL,
        (By::Status, Some("completed")) => style::GOOD,
        (By::Status, Some("failed")) => style::BAD,
        (By::Status, Some("active" | "paused" | "abandoned")) => style::WARN,
        _ => anstyle::Style::new(),
    }
}
