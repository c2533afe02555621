//! A step and what its transcript says of it are one hit: the step's.
//!
//! The words of a step stand in several entries: its own, and one for each input and output. A person wants to land on
//! the step once, and to be told of the transcript only where the words stand nowhere else.

use std::collections::{HashMap, HashSet};

use super::collect::{self, Block};
use super::{Hit, Search};

/// The hits, best first, with one for each block.
pub(super) fn fold(hits: Vec<Hit>) -> Vec<Hit> {
    let mut places: HashMap<Block, usize> = HashMap::new();
    let mut folded: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        if let Some(known) = places.get(&block(&hit)).and_then(|place| folded.get_mut(*place))
            && (known.evidence.is_some() || hit.evidence.is_some())
        {
            if hit.evidence.is_none() {
                (known.kind, known.evidence, known.source) = (hit.kind, None, None);
            }
            continue;
        }
        places.insert(block(&hit), folded.len());
        folded.push(hit);
    }
    folded
}

/// Makes hits of transcripts those of their steps where the words stand there too. A step that is the worse hit of the
/// two may not be among those that were collected.
pub(super) fn settle(search: &Search<'_>, query: &dyn tantivy::query::Query, hits: &mut [Hit]) -> tantivy::Result<()> {
    let told: HashSet<Block> = hits.iter().filter(|hit| hit.evidence.is_some()).map(block).collect();
    let mut own = collect::own(search, query, &told)?;
    for hit in hits.iter_mut().filter(|hit| hit.evidence.is_some()) {
        if let Some(kind) = own.remove(&block(hit)) {
            (hit.kind, hit.evidence, hit.source) = (kind, None, None);
        }
    }
    Ok(())
}

fn block(hit: &Hit) -> Block {
    (hit.key.0, hit.span.start as u64)
}
