//! Figures for people: a few lines, then a table for each kind of group.

use std::fmt::Write as _;

use super::StatsReport;
use super::cost::CostReport;
use super::figures::Figures;
use super::group::Grouped;
use super::table::GroupTable;
use crate::base::text::{plural, thousands};
use crate::commands::View;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{amount, cost_text, duration, percent, spark};
use crate::price::Prices;

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
        if report.overview && !grouped.has_keys() {
            continue;
        }
        let all = if report.overview { format!(" (--by {})", grouped.by.name()) } else { String::new() };
        table(&GroupTable::of_figures(grouped, &report.total, report.limit, false), &all, view, &mut out);
    }
    out
}

/// Costs for people: the sum, what it leaves out, a table for each kind of group.
pub(super) fn costs(report: &CostReport, view: &View) -> String {
    let total = &report.total;
    let mut out = String::new();
    if total.sessions == 0 {
        return out;
    }
    let mut line = |name: &str, text: String| fact(name, &text, &mut out);
    line("Sessions", format!("{}, sub-agents counted in theirs", thousands(total.sessions)));
    line("Cost, estimated", total.cost.text());
    line("Prices", format!("list prices of {} ({}), [prices] over them", report.prices_date, report.prices_source));
    if total.usage.web_searches > 0 {
        line("Web searches", format!("{}, in the estimate", thousands(total.usage.web_searches)));
    }
    if !report.unpriced_models.is_empty() {
        let few: Vec<&str> = report.unpriced_models.iter().take(4).map(String::as_str).collect();
        let more = report.unpriced_models.len().saturating_sub(few.len()) as u64;
        let more = if more > 0 { format!(" and {}", plural(more, "other")) } else { String::new() };
        line("Without price", format!("{}{more}", few.join(", ")));
    }
    for grouped in &report.by {
        let all = format!(" (--by {} -n 0)", grouped.by.name());
        table(&GroupTable::of_costs(grouped, report.limit), &all, view, &mut out);
    }
    out
}

/// A blank line, the table, and how many groups it leaves out; `all` names what shows them.
fn table(table: &GroupTable<'_>, all: &str, view: &View, out: &mut String) {
    out.push('\n');
    out.push_str(&table.text(view));
    if let Some(more) = table.more() {
        let _ = writeln!(out, "{}", paint(style::DIM, format_args!("{more}{all}")));
    }
}

fn fact(name: &str, text: &str, out: &mut String) {
    let _ = writeln!(out, "{}  {text}", paint(style::DIM, format_args!("{name:<15}")));
}

fn head(report: &StatsReport) -> String {
    let all = &report.total;
    let mut out = String::new();
    let mut line = |name: &str, text: String| fact(name, &text, &mut out);
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
fn lines(days: &Grouped<Figures>, view: &View, out: &mut String) {
    let dated = || days.groups.iter().filter_map(|it| Some((it.key.as_ref()?.parse().ok()?, &it.sum)));
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
