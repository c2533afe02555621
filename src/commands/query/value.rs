//! One cell of a row: a plain value that compares, and that reads alike in every format.

use std::borrow::Cow;
use std::cmp::Ordering;

use jiff::Timestamp;

use crate::commands::output::minute;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Nothing is known.
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Time(Timestamp),
    Text(Cow<'a, str>),
}

impl Value<'_> {
    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => Value::Bool(it),
            Self::Int(it) => Value::Int(it),
            Self::Float(it) => Value::Float(it),
            Self::Time(it) => Value::Time(it),
            Self::Text(it) => Value::Text(Cow::Owned(it.into_owned())),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// For programs.
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(it) => (*it).into(),
            Self::Int(it) => match (u64::try_from(*it), i64::try_from(*it)) {
                (Ok(it), _) => it.into(),
                (_, Ok(it)) => it.into(),
                _ => (*it as f64).into(),
            },
            Self::Float(it) => serde_json::Number::from_f64(*it).map_or(serde_json::Value::Null, Into::into),
            Self::Time(it) => it.to_string().into(),
            Self::Text(it) => it.as_ref().into(),
        }
    }

    /// For people: times to the minute, fractions to two places.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Null => "–".into(),
            Self::Bool(true) => "yes".into(),
            Self::Bool(false) => "no".into(),
            Self::Int(it) => it.to_string().into(),
            Self::Float(it) => format!("{it:.2}").into(),
            Self::Time(it) => minute(*it).into(),
            Self::Text(it) => it.as_ref().into(),
        }
    }

    /// What tells it from other values when rows are grouped; `None` for nothing.
    pub(super) fn key(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Float(it) => Some(it.to_string()),
            Self::Time(it) => Some(it.to_string()),
            other => Some(other.text().into_owned()),
        }
    }

    /// As a number, where it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Int(it) => Some(*it as f64),
            Self::Float(it) => Some(*it),
            _ => None,
        }
    }

    /// That order, or the other way round; nothing comes last either way.
    pub(super) fn towards(a: &Self, b: &Self, is_falling: bool) -> Ordering {
        if is_falling && !a.is_null() && !b.is_null() { b.order(a) } else { a.order(b) }
    }

    /// A total order: numbers by size, text by letters whatever their case; nothing comes last.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Greater,
            (_, Self::Null) => Ordering::Less,
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => {
                let lower = |text: &str| text.to_lowercase();
                lower(a).cmp(&lower(b)).then_with(|| a.cmp(b))
            }
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                // Columns hold values of one kind.
                (a, b) => a.is_some().cmp(&b.is_some()),
            },
        }
    }
}

/// A field of a row as a value.
pub(super) trait Field {
    fn value(&self) -> Value<'_>;
}

impl Field for String {
    fn value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }
}

impl Field for bool {
    fn value(&self) -> Value<'_> {
        Value::Bool(*self)
    }
}

impl Field for u64 {
    fn value(&self) -> Value<'_> {
        Value::Int(i128::from(*self))
    }
}

impl Field for i64 {
    fn value(&self) -> Value<'_> {
        Value::Int(i128::from(*self))
    }
}

impl Field for f64 {
    fn value(&self) -> Value<'_> {
        Value::Float(*self)
    }
}

impl Field for Timestamp {
    fn value(&self) -> Value<'_> {
        Value::Time(*self)
    }
}

impl<T: Field> Field for Option<T> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Field::value)
    }
}
