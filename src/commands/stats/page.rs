//! The figures as one self-contained page: no script, nothing fetched, charts drawn in the page itself.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use jiff::Timestamp;
use jiff::civil::Date;

use super::figures::Figures;
use super::group::{By, Group, Grouped, day};
use super::{GENERATOR, Report};
use crate::base::text::{plural, thousands};
use crate::commands::output::{amount, duration, escape, minute, percent};

const STYLE: &str = include_str!("page.css");
/// Nothing may be fetched, sent or run, whatever a note says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Rows of a table of an overview.
pub(super) const ROWS: usize = 30;
/// Columns of a chart over time; more days than that are put together by week.
const COLUMNS: usize = 120;
/// Weeks of a chart.
const WEEKS: usize = 260;
const WIDTH: usize = 1000;
const HEIGHT: usize = 160;

/// The page.
pub(super) fn render(report: &Report, vault: &str, now: Timestamp) -> String {
    let mut page = Page { out: String::new() };
    let title = if vault.is_empty() { "Sessions".to_owned() } else { format!("Sessions of {}", escape(vault)) };
    page.put(format_args!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{GENERATOR}\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<h1>{title}</h1>\n"
    ));
    let span = report.first.zip(report.last).map(|(first, last)| format!("{} to {}, ", day(first), day(last)));
    page.put(format_args!("<div class=\"soft\">{}as of {} UTC</div>\n", span.unwrap_or_default(), minute(now)));
    page.cards(&report.total);
    let columns = columns(&report.days);
    if columns.len() > 1 {
        page.put("<h2>Over time</h2>\n");
        page.chart("Tokens", &columns, |it| it.tokens.unwrap_or(0));
        page.chart("Sessions", &columns, |it| it.sessions);
        page.chart("Failed steps", &columns, |it| it.failed_steps);
    }
    for grouped in &report.by {
        if grouped.groups.iter().any(|it| it.key.is_some()) {
            page.table(grouped, &report.total, report.limit);
        }
    }
    page.put("</body>\n</html>\n");
    page.out
}

/// What a chart over time shows: its label and figures, gaps filled.
fn columns(days: &Grouped) -> Vec<(String, Figures)> {
    let dated = days.groups.iter().filter_map(|it| Some((it.key.as_ref()?.parse::<Date>().ok()?, &it.figures)));
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

struct Page {
    out: String,
}

impl Page {
    fn put(&mut self, html: impl Display) {
        let _ = write!(self.out, "{html}");
    }

    fn cards(&mut self, all: &Figures) {
        let time = |ms: Option<u64>| ms.map_or_else(|| "–".to_owned(), |ms| duration(ms / 1_000));
        let subagents = match all.subagent_sessions {
            0 => String::new(),
            count => format!("{} of sub-agents", thousands(count)),
        };
        let without = match all.tokens_without_note {
            0 => String::new(),
            tokens => format!("{} of sub-agents without a note", amount(tokens)),
        };
        let cost = all.cost_usd.map_or_else(|| "–".to_owned(), |cost| format!("US$ {cost:.2}"));
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
            ("Tokens", all.tokens.map_or_else(|| "–".to_owned(), amount), without),
            ("Cost", cost, format!("told by {}", plural(all.sessions_with_cost, "session"))),
            ("Duration", time(all.average_duration_ms), format!("on average, median {}", time(all.median_duration_ms))),
        ];
        self.put("<dl class=\"cards\">\n");
        for (name, value, more) in cards {
            let more = if more.is_empty() { String::new() } else { format!("<small>{more}</small>") };
            self.put(format_args!("<div><dt>{name}</dt><dd>{value}{more}</dd></div>\n"));
        }
        self.put("</dl>\n");
    }

    fn chart(&mut self, name: &str, columns: &[(String, Figures)], of: fn(&Figures) -> u64) {
        let most = columns.iter().map(|(_, it)| of(it)).max().unwrap_or(0);
        if most == 0 {
            return;
        }
        let slot = WIDTH as f64 / columns.len() as f64;
        self.put(format_args!(
            "<figure><figcaption>{name}, at most {}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" \
             aria-label=\"{name} over time\">\n",
            amount(most),
            HEIGHT + 20
        ));
        for (at, (label, figures)) in columns.iter().enumerate() {
            let value = of(figures);
            if value == 0 {
                continue;
            }
            let height = (value as f64 / most as f64 * HEIGHT as f64).max(1.0);
            self.put(format_args!(
                "<rect class=\"b\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"1.5\"><title>{}: \
                 {}</title></rect>\n",
                at as f64 * slot + slot * 0.1,
                HEIGHT as f64 - height,
                (slot * 0.8).min(60.0),
                escape(label),
                thousands(value)
            ));
        }
        self.put(format_args!("<line class=\"axis\" x1=\"0\" y1=\"{HEIGHT}\" x2=\"{WIDTH}\" y2=\"{HEIGHT}\"/>\n"));
        for (label, x, anchor) in [(columns.first(), 0, "start"), (columns.last(), WIDTH, "end")] {
            let label = label.map_or("", |(label, _)| label.as_str());
            let y = HEIGHT + 15;
            self.put(format_args!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>\n", escape(label)));
        }
        self.put("</svg></figure>\n");
    }

    fn table(&mut self, grouped: &Grouped, all: &Figures, most: usize) {
        let tokens = all.tokens.is_some_and(|tokens| tokens > 0);
        let share = if tokens { "Share of tokens" } else { "Share of sessions" };
        let mut name = grouped.by.name().to_owned();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        self.put(format_args!(
            "<h2>By {}</h2>\n<div class=\"scroll\"><table>\n<tr><th>{name}</th><th>Sessions</th><th>Sessions failed</th>\
             <th>Steps</th><th>Steps failed</th><th>Tokens</th><th>US$</th><th>Average time</th><th>Median time</th>\
             <th>{share}</th></tr>\n",
            grouped.by.name()
        ));
        let skip = if grouped.by.is_time() { grouped.groups.len().saturating_sub(most) } else { 0 };
        for it in grouped.groups.iter().skip(skip).take(most) {
            let value = |it: &Figures| if tokens { it.tokens.unwrap_or(0) } else { it.sessions };
            self.row(grouped.by, it, value(&it.figures), value(all));
        }
        self.put("</table></div>\n");
        let more = grouped.groups.len().saturating_sub(most);
        if more > 0 {
            let more = more as u64;
            let more =
                if grouped.by.is_time() { plural(more, "earlier one") } else { format!("{} more", thousands(more)) };
            self.put(format_args!("<div class=\"soft\">{more}</div>\n"));
        }
    }

    fn row(&mut self, by: By, it: &Group, part: u64, whole: u64) {
        let sum = &it.figures;
        let none = || "–".to_owned();
        let failed = |part: u64, whole: u64| match (part, whole) {
            (_, 0) => none(),
            (0, _) => "0".to_owned(),
            _ => format!("<span class=\"bad\">{} ({})</span>", thousands(part), percent(part, whole)),
        };
        let time = |ms: Option<u64>| ms.map_or_else(none, |ms| duration(ms / 1_000));
        let key = match (by, it.key.as_deref()) {
            (_, None) => none(),
            (By::Channel, Some(channel)) => format!("#{}", escape(channel)),
            (_, Some(key)) => escape(key),
        };
        let cells = [
            thousands(sum.sessions),
            failed(sum.failed_sessions, sum.closed_sessions),
            thousands(sum.steps),
            failed(sum.failed_steps, sum.steps),
            sum.tokens.map_or_else(none, amount),
            sum.cost_usd.map_or_else(none, |cost| format!("{cost:.2}")),
            time(sum.average_duration_ms),
            time(sum.median_duration_ms),
        ];
        self.put(format_args!("<tr><td>{key}</td>"));
        for cell in cells {
            self.put(format_args!("<td>{cell}</td>"));
        }
        let width = if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
        self.put(format_args!(
            "<td class=\"share\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{0}\"><title>{0}</title><rect class=\"track\" width=\"100\" height=\"8\"/><rect class=\"b\" \
             width=\"{width:.1}\" height=\"8\"/></svg></td></tr>\n",
            percent(part, whole)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Families;
    use super::*;
    use crate::index::SessionRow;

    fn page(rows: &[SessionRow], by: &[By]) -> String {
        limited(rows, by, 8)
    }

    fn limited(rows: &[SessionRow], by: &[By], limit: usize) -> String {
        let families = Families::of(rows);
        let counted: Vec<_> = rows.iter().map(|row| families.count(row)).collect();
        let report = Report {
            schema: 1,
            first: rows.iter().filter_map(|row| row.started).min(),
            last: rows.iter().filter_map(|row| row.started).max(),
            total: Figures::of(&counted),
            by: by.iter().map(|by| Grouped::of(*by, &counted)).collect(),
            days: Grouped::of(By::Day, &counted),
            overview: true,
            limit,
        };
        render(&report, "notes <of> mine", "2026-11-21T12:00:00Z".parse().unwrap())
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
        let tables: Vec<&str> = page.split("<h2>By ").skip(1).collect();
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
            let families = Families::of(&rows);
            let counted: Vec<_> = rows.iter().map(|row| families.count(row)).collect();
            let columns = columns(&Grouped::of(By::Day, &counted));
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
