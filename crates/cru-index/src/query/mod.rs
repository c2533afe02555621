//! What people type to search: words, phrases, `AND` `OR` `NOT`, parentheses and fields, as a tree with spans.
//!
//! Words stand for all of them (`AND`). `"…"` is an exact phrase, `auth*` a prefix, `auth~` allows for a slip of the
//! finger, `-word` and `NOT word` exclude. `status:failed` and its like restrict; a comma in the value means "or".
//!
//! Reading is linear, its depth is bounded, and what cannot be read gives an error with its place and what was meant.
//! Nothing here knows the index: [`super::search`] turns the tree into an answer.

mod error;
mod field;
mod lex;
mod parse;
#[cfg(test)]
mod tests;

pub use error::Trouble;
pub use field::{Field, Is};

use jiff::Timestamp;

use cru_base::Span;

/// A query that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// As it was typed.
    pub text: String,
    /// What it asks.
    pub root: Node,
}

/// A part of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// All of them.
    All(Vec<Node>),
    /// At least one of them.
    Any(Vec<Node>),
    /// Not this.
    Not(Box<Node>),
    /// Words.
    Words(Words),
    /// A field.
    Field(Restriction),
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
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

/// `field:value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Restriction {
    /// Which field.
    pub field: Field,
    /// Its values; one of them must hold.
    pub values: Vec<Value>,
    /// Field and value in the query.
    pub span: Span,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As typed, without quotes and a leading `#` or `@`.
    pub text: String,
    /// `value*`: what begins so.
    pub prefix: bool,
    /// Of `after:` and `before:`.
    pub time: Option<Timestamp>,
}

impl Query {
    /// Reads a query; `now` is what `after:7d` counts from.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, Trouble> {
        let tokens = lex::tokens(text)?;
        let root = parse::tree(text, &tokens, now)?;
        Ok(Self { text: text.to_owned(), root })
    }

    /// The words that a hit may hold: those that are not excluded.
    pub fn words(&self) -> Vec<&Words> {
        let mut found = Vec::new();
        self.root.words(&mut found);
        found
    }

    /// The parts that must all hold.
    pub fn parts(&self) -> &[Node] {
        match &self.root {
            Node::All(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// The text of a part.
    pub fn of(&self, node: &Node) -> &str {
        node.span().of(&self.text)
    }
}

impl Node {
    fn words<'a>(&'a self, found: &mut Vec<&'a Words>) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.words(found)),
            Self::Words(words) => found.push(words),
            Self::Not(_) | Self::Field(_) => {}
        }
    }

    /// From its first word to its last.
    pub fn span(&self) -> Span {
        match self {
            Self::Words(words) => words.span,
            Self::Field(restriction) => restriction.span,
            Self::Not(node) => node.span(),
            Self::All(parts) | Self::Any(parts) => {
                let start = parts.iter().map(|part| part.span().start).min().unwrap_or(0);
                Span::new(start, parts.iter().map(|part| part.span().end).max().unwrap_or(0))
            }
        }
    }

    /// Whether it asks about whole sessions only.
    pub fn is_about_sessions(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().all(Self::is_about_sessions),
            Self::Not(node) => node.is_about_sessions(),
            Self::Words(_) => false,
            Self::Field(restriction) => restriction.field.is_of_session(&restriction.values),
        }
    }
}
