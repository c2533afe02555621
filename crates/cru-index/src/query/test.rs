//! A field compared with values, and whether that holds for a row.
//!
//! What is not known is equal to `null` alone, and neither below nor above anything.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::field::Field;
use super::is::{Is, entry_kind};
use super::operator::Operator;
use crate::search::is_path_of;
use crate::table::{CellValue, Column, ColumnType, RowItem, TableRow};
use cru_base::Span;
use cru_session::Agent;

/// `field OP value`. One of the values must hold; of `!=` and `!~`, none.
#[derive(Clone, Debug)]
pub struct FieldTest {
    /// Which field.
    pub field: Field,
    /// How it is compared.
    pub op: Operator,
    /// Its values.
    pub values: Vec<TestValue>,
    /// Field and value in the query.
    pub span: Span,
}

/// The value of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestValue {
    /// As typed, without quotes and a leading `#` or `@`.
    pub text: String,
    /// The text in lower case.
    pub folded: String,
    /// `field:value*`: what begins so.
    pub prefix: bool,
    /// As what the field holds.
    pub operand: Operand,
}

/// A value as what its field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Text: see [`TestValue::folded`].
    Text,
    /// Nothing is known.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// From the first time to before the second.
    Time(Timestamp, Timestamp),
}

impl TestValue {
    /// A text as it is.
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), folded: text.to_lowercase(), prefix: false, operand: Operand::Text }
    }

    /// A limit of time.
    pub fn limit(time: Timestamp) -> Self {
        Self { operand: Operand::Time(time, time), ..Self::text("") }
    }

    /// Whether `own` is this value, case ignored.
    pub fn is(&self, own: &str) -> bool {
        let own = own.to_lowercase();
        if self.prefix { own.starts_with(&self.folded) } else { own == self.folded }
    }

    fn is_in(&self, own: &str) -> bool {
        own.to_lowercase().contains(&self.folded)
    }

    /// The time that a limit is at.
    pub fn time(&self) -> Option<Timestamp> {
        match self.operand {
            Operand::Time(from, _) => Some(from),
            _ => None,
        }
    }
}

impl FieldTest {
    /// A test that an option stands for: `field:value`.
    pub fn has(field: Field, values: Vec<TestValue>) -> Self {
        Self { field, op: Operator::Has, values, span: Span::default() }
    }

    /// Whether the session alone decides it.
    pub fn is_about_sessions(&self) -> bool {
        match self.field {
            Field::Column(column) => column.of_session,
            Field::Tag | Field::Session => true,
            Field::Is => self.values.iter().all(|value| Is::of(&value.folded) == Is::Status),
            _ => false,
        }
    }

    /// Whether it holds for a row; `here` is what `project:.` means.
    pub fn holds(&self, row: TableRow<'_>, here: Option<&str>) -> bool {
        let (op, denies) = self.op.positive();
        denies
            != match self.field {
                Field::Column(column) => {
                    let own = (column.get)(row);
                    self.values.iter().any(|value| compare(&own, column, op, value, here))
                }
                field => self.values.iter().any(|value| fits(field, value, row)),
            }
    }
}

/// Whether a filter lets a row pass.
fn fits(field: Field, value: &TestValue, row: TableRow<'_>) -> bool {
    let is = |own: Option<&str>| own.is_some_and(|own| value.is(own));
    let session = row.session;
    match field {
        Field::Column(_) => false,
        Field::Agent => match (row.item, row.phase.and_then(|phase| phase.agent.as_ref())) {
            (RowItem::Session, _) => session.participants.split(", ").any(|agent| is_agent(value, agent)),
            (_, own) => own.or(session.agent.as_ref()).is_some_and(|agent| is_agent(value, agent)),
        },
        Field::Channel => {
            let own = row.phase.and_then(|phase| phase.channel.as_deref()).or(session.channel.as_deref());
            is(own.map(|channel| channel.trim_start_matches('#')))
        }
        Field::Tool => match row.item {
            RowItem::Step(step) => value.is(&step.tool),
            RowItem::File(file) => value.is(&file.tool),
            _ => false,
        },
        Field::Kind => entry_kind(&value.folded) == row.item.kind(),
        Field::File => match row.item {
            RowItem::File(file) => is_path_of(&value.text, value.prefix, &file.path),
            RowItem::Step(step) => {
                let first = row.files.partition_point(|file| file.line < step.line);
                let own = row.files[first..].iter().take_while(|file| file.line == step.line);
                own.into_iter().any(|file| is_path_of(&value.text, value.prefix, &file.path))
            }
            _ => false,
        },
        Field::Tag => session.tags.split(", ").any(|tag| is_tag(value, tag)),
        Field::Session => value.is_in(&session.id) || value.is_in(&session.path),
        Field::After => row.time().zip(value.time()).is_some_and(|(own, wanted)| own >= wanted),
        Field::Before => row.time().zip(value.time()).is_some_and(|(own, wanted)| own < wanted),
        Field::Is => match (Is::of(&value.folded), row.item) {
            (Is::Status, _) | (Is::Failed, RowItem::Session) => is(session.status.as_deref()),
            (Is::Failed, RowItem::Step(step)) => value.is(&step.status),
            (Is::Mark, RowItem::User(user)) => value.folded == "correction" && user.correction,
            (Is::Mark, RowItem::Error(error)) => {
                value.folded == if error.resolution.is_some() { "resolved" } else { "open" }
            }
            (Is::Mark, RowItem::Task(task)) => value.folded == "open" && !task.status.eq_ignore_ascii_case("completed"),
            (Is::Kind, item) => entry_kind(&value.folded) == item.kind(),
            (Is::Failed | Is::Mark, _) => false,
        },
    }
}

fn is_agent(value: &TestValue, own: &str) -> bool {
    value.is(own) || value.is(&Agent::parse(own).name)
}

/// `#area/import` is an `#area` as well.
fn is_tag(value: &TestValue, own: &str) -> bool {
    let own = own.trim_start_matches('#').to_lowercase();
    value.is(&own) || own.strip_prefix(&value.folded).is_some_and(|rest| rest.starts_with('/'))
}

fn compare(own: &CellValue<'_>, column: &Column, op: Operator, value: &TestValue, here: Option<&str>) -> bool {
    let ordered = |order: Ordering| match op {
        Operator::Less => order.is_lt(),
        Operator::AtMost => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::AtLeast => order.is_ge(),
        Operator::Equal | Operator::Has => order.is_eq(),
        Operator::Unequal | Operator::Contains | Operator::Lacks => false,
    };
    match (own, &value.operand) {
        (own, Operand::Null) => matches!(op, Operator::Equal | Operator::Has) && own.is_null(),
        (CellValue::Bool(own), Operand::Bool(wanted)) => ordered(own.cmp(wanted)),
        (CellValue::Int(own), Operand::Int(wanted)) => ordered(own.cmp(wanted)),
        (_, Operand::Int(wanted)) => compare_floats(own, *wanted as f64).is_some_and(ordered),
        (_, Operand::Float(wanted)) => compare_floats(own, *wanted).is_some_and(ordered),
        (CellValue::Time(own), Operand::Time(from, to)) => match op {
            Operator::Less => own < from,
            Operator::AtMost => own < to,
            Operator::Greater => own >= to,
            Operator::AtLeast => own >= from,
            Operator::Equal | Operator::Has => own >= from && own < to,
            Operator::Unequal | Operator::Contains | Operator::Lacks => false,
        },
        // One of several must hold.
        (CellValue::List(own), Operand::Text) => {
            own.iter().any(|own| compare(&CellValue::Text(own.as_str().into()), column, op, value, here))
        }
        (CellValue::Text(own), Operand::Text) => match op {
            Operator::Contains => value.is_in(own),
            Operator::Has => has(own, column, value, here),
            Operator::Equal => is_equal(own, column.of, &value.folded),
            _ => ordered(own.to_lowercase().as_str().cmp(&value.folded)),
        },
        _ => false,
    }
}

fn compare_floats(own: &CellValue<'_>, wanted: f64) -> Option<Ordering> {
    own.number().and_then(|own| own.partial_cmp(&wanted))
}

fn is_equal(own: &str, of: ColumnType, wanted: &str) -> bool {
    let own = own.to_lowercase();
    own == wanted
        || match of {
            ColumnType::Agent => Agent::parse(&own).name == wanted,
            ColumnType::Channel => own.trim_start_matches('#') == wanted,
            ColumnType::List | ColumnType::Tags => own.split(", ").any(|word| word == wanted),
            _ => false,
        }
}

/// `:` on text.
fn has(own: &str, column: &Column, value: &TestValue, here: Option<&str>) -> bool {
    match column.of {
        ColumnType::Path if column.name == "project" && value.text == "." => {
            here.map_or_else(|| value.is_in(own), |here| own.to_lowercase().contains(&here.to_lowercase()))
        }
        ColumnType::Text | ColumnType::Path => value.is_in(own),
        ColumnType::Channel => value.is(own.trim_start_matches('#')),
        ColumnType::Agent => is_agent(value, own),
        ColumnType::List => own.split(", ").any(|word| value.is(word)),
        ColumnType::Tags => own.split(", ").any(|tag| is_tag(value, tag)),
        _ => value.is(own),
    }
}
