//! Tables of groups: one declaration of their columns, and rows of cells for a terminal, a pipe and a page.

use anstyle::Style;
use serde_json::{Value, json};

use super::cost::CostSum;
use super::figures::Figures;
use super::group::{By, Grouped};
use crate::base::text::{plural, thousands};
use crate::commands::View;
use crate::commands::output::style;
use crate::commands::output::{Align, Cell, Table, amount, bar, duration, percent, usd};

/// Columns of the widest bar.
const BAR: usize = 16;

/// A column behind the key: what of a sum it shows.
#[derive(Debug)]
struct SumColumn<S> {
    /// As a page has it; text has it in capitals.
    heading: &'static str,
    /// Which of all columns goes first on a narrow terminal, from 1; 0 stays.
    narrow: u8,
    cell: fn(&S) -> (String, Style),
}

const fn column<S>(heading: &'static str, narrow: u8, cell: fn(&S) -> (String, Style)) -> SumColumn<S> {
    SumColumn { heading, narrow, cell }
}

/// The columns of figures. What a step cost and how long it took is not recorded, so tools have some of them alone.
const FIGURES: [SumColumn<Figures>; 9] = [
    column("Sessions", 9, |it| plain(thousands(it.sessions))),
    column("Sessions failed", 4, |it| failed(it.failed_sessions, it.closed_sessions)),
    column("Steps", 8, |it| plain(thousands(it.steps))),
    column("Steps failed", 5, |it| failed(it.failed_steps, it.steps)),
    column("Tokens", 7, |it| known(it.tokens.map(amount))),
    column("Cache reads", 2, |it| known(it.cache_read_tokens.map(amount))),
    column("US$ (estimate)", 6, |it| cost(it.estimated_cost_usd)),
    column("Active time", 3, |it| known(it.active_ms.map(|ms| duration(ms / 1_000)))),
    column("Wall clock", 1, |it| known(it.duration_ms.map(|ms| duration(ms / 1_000)))),
];

/// The columns of costs.
const COSTS: [SumColumn<CostSum>; 7] = [
    column("Sessions", 1, |it| plain(thousands(it.sessions))),
    column("Input", 3, |it| count(it.usage.input)),
    column("Output", 4, |it| count(it.usage.output)),
    column("Cache writes", 2, |it| count(it.usage.cache_write)),
    column("Cache reads", 0, |it| count(it.usage.cache_read)),
    column("US$ (estimate)", 0, |it| cost(it.cost.known_usd)),
    column("Tokens without price", 0, |it| count(it.cost.unpriced)),
];

const fn plain(text: String) -> (String, Style) {
    (text, Style::new())
}

fn known(text: Option<String>) -> (String, Style) {
    plain(text.unwrap_or_else(|| "–".to_owned()))
}

fn count(tokens: u64) -> (String, Style) {
    known((tokens > 0).then(|| amount(tokens)))
}

fn cost(known_usd: Option<f64>) -> (String, Style) {
    plain(known_usd.map_or_else(|| "unknown".to_owned(), usd))
}

fn failed(part: u64, whole: u64) -> (String, Style) {
    match (part, whole) {
        (_, 0) => ("–".to_owned(), style::DIM),
        (0, _) => ("0".to_owned(), style::DIM),
        _ => (format!("{} ({})", thousands(part), percent(part, whole)), style::BAD),
    }
}

/// What a row's bar is a share of: of tokens, where any are known; of tools their steps.
fn share(by: By, total: &Figures) -> (&'static str, fn(&Figures) -> u64) {
    match total.tokens {
        _ if by == By::Tool => ("Share of steps", |it| it.steps),
        Some(1..) => ("Share of tokens", |it| it.tokens.unwrap_or(0)),
        _ => ("Share of sessions", |it| it.sessions),
    }
}

/// Rows of groups that are shown.
pub(super) struct GroupTable<'a> {
    by: By,
    /// Headings behind the key, and which column goes when.
    columns: Vec<(&'static str, u8)>,
    rows: Vec<GroupRow<'a>>,
    share: Option<&'static str>,
    /// Groups that are not shown.
    hidden: usize,
}

struct GroupRow<'a> {
    key: Option<&'a str>,
    cells: Vec<(String, Style)>,
    /// The part and the whole.
    share: (u64, u64),
}

impl<'a> GroupTable<'a> {
    /// Of costs, at most `limit` rows.
    pub(super) fn of_costs(grouped: &'a Grouped<CostSum>, limit: usize) -> Self {
        Self::of(grouped, &COSTS.iter().collect::<Vec<_>>(), limit, |_| (0, 0))
    }

    /// Of figures, at most `limit` rows; with `unknown` also the columns of which nothing is known.
    pub(super) fn of_figures(grouped: &'a Grouped<Figures>, total: &Figures, limit: usize, unknown: bool) -> Self {
        let has = |column: &&SumColumn<Figures>| match column.heading {
            "Sessions" | "Steps" | "Steps failed" => true,
            _ if grouped.by == By::Tool => false,
            "US$ (estimate)" => unknown || total.estimated_cost_usd.is_some(),
            "Cache reads" => unknown || total.cache_read_tokens.is_some(),
            _ => true,
        };
        let (heading, value) = share(grouped.by, total);
        let columns: Vec<_> = FIGURES.iter().filter(has).collect();
        let table = Self::of(grouped, &columns, limit, |it| (value(it), value(total)));
        Self { share: Some(heading), ..table }
    }

    /// Of times the newest are shown.
    fn of<S>(
        grouped: &'a Grouped<S>,
        columns: &[&SumColumn<S>],
        limit: usize,
        share: impl Fn(&S) -> (u64, u64),
    ) -> Self {
        let hidden = grouped.groups.len().saturating_sub(limit);
        let from = if grouped.by.is_time() { hidden } else { 0 };
        let rows = grouped.groups.iter().skip(from).take(limit).map(|it| GroupRow {
            key: it.key.as_deref(),
            cells: columns.iter().map(|column| (column.cell)(&it.sum)).collect(),
            share: share(&it.sum),
        });
        Self {
            by: grouped.by,
            rows: rows.collect(),
            columns: columns.iter().map(|it| (it.heading, it.narrow)).collect(),
            share: None,
            hidden,
        }
    }

    /// For people: on a terminal columns that have no room are left out.
    pub(super) fn text(&self, view: &View) -> String {
        let headings: Vec<String> = self.columns.iter().map(|it| it.0.to_uppercase()).collect();
        let (first, last) = (self.by.heading(), self.share.unwrap_or_default().to_uppercase());
        let mut head = vec![(first.as_str(), Align::Left)];
        head.extend(headings.iter().map(|it| (it.as_str(), Align::Right)));
        head.extend(self.share.map(|_| (last.as_str(), Align::Left)));
        let ranks = [0].into_iter().chain(self.columns.iter().map(|it| it.1)).chain(self.share.map(|_| 0));
        let mut table = Table::new(&head).wide(0).leaving(ranks.collect());
        for row in &self.rows {
            let mut cells = vec![Cell::new(row.key.unwrap_or("–")).style(key_style(self.by, row.key))];
            cells.extend(row.cells.iter().map(|(text, look)| Cell::new(text).style(*look)));
            let (part, whole) = row.share;
            let text = percent(part, whole);
            cells.extend(self.share.map(|_| {
                if view.terminal {
                    Cell::new(format!("{text:>6} {}", bar(part, whole, BAR))).style(style::CHART)
                } else {
                    Cell::new(text)
                }
            }));
            table.row(cells);
        }
        table.render(view)
    }

    /// What is said of the groups that are not shown: `3 more`.
    pub(super) fn more(&self) -> Option<String> {
        let hidden = self.hidden as u64;
        let more = if self.by.is_time() { "earlier ones" } else { "more" };
        (hidden > 0).then(|| format!("{} {more}", thousands(hidden)))
    }

    /// For a page.
    pub(super) fn page(&self) -> Value {
        let mut name = self.by.name().to_owned();
        name[..1].make_ascii_uppercase();
        let row = |row: &GroupRow<'_>| {
            let cell = |(text, look): &(String, Style)| json!({ "text": text, "bad": *look == style::BAD });
            let (part, whole) = row.share;
            let width = if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
            let mark = if self.by == By::Channel && row.key.is_some() { "#" } else { "" };
            json!({
                "key": format!("{mark}{}", row.key.unwrap_or("–")),
                "cells": row.cells.iter().map(cell).collect::<Vec<_>>(),
                "share": percent(part, whole),
                "width": format!("{width:.1}"),
            })
        };
        let hidden = self.hidden as u64;
        let more = if self.by.is_time() && hidden > 0 { Some(plural(hidden, "earlier one")) } else { self.more() };
        json!({
            "by": self.by.name(),
            "name": name,
            "headings": self.columns.iter().map(|it| it.0).chain(self.share).collect::<Vec<_>>(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "more": more,
        })
    }
}

/// The style of a group's name.
fn key_style(by: By, key: Option<&str>) -> Style {
    match (by, key) {
        (_, None) => style::DIM,
        (By::Agent | By::AgentVersion, _) => style::AGENT,
        (By::Channel, _) => style::CHANNEL,
        (By::Status, Some(status)) => style::of_session(status),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::SessionGroup;
    use super::*;

    #[test]
    fn a_narrow_terminal_keeps_the_cost() {
        let groups = vec![SessionGroup { key: None, sum: CostSum::default() }];
        let grouped = Grouped { by: By::Model, groups };
        let table = GroupTable::of_costs(&grouped, 8);
        let shown = |width, terminal| -> Vec<&str> {
            let text = table.text(&View { width, terminal, ..View::plain() });
            COSTS.iter().map(|it| it.heading).filter(|it| text.contains(&it.to_uppercase())).collect()
        };
        assert_eq!(shown(80, false).len(), COSTS.len());
        assert_eq!(shown(200, true).len(), COSTS.len());
        assert_eq!(shown(66, true), ["Output", "Cache reads", "US$ (estimate)", "Tokens without price"]);
        assert_eq!(shown(10, true), ["Cache reads", "US$ (estimate)", "Tokens without price"]);
    }
}
