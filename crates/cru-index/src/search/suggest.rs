//! What to try where a query finds nothing.

use std::collections::{BTreeMap, HashSet};

use tantivy::query::FuzzyTermQuery;
use tantivy::{TantivyError, Term};

use super::pattern::{Pattern, slips};
use super::{AnyWord, Search, SearchOptions, Totals, failed};
use crate::entry::NoteKey;
use crate::query::{Field, Query, QueryNode};
use crate::snapshot::Snapshot;
use cru_base::Result;

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
    /// These sessions hold all parts, in different blocks; and how many there are.
    Apart(Vec<String>, u64),
}

/// Words that are named.
const MOST: usize = 3;
/// Parts of a query that are tried.
const TRIED: usize = 8;

/// What to try instead of a query without hits.
pub fn advise(snapshot: &Snapshot, query: &Query, options: &SearchOptions) -> Result<Vec<Advice>> {
    let all = |parts: Vec<QueryNode>| -> Result<(Totals, HashSet<u64>)> {
        let part = Query { text: query.text.clone(), root: QueryNode::All(parts) };
        let (hits, notes) = Search::new(snapshot, &part, options).all()?;
        Ok((Totals { hits, sessions: notes.len() as u64 }, notes))
    };
    let mut advice = Vec::new();
    // Notes that hold every part so far, wherever it stands.
    let mut apart: Option<HashSet<u64>> = None;
    let parts = query.parts();
    for (index, part) in parts.iter().take(TRIED).enumerate() {
        let name = query.of(part).to_owned();
        if !matches!(part, QueryNode::Not(_)) {
            let (alone, notes) = all(vec![part.clone()])?;
            apart = Some(apart.map_or(notes.clone(), |apart| apart.intersection(&notes).copied().collect()));
            if alone.hits == 0 {
                let near = match part {
                    QueryNode::Words(words) => Pattern::of(words).map(|it| near(snapshot, &it)).transpose()?,
                    _ => None,
                };
                advice.push(match near {
                    Some(near) if !near.is_empty() => Advice::Near(name, near),
                    _ => Advice::Nowhere(name),
                });
                continue;
            }
            if parts.len() > 1 && matches!(part, QueryNode::Words(_)) {
                advice.push(Advice::Alone(name, alone));
                continue;
            }
        }
        if parts.len() > 1 {
            let rest = parts.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, node)| node.clone());
            let (without, _) = all(rest.collect())?;
            if without.hits > 0 {
                let name = if matches!(part, QueryNode::Not(_)) { format!("-{name}") } else { name };
                advice.push(Advice::Without(name, without));
            }
        }
    }
    let apart = apart.filter(|_| parts.len() > 1 && parts.len() <= TRIED).unwrap_or_default();
    let is_excluded = parts.iter().any(|part| matches!(part, QueryNode::Not(_)));
    if !apart.is_empty() && !is_excluded {
        let mut rows: Vec<_> = apart.iter().filter_map(|note| snapshot.session(NoteKey(*note))).collect();
        rows.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| a.path.cmp(&b.path)));
        let ids = rows.iter().take(MOST).map(|row| row.id.clone()).collect();
        advice.push(Advice::Apart(ids, rows.len() as u64));
    }
    Ok(advice)
}

/// The sessions that hold every part of a query, in different blocks, each with its best hit; nothing where the query has
/// one part, excludes something, or says by `kind:` or `is:` what a hit is.
pub fn in_different_blocks(snapshot: &Snapshot, query: &Query, options: &SearchOptions) -> Result<AnyWord> {
    let parts = query.parts();
    let is_excluded = parts.iter().any(|part| matches!(part, QueryNode::Not(_)));
    let names_kind = |part: &QueryNode| matches!(part, QueryNode::Test(test) if matches!(test.field, Field::Kind | Field::Is) && !part.is_about_sessions());
    if is_excluded || parts.iter().any(names_kind) || !(2..=TRIED).contains(&parts.len()) {
        return Ok(AnyWord::default());
    }
    let mut apart: Option<HashSet<u64>> = None;
    for part in parts {
        let part = Query { text: query.text.clone(), root: QueryNode::All(vec![part.clone()]) };
        let (_, notes) = Search::new(snapshot, &part, options).all()?;
        apart = Some(apart.map_or(notes.clone(), |apart| apart.intersection(&notes).copied().collect()));
    }
    let notes = apart.unwrap_or_default();
    let of_entries: Vec<QueryNode> = parts.iter().filter(|part| !part.is_about_sessions()).cloned().collect();
    if notes.is_empty() || of_entries.is_empty() {
        return Ok(AnyWord::default());
    }
    // Words show more of why a session is here than a kind or a tool does.
    let words: Vec<QueryNode> = of_entries.iter().filter(|part| matches!(part, QueryNode::Words(_))).cloned().collect();
    let any =
        Query { text: query.text.clone(), root: QueryNode::Any(if words.is_empty() { of_entries } else { words }) };
    let options = SearchOptions { per_session: 1, ..options.clone() };
    let sessions = notes.len() as u64;
    let search = Search { allowed: Some(notes), ..Search::new(snapshot, &any, &options) };
    Ok(AnyWord { hits: search.hits()?, totals: Totals { hits: sessions, sessions } })
}

/// Words of the index that are nearly the parts of a pattern that are not in it.
fn near(snapshot: &Snapshot, pattern: &Pattern) -> Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for part in &pattern.parts {
        // Every word of one character is near to every other.
        if part.chars().nth(1).is_none() {
            continue;
        }
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
        for (number, reader) in part.searcher().segment_readers().iter().enumerate() {
            let outdated = part.outdated(number)?;
            let automaton = FuzzyTermQuery::new(Term::from_field_text(body, word), slips, true).automaton()?;
            let index = reader.inverted_index(body)?;
            let mut stream = index.terms().search(automaton).into_stream().map_err(TantivyError::from)?;
            while stream.advance() {
                if let Ok(known) = std::str::from_utf8(stream.key()) {
                    let count = outdated.frequency(reader, &Term::from_field_text(body, known))?;
                    *counts.entry(known.to_owned()).or_default() += count;
                }
            }
        }
    }
    let mut words: Vec<(usize, String, u64)> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(known, count)| (strsim::osa_distance(word, &known), known, count))
        .collect();
    words.sort_by(|a, b| (a.0, std::cmp::Reverse(a.2), &a.1).cmp(&(b.0, std::cmp::Reverse(b.2), &b.1)));
    Ok(words)
}
