//! The figures as one self-contained page: no script, nothing fetched, charts drawn in the page itself.
//!
//! The layout is that of `templates/html/stats.html`; this file prepares the values.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Value, json};

use super::cost::CostReport;
use super::figures::Figures;
use super::group::{Grouped, day};
use super::table::GroupTable;
use super::{GENERATOR, StatsReport};
use crate::base::Result;
use crate::base::text::{plural, thousands};
use crate::commands::output::{PageFrame, Templates, amount, duration, percent, usd, zoned_minute};

pub(in crate::commands) const STYLE: &str = include_str!("page.css");
const TEMPLATES: &[(&str, &str)] = &[("stats.html", include_str!("../../../templates/html/stats.html"))];
/// Rows of a table of an overview.
pub(super) const ROWS: usize = 30;
/// Columns of a chart over time; more days than that are put together by week.
const COLUMNS: usize = 120;
/// Weeks of a chart.
const WEEKS: usize = 260;
const WIDTH: usize = 1000;
const HEIGHT: usize = 160;

/// The page. Error: the built-in template cannot be used.
pub(super) fn render(
    report: &StatsReport,
    cost: &CostReport,
    vault: &str,
    now: Timestamp,
    frame: Option<&PageFrame<'_>>,
) -> Result<String> {
    let templates = Templates::new(TEMPLATES, &report.zone)?;
    let title = if vault.is_empty() { "Sessions".to_owned() } else { format!("Sessions of {vault}") };
    let columns = columns(&report.days);
    let charts = [
        chart("Tokens", &columns, |it| it.tokens.unwrap_or(0)),
        chart("Sessions", &columns, |it| it.sessions),
        chart("Failed steps", &columns, |it| it.failed_steps),
    ];
    let tables = report.by.iter().filter(|it| it.has_keys());
    let tables = tables.map(|it| GroupTable::of_figures(it, &report.total, report.limit, true).page());
    let costs = cost.by.iter().filter(|it| it.has_keys());
    let costs = costs.map(|it| GroupTable::of_costs(it, cost.limit).page());
    let note = format!(
        "Estimated by list prices of {} ({}), [prices] over them. Sub-agents are counted in their sessions.",
        cost.prices_date, cost.prices_source
    );
    let span = report.first.zip(report.last).map(|(first, last)| (day(first, &report.zone), day(last, &report.zone)));
    let values = json!({
        // Markup.
        "head": templates.head(&title, STYLE, GENERATOR, frame)?,
        "framed": frame.is_some(),
        "title": title,
        "now": zoned_minute(now, &report.zone),
        "span": span,
        "cards": cards(&report.total),
        "over_time": columns.len() > 1,
        "charts": charts.into_iter().flatten().collect::<Vec<_>>(),
        "width": WIDTH,
        "height": HEIGHT,
        "costs": costs.collect::<Vec<_>>(),
        "cost_note": note,
        "tables": tables.collect::<Vec<_>>(),
    });
    templates.render("stats.html", values)
}

/// What a chart over time shows: its label and figures, gaps filled.
fn columns(days: &Grouped<Figures>) -> Vec<(String, Figures)> {
    let dated = days.groups.iter().filter_map(|it| Some((it.key.as_ref()?.parse::<Date>().ok()?, &it.sum)));
    let dated: BTreeMap<Date, &Figures> = dated.collect();
    let (Some((first, _)), Some((last, _))) = (dated.first_key_value(), dated.last_key_value()) else {
        return Vec::new();
    };
    let whole = last.since(*first).map_or(i32::MAX, |span| span.get_days());
    let step = if whole < i32::try_from(COLUMNS).unwrap_or(i32::MAX) { 1 } else { 7 };
    // Of a time that is longer than a chart the end is shown.
    let most = if step == 7 { WEEKS } else { COLUMNS };
    let monday = i32::from(last.weekday().to_monday_zero_offset());
    let mut at = if step == 7 { back(*last, monday) } else { *last };
    let mut columns = Vec::new();
    while columns.len() < most {
        let mut figures = Figures::default();
        for (_, it) in dated.range(at..=back(at, 1 - step)) {
            figures.sessions += it.sessions;
            figures.failed_steps += it.failed_steps;
            figures.tokens = Some(figures.tokens.unwrap_or(0).saturating_add(it.tokens.unwrap_or(0)));
        }
        columns.push((if step == 7 { format!("week of {at}") } else { at.to_string() }, figures));
        if at <= *first {
            break;
        }
        at = back(at, step);
    }
    columns.reverse();
    columns
}

/// So many days before.
fn back(date: Date, days: i32) -> Date {
    date.saturating_sub(jiff::SignedDuration::from_hours(i64::from(days) * 24))
}

/// Names, values and what is said below them.
fn cards(all: &Figures) -> Vec<Value> {
    let time = |ms: Option<u64>| ms.map_or_else(|| "–".to_owned(), |ms| duration(ms / 1_000));
    let subagents = match all.subagent_sessions {
        0 => String::new(),
        count => format!("{} of sub-agents", thousands(count)),
    };
    let without = match all.tokens_without_note {
        0 => String::new(),
        tokens => format!("{} of sub-agents without a note", amount(tokens)),
    };
    let cost = all.estimated_cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("US$ {}", usd(cost)));
    let unpriced = match all.unpriced_tokens {
        0 => "estimated by list prices".to_owned(),
        tokens => format!("estimated, without {} tokens of unknown price", amount(tokens)),
    };
    let recorded = match all.cost_usd {
        None => unpriced,
        Some(cost) => format!("{unpriced}; US$ {cost:.2} recorded by {}", plural(all.sessions_with_cost, "session")),
    };
    let reads = match all.cache_read_tokens {
        None => without,
        Some(tokens) if without.is_empty() => format!("{} read from caches", amount(tokens)),
        Some(tokens) => format!("{without}; {} read from caches", amount(tokens)),
    };
    let cards = [
        ("Sessions", thousands(all.sessions), subagents),
        (
            "Sessions failed",
            percent(all.failed_sessions, all.closed_sessions),
            format!("{} of {} closed ones", thousands(all.failed_sessions), thousands(all.closed_sessions)),
        ),
        ("Steps", thousands(all.steps), String::new()),
        (
            "Steps failed",
            percent(all.failed_steps, all.steps),
            format!("{} of {}", thousands(all.failed_steps), thousands(all.steps)),
        ),
        ("Tokens", all.tokens.map_or_else(|| "unknown".to_owned(), amount), reads),
        ("Cost", cost, recorded),
        ("Active time", time(all.active_ms), format!("median {}", time(all.median_active_ms))),
        ("Wall clock", time(all.duration_ms), format!("median {}", time(all.median_duration_ms))),
    ];
    cards.into_iter().map(|(name, value, more)| json!({ "name": name, "value": value, "more": more })).collect()
}

/// A chart over time; none where there is nothing to draw.
fn chart(name: &str, columns: &[(String, Figures)], of: fn(&Figures) -> u64) -> Option<Value> {
    let most = columns.iter().map(|(_, it)| of(it)).max().filter(|most| *most > 0)?;
    let slot = WIDTH as f64 / columns.len() as f64;
    let bars = columns.iter().enumerate().filter(|(_, (_, it))| of(it) > 0).map(|(at, (label, figures))| {
        let value = of(figures);
        let height = (value as f64 / most as f64 * HEIGHT as f64).max(1.0);
        json!({
            "x": format!("{:.1}", at as f64 * slot + slot * 0.1),
            "y": format!("{:.1}", HEIGHT as f64 - height),
            "width": format!("{:.1}", (slot * 0.8).min(60.0)),
            "height": format!("{height:.1}"),
            "label": label,
            "value": thousands(value),
        })
    });
    let bars: Vec<Value> = bars.collect();
    let (first, last) = (columns.first()?, columns.last()?);
    Some(json!({ "name": name, "most": amount(most), "bars": bars, "first": first.0, "last": last.0 }))
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::super::figures::Counted;
    use super::super::group::By;
    use super::*;
    use crate::base::Env;
    use crate::commands::session::filter::SessionFilter;
    use crate::index::SessionRow;
    use crate::index::table::Families;
    use crate::price::Prices;

    fn page(rows: &[SessionRow], by: &[By]) -> String {
        limited(rows, by, 8)
    }

    fn limited(rows: &[SessionRow], by: &[By], limit: usize) -> String {
        let prices = Prices::default();
        let families = Families::of(rows);
        let counted: Vec<_> = rows.iter().map(|row| Counted::of(row, &families, &prices)).collect();
        let report = StatsReport {
            schema: 1,
            first: rows.iter().filter_map(|row| row.started).min(),
            last: rows.iter().filter_map(|row| row.started).max(),
            total: Figures::of(&counted),
            by: by.iter().map(|by| Grouped::of(*by, &counted, &TimeZone::UTC)).collect(),
            days: Grouped::of(By::Day, &counted, &TimeZone::UTC),
            overview: true,
            limit,
            zone: TimeZone::UTC,
        };
        let all = SessionFilter::default()
            .read(&jiff::Zoned::default(), &Env::fixed(Timestamp::UNIX_EPOCH, "/", &[]))
            .unwrap();
        let cost = CostReport::of(rows, &all, &prices, &[By::Model], limit);
        render(&report, &cost, "notes <of> mine", "2026-11-21T12:00:00Z".parse().unwrap(), None).unwrap()
    }

    fn row(started: &str, agent: &str, tokens: u64) -> SessionRow {
        SessionRow {
            id: format!("{agent}-{started}"),
            started: started.parse().ok(),
            agent: Some(agent.into()),
            status: Some("failed".into()),
            tokens: Some(tokens),
            steps: 4,
            failed_steps: 1,
            duration_ms: Some(90_000),
            ..SessionRow::default()
        }
    }

    #[test]
    fn shows_figures() {
        let rows = [row("2026-11-02T08:00:00Z", "coder@2.0", 900), row("2026-11-04T08:00:00Z", "planner", 100)];
        let page = page(&rows, &[By::Agent]);
        let body = page.split("</style>").nth(1).unwrap();
        insta::assert_snapshot!(body);
    }

    #[test]
    fn of_a_long_table_the_first_are_shown_and_of_time_the_last() {
        let rows = [row("2026-11-02T08:00:00Z", "coder", 900), row("2026-11-04T08:00:00Z", "planner", 100)];
        let page = limited(&rows, &[By::Agent, By::Day], 1);
        let tables: Vec<&str> = page.split("<h2 id=\"by-").skip(1).collect();
        assert!(tables[0].contains("<td>coder</td>") && tables[0].contains(">1 more</div>"));
        assert!(tables[1].contains("<td>2026-11-04</td>") && tables[1].contains(">1 earlier one</div>"));
        assert!(tables.iter().all(|table| table.matches("<tr><td>").count() == 1));
    }

    #[test]
    fn nothing_of_a_note_is_markup_and_nothing_is_fetched() {
        let evil = "\"><script>alert(1)</script><img src=x onerror=a>\u{1b}[31m";
        let mut bad = row("2026-11-02T08:00:00Z", evil, 5);
        for field in [&mut bad.channel, &mut bad.model, &mut bad.project, &mut bad.status] {
            *field = Some(evil.to_owned());
        }
        let page = page(&[bad], &[By::Agent, By::Channel, By::Model, By::Project, By::Status]);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains('\u{1b}'));
        assert_eq!(page.matches("&quot;&gt;&lt;script&gt;").count(), 5);
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("url("));
        assert!(page.contains("<title>Sessions of notes &lt;of&gt; mine</title>"));
    }

    #[test]
    fn a_long_time_is_shown_by_week_and_never_without_end() {
        let shown = |first: &str, last: &str| {
            let rows = [row(first, "a", 1), row(last, "a", 1)];
            let prices = Prices::default();
            let families = Families::of(&rows);
            let counted: Vec<_> = rows.iter().map(|row| Counted::of(row, &families, &prices)).collect();
            let columns = columns(&Grouped::of(By::Day, &counted, &TimeZone::UTC));
            let ends = (columns[0].0.clone(), columns[columns.len() - 1].0.clone());
            (columns.len(), ends.0, ends.1, columns.iter().map(|(_, it)| it.sessions).sum::<u64>())
        };
        let text = |it: (usize, &str, &str, u64)| (it.0, it.1.to_owned(), it.2.to_owned(), it.3);
        assert_eq!(shown("2026-11-02T08:00:00Z", "2026-11-04T08:00:00Z"), text((3, "2026-11-02", "2026-11-04", 2)));
        assert_eq!(
            shown("2026-01-01T08:00:00Z", "2026-11-04T08:00:00Z"),
            text((45, "week of 2025-12-29", "week of 2026-11-02", 2))
        );
        let (columns, _, last, sessions) = shown("-009999-01-03T00:00:00Z", "9999-12-30T00:00:00Z");
        assert_eq!((columns, last.as_str(), sessions), (260, "week of 9999-12-27", 1));
    }
}
