//! Sessions that hold any of a query's words, each ranked as one document: for questions, of which no block holds every
//! word.
//!
//! A session's weight is BM25 over the entries of its note: how many of them hold a word, in any of its English forms, and
//! what these entries are worth (the title most, output of tools least), how rare the word is among sessions, how many
//! entries the session has; and more where words stand near each other, in one block. A session that is far behind the best
//! is none. Of scripts without blanks every two characters are a word. Function words of the languages that the
//! [lists](list::STOP) know do not count, unless there are no others. Restrictions of the query hold as they do in a
//! strict search.

use std::collections::{BTreeSet, HashMap, HashSet};

use rust_stemmers::{Algorithm, Stemmer};
use tantivy::TantivyError;
use tantivy::query::{AllQuery, BooleanQuery, Query as TantivyQuery};

use super::collect::Block;
use super::compile;
use super::pattern::Pattern;
use super::{Hit, Order, Search, SearchOptions, Totals, collect, failed};
use crate::entry::NoteKey;
use crate::query::{Query, QueryNode, QueryWords};
use crate::snapshot::Snapshot;
use cru_base::Result;
use cru_session::words::list;

/// How soon more entries with a word stop counting; the usual value.
const K1: f32 = 1.2;
/// How much the length of a session counts; the usual value.
const B: f32 = 0.75;
/// Letters of a word that has no other forms.
const SHORT: usize = 3;
/// Words that are looked for; a question has fewer.
const MOST: usize = 40;
/// Sessions of which it is looked how near the words stand to each other.
const NEAR: usize = 60;
/// What it is worth that words stand in one block.
const TOGETHER: f32 = 0.5;
/// The part of the best weight below which a session holds the words by accident.
const FAR: f32 = 0.2;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct AnyWord {
    /// The best hit of each session, the best session first.
    pub hits: Vec<Hit>,
    /// How many sessions hold any of the words; each counts as one hit.
    pub totals: Totals,
}

/// Finds sessions that hold any word of a query; `options` bound how many. Nothing where the query has no words.
pub fn any_word(snapshot: &Snapshot, query: &Query, options: &SearchOptions) -> Result<AnyWord> {
    let body = snapshot.fields().body;
    let queries = patterns(query).into_iter().map(|pattern| -> tantivy::Result<Box<dyn TantivyQuery>> {
        let forms = forms(snapshot, &pattern)?;
        Ok(compile::any(forms.iter().map(|form| compile::pattern(form, body)).collect()))
    });
    let queries = queries.collect::<tantivy::Result<Vec<_>>>().map_err(failed)?;
    if queries.is_empty() {
        return Ok(AnyWord::default());
    }
    let mut rest = Vec::new();
    restrictions(&query.root, &mut rest);
    let rest = Query { text: query.text.clone(), root: QueryNode::All(rest) };
    let base = Search::new(snapshot, &rest, options);
    let found = weighed(&base, &queries).map_err(failed)?;
    if found.is_empty() { Ok(AnyWord::default()) } else { shown(&base, &queries, found) }
}

/// The notes that hold any of the words, each with its weight; without those that are far behind the best.
fn weighed(base: &Search<'_>, queries: &[Box<dyn TantivyQuery>]) -> tantivy::Result<Vec<(u64, f32)>> {
    let lengths = collect::entries_by_note(base, &AllQuery)?;
    let all = lengths.len() as f32;
    let mean = (lengths.values().sum::<f32>() / all.max(1.0)).max(1.0);
    let mut weights: HashMap<u64, f32> = HashMap::new();
    let mut rarities = Vec::with_capacity(queries.len());
    for words in queries {
        let found = collect::entries_by_note(base, restricted(base, words).as_ref())?;
        let holding = found.len() as f32;
        let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
        rarities.push(rarity);
        for (note, count) in found {
            let length = lengths.get(&note).copied().unwrap_or(mean) / mean;
            *weights.entry(note).or_default() += rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
        }
    }
    let candidates: HashSet<u64> =
        heaviest(base.snapshot, weights.iter().map(|(note, weight)| (*note, *weight)).collect(), NEAR)
            .into_iter()
            .map(|(note, _)| note)
            .collect();
    let mut near: HashMap<Block, f32> = HashMap::new();
    for (words, rarity) in queries.iter().zip(rarities) {
        for block in collect::blocks_of(base, restricted(base, words).as_ref(), &candidates)? {
            *near.entry(block).or_default() += rarity;
        }
    }
    let mut nearest: HashMap<u64, f32> = HashMap::new();
    for ((note, _), together) in near {
        let best = nearest.entry(note).or_default();
        *best = best.max(together);
    }
    for (note, together) in nearest {
        *weights.entry(note).or_default() += together * TOGETHER;
    }
    let best = weights.values().copied().fold(0.0, f32::max);
    Ok(weights.into_iter().filter(|(_, weight)| *weight >= best * FAR).collect())
}

/// The notes of the greatest weights, the best first; of equal ones the newest.
fn heaviest(snapshot: &Snapshot, mut weighed: Vec<(u64, f32)>, limit: usize) -> Vec<(u64, f32)> {
    // Times are read of those alone that can be among the best.
    if let Some(last) = limit.checked_sub(1).filter(|last| *last < weighed.len()) {
        let least = weighed.select_nth_unstable_by(last, |a, b| b.1.total_cmp(&a.1)).1.1;
        weighed.retain(|(_, weight)| *weight >= least);
    }
    let started = |note: u64| snapshot.session(NoteKey(note)).and_then(|row| row.started);
    let newest = |a: u64, b: u64| started(b).cmp(&started(a));
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| newest(a.0, b.0)).then_with(|| a.0.cmp(&b.0)));
    weighed.truncate(limit);
    weighed
}

/// The best passage of each of the best notes.
fn shown(base: &Search<'_>, queries: &[Box<dyn TantivyQuery>], found: Vec<(u64, f32)>) -> Result<AnyWord> {
    let sessions = found.len() as u64;
    let weights: HashMap<u64, f32> = heaviest(base.snapshot, found, base.options.limit).into_iter().collect();
    let words = BooleanQuery::union(queries.iter().map(|query| query.box_clone()).collect());
    let words = restricted(base, &words);
    let options =
        SearchOptions { order: Order::Relevance, limit: weights.len(), per_session: 1, ..base.options.clone() };
    let allowed = Some(weights.keys().copied().collect());
    let best = Search { snapshot: base.snapshot, options: &options, allowed, query: Some(words) };
    let mut hits = best.hits()?;
    for hit in &mut hits {
        hit.score = weights.get(&hit.key.0).copied().unwrap_or_default();
    }
    hits.sort_by(Hit::against);
    hits.dedup_by_key(|hit| hit.key);
    Ok(AnyWord { hits, totals: Totals { hits: sessions, sessions } })
}

/// The words where all else that the query asks holds too.
fn restricted(base: &Search<'_>, words: &dyn TantivyQuery) -> Box<dyn TantivyQuery> {
    match &base.query {
        Some(rest) => Box::new(BooleanQuery::intersection(vec![words.box_clone(), rest.box_clone()])),
        None => words.box_clone(),
    }
}

/// The parts of a query that must hold whichever of its words do.
fn restrictions(node: &QueryNode, found: &mut Vec<QueryNode>) {
    match node {
        QueryNode::All(parts) => parts.iter().for_each(|part| restrictions(part, found)),
        node if !node.has_words() => found.push(node.clone()),
        _ => {}
    }
}

/// What to look for: the words that are not excluded, without function words where there are others.
fn patterns(query: &Query) -> Vec<Pattern> {
    let words = query.words();
    let tells = |words: &&&QueryWords| words.quoted || !list::STOP.has(&words.text.to_lowercase());
    let telling: Vec<&QueryWords> = words.iter().filter(tells).copied().collect();
    let chosen = if telling.is_empty() { words } else { telling };
    let mut patterns: Vec<Pattern> = Vec::new();
    for pattern in chosen.into_iter().filter_map(Pattern::of).flat_map(pieces).take(MOST) {
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    patterns
}

/// A pattern of a script that writes no blanks as all its stretches of two characters; any other as it is.
fn pieces(pattern: Pattern) -> Vec<Pattern> {
    let is_unspaced = |part: &String| part.chars().all(list::is_unspaced);
    if pattern.parts.len() <= 2 || !pattern.parts.iter().all(is_unspaced) {
        return vec![pattern];
    }
    let two = |parts: &[String]| Pattern { parts: parts.to_vec(), joined: None, prefix: false, fuzzy: false };
    pattern.parts.windows(2).map(two).collect()
}

/// A pattern and the same word in its other forms, as far as the index holds them: `check` for `checking`.
fn forms(snapshot: &Snapshot, pattern: &Pattern) -> tantivy::Result<Vec<Pattern>> {
    let [word] = pattern.parts.as_slice() else { return Ok(vec![pattern.clone()]) };
    let stemmer = Stemmer::create(Algorithm::English);
    let stem = stemmer.stem(word);
    let beginning: String = stem.chars().take(stem.chars().count().saturating_sub(1).max(SHORT)).collect();
    if pattern.prefix || pattern.fuzzy || !word.is_ascii() || word.len() <= SHORT || !word.starts_with(&beginning) {
        return Ok(vec![pattern.clone()]);
    }
    let body = snapshot.fields().body;
    let mut found: BTreeSet<String> = BTreeSet::from([word.clone()]);
    for part in snapshot.parts() {
        for reader in part.searcher().segment_readers() {
            let index = reader.inverted_index(body)?;
            let range = index.terms().range().ge(beginning.as_bytes());
            let mut stream = range.into_stream().map_err(TantivyError::from)?;
            while stream.advance() && stream.key().starts_with(beginning.as_bytes()) {
                let Ok(known) = std::str::from_utf8(stream.key()) else { continue };
                if stemmer.stem(known) == stem {
                    found.insert(known.to_owned());
                }
            }
        }
    }
    Ok(found.into_iter().map(|form| Pattern { parts: vec![form], joined: None, ..pattern.clone() }).collect())
}
