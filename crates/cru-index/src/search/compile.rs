//! A query's tree as a query of tantivy, built by hand.

use std::collections::HashSet;
use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, ExistsQuery, FuzzyTermQuery, Occur, PhrasePrefixQuery, PhraseQuery, Query,
    RangeQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field as Column, IndexRecordOption};

use super::pattern::{Pattern, slips};
use super::{Options, rows};
use crate::query::{Field, Is, Node, Restriction, Value};
use crate::record::SessionRow;
use crate::snapshot::Snapshot;

type Boxed = Box<dyn Query>;

/// What a word that is only nearly there counts.
const NEARLY: f32 = 0.5;

/// All of the nodes.
pub(super) fn all(nodes: &[&Node], snapshot: &Snapshot, options: &Options) -> Boxed {
    Compiler { snapshot, options }.all(nodes.iter().copied())
}

/// A pattern in a column of words.
pub(super) fn pattern(pattern: &Pattern, column: Column) -> Boxed {
    let term = |word: &str| Term::from_field_text(column, word);
    let mut ways: Vec<Boxed> = Vec::new();
    match pattern.parts.as_slice() {
        [word] => {
            ways.push(scored(term(word)));
            if pattern.prefix {
                ways.push(constant(beginning(term(word)), NEARLY));
            }
        }
        words if pattern.prefix => {
            let mut query = PhrasePrefixQuery::new(words.iter().map(|word| term(word)).collect());
            query.set_max_expansions(u32::MAX);
            ways.push(Box::new(query));
        }
        words => ways.push(Box::new(PhraseQuery::new(words.iter().map(|word| term(word)).collect()))),
    }
    if let Some(joined) = &pattern.joined {
        ways.push(scored(term(joined)));
        if pattern.prefix {
            ways.push(constant(beginning(term(joined)), NEARLY));
        }
    }
    if pattern.fuzzy {
        let nearly = pattern.parts.iter().map(|word| {
            let slips = slips(word);
            let query: Boxed =
                if slips == 0 { scored(term(word)) } else { Box::new(FuzzyTermQuery::new(term(word), slips, true)) };
            constant(query, NEARLY)
        });
        ways.push(every(nearly.collect()));
    }
    any(ways)
}

fn scored(term: Term) -> Boxed {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

fn beginning(term: Term) -> Boxed {
    Box::new(FuzzyTermQuery::new_prefix(term, 0, true))
}

fn constant(query: Boxed, score: f32) -> Boxed {
    Box::new(ConstScoreQuery::new(query, score))
}

fn every(mut queries: Vec<Boxed>) -> Boxed {
    match queries.len() {
        1 => queries.remove(0),
        _ => Box::new(BooleanQuery::intersection(queries)),
    }
}

fn any(mut queries: Vec<Boxed>) -> Boxed {
    match queries.len() {
        1 => queries.remove(0),
        _ => Box::new(BooleanQuery::union(queries)),
    }
}

struct Compiler<'a> {
    snapshot: &'a Snapshot,
    options: &'a Options,
}

impl Compiler<'_> {
    fn node(&self, node: &Node) -> Boxed {
        if node.is_about_sessions() {
            return constant(self.notes(|row| rows::holds(node, row, self.options.here.as_deref())), 0.0);
        }
        match node {
            Node::All(nodes) => self.all(nodes.iter()),
            Node::Any(nodes) => any(nodes.iter().map(|node| self.node(node)).collect()),
            Node::Not(_) => self.all(std::iter::once(node)),
            Node::Words(words) => match Pattern::of(words, self.options.fuzzy) {
                Some(words) => pattern(&words, self.snapshot.fields().body),
                None => Box::new(AllQuery),
            },
            Node::Field(restriction) => {
                let values = restriction.values.iter().map(|value| self.value(restriction, value));
                constant(any(values.collect()), 0.0)
            }
        }
    }

    fn all<'n>(&self, nodes: impl Iterator<Item = &'n Node>) -> Boxed {
        let mut parts: Vec<(Occur, Boxed)> = nodes
            .map(|node| match node {
                Node::Not(node) => (Occur::MustNot, self.node(node)),
                node => (Occur::Must, self.node(node)),
            })
            .collect();
        if parts.iter().all(|(occur, _)| *occur == Occur::MustNot) {
            parts.push((Occur::Must, constant(Box::new(AllQuery), 0.0)));
        }
        match parts.len() {
            1 => parts.remove(0).1,
            _ => Box::new(BooleanQuery::new(parts)),
        }
    }

    fn value(&self, restriction: &Restriction, value: &Value) -> Boxed {
        let fields = self.snapshot.fields();
        let here = self.options.here.as_deref();
        let one = Restriction { values: vec![value.clone()], ..restriction.clone() };
        let of_row = |row: &SessionRow| rows::fits(&one, row, here);
        match restriction.field {
            Field::Kind => word(fields.kind, &kind(&value.folded()), value.prefix),
            Field::Tool => word(fields.tool, &value.folded(), value.prefix),
            // The head of a session tells who took part in it.
            Field::Agent => any(vec![word(fields.agent, &value.folded(), value.prefix), self.heads(of_row)]),
            Field::Channel => any(vec![word(fields.channel, &value.folded(), value.prefix), self.heads(of_row)]),
            Field::File => match Pattern::phrase(&value.text) {
                Some(path) => pattern(&Pattern { prefix: value.prefix, ..path }, fields.file),
                None => Box::new(tantivy::query::EmptyQuery),
            },
            Field::After | Field::Before => {
                let second = value.time.map_or(0, jiff::Timestamp::as_second);
                let bound = Term::from_field_i64(fields.time, second);
                let range = match restriction.field {
                    Field::After => RangeQuery::new(Bound::Included(bound), Bound::Unbounded),
                    _ => RangeQuery::new(Bound::Unbounded, Bound::Excluded(bound)),
                };
                // What tells no time is as old as its session.
                let timeless = BooleanQuery::new(vec![
                    (Occur::Must, self.notes(of_row)),
                    (Occur::MustNot, Box::new(ExistsQuery::new("time".to_owned(), false))),
                ]);
                any(vec![Box::new(range), Box::new(timeless)])
            }
            Field::Is => match Is::of(&value.folded()) {
                Is::Status => self.notes(of_row),
                Is::Failed => any(vec![word(fields.is, "failed", false), self.heads(of_row)]),
                Is::Mark => word(fields.is, &value.folded(), false),
                Is::Kind => word(fields.kind, &kind(&value.folded()), value.prefix),
            },
            Field::Status | Field::Model | Field::Project | Field::Branch | Field::Tag | Field::Session => {
                self.notes(of_row)
            }
        }
    }

    /// All that stands in the notes whose session is wanted.
    fn notes(&self, wanted: impl Fn(&SessionRow) -> bool) -> Boxed {
        let keys: HashSet<u64> = rows::keys(self.snapshot, wanted);
        let note = self.snapshot.fields().note;
        Box::new(TermSetQuery::new(keys.into_iter().map(|key| Term::from_field_u64(note, key))))
    }

    /// The heads of the sessions that are wanted.
    fn heads(&self, wanted: impl Fn(&SessionRow) -> bool) -> Boxed {
        let head = word(self.snapshot.fields().kind, "session", false);
        Box::new(BooleanQuery::intersection(vec![head, self.notes(wanted)]))
    }
}

/// A whole value of a column.
fn word(column: Column, value: &str, prefix: bool) -> Boxed {
    let term = Term::from_field_text(column, value);
    if prefix { beginning(term) } else { Box::new(TermQuery::new(term, IndexRecordOption::Basic)) }
}

/// `decisions` is `decision`.
fn kind(word: &str) -> String {
    let known = |word: &str| Is::words().any(|known| known == word);
    match word.strip_suffix('s') {
        Some(one) if !known(word) && known(one) => one.to_owned(),
        _ => word.to_owned(),
    }
}
