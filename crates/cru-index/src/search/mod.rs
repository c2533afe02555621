//! Searching the entries: a query's tree as one query of the index, run over every part, the best hits first.
//!
//! Relevance is BM25 over the words, with the statistics of all parts, times a modest factor for what a hit is (see
//! [`factor`]): a title says more than a line of output. Fields restrict and do not score. What holds for whole sessions
//! is answered by their rows: at the top of a query as a filter, within `OR` and `NOT` as a set of notes.

mod any;
mod collect;
mod compile;
mod fold;
mod mark;
mod pattern;
mod rows;
mod statistics;
mod suggest;

pub use any::{AnyWord, any_word};
pub use mark::Marker;
pub(crate) use mark::is_path_of;
pub use suggest::{Advice, advise, in_different_blocks};

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::entry::NoteKey;
use super::query::{Query, QueryNode};
use super::snapshot::Snapshot;
use super::table::TableRow;
use cru_base::{Error, Result, Span};

/// Something that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The note.
    pub key: NoteKey,
    /// Kind of the entry, see [`super::Entry::kind`]; `evidence` only where the note itself does not say it.
    pub kind: String,
    /// Where it stands in the note as it was indexed.
    pub span: Span,
    /// Relevance; 0 where the query restricts only.
    pub score: f32,
    /// When, where the entry tells.
    pub time: Option<Timestamp>,
    /// Line of the transcript, from 1; only of evidence.
    pub evidence: Option<u64>,
    /// The file beside the note's transcript that the line stands in, where it is another one.
    pub source: Option<String>,
}

impl Hit {
    /// The better comes first, of equals the newest.
    fn against(&self, other: &Self) -> std::cmp::Ordering {
        (other.score.total_cmp(&self.score))
            .then(other.time.cmp(&self.time))
            .then(self.key.cmp(&other.key))
            .then(self.span.cmp(&other.span))
    }
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The best, of equals the newest.
    #[default]
    Relevance,
    /// The newest.
    Time,
}

/// How to search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// What comes first.
    pub order: Order,
    /// At most that many hits.
    pub limit: usize,
    /// Of them at most that many in one session.
    pub per_session: usize,
    /// What `project:.` means.
    pub here: Option<String>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { order: Order::Relevance, limit: 20, per_session: usize::MAX, here: None }
    }
}

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Hits.
    pub hits: u64,
    /// Sessions with a hit.
    pub sessions: u64,
}

/// How much more a hit counts for what it is.
pub(crate) fn factor(kind: &str) -> f32 {
    match kind {
        "session" => 1.5,
        "phase" | "decision" | "user" | "summary" => 1.3,
        "evidence" => 0.8,
        "usage" => 0.5,
        _ => 1.0,
    }
}

/// What an entry is worth for the session as a whole: the title most, the output of tools least. The heads of the table of usage
/// are words of every session.
pub(crate) fn worth(kind: &str) -> f32 {
    match kind {
        "session" | "summary" => 3.0,
        "phase" | "user" | "decision" => 2.0,
        "evidence" => 0.1,
        "usage" => 0.0,
        _ => 1.0,
    }
}

/// How often full sessions are left out and the rest is asked again.
const ROUNDS: usize = 5;

/// The greatest [`factor`].
const GREATEST: f32 = 1.5;

/// A query over a snapshot, ready to be run.
pub struct Search<'a> {
    snapshot: &'a Snapshot,
    options: &'a SearchOptions,
    /// Notes that may hold a hit; `None`: all.
    allowed: Option<HashSet<u64>>,
    /// What is asked of entries; `None` where the query is about sessions only.
    query: Option<Box<dyn tantivy::query::Query>>,
}

impl<'a> Search<'a> {
    /// Prepares it.
    pub fn new(snapshot: &'a Snapshot, query: &Query, options: &'a SearchOptions) -> Self {
        let (about, of_entries): (Vec<&QueryNode>, Vec<&QueryNode>) =
            query.parts().iter().partition(|part| part.is_about_sessions());
        let holds = |row: TableRow<'_>| about.iter().all(|node| node.holds(row, options.here.as_deref()));
        let allowed = (!about.is_empty()).then(|| rows::keys(snapshot, holds));
        let query = (!of_entries.is_empty()).then(|| compile::all(&of_entries, snapshot, options));
        Self { snapshot, options, allowed, query }
    }

    /// The hits, best first.
    pub fn hits(&self) -> Result<Vec<Hit>> {
        let Some(query) = &self.query else { return Ok(self.sessions()) };
        let SearchOptions { limit, per_session, .. } = *self.options;
        let (mut found, mut spare): (Vec<Hit>, Vec<Hit>) = (Vec::new(), Vec::new());
        // A session with many hits must not crowd out the others: once it has its share it is full, and what is missing
        // is looked for again in the rest.
        let mut full = HashSet::new();
        let mut wanted = if per_session < limit { limit.saturating_mul(4).max(100) } else { limit };
        for _ in 0..ROUNDS {
            let more = collect::best(self, query.as_ref(), wanted, &full).map_err(failed)?;
            let is_all = more.len() < wanted;
            found.retain(|hit| full.contains(&hit.key.0));
            let mut counts: HashMap<NoteKey, usize> = HashMap::new();
            for hit in fold::fold(more) {
                let count = counts.entry(hit.key).or_default();
                *count += 1;
                if *count <= per_session {
                    found.push(hit);
                } else {
                    spare.push(hit);
                }
            }
            if is_all || found.len() >= limit {
                break;
            }
            full.extend(counts.iter().filter(|(_, count)| **count >= per_session).map(|(key, _)| key.0));
            wanted = wanted.saturating_mul(4);
        }
        let order = |a: &Hit, b: &Hit| match self.options.order {
            Order::Relevance => a.against(b),
            Order::Time => b.time.cmp(&a.time).then_with(|| a.against(b)),
        };
        // Where there are no others, more of the same are better than none.
        spare.sort_by(order);
        found.extend(spare.into_iter().take(limit.saturating_sub(found.len())));
        found.sort_by(order);
        found.truncate(limit);
        fold::settle(self, query.as_ref(), &mut found).map_err(failed)?;
        Ok(found)
    }

    /// How many hits there are, none left out.
    pub fn totals(&self) -> Result<Totals> {
        let (hits, notes) = self.all()?;
        Ok(Totals { hits, sessions: notes.len() as u64 })
    }

    /// How many hits there are, and the notes that hold them.
    fn all(&self) -> Result<(u64, HashSet<u64>)> {
        if let Some(query) = &self.query {
            return collect::all(self, query.as_ref()).map_err(failed);
        }
        let notes = self.allowed.clone().unwrap_or_default();
        Ok((notes.len() as u64, notes))
    }

    /// Sessions as hits: their heads, newest first.
    fn sessions(&self) -> Vec<Hit> {
        let mut hits: Vec<Hit> = (self.snapshot.sessions().iter())
            .map(|row| (NoteKey::of_text(&row.path), row))
            .filter(|(key, _)| self.allows(key.0))
            .map(|(key, row)| Hit {
                key,
                kind: "session".to_owned(),
                span: Span::default(),
                score: 0.0,
                time: row.started,
                evidence: None,
                source: None,
            })
            .collect();
        hits.sort_by_key(|hit| (std::cmp::Reverse(hit.time), hit.key));
        hits.truncate(self.options.limit);
        hits
    }

    fn allows(&self, key: u64) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&key))
    }
}

fn failed(error: tantivy::TantivyError) -> Error {
    Error::internal("search the index", error)
}
