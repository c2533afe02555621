//! The fields of a query: what the name before an operator means.
//!
//! A field is a column of rows (see [`crate::table`]) or one of a few filters that are no columns. `cru search` and
//! `cru list --where` have one set of fields each, which differ in the columns of blocks alone.

use super::operator::Operator;
use crate::table::column::{self, Column};

/// A field.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// A column of rows.
    Column(&'static Column),
    /// Who did it; of a session, who took part.
    Agent,
    /// Channel of a block's phase, else of its session.
    Channel,
    /// Tool of a step.
    Tool,
    /// Kind of a block: `step`, `decision`, …
    Kind,
    /// A file that a step read or wrote.
    File,
    /// Tag of the session; `area` is also `area/import`.
    Tag,
    /// A part of the id or of the path of the session.
    Session,
    /// At or after a time.
    After,
    /// Before a time.
    Before,
    /// A kind, a mark or a status.
    Is,
}

/// What a field is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Whole sessions.
    Sessions,
    /// Blocks of sessions, or rows of them.
    Blocks,
    /// Either.
    Both,
}

/// A filter: a field that is no column.
#[derive(Debug)]
pub struct Filter {
    /// Its name.
    pub name: &'static str,
    /// The field.
    pub field: Field,
    /// What it is about.
    pub about: About,
    /// How it is written.
    pub example: &'static str,
}

/// Every filter.
pub const FILTERS: &[Filter] = &[
    Filter { name: "agent", field: Field::Agent, about: About::Both, example: "agent:coder" },
    Filter { name: "channel", field: Field::Channel, about: About::Both, example: "channel:dev" },
    Filter { name: "kind", field: Field::Kind, about: About::Blocks, example: "kind:decision" },
    Filter { name: "tool", field: Field::Tool, about: About::Blocks, example: "tool:bash" },
    Filter { name: "file", field: Field::File, about: About::Blocks, example: "file:src/main.rs" },
    Filter { name: "tag", field: Field::Tag, about: About::Sessions, example: "tag:incident" },
    Filter { name: "session", field: Field::Session, about: About::Sessions, example: "session:2026-11-20" },
    Filter { name: "after", field: Field::After, about: About::Both, example: "after:7d" },
    Filter { name: "before", field: Field::Before, about: About::Both, example: "before:2026-11-01" },
    Filter { name: "is", field: Field::Is, about: About::Both, example: "is:failed" },
];

/// The filter called `name`, case ignored.
pub fn filter(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|filter| filter.name.eq_ignore_ascii_case(name))
}

/// The column that `=` and the other comparisons of a filter are about: a session's own.
pub fn behind(name: &str) -> &str {
    match name {
        "tag" => "tags",
        "session" => "id",
        other => other,
    }
}

impl Field {
    /// Whether it can be compared so.
    pub fn takes(self, op: Operator) -> bool {
        match self {
            Self::Column(column) if column.of.is_text() => true,
            Self::Column(column) => match op {
                Operator::Contains | Operator::Lacks => false,
                op => !(op.is_order() && column.of == column::ColumnType::Bool),
            },
            Self::File | Self::After | Self::Before | Self::Session | Self::Tag | Self::Agent | Self::Channel => {
                op == Operator::Has
            }
            Self::Tool | Self::Kind | Self::Is => {
                matches!(op, Operator::Has | Operator::Equal | Operator::Unequal)
            }
        }
    }

    /// What it holds, as errors name it.
    pub fn holds_what(self) -> &'static str {
        match self {
            Self::Column(column) => column.of.name(),
            Self::After | Self::Before => "a limit of time",
            Self::File => "a path",
            _ => "a word",
        }
    }
}

/// The fields that a query may name.
pub trait FieldSet {
    /// The field called `name`, case ignored, that `op` compares; one that cannot be compared so where there is no other.
    fn field(&self, name: &str, op: Operator) -> Option<Field>;

    /// The names of all fields.
    fn names(&self) -> Vec<&'static str>;

    /// The names, for messages.
    fn list(&self) -> String {
        self.names().join(", ")
    }

    /// Whether a word may stand without a field: it is looked for then.
    fn takes_words(&self) -> bool;

    /// `there is no field`, `steps have no field`.
    fn no_field(&self) -> String;

    /// Tests of text to write instead of a word that stands alone.
    fn instead(&self, _word: &str) -> String {
        String::new()
    }

    /// The nearest name to one that does not exist.
    fn nearest(&self, name: &str) -> Option<&'static str> {
        /// Longer than every name by more than a slip.
        const LONGEST: usize = 32;
        let lower = name.to_lowercase();
        let names = self.names().into_iter().filter(|_| lower.len() <= LONGEST);
        names
            .map(|have| (strsim::damerau_levenshtein(have, &lower), have))
            .min()
            .filter(|(distance, have)| (1..=2).contains(distance) && *distance * 2 < have.len())
            .map(|(_, have)| have)
    }
}

/// The fields of `cru search`: the filters, and the columns of sessions.
#[derive(Clone, Copy, Debug)]
pub struct SearchFields;

impl FieldSet for SearchFields {
    fn field(&self, name: &str, op: Operator) -> Option<Field> {
        let lower = name.to_ascii_lowercase();
        let filter = filter(&lower).map(|filter| filter.field);
        let column = || column::of_session(behind(&lower)).map(Field::Column);
        filter.filter(|field| field.takes(op)).or_else(column).or(filter)
    }

    fn names(&self) -> Vec<&'static str> {
        let columns = column::SESSION.iter().map(|column| column.name);
        let filters = FILTERS.iter().map(|filter| filter.name);
        filters.chain(columns.filter(|name| filter(name).is_none())).collect()
    }

    fn takes_words(&self) -> bool {
        true
    }

    fn no_field(&self) -> String {
        "there is no field".to_owned()
    }
}
