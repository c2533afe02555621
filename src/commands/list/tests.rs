//! What must hold for whatever rows there are.

use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::aggregate::Aggregate;
use super::gather::Gathered;
use super::group::{RowGroups, sort};
use super::kind::ListKind;
use super::output::shown;
use super::{Order, Question};
use crate::index::Record;
use crate::index::record::StepRow;
use crate::index::table::{CellValue, TableRow, rows};

fn records() -> impl Strategy<Value = Vec<Record>> {
    let step = ("[a-cA-C–]?", of("[ab]"), of(0..50_u64)).prop_map(|(tool, result, duration_ms)| StepRow {
        tool,
        result,
        duration_ms,
        ..StepRow::default()
    });
    vec((of("[ab–]"), vec(step, 0..6)), 0..5).prop_map(|sessions| {
        let record = |(channel, steps)| {
            let mut record = Record { steps, ..Record::default() };
            record.session.channel = channel;
            record
        };
        sessions.into_iter().map(record).collect()
    })
}

fn int(value: &CellValue<'_>) -> i128 {
    match value {
        CellValue::Int(it) => *it,
        CellValue::Null => 0,
        other => panic!("{other:?} is no integer"),
    }
}

/// Days of all rows.
static UTC: jiff::tz::TimeZone = jiff::tz::TimeZone::UTC;

proptest! {
    #[test]
    fn groups_add_up(records in records(), by in prop::sample::subsequence(vec!["tool", "channel", "result", "day"], 0..4)) {
        let rows: Vec<TableRow<'_>> = records.iter().flat_map(|it| rows(it, false, ListKind::Steps.things(), &UTC)).collect();
        let keys: Vec<_> = by.iter().filter_map(|name| ListKind::Steps.find(name)).collect();
        let aggregates = ["count", "sum:duration_ms", "count:duration_ms", "min:duration_ms", "p50:duration_ms", "max:duration_ms"]
            .map(|text| Aggregate::parse(text, ListKind::Steps).unwrap());
        let groups = |rows: &[TableRow<'_>]| {
            let mut groups = RowGroups::default();
            for row in rows {
                groups.add(*row, &keys, &aggregates);
            }
            groups
        };
        let (first, second) = rows.split_at(rows.len() / 2);
        let mut parts = groups(first);
        parts.merge(groups(second), &aggregates);
        let mut groups = groups(&rows).done(&keys, &aggregates);
        prop_assert_eq!(&parts.done(&keys, &aggregates), &groups, "in parts or at once");
        let sum = |place: usize, groups: &[Vec<CellValue<'_>>]| groups.iter().map(|group| int(&group[keys.len() + place])).sum::<i128>();
        prop_assert_eq!(sum(0, &groups), rows.len() as i128, "every row is in one group");
        let known: Vec<u64> = records.iter().flat_map(|it| &it.steps).filter_map(|step| step.duration_ms).collect();
        prop_assert_eq!(sum(1, &groups), i128::from(known.iter().sum::<u64>()));
        prop_assert_eq!(sum(2, &groups), known.len() as i128);
        for group in &groups {
            let [least, middle, most] = [3, 4, 5].map(|place| int(&group[keys.len() + place]));
            prop_assert!(least <= middle && middle <= most);
        }
        // No two groups have the same keys, and sorting loses none of them.
        let names = |groups: &[Vec<CellValue<'_>>]| {
            let mut names: Vec<Vec<Option<String>>> =
                groups.iter().map(|group| group[..keys.len()].iter().map(CellValue::key).collect()).collect();
            names.sort();
            names
        };
        let before = names(&groups);
        let mut once = before.clone();
        once.dedup();
        prop_assert_eq!(&once, &before);
        sort(&mut groups, keys.len(), true);
        prop_assert_eq!(names(&groups), before);
        let counts: Vec<i128> = groups.iter().map(|group| int(&group[keys.len()])).collect();
        prop_assert!(counts.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn a_limit_shows_the_first_of_all(
        records in records(),
        order in prop::sample::select(vec!["", "tool", "result", "duration_ms"]),
        reverse: bool,
        limit in 0..8_usize,
    ) {
        let ask = |limit| Question {
            kind: ListKind::Steps,
            session: Vec::new(),
            row: Vec::new(),
            columns: ["tool", "result", "duration_ms"].iter().filter_map(|name| ListKind::Steps.find(name)).collect(),
            keys: Vec::new(),
            aggregates: Vec::new(),
            is_grouped: false,
            order: ListKind::Steps.find(order).map_or(Order::Given, Order::Column),
            reverse,
            limit,
            here: String::new(),
            sessions: None,
            workflows: Vec::new(),
            grep: None,
        };
        let answer = |question: &Question| {
            let mut all = Gathered::default();
            for record in &records {
                all.add(Gathered::of(rows(record, false, ListKind::Steps.things(), &UTC), question), question);
            }
            all.answer(question)
        };
        let (all, some) = (answer(&ask(usize::MAX)), answer(&ask(limit)));
        let mut steps: Vec<&StepRow> = records.iter().flat_map(|it| &it.steps).collect();
        prop_assert_eq!((some.total, all.rows.len()), (steps.len(), steps.len()));
        prop_assert_eq!(&some.rows[..], &all.rows[..limit.min(steps.len())]);
        if order.is_empty() {
            if reverse {
                steps.reverse();
            }
            let tools: Vec<String> = all.rows.iter().map(|row| shown(&row[0], &TimeZone::UTC).into_owned()).collect();
            prop_assert_eq!(tools, steps.iter().map(|step| step.tool.clone()).collect::<Vec<_>>());
        } else {
            let place = ["tool", "result", "duration_ms"].iter().position(|name| *name == order).unwrap();
            prop_assert!(all.rows.is_sorted_by(|a, b| CellValue::towards(&a[place], &b[place], reverse).is_le()));
        }
    }
}

#[test]
fn every_column_of_every_kind_is_found_by_its_name() {
    use clap::ValueEnum as _;
    for kind in ListKind::value_variants() {
        let columns = kind.columns();
        assert!(columns.len() >= 4, "{}", kind.name());
        for chosen in &columns {
            let found = kind.find(&chosen.name).unwrap_or_else(|| panic!("{} {}", kind.name(), chosen.name));
            assert!(std::ptr::eq(found.column, chosen.column) || found.column.name == chosen.column.name);
            let twice = columns.iter().filter(|other| other.name == chosen.name).count();
            assert_eq!(twice, 1, "{} {} is there once", kind.name(), chosen.name);
        }
        assert!(!kind.shown().is_empty());
        for name in ["session_status", "session_subagent", "model", "project", "day", "week", "session", "agent"] {
            assert!(kind.find(name).is_some(), "{} {name}", kind.name());
        }
    }
}
