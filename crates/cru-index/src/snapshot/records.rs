//! The records of sessions, read one at a time.
//!
//! A record is some ten thousand bytes, and a vault has as many of them as sessions; who asks keeps what it needs of
//! each, and names the tables that it looks at, so that neither time nor memory go to the others.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use tantivy::collector::DocSetCollector;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::schema::document::{DeserializeError, DocumentDeserialize, DocumentDeserializer};
use tantivy::store::StoreReader;
use tantivy::{DocAddress, Term};

use super::super::disk::failed;
use super::super::manifest::Place;
use super::super::record::{Record, SessionRow, Table};
use super::super::rows;
use super::super::short;
use super::super::toon;
use super::super::update::SESSION;
use super::{Listed, Row, Snapshot};
use crate::entry::NoteKey;
use cru_base::Result;

/// Blocks of records that stay unpacked in each segment. A block is mostly one record, and each is read once.
const BLOCKS: usize = 4;

/// So many records are in work before what is kept of them is handed over.
const CHUNK: usize = 256;

impl Snapshot {
    /// The records of the sessions that are `wanted`, in the order of their paths.
    pub fn records(&self, wanted: impl Fn(&SessionRow) -> bool) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        self.each_record(wanted, &Table::ALL, |record| record, |record| records.push(record))?;
        Ok(records)
    }

    /// Hands over what `make` makes of the record of each session that is `wanted`, in the order of their paths. Records
    /// have the rows of `tables` alone; several are made of at once, and none is held longer than that takes.
    pub fn each_record<T: Send>(
        &self,
        wanted: impl Fn(&SessionRow) -> bool,
        tables: &[Table],
        make: impl Fn(Record) -> T + Sync,
        mut take: impl FnMut(T),
    ) -> Result<()> {
        let chosen: Vec<(&Listed, &SessionRow)> =
            self.listed.iter().zip(self.sessions()).filter(|(_, row)| wanted(row)).collect();
        let is_short = tables.iter().all(|table| short::SHORT.contains(table));
        let (places, stores) = if is_short { Default::default() } else { (self.carriers(&chosen)?, self.stores()?) };
        let record = |(it, row): &(&Listed, &SessionRow)| {
            let kept = match &it.row {
                Row::Memory(index) => return self.records.get(*index).map(|record| record.clone().only(tables)),
                Row::Disk { tables: place, .. } if is_short => self.short(*place, row, tables),
                Row::Disk { .. } => places.get(&it.key).and_then(|place| stored(&stores, *place, row, tables)),
            };
            kept.or_else(|| self.reread(&it.path).map(|record| record.only(tables)))
        };
        for chunk in chosen.chunks(CHUNK) {
            let made: Vec<T> = chunk.par_iter().filter_map(|it| record(it).map(&make)).collect();
            made.into_iter().for_each(&mut take);
        }
        Ok(())
    }

    /// The record of a session whose short tables stand at a place, with those of `tables` alone.
    fn short(&self, place: Option<Place>, row: &SessionRow, tables: &[Table]) -> Option<Record> {
        let record = short::decode(&rows::read(self.tables.as_ref()?, place?)?, tables)?;
        Some(Record { session: row.clone(), ..record })
    }

    /// Where the records of sessions stand on disk.
    fn carriers(&self, chosen: &[(&Listed, &SessionRow)]) -> Result<HashMap<NoteKey, DocAddress>> {
        let Some(part) = self.parts.first().filter(|_| self.file.is_some()) else { return Ok(HashMap::new()) };
        let wanted: HashSet<NoteKey> = chosen.iter().map(|(it, _)| it.key).collect();
        let query = TermQuery::new(Term::from_field_text(self.fields.kind, SESSION), IndexRecordOption::Basic);
        let found = part.searcher.search(&query, &DocSetCollector).map_err(failed)?;
        let mut places = HashMap::with_capacity(wanted.len());
        let mut columns = HashMap::new();
        for address in found {
            let column = match columns.entry(address.segment_ord) {
                std::collections::hash_map::Entry::Occupied(column) => column.into_mut(),
                std::collections::hash_map::Entry::Vacant(place) => {
                    let fast = part.searcher.segment_reader(address.segment_ord).fast_fields();
                    place.insert(fast.u64("note").map_err(failed)?)
                }
            };
            let Some(key) = column.first(address.doc_id).map(NoteKey) else { continue };
            if wanted.contains(&key) {
                places.insert(key, address);
            }
        }
        Ok(places)
    }

    /// What is stored of the entries on disk, by segment.
    fn stores(&self) -> Result<Vec<StoreReader>> {
        let Some(part) = self.parts.first().filter(|_| self.file.is_some()) else { return Ok(Vec::new()) };
        let segments = part.searcher.segment_readers().iter();
        let stores: std::io::Result<_> = segments.map(|segment| segment.get_store_reader(BLOCKS)).collect();
        stores.map_err(|error| failed(error.into()))
    }
}

/// The record that stands at a place, with the session's row as the file of rows has it.
fn stored(stores: &[StoreReader], place: DocAddress, row: &SessionRow, tables: &[Table]) -> Option<Record> {
    let RecordText(text) = stores.get(place.segment_ord as usize)?.get(place.doc_id).ok()?;
    toon::decode_tables(&text, row, tables).ok()
}

/// All that is stored of an entry: the text of its record, without the copies that a document of tantivy makes of it.
struct RecordText(String);

impl DocumentDeserialize for RecordText {
    fn deserialize<'de, D: DocumentDeserializer<'de>>(mut fields: D) -> std::result::Result<Self, DeserializeError> {
        Ok(Self(fields.next_field::<String>()?.map(|(_, text)| text).unwrap_or_default()))
    }
}
