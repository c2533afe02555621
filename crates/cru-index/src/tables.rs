//! The tables of a record, each encoded apart from the others: most questions are about one of them, and the steps' is by far
//! the longest.

use super::record::{Record, Table};

/// The tables of a record in the order of [`Table::ALL`], as bytes; `None` where they cannot be encoded.
pub(super) fn encode(record: &Record) -> Option<Vec<Vec<u8>>> {
    let table = |table: &Table| match table {
        Table::Phases => postcard::to_allocvec(&record.phases),
        Table::Steps => postcard::to_allocvec(&record.steps),
        Table::Decisions => postcard::to_allocvec(&record.decisions),
        Table::Errors => postcard::to_allocvec(&record.errors),
        Table::User => postcard::to_allocvec(&record.user),
        Table::Subagents => postcard::to_allocvec(&record.subagents),
        Table::Files => postcard::to_allocvec(&record.files),
        Table::Tasks => postcard::to_allocvec(&record.tasks),
    };
    Table::ALL.iter().map(table).collect::<Result<_, _>>().ok()
}

/// A record with those of `tables` alone, of which `bytes` gives what [`encode`] made; `None` where one is missing or damaged.
pub(super) fn decode(tables: &[Table], bytes: impl Fn(Table) -> Option<Vec<u8>>) -> Option<Record> {
    let mut record = Record::default();
    for table in tables {
        let bytes = bytes(*table)?;
        match table {
            Table::Phases => record.phases = postcard::from_bytes(&bytes).ok()?,
            Table::Steps => record.steps = postcard::from_bytes(&bytes).ok()?,
            Table::Decisions => record.decisions = postcard::from_bytes(&bytes).ok()?,
            Table::Errors => record.errors = postcard::from_bytes(&bytes).ok()?,
            Table::User => record.user = postcard::from_bytes(&bytes).ok()?,
            Table::Subagents => record.subagents = postcard::from_bytes(&bytes).ok()?,
            Table::Files => record.files = postcard::from_bytes(&bytes).ok()?,
            Table::Tasks => record.tasks = postcard::from_bytes(&bytes).ok()?,
        }
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{DecisionRow, ErrorRow, FileRow, PhaseRow, StepRow, SubagentRow, TaskRow, UserRow};

    #[test]
    fn each_table_is_read_alone() {
        let record = Record {
            phases: vec![PhaseRow { id: "p-01".into(), ..PhaseRow::default() }],
            steps: vec![StepRow { exit: Some(-1), ..StepRow::default() }; 2],
            decisions: vec![DecisionRow { at: "2026-11-20T10:00:00Z".parse().ok(), ..DecisionRow::default() }],
            errors: vec![ErrorRow { title: "e".into(), ..ErrorRow::default() }; 2],
            user: vec![UserRow { correction: true, ..UserRow::default() }],
            subagents: vec![SubagentRow { tokens: Some(u64::MAX), ..SubagentRow::default() }],
            files: vec![FileRow { hash: Some("a".into()), ..FileRow::default() }],
            tasks: vec![TaskRow { priority: Some("high".into()), ..TaskRow::default() }],
            ..Record::default()
        };
        let encoded = encode(&record).unwrap();
        let bytes = |table: Table| encoded.get(table as usize).cloned();
        for table in Table::ALL {
            assert_eq!(decode(&[table], bytes), Some(record.clone().only(&[table])), "{}", table.name());
            let cut = |table: Table| bytes(table).map(|bytes| bytes[..bytes.len() - 1].to_vec());
            assert_eq!(decode(&[table], cut), None, "{}", table.name());
        }
        assert_eq!(decode(&Table::ALL, bytes), Some(record));
    }
}
