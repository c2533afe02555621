//! Which notes may name a file, without reading any.
//!
//! A narrowing, not an answer: every note that names the file is among them, and others may be. Who asks looks at the
//! records of these.

use std::collections::HashSet;

use tantivy::collector::DocSetCollector;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::tokenizer::Token;
use tantivy::{DocAddress, Term};

use super::entry::NoteKey;
use super::snapshot::Snapshot;
use super::words;
use cru_base::{Error, Result};

/// The notes with an entry that has every word of `name`. `None`: `name` has no word, any note may.
pub fn notes(snapshot: &Snapshot, name: &str) -> Result<Option<HashSet<NoteKey>>> {
    let tokens = words::cut(name);
    let fields = snapshot.fields();
    // A word that was joined of others says no more than they do, and how far joining goes depends on what surrounds it.
    let whole = |it: &&Token| !tokens.iter().any(|other| is_within(other, it));
    let clauses: Vec<(Occur, Box<dyn Query>)> = tokens
        .iter()
        .filter(whole)
        .map(|token| {
            let term = |field| {
                let term = Term::from_field_text(field, &token.text);
                (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::Basic)) as Box<dyn Query>)
            };
            let either = BooleanQuery::new(vec![term(fields.file), term(fields.body)]);
            (Occur::Must, Box::new(either) as Box<dyn Query>)
        })
        .collect();
    if clauses.is_empty() {
        return Ok(None);
    }
    let query = BooleanQuery::new(clauses);
    let mut found = HashSet::new();
    for part in snapshot.parts() {
        let searcher = part.searcher();
        let mut places: Vec<DocAddress> =
            searcher.search(&query, &DocSetCollector).map_err(failed)?.into_iter().collect();
        places.sort_unstable();
        for segment in places.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let Some(first) = segment.first() else { continue };
            let column = searcher.segment_reader(first.segment_ord).fast_fields().u64("note").map_err(failed)?;
            let keys = segment.iter().filter_map(|place| column.first(place.doc_id)).map(NoteKey);
            found.extend(keys.filter(|key| part.counts(*key)));
        }
    }
    Ok(Some(found))
}

fn is_within(part: &Token, whole: &Token) -> bool {
    let inside = part.offset_from >= whole.offset_from && part.offset_to <= whole.offset_to;
    inside && part.offset_to - part.offset_from < whole.offset_to - whole.offset_from
}

fn failed(error: tantivy::TantivyError) -> Error {
    Error::internal("search the index", error)
}
