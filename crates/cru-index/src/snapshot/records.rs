//! The records of sessions, read one at a time.
//!
//! A record is some ten thousand bytes, and a vault has as many of them as sessions; who asks keeps what it needs of
//! each, and names the tables that it looks at, so that neither time nor memory go to the others.

use rayon::prelude::*;

use super::super::record::{Record, SessionRow, Table};
use super::super::rows;
use super::{Listed, Row, Snapshot};

/// So many records are in work before what is kept of them is handed over.
const CHUNK: usize = 256;

impl Snapshot {
    /// The records of the sessions that are `wanted`, in the order of their paths.
    pub fn records(&self, wanted: impl Fn(&SessionRow) -> bool) -> Vec<Record> {
        let mut records = Vec::new();
        self.each_record(wanted, &Table::ALL, |record| record, |record| records.push(record));
        records
    }

    /// Hands over what `make` makes of the record of each session that is `wanted`, in the order of their paths. Records
    /// have the rows of `tables` alone; several are made of at once, and none is held longer than that takes.
    pub fn each_record<T: Send>(
        &self,
        wanted: impl Fn(&SessionRow) -> bool,
        tables: &[Table],
        make: impl Fn(Record) -> T + Sync,
        mut take: impl FnMut(T),
    ) {
        let chosen: Vec<(&Listed, &SessionRow)> =
            self.listed.iter().zip(self.sessions()).filter(|(_, row)| wanted(row)).collect();
        let record = |(it, row): &(&Listed, &SessionRow)| {
            let kept = match &it.row {
                Row::Memory(index) => return self.records.get(*index).map(|record| record.clone().only(tables)),
                Row::Disk { tables: list, .. } => {
                    self.tables.as_ref().and_then(|file| rows::read_tables(file, (*list)?, tables))
                }
            };
            kept.map(|record| Record { session: (*row).clone(), ..record })
                .or_else(|| self.reread(&it.path).map(|record| record.only(tables)))
        };
        for chunk in chosen.chunks(CHUNK) {
            let made: Vec<T> = chunk.par_iter().filter_map(|it| record(it).map(&make)).collect();
            made.into_iter().for_each(&mut take);
        }
    }
}
