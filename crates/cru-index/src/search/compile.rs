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
use super::{SearchOptions, rows};
use crate::query::{Field, FieldTest, Is, QueryNode, TestValue, entry_kind};
use crate::snapshot::Snapshot;
use crate::table::TableRow;

type Boxed = Box<dyn Query>;

/// What a word that is only nearly there counts.
const NEARLY: f32 = 0.5;

/// All of the nodes.
pub(super) fn all(nodes: &[&QueryNode], snapshot: &Snapshot, options: &SearchOptions) -> Boxed {
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

pub(super) fn any(mut queries: Vec<Boxed>) -> Boxed {
    match queries.len() {
        1 => queries.remove(0),
        _ => Box::new(BooleanQuery::union(queries)),
    }
}

struct Compiler<'a> {
    snapshot: &'a Snapshot,
    options: &'a SearchOptions,
}

impl Compiler<'_> {
    fn node(&self, node: &QueryNode) -> Boxed {
        if node.is_about_sessions() {
            return constant(self.notes(|row| node.holds(row, self.options.here.as_deref())), 0.0);
        }
        match node {
            QueryNode::All(nodes) => self.all(nodes.iter()),
            QueryNode::Any(nodes) => any(nodes.iter().map(|node| self.node(node)).collect()),
            QueryNode::Not(_) => self.all(std::iter::once(node)),
            QueryNode::Words(words) => match Pattern::of(words) {
                Some(words) => pattern(&words, self.snapshot.fields().body),
                None => Box::new(AllQuery),
            },
            QueryNode::Test(test) => {
                let mut ways: Vec<Boxed> = test.values.iter().map(|value| self.value(test, value)).collect();
                if matches!(test.field, Field::Agent | Field::Channel) {
                    // The head of a session tells who took part in it.
                    let positive = FieldTest { op: test.op.positive().0, ..test.clone() };
                    ways.push(self.heads(|row| positive.holds(row, self.options.here.as_deref())));
                }
                let found = constant(any(ways), 0.0);
                if !test.op.positive().1 {
                    return found;
                }
                let every = constant(Box::new(AllQuery), 0.0);
                Box::new(BooleanQuery::new(vec![(Occur::Must, every), (Occur::MustNot, found)]))
            }
        }
    }

    fn all<'n>(&self, nodes: impl Iterator<Item = &'n QueryNode>) -> Boxed {
        let mut parts: Vec<(Occur, Boxed)> = nodes
            .map(|node| match node {
                QueryNode::Not(node) => (Occur::MustNot, self.node(node)),
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

    /// What one value of a test asks of entries, whether the operator denies it or not.
    fn value(&self, test: &FieldTest, value: &TestValue) -> Boxed {
        let fields = self.snapshot.fields();
        let one = FieldTest { values: vec![value.clone()], op: test.op.positive().0, ..test.clone() };
        let of_row = |row: TableRow<'_>| one.holds(row, self.options.here.as_deref());
        match test.field {
            Field::Kind => word(fields.kind, entry_kind(&value.folded), value.prefix),
            Field::Tool => word(fields.tool, &value.folded, value.prefix),
            Field::Agent => word(fields.agent, &value.folded, value.prefix),
            Field::Channel => word(fields.channel, &value.folded, value.prefix),
            Field::File => match Pattern::phrase(&value.text) {
                Some(path) => pattern(&Pattern { prefix: value.prefix, ..path }, fields.file),
                None => Box::new(tantivy::query::EmptyQuery),
            },
            Field::After | Field::Before => {
                let second = value.time().map_or(0, jiff::Timestamp::as_second);
                let bound = Term::from_field_i64(fields.time, second);
                let range = match test.field {
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
            Field::Is => match Is::of(&value.folded) {
                Is::Status => self.notes(of_row),
                Is::Failed => any(vec![word(fields.is, "failed", false), self.heads(of_row)]),
                Is::Mark => word(fields.is, &value.folded, false),
                Is::Kind => word(fields.kind, entry_kind(&value.folded), value.prefix),
            },
            Field::Column(_) | Field::Tag | Field::Session => self.notes(of_row),
        }
    }

    /// All that stands in the notes whose session is wanted.
    fn notes(&self, wanted: impl Fn(TableRow<'_>) -> bool) -> Boxed {
        let keys: HashSet<u64> = rows::keys(self.snapshot, wanted);
        let note = self.snapshot.fields().note;
        Box::new(TermSetQuery::new(keys.into_iter().map(|key| Term::from_field_u64(note, key))))
    }

    /// The heads of the sessions that are wanted.
    fn heads(&self, wanted: impl Fn(TableRow<'_>) -> bool) -> Boxed {
        let head = word(self.snapshot.fields().kind, "session", false);
        Box::new(BooleanQuery::intersection(vec![head, self.notes(wanted)]))
    }
}

/// A whole value of a column.
fn word(column: Column, value: &str, prefix: bool) -> Boxed {
    let term = Term::from_field_text(column, value);
    if prefix { beginning(term) } else { Box::new(TermQuery::new(term, IndexRecordOption::Basic)) }
}
