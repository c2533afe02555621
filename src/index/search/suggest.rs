//! What to try where a query finds nothing.

use std::collections::BTreeMap;

use tantivy::query::FuzzyTermQuery;
use tantivy::{TantivyError, Term};

use super::pattern::{Pattern, slips};
use super::{Options, Search, Totals, failed};
use crate::base::Result;
use crate::index::query::{Node, Query};
use crate::index::snapshot::Snapshot;

/// Something to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// This part of the query has hits alone.
    Alone(String, Totals),
    /// This word is nowhere; these are like it.
    Near(String, Vec<(String, u64)>),
    /// This part is nowhere.
    Nowhere(String),
    /// Without this part there would be hits.
    Without(String, Totals),
}

/// Words that are named.
const MOST: usize = 3;
/// Parts of a query that are tried.
const TRIED: usize = 8;

/// What to try instead of a query without hits.
pub fn advise(snapshot: &Snapshot, query: &Query, options: &Options) -> Result<Vec<Advice>> {
    let totals = |parts: Vec<Node>| -> Result<Totals> {
        let part = Query { text: query.text.clone(), root: Node::All(parts) };
        Search::new(snapshot, &part, options).totals()
    };
    let mut advice = Vec::new();
    let parts = query.parts();
    for (index, part) in parts.iter().take(TRIED).enumerate() {
        let name = query.of(part).to_owned();
        if !matches!(part, Node::Not(_)) {
            let alone = totals(vec![part.clone()])?;
            if alone.hits == 0 {
                let near = match part {
                    Node::Words(words) => Pattern::of(words, false).map(|it| near(snapshot, &it)).transpose()?,
                    _ => None,
                };
                advice.push(match near {
                    Some(near) if !near.is_empty() => Advice::Near(name, near),
                    _ => Advice::Nowhere(name),
                });
                continue;
            }
            if parts.len() > 1 && matches!(part, Node::Words(_)) {
                advice.push(Advice::Alone(name, alone));
                continue;
            }
        }
        if parts.len() > 1 {
            let rest = parts.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, node)| node.clone());
            let without = totals(rest.collect())?;
            if without.hits > 0 {
                let name = if matches!(part, Node::Not(_)) { format!("-{name}") } else { name };
                advice.push(Advice::Without(name, without));
            }
        }
    }
    Ok(advice)
}

/// Words of the index that are nearly the parts of a pattern that are not in it.
fn near(snapshot: &Snapshot, pattern: &Pattern) -> Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for part in &pattern.parts {
        let known = words_like(snapshot, part).map_err(failed)?;
        if known.iter().any(|(_, word, _)| word == part) {
            continue;
        }
        found.extend(known.into_iter().take(MOST).map(|(_, word, count)| (word, count)));
    }
    found.truncate(MOST);
    Ok(found)
}

/// Distance, word and in how many entries it is, the nearest and most frequent first.
fn words_like(snapshot: &Snapshot, word: &str) -> tantivy::Result<Vec<(usize, String, u64)>> {
    let body = snapshot.fields().body;
    let slips = slips(word).max(1);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for part in snapshot.parts() {
        for reader in part.searcher().segment_readers() {
            let automaton = FuzzyTermQuery::new(Term::from_field_text(body, word), slips, true).automaton()?;
            let index = reader.inverted_index(body)?;
            let mut stream = index.terms().search(automaton).into_stream().map_err(TantivyError::from)?;
            while stream.advance() {
                if let Ok(known) = std::str::from_utf8(stream.key()) {
                    *counts.entry(known.to_owned()).or_default() += u64::from(stream.value().doc_freq);
                }
            }
        }
    }
    let mut words: Vec<(usize, String, u64)> =
        counts.into_iter().map(|(known, count)| (strsim::osa_distance(word, &known), known, count)).collect();
    words.sort_by(|a, b| (a.0, std::cmp::Reverse(a.2), &a.1).cmp(&(b.0, std::cmp::Reverse(b.2), &b.1)));
    Ok(words)
}
