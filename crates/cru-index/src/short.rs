//! The short tables of a record, each encoded apart from the others: most questions are about one of them, and reading the
//! whole record for it takes ten times as long.

use super::record::{Record, Table};

/// The tables that are kept so, in their order. Steps and files are by far the longest; they are read from the record.
pub(super) const SHORT: [Table; 6] =
    [Table::Phases, Table::Decisions, Table::Errors, Table::User, Table::Subagents, Table::Tasks];

/// The short tables of a record, as bytes; `None` where they cannot be encoded.
pub(super) fn encode(record: &Record) -> Option<Vec<u8>> {
    let tables = [
        postcard::to_allocvec(&record.phases),
        postcard::to_allocvec(&record.decisions),
        postcard::to_allocvec(&record.errors),
        postcard::to_allocvec(&record.user),
        postcard::to_allocvec(&record.subagents),
        postcard::to_allocvec(&record.tasks),
    ];
    let tables: Vec<Vec<u8>> = tables.into_iter().collect::<Result<_, _>>().ok()?;
    postcard::to_allocvec(&tables).ok()
}

/// A record with those of `tables` alone that [`encode`] was given; `None` where one of them is not kept so, or is damaged.
pub(super) fn decode(bytes: &[u8], tables: &[Table]) -> Option<Record> {
    let kept: Vec<&[u8]> = postcard::from_bytes(bytes).ok()?;
    let mut record = Record::default();
    for table in tables {
        let bytes = kept.get(SHORT.iter().position(|short| short == table)?)?;
        match table {
            Table::Phases => record.phases = postcard::from_bytes(bytes).ok()?,
            Table::Decisions => record.decisions = postcard::from_bytes(bytes).ok()?,
            Table::Errors => record.errors = postcard::from_bytes(bytes).ok()?,
            Table::User => record.user = postcard::from_bytes(bytes).ok()?,
            Table::Subagents => record.subagents = postcard::from_bytes(bytes).ok()?,
            Table::Tasks => record.tasks = postcard::from_bytes(bytes).ok()?,
            Table::Steps | Table::Files => return None,
        }
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{DecisionRow, ErrorRow, PhaseRow, StepRow, SubagentRow, TaskRow, UserRow};

    #[test]
    fn each_table_is_read_alone_and_the_long_ones_are_not_there() {
        let record = Record {
            phases: vec![PhaseRow { id: "p-01".into(), ..PhaseRow::default() }],
            steps: vec![StepRow::default()],
            decisions: vec![DecisionRow { at: "2026-11-20T10:00:00Z".parse().ok(), ..DecisionRow::default() }],
            errors: vec![ErrorRow { title: "e".into(), ..ErrorRow::default() }; 2],
            user: vec![UserRow { correction: true, ..UserRow::default() }],
            subagents: vec![SubagentRow { tokens: Some(u64::MAX), ..SubagentRow::default() }],
            tasks: vec![TaskRow { priority: Some("high".into()), ..TaskRow::default() }],
            ..Record::default()
        };
        let bytes = encode(&record).unwrap();
        for table in SHORT {
            assert_eq!(decode(&bytes, &[table]), Some(record.clone().only(&[table])), "{}", table.name());
        }
        assert_eq!(decode(&bytes, &SHORT), Some(record.only(&SHORT)));
        assert_eq!(decode(&bytes, &[Table::Phases, Table::Steps]), None);
        assert_eq!(decode(&bytes[..bytes.len() - 1], &SHORT), None);
    }
}
