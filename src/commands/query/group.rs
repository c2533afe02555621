//! `--group-by`: rows that agree in some columns, as one row each.

use std::collections::BTreeMap;

use super::aggregate::Aggregate;
use super::kind::Chosen;
use super::row::Row;
use super::value::Value;

/// The groups of `rows`: the values of `keys`, then the aggregates.
///
/// The largest first aggregate comes first, equal ones in the order of their keys; by day or week, time's order. Without
/// keys all rows are one group.
pub(super) fn groups<'a>(rows: &[Row<'a>], keys: &[Chosen], aggregates: &[Aggregate]) -> Vec<Vec<Value<'a>>> {
    let mut groups: BTreeMap<Vec<(bool, Option<String>)>, Vec<Row<'a>>> = BTreeMap::new();
    for row in rows {
        let key = keys.iter().map(|key| (key.column.get)(*row).key()).map(|key| (key.is_none(), key)).collect();
        groups.entry(key).or_default().push(*row);
    }
    if keys.is_empty() && groups.is_empty() {
        groups.insert(Vec::new(), Vec::new());
    }
    let mut out: Vec<Vec<Value<'a>>> = groups
        .into_values()
        .map(|rows| {
            let named = keys.iter().filter_map(|key| rows.first().map(|row| (key.column.get)(*row)));
            named.chain(aggregates.iter().map(|aggregate| aggregate.of(&rows))).collect()
        })
        .collect();
    let by_time = keys.first().is_some_and(|key| matches!(key.column.name, "day" | "week"));
    if !by_time && !aggregates.is_empty() {
        // Stable: equal ones stay in the order of their keys.
        sort(&mut out, keys.len(), true);
    }
    out
}

/// Sorts rows by the value at `place`; what is unknown comes last either way, and equals keep their order.
pub(super) fn sort(rows: &mut [Vec<Value<'_>>], place: usize, is_falling: bool) {
    rows.sort_by(|a, b| {
        let (a, b) = (a.get(place).unwrap_or(&Value::Null), b.get(place).unwrap_or(&Value::Null));
        if is_falling && !a.is_null() && !b.is_null() { b.order(a) } else { a.order(b) }
    });
}
