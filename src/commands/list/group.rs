//! `--by`: rows that agree in some columns, as one row each.

use std::collections::BTreeMap;

use super::aggregate::{Aggregate, AggregateSum};
use super::kind::ChosenColumn;
use crate::index::table::{CellValue, TableRow};

/// Groups that grow row by row, by what tells them apart; what is unknown comes last. Nothing is kept of a row but what it
/// adds.
#[derive(Debug, Default)]
pub(super) struct RowGroups(BTreeMap<Vec<(bool, Option<String>)>, RowGroup>);

#[derive(Debug)]
struct RowGroup {
    /// The values of the keys.
    named: Vec<CellValue<'static>>,
    sums: Vec<AggregateSum>,
}

impl RowGroups {
    /// Adds a row.
    pub(super) fn add(&mut self, row: TableRow<'_>, keys: &[ChosenColumn], aggregates: &[Aggregate]) {
        let key = keys.iter().map(|key| (key.column.get)(row).key()).map(|key| (key.is_none(), key)).collect();
        let group = self.0.entry(key).or_insert_with(|| RowGroup {
            named: keys.iter().map(|key| (key.column.get)(row).into_owned()).collect(),
            sums: aggregates.iter().map(|_| AggregateSum::default()).collect(),
        });
        for (sum, aggregate) in group.sums.iter_mut().zip(aggregates) {
            aggregate.add(sum, row);
        }
    }

    /// Adds the groups of later rows.
    pub(super) fn merge(&mut self, later: Self, aggregates: &[Aggregate]) {
        for (key, group) in later.0 {
            match self.0.entry(key) {
                std::collections::btree_map::Entry::Vacant(place) => drop(place.insert(group)),
                std::collections::btree_map::Entry::Occupied(mut there) => {
                    let sums = there.get_mut().sums.iter_mut().zip(group.sums);
                    aggregates.iter().zip(sums).for_each(|(aggregate, (sum, later))| aggregate.merge(sum, later));
                }
            }
        }
    }

    /// The groups: the values of `keys`, then the aggregates.
    ///
    /// The largest first aggregate comes first, equal ones in the order of their keys; by day or week, time's order.
    /// Without keys all rows are one group.
    pub(super) fn done(self, keys: &[ChosenColumn], aggregates: &[Aggregate]) -> Vec<Vec<CellValue<'static>>> {
        let done = |group: RowGroup| {
            let values = aggregates.iter().zip(group.sums).map(|(aggregate, sum)| aggregate.done(sum));
            group.named.into_iter().chain(values).collect()
        };
        let mut out: Vec<Vec<CellValue<'static>>> = self.0.into_values().map(done).collect();
        if keys.is_empty() && out.is_empty() {
            out.push(aggregates.iter().map(|aggregate| aggregate.done(AggregateSum::default())).collect());
        }
        let by_time = keys.first().is_some_and(|key| matches!(key.column.name, "day" | "week"));
        if !by_time && !aggregates.is_empty() {
            // Stable: equal ones stay in the order of their keys.
            sort(&mut out, keys.len(), true);
        }
        out
    }
}

/// Sorts rows by the value at `place`; what is unknown comes last either way, and equals keep their order.
pub(super) fn sort(rows: &mut [Vec<CellValue<'_>>], place: usize, is_falling: bool) {
    rows.sort_by(|a, b| {
        let (a, b) = (a.get(place).unwrap_or(&CellValue::Null), b.get(place).unwrap_or(&CellValue::Null));
        CellValue::towards(a, b, is_falling)
    });
}
