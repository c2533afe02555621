//! `--where`: conditions on the columns of a row.
//!
//! A condition is read once against the columns of a kind, with an error under the place it is about, and is then a
//! plain tree that cannot fail. What is not known (`null`) is equal to `null` alone and neither below nor above anything.

mod parse;
mod word;

use std::cmp::Ordering;

use jiff::Timestamp;

use super::column::{Column, Type};
use super::row::Row;
use super::value::Value;
use crate::session::Agent;
use word::Op;

pub(super) use parse::parse;

/// A condition.
#[derive(Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Test(Test),
}

/// A column compared with values; any of them is enough (`!=` and `!~`: none of them may be).
#[derive(Debug)]
pub(super) struct Test {
    column: &'static Column,
    op: Op,
    operands: Vec<Operand>,
}

/// A value of a condition.
#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    /// From the first time to before the second.
    Time(Timestamp, Timestamp),
    /// In lower case.
    Text(String),
}

impl Condition {
    /// Whether it holds for a row.
    pub(super) fn holds(&self, row: Row<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(row)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(row)),
            Self::Not(part) => !part.holds(row),
            Self::Test(test) => test.holds(row),
        }
    }

    /// Whether the session alone decides it.
    pub(super) fn of_session(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().all(Self::of_session),
            Self::Not(part) => part.of_session(),
            Self::Test(test) => test.column.of_session,
        }
    }

    /// The conditions that must all hold for this one to hold.
    pub(super) fn parts(self) -> Vec<Self> {
        match self {
            Self::All(parts) => parts.into_iter().flat_map(Self::parts).collect(),
            other => vec![other],
        }
    }
}

impl Test {
    fn holds(&self, row: Row<'_>) -> bool {
        let value = (self.column.get)(row);
        let any = |op: Op| self.operands.iter().any(|operand| compare(&value, op, operand, self.column.of));
        match self.op {
            Op::Unequal => !any(Op::Equal),
            Op::Lacks => !any(Op::Contains),
            op => any(op),
        }
    }
}

fn compare(value: &Value<'_>, op: Op, operand: &Operand, of: Type) -> bool {
    let ordered = |order: Ordering| match op {
        Op::Less => order.is_lt(),
        Op::AtMost => order.is_le(),
        Op::Greater => order.is_gt(),
        Op::AtLeast => order.is_ge(),
        Op::Equal => order.is_eq(),
        Op::Unequal | Op::Contains | Op::Lacks => false,
    };
    match (value, operand) {
        (value, Operand::Null) => op == Op::Equal && value.is_null(),
        (Value::Bool(own), Operand::Bool(wanted)) => ordered(own.cmp(wanted)),
        (Value::Int(own), Operand::Int(wanted)) => ordered(own.cmp(wanted)),
        (Value::Int(_) | Value::Float(_), Operand::Int(_) | Operand::Float(_)) => {
            let wanted = match operand {
                Operand::Int(wanted) => *wanted as f64,
                Operand::Float(wanted) => *wanted,
                _ => return false,
            };
            value.number().and_then(|own| own.partial_cmp(&wanted)).is_some_and(ordered)
        }
        (Value::Time(own), Operand::Time(from, to)) => match op {
            Op::Less => own < from,
            Op::AtMost => own < to,
            Op::Greater => own >= to,
            Op::AtLeast => own >= from,
            Op::Equal => own >= from && own < to,
            Op::Unequal | Op::Contains | Op::Lacks => false,
        },
        (Value::Text(own), Operand::Text(wanted)) => {
            let own = own.to_lowercase();
            match (op, of) {
                (Op::Contains, _) => own.contains(wanted),
                (Op::Equal, Type::Agent) => {
                    let wanted = wanted.trim_start_matches('@');
                    own == wanted || Agent::parse(&own).name == wanted
                }
                (Op::Equal, Type::List) => own == *wanted || own.split(", ").any(|word| word == wanted),
                _ => ordered(own.as_str().cmp(wanted)),
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
