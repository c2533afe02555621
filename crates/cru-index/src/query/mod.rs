//! The query language of `cru search` and `cru list --where`: words, phrases and tests of fields, joined by `and`, `or`,
//! `not` and parentheses, as a tree with spans.
//!
//! Parts side by side must all hold. `"…"` is an exact phrase, `auth*` a prefix, `auth~` allows for a slip of the finger,
//! `-word` and `not word` exclude. `field OP value` tests a field; a comma in the value means "or".
//!
//! The same lexer and parser serve both commands. A [`FieldSet`] says which fields there are and whether words may stand
//! alone. Reading is linear, its depth is bounded, and what cannot be read gives an error with its place and what to do.

mod error;
pub mod field;
mod is;
mod lex;
mod operator;
mod parse;
mod test;
#[cfg(test)]
mod tests;

pub use error::QueryError;
pub use field::{Field, FieldSet, SearchFields};
pub use is::{Is, entry_kind};
pub use operator::Operator;
pub use test::{FieldTest, Operand, TestValue};

use jiff::Zoned;

use crate::table::TableRow;
use cru_base::Span;

/// A query that was read.
#[derive(Clone, Debug)]
pub struct Query {
    /// As it was typed.
    pub text: String,
    /// What it asks.
    pub root: QueryNode,
}

/// A part of a query.
#[derive(Clone, Debug)]
pub enum QueryNode {
    /// All of them.
    All(Vec<QueryNode>),
    /// At least one of them.
    Any(Vec<QueryNode>),
    /// Not this.
    Not(Box<QueryNode>),
    /// Words.
    Words(QueryWords),
    /// A field compared with values.
    Test(FieldTest),
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryWords {
    /// Without quotes and marks.
    pub text: String,
    /// Where it stands in the query.
    pub span: Span,
    /// Whether it was quoted.
    pub quoted: bool,
    /// `auth*`: the last word may go on.
    pub prefix: bool,
    /// `auth~`: nearly this word.
    pub fuzzy: bool,
}

impl Query {
    /// Reads a query of `cru search`; `now` is what `after:7d` counts from, and its zone the one whose days are meant.
    pub fn parse(text: &str, now: &Zoned) -> Result<Self, QueryError> {
        Self::parse_with(text, &SearchFields, now)
    }

    /// Reads a query on the fields of `fields`.
    pub fn parse_with(text: &str, fields: &dyn FieldSet, now: &Zoned) -> Result<Self, QueryError> {
        let tokens = lex::tokens(text, fields)?;
        let root = parse::tree(text, &tokens, fields, now)?;
        Ok(Self { text: text.to_owned(), root })
    }

    /// The words that a hit may hold: those that are not excluded.
    pub fn words(&self) -> Vec<&QueryWords> {
        let mut found = Vec::new();
        self.root.words(&mut found);
        found
    }

    /// Whether it is nothing but words: no phrase in quotes, no field, no operator.
    pub fn is_plain(&self) -> bool {
        let is_word = |node: &QueryNode| matches!(node, QueryNode::Words(words) if !words.quoted && !words.prefix && !words.fuzzy);
        self.parts().iter().all(is_word)
    }

    /// The parts that must all hold.
    pub fn parts(&self) -> &[QueryNode] {
        match &self.root {
            QueryNode::All(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// The text of a part.
    pub fn of(&self, node: &QueryNode) -> &str {
        node.span().of(&self.text)
    }
}

impl QueryNode {
    /// Whether it has words that a hit may hold.
    pub(crate) fn has_words(&self) -> bool {
        let mut found = Vec::new();
        self.words(&mut found);
        !found.is_empty()
    }

    fn words<'a>(&'a self, found: &mut Vec<&'a QueryWords>) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.words(found)),
            Self::Words(words) => found.push(words),
            Self::Not(_) | Self::Test(_) => {}
        }
    }

    /// From its first word to its last.
    pub fn span(&self) -> Span {
        match self {
            Self::Words(words) => words.span,
            Self::Test(test) => test.span,
            Self::Not(node) => node.span(),
            Self::All(parts) | Self::Any(parts) => {
                let start = parts.iter().map(|part| part.span().start).min().unwrap_or(0);
                Span::new(start, parts.iter().map(|part| part.span().end).max().unwrap_or(0))
            }
        }
    }

    /// Whether the session alone decides it.
    pub fn is_about_sessions(&self) -> bool {
        self.tests(&mut |test| test.is_about_sessions())
    }

    /// Whether a field is asked for the files of steps.
    pub fn asks_files(&self) -> bool {
        !self.tests(&mut |test| !matches!(test.field, Field::File))
    }

    /// Whether a column of that name is asked for.
    pub fn asks_column(&self, name: &str) -> bool {
        !self.tests(&mut |test| !matches!(test.field, Field::Column(column) if column.name == name))
    }

    /// Whether `holds` is true of every test, and there are no words.
    fn tests(&self, holds: &mut dyn FnMut(&FieldTest) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().all(|part| part.tests(holds)),
            Self::Not(node) => node.tests(holds),
            Self::Words(_) => false,
            Self::Test(test) => holds(test),
        }
    }

    /// Whether it holds for a row. Words hold for none: they are asked of entries. `here` is what `project:.` means.
    pub fn holds(&self, row: TableRow<'_>, here: Option<&str>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(row, here)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(row, here)),
            Self::Not(node) => !node.holds(row, here),
            Self::Words(_) => false,
            Self::Test(test) => test.holds(row, here),
        }
    }
}
