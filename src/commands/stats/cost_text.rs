//! Costs for people: the sum, what it leaves out, a table for each kind of group.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::cost::{CostGroup, CostReport, CostSum, CostTable};
use super::text::{LONGEST_KEY, key_style};
use crate::base::text::{plural, thousands};
use crate::commands::View;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, Table, amount, cost_text, cut, usd};

pub(super) fn render(report: &CostReport, view: &View) -> String {
    if report.total.sessions == 0 {
        return String::new();
    }
    let total = &report.total;
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{}  {text}", paint(style::DIM, format_args!("{name:<15}")));
    };
    line("Sessions", format!("{}, sub-agents counted in theirs", thousands(total.sessions)));
    line("Cost, estimated", cost_text(total.estimated_cost_usd, total.unpriced_tokens));
    line("Prices", format!("list prices of {} ({}), [prices] over them", report.prices_date, report.prices_source));
    if total.web_searches > 0 {
        line("Web searches", format!("{}, in the estimate", thousands(total.web_searches)));
    }
    if !report.unpriced_models.is_empty() {
        let few: Vec<&str> = report.unpriced_models.iter().take(4).map(String::as_str).collect();
        let more = report.unpriced_models.len().saturating_sub(few.len()) as u64;
        let more = if more > 0 { format!(" and {}", plural(more, "other")) } else { String::new() };
        line("Without price", format!("{}{more}", few.join(", ")));
    }
    for table in &report.by {
        out.push('\n');
        rows(table, report, view, &mut out);
    }
    out
}

/// Headings of the columns behind the key.
pub(super) const HEADINGS: [&str; 7] =
    ["SESSIONS", "INPUT", "OUTPUT", "CACHE WRITES", "CACHE READS", "US$ (ESTIMATE)", "TOKENS WITHOUT PRICE"];

/// The cells behind the key.
pub(super) fn cells(sum: &CostSum) -> [String; 7] {
    let count = |tokens: u64| if tokens == 0 { "–".to_owned() } else { amount(tokens) };
    [
        thousands(sum.sessions),
        count(sum.input_tokens),
        count(sum.output_tokens),
        count(sum.cache_write_tokens),
        count(sum.cache_read_tokens),
        sum.estimated_cost_usd.map_or_else(|| "unknown".to_owned(), usd),
        count(sum.unpriced_tokens),
    ]
}

/// The columns of [`HEADINGS`] that a terminal has room for beside keys of that width; all of them elsewhere.
fn columns(keys: usize, view: &View) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..HEADINGS.len()).collect();
    let width = |columns: &[usize]| keys + columns.iter().map(|it| HEADINGS[*it].len() + 2).sum::<usize>();
    for narrow in [0, 3, 1, 2] {
        if !view.terminal || width(&columns) <= view.width {
            break;
        }
        columns.retain(|column| *column != narrow);
    }
    columns
}

fn rows(table: &CostTable, report: &CostReport, view: &View, out: &mut String) {
    let hidden = table.groups.len().saturating_sub(report.limit);
    // Of times the newest are meant.
    let from = if table.by.is_time() { hidden } else { 0 };
    let shown: Vec<&CostGroup> = table.groups.iter().skip(from).take(report.limit).collect();
    let key = |group: &CostGroup| {
        let key = group.key.as_deref().unwrap_or("–");
        if view.terminal { cut(key, LONGEST_KEY) } else { key.to_owned() }
    };
    let keys = shown.iter().map(|group| key(group).width()).max().unwrap_or(0).max(table.by.heading().width());
    let columns = columns(keys, view);
    let mut head = vec![(table.by.heading(), Align::Left)];
    head.extend(columns.iter().map(|column| (HEADINGS[*column], Align::Right)));
    let mut lines = Table::new(&head);
    for group in shown {
        let mut row = vec![Cell::new(key(group)).style(key_style(table.by, group.key.as_deref()))];
        let cells = cells(&group.sum);
        row.extend(columns.iter().map(|column| Cell::new(&cells[*column])));
        lines.row(row);
    }
    out.push_str(&lines.render(view));
    if hidden > 0 {
        let more = if table.by.is_time() { "earlier ones" } else { "more" };
        let _ = writeln!(
            out,
            "{}",
            paint(style::DIM, format_args!("{} {more} (--by {} -n 0)", thousands(hidden as u64), table.by.name()))
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_keeps_the_cost() {
        let shown = |width, terminal| -> Vec<&str> {
            columns(20, &View { width, terminal }).into_iter().map(|column| HEADINGS[column]).collect()
        };
        assert_eq!(shown(80, false).len(), HEADINGS.len());
        assert_eq!(shown(200, true).len(), HEADINGS.len());
        assert_eq!(shown(80, true), ["OUTPUT", "CACHE READS", "US$ (ESTIMATE)", "TOKENS WITHOUT PRICE"]);
        assert_eq!(shown(10, true), ["CACHE READS", "US$ (ESTIMATE)", "TOKENS WITHOUT PRICE"]);
    }
}
