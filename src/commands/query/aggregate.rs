//! `--agg`: one value out of many rows.
//!
//! What is unknown is left out. `pN` is the nearest rank: of the known values in rising order the one at place
//! ⌈N/100 × their number⌉, counted from 1, so that it is always a value that occurs.

use super::column::Type;
use super::kind::{Chosen, Kind};
use super::row::Row;
use super::value::Value;
use crate::base::{Error, Result};

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
    column: Option<Chosen>,
}

impl Aggregate {
    /// The number of rows.
    pub(super) fn count() -> Self {
        Self { name: "count".to_owned(), function: Function::Count, column: None }
    }

    /// Reads `count`, `p95:duration_ms`.
    pub(super) fn parse(text: &str, kind: Kind) -> Result<Self> {
        let text = text.trim();
        let (word, column) = match text.split_once(':') {
            Some((word, column)) => (word, Some(kind.column("--agg", column)?)),
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
                Error::usage(format!("--agg: no function `{word}`"))
                    .with_hint("count, or sum avg min max p50 p95 of a column: avg:duration_ms")
            })?),
        };
        let Some(column) = column else {
            if function == Function::Count {
                return Ok(Self::count());
            }
            return Err(Error::usage(format!("--agg: `{word}` of what?")).with_hint(format!("--agg {word}:COLUMN")));
        };
        if matches!(function, Function::Sum | Function::Average) && !column.column.of.is_number() {
            return Err(Error::usage(format!(
                "--agg: `{}` is {}; {word} is of numbers",
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

    /// Its value for some rows; nothing where nothing is known.
    pub(super) fn of<'a>(&self, rows: &[Row<'a>]) -> Value<'a> {
        let Some(Chosen { column, .. }) = &self.column else { return count(rows.len()) };
        let known = rows.iter().map(|row| (column.get)(*row)).filter(|value| !value.is_null());
        match self.function {
            Function::Count => count(known.count()),
            Function::Sum => total(known, column.of).0,
            Function::Average => match total(known, column.of) {
                (_, 0) => Value::Null,
                (Value::Int(sum), count) if sum % i128::from(count) == 0 => Value::Int(sum / i128::from(count)),
                (sum, count) => sum.number().map_or(Value::Null, |sum| Value::Float(sum / count as f64)),
            },
            // The first of equals, whatever the order of text.
            Function::Least => known.reduce(|a, b| if b.order(&a).is_lt() { b } else { a }).unwrap_or(Value::Null),
            Function::Most => known.reduce(|a, b| if b.order(&a).is_gt() { b } else { a }).unwrap_or(Value::Null),
            Function::Percentile(percent) => {
                let mut values: Vec<_> = known.collect();
                values.sort_by(Value::order);
                let rank = (values.len() * usize::from(percent)).div_ceil(100);
                rank.checked_sub(1).and_then(|place| values.into_iter().nth(place)).unwrap_or(Value::Null)
            }
        }
    }
}

fn count(count: usize) -> Value<'static> {
    Value::Int(i128::try_from(count).unwrap_or(i128::MAX))
}

/// Sum and number of values; nothing is the sum of none.
fn total<'a>(values: impl Iterator<Item = Value<'a>>, of: Type) -> (Value<'static>, u64) {
    let (mut whole, mut fraction, mut count) = (0_i128, 0.0, 0_u64);
    for value in values {
        match value {
            Value::Int(it) => whole = whole.saturating_add(it),
            other => fraction += other.number().unwrap_or(0.0),
        }
        count += 1;
    }
    let sum = match of {
        _ if count == 0 => Value::Null,
        Type::Float => Value::Float(fraction),
        _ => Value::Int(whole),
    };
    (sum, count)
}

#[cfg(test)]
mod tests {
    use super::super::row::Item;
    use super::*;
    use crate::index::SessionRow;
    use crate::index::record::StepRow;

    fn of(durations: &[Option<u64>], function: &str) -> String {
        let session = SessionRow::default();
        let steps: Vec<StepRow> = durations
            .iter()
            .map(|it| StepRow { duration_ms: *it, tool: "Bash".into(), ..StepRow::default() })
            .collect();
        let rows: Vec<Row<'_>> = steps
            .iter()
            .map(|step| Row { session: &session, is_subagent: false, phase: None, item: Item::Step(step) })
            .collect();
        Aggregate::parse(function, Kind::Steps)
            .map_or_else(|error| error.to_string(), |agg| format!("{} {}", agg.name, agg.of(&rows).json()))
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
        assert_eq!(of(&[], "median:duration_ms"), "--agg: no function `median`");
        assert_eq!(of(&[], "p100:duration_ms"), "--agg: no function `p100`");
        assert_eq!(of(&[], "sum"), "--agg: `sum` of what?");
        assert_eq!(of(&[], "sum:tool"), "--agg: `tool` is text; sum is of numbers");
        assert_eq!(of(&[], "sum:tol"), "--agg: steps have no column `tol`");
    }
}
