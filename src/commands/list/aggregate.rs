//! `--sum`: one value out of many rows, which are added one by one and kept no longer.
//!
//! What is unknown is left out. `pN` is the nearest rank: of the known values in rising order the one at place
//! ⌈N/100 × their number⌉, counted from 1, so that it is always a value that occurs.

use std::collections::BTreeMap;

use super::kind::{ChosenColumn, ListKind};
use crate::base::{Error, Result};
use crate::index::table::{CellValue, ColumnType, TableRow};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Count,
    Sum,
    Average,
    Least,
    Most,
    Percentile(u8),
}

/// A function of a column.
#[derive(Debug)]
pub(super) struct Aggregate {
    /// `avg_duration_ms`: the unit is the column's.
    pub(super) name: String,
    function: Function,
    column: Option<ChosenColumn>,
}

impl Aggregate {
    /// The number of rows.
    pub(super) fn count() -> Self {
        Self { name: "count".to_owned(), function: Function::Count, column: None }
    }

    /// Whether it is computed from a column of that name.
    pub(super) fn asks(&self, column: &str) -> bool {
        self.column.as_ref().is_some_and(|it| it.column.name == column)
    }

    /// Reads `count`, `p95:duration_ms`.
    pub(super) fn parse(text: &str, kind: ListKind) -> Result<Self> {
        let text = text.trim();
        let (word, column) = match text.split_once(':') {
            Some((word, column)) => (word, Some(kind.column("--sum", column)?)),
            None => (text, None),
        };
        let word = word.trim().to_lowercase();
        let percent = || word.strip_prefix('p')?.parse().ok().filter(|percent| (1..100).contains(percent));
        let function = match word.as_str() {
            "count" => Function::Count,
            "sum" => Function::Sum,
            "avg" => Function::Average,
            "min" => Function::Least,
            "max" => Function::Most,
            _ => Function::Percentile(percent().ok_or_else(|| {
                Error::usage(format!("--sum: no function `{word}`"))
                    .with_hint("count, or sum avg min max p50 p95 of a column: avg:duration_ms")
            })?),
        };
        let Some(column) = column else {
            if function == Function::Count {
                return Ok(Self::count());
            }
            return Err(Error::usage(format!("--sum: `{word}` of what?")).with_hint(format!("--sum {word}:COLUMN")));
        };
        if matches!(function, Function::Sum | Function::Average) && !column.column.of.is_number() {
            return Err(Error::usage(format!(
                "--sum: `{}` is {}; {word} is of numbers",
                column.name,
                column.column.of.name()
            )));
        }
        Ok(Self { name: format!("{word}_{}", column.name), function, column: Some(column) })
    }

    /// Whether it is shown as a number.
    pub(super) fn is_number(&self) -> bool {
        self.function == Function::Count || self.column.as_ref().is_some_and(|it| it.column.of.is_number())
    }

    /// Adds a row.
    pub(super) fn add(&self, sum: &mut AggregateSum, row: TableRow<'_>) {
        let Some(ChosenColumn { column, .. }) = &self.column else {
            sum.count += 1;
            return;
        };
        let value = (column.get)(row);
        if value.is_null() {
            return;
        }
        sum.count += 1;
        match self.function {
            Function::Count => {}
            Function::Sum | Function::Average => match value {
                CellValue::Int(it) => sum.whole = sum.whole.saturating_add(it),
                other => sum.fraction += other.number().unwrap_or(0.0),
            },
            Function::Least | Function::Most => {
                if self.is_further(&value, &sum.end) {
                    sum.end = value.into_owned();
                }
            }
            Function::Percentile(_) => *sum.ranks.entry(value.into_owned()).or_default() += 1,
        }
    }

    /// Adds what later rows came to.
    pub(super) fn merge(&self, sum: &mut AggregateSum, later: AggregateSum) {
        sum.count += later.count;
        sum.whole = sum.whole.saturating_add(later.whole);
        sum.fraction += later.fraction;
        if self.is_further(&later.end, &sum.end) {
            sum.end = later.end;
        }
        for (value, count) in later.ranks {
            *sum.ranks.entry(value).or_default() += count;
        }
    }

    /// Whether a value goes before the least, or beyond the most, that was there. Of equals the first stays, whatever the
    /// order of text.
    fn is_further(&self, value: &CellValue<'_>, end: &CellValue<'_>) -> bool {
        let order = value.cmp(end);
        match self.function {
            _ if value.is_null() => false,
            _ if end.is_null() => true,
            Function::Least => order.is_lt(),
            Function::Most => order.is_gt(),
            _ => false,
        }
    }

    /// What it came to; nothing where nothing is known.
    pub(super) fn done(&self, sum: AggregateSum) -> CellValue<'static> {
        let count = i128::from(sum.count);
        let is_fraction = self.column.as_ref().is_some_and(|it| it.column.of == ColumnType::Float);
        match self.function {
            Function::Count => CellValue::Int(count),
            Function::Least | Function::Most => sum.end,
            _ if count == 0 => CellValue::Null,
            Function::Sum if is_fraction => CellValue::Float(sum.fraction),
            Function::Sum => CellValue::Int(sum.whole),
            Function::Average if is_fraction => CellValue::Float(sum.fraction / count as f64),
            Function::Average if sum.whole % count == 0 => CellValue::Int(sum.whole / count),
            Function::Average => CellValue::Float(sum.whole as f64 / count as f64),
            Function::Percentile(percent) => {
                let rank = (count * i128::from(percent) + 99) / 100;
                let mut passed = 0;
                let at = sum.ranks.into_iter().find(|(_, count)| {
                    passed += i128::from(*count);
                    passed >= rank
                });
                at.map_or(CellValue::Null, |(value, _)| value)
            }
        }
    }
}

/// What rows come to so far.
#[derive(Debug, Default)]
pub(super) struct AggregateSum {
    /// Rows, or known values.
    count: u64,
    whole: i128,
    fraction: f64,
    /// The least or the most.
    end: CellValue<'static>,
    /// How often each value is there, for percentiles.
    ranks: BTreeMap<CellValue<'static>, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::SessionRow;
    use crate::index::record::StepRow;
    use crate::index::table::RowItem;

    /// Of all rows, added one by one and in two parts.
    fn whole(agg: &Aggregate, rows: &[TableRow<'_>]) -> CellValue<'static> {
        let sum = |rows: &[TableRow<'_>]| {
            let mut sum = AggregateSum::default();
            for row in rows {
                agg.add(&mut sum, *row);
            }
            sum
        };
        let (first, second) = rows.split_at(rows.len() / 3);
        let mut merged = sum(first);
        agg.merge(&mut merged, sum(second));
        let merged = agg.done(merged);
        assert_eq!(merged, agg.done(sum(rows)));
        merged
    }

    fn of(durations: &[Option<u64>], function: &str) -> String {
        let (session, utc) = (SessionRow::default(), jiff::tz::TimeZone::UTC);
        let steps: Vec<StepRow> = durations
            .iter()
            .map(|it| StepRow { duration_ms: *it, tool: "Bash".into(), ..StepRow::default() })
            .collect();
        let rows: Vec<TableRow<'_>> = steps
            .iter()
            .map(|step| TableRow {
                session: &session,
                is_subagent: false,
                phase: None,
                item: RowItem::Step(step),
                files: &[],
                zone: &utc,
            })
            .collect();
        Aggregate::parse(function, ListKind::Steps)
            .map_or_else(|error| error.to_string(), |agg| format!("{} {}", agg.name, whole(&agg, &rows).json()))
    }

    #[test]
    fn of_some_values() {
        let some = [Some(40), None, Some(10), Some(30), Some(20), Some(5)];
        let shown = |function: &str| of(&some, function);
        assert_eq!(shown("count"), "count 6");
        assert_eq!(shown("count:duration_ms"), "count_duration_ms 5");
        assert_eq!(shown("sum:duration_ms"), "sum_duration_ms 105");
        assert_eq!(shown("avg:duration_ms"), "avg_duration_ms 21", "no fraction where there is none");
        assert_eq!(of(&[Some(1), Some(2)], "avg:duration_ms"), "avg_duration_ms 1.5");
        assert_eq!(shown("min:duration_ms"), "min_duration_ms 5");
        assert_eq!(shown("max:duration_ms"), "max_duration_ms 40");
        assert_eq!(shown("p50:duration_ms"), "p50_duration_ms 20");
        assert_eq!(shown("max:tool"), "max_tool \"Bash\"");
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred: Vec<_> = (1..=100).rev().map(Some).collect();
        assert_eq!(of(&hundred, "p50:duration_ms"), "p50_duration_ms 50");
        assert_eq!(of(&hundred, "p95:duration_ms"), "p95_duration_ms 95");
        assert_eq!(of(&hundred[..1], "p95:duration_ms"), "p95_duration_ms 100");
        assert_eq!(of(&[Some(1), Some(2), Some(3), Some(4)], "p50:duration_ms"), "p50_duration_ms 2");
        assert_eq!(of(&[Some(1), Some(2), Some(3)], "p95:duration_ms"), "p95_duration_ms 3");
    }

    #[test]
    fn of_nothing() {
        for function in ["sum", "avg", "min", "max", "p50"] {
            assert_eq!(of(&[None, None], &format!("{function}:duration_ms")), format!("{function}_duration_ms null"));
        }
        assert_eq!(of(&[None], "count:duration_ms"), "count_duration_ms 0");
        assert_eq!(of(&[Some(u64::MAX), Some(u64::MAX)], "avg:duration_ms"), format!("avg_duration_ms {}", u64::MAX));
    }

    #[test]
    fn what_cannot_be() {
        assert_eq!(of(&[], "median:duration_ms"), "--sum: no function `median`");
        assert_eq!(of(&[], "p100:duration_ms"), "--sum: no function `p100`");
        assert_eq!(of(&[], "sum"), "--sum: `sum` of what?");
        assert_eq!(of(&[], "sum:tool"), "--sum: `tool` is text; sum is of numbers");
        assert_eq!(of(&[], "sum:tol"), "--sum: steps have no column `tol`");
    }
}
