//! What an answer keeps of the rows it is made of.
//!
//! Rows come session by session. Groups keep what rows add up to, a list keeps the cells that are shown, and with `-n` no
//! more than those that may still be among the first. What sessions come to is put together in the order of the sessions,
//! so an answer is the same however many are read at once.

use super::group::{self, RowGroups};
use super::output::QueryAnswer;
use super::{Order, Question};
use crate::index::table::{CellValue, TableRow};

/// A list is cut down to its limit once it is that much longer.
const SLACK: usize = if cfg!(test) { 2 } else { 1_024 };

/// What is kept of the rows so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Rows of the sessions that were asked for.
    pub(super) looked_at: usize,
    /// Those for which the conditions hold.
    matched: usize,
    groups: RowGroups,
    listed: Vec<Listed>,
}

/// A row of a list.
#[derive(Debug)]
struct Listed {
    /// What it is sorted by.
    by: CellValue<'static>,
    cells: Vec<CellValue<'static>>,
}

impl Gathered {
    /// Of some rows.
    pub(super) fn of<'a>(rows: impl Iterator<Item = TableRow<'a>>, question: &Question) -> Self {
        let mut kept = Self::default();
        let mut list: Vec<(CellValue<'a>, TableRow<'a>)> = Vec::new();
        for row in rows {
            kept.looked_at += 1;
            if !question.holds(row) {
                continue;
            }
            kept.matched += 1;
            if question.is_grouped {
                kept.groups.add(row, &question.keys, &question.aggregates);
            } else {
                let by = match &question.order {
                    Order::Column(by) => (by.column.get)(row),
                    Order::Given => row.session.started.map_or(CellValue::Null, CellValue::Time),
                    Order::Place(_) => CellValue::Null,
                };
                list.push((by, row));
            }
        }
        first(&mut list, question, |(by, _)| by);
        kept.listed = list
            .into_iter()
            .map(|(by, row)| Listed {
                by: by.into_owned(),
                cells: question.columns.iter().map(|it| (it.column.get)(row).into_owned()).collect(),
            })
            .collect();
        kept
    }

    /// Adds what later rows came to.
    pub(super) fn add(&mut self, later: Self, question: &Question) {
        self.looked_at += later.looked_at;
        self.matched += later.matched;
        self.groups.merge(later.groups, &question.aggregates);
        self.listed.extend(later.listed);
        if self.listed.len() > question.limit.saturating_mul(2).saturating_add(SLACK) {
            first(&mut self.listed, question, |row| &row.by);
        }
    }

    /// The answer.
    pub(super) fn answer(mut self, question: &Question) -> QueryAnswer {
        let (mut rows, total);
        if question.is_grouped {
            rows = self.groups.done(&question.keys, &question.aggregates);
            total = rows.len();
            match question.order {
                Order::Place(place) => group::sort(&mut rows, place, question.reverse),
                _ if question.reverse => rows.reverse(),
                _ => {}
            }
            rows.truncate(question.limit);
        } else {
            first(&mut self.listed, question, |row| &row.by);
            rows = self.listed.into_iter().map(|row| row.cells).collect();
            total = self.matched;
            if question.reverse && matches!(question.order, Order::Given) {
                rows.reverse();
            }
        }
        QueryAnswer {
            kind: question.kind,
            heads: question.heads(),
            total,
            matched: self.matched,
            is_grouped: question.is_grouped,
            rows,
        }
    }
}

/// Leaves those that come first, sorted; those that come last where the last row is to be first.
fn first<'a, T>(rows: &mut Vec<T>, question: &Question, by: impl Fn(&T) -> &CellValue<'a>) {
    match question.order {
        Order::Column(_) => rows.sort_by(|a, b| CellValue::towards(by(a), by(b), question.reverse)),
        // Rows of one session stay as they stand.
        Order::Given => {
            rows.sort_by(|a, b| CellValue::towards(by(a), by(b), true));
            if question.reverse {
                drop(rows.drain(..rows.len().saturating_sub(question.limit)));
            }
        }
        Order::Place(_) => {}
    }
    rows.truncate(question.limit);
}
