//! One cell of a row: a plain value that compares, and that reads alike in every format.

use std::borrow::Cow;
use std::cmp::Ordering;

use jiff::Timestamp;

/// What a row has in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum CellValue<'a> {
    /// Nothing is known.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// A point in time.
    Time(Timestamp),
    /// Text.
    Text(Cow<'a, str>),
}

impl CellValue<'_> {
    /// The same value without what it borrows.
    pub fn into_owned(self) -> CellValue<'static> {
        match self {
            Self::Null => CellValue::Null,
            Self::Bool(it) => CellValue::Bool(it),
            Self::Int(it) => CellValue::Int(it),
            Self::Float(it) => CellValue::Float(it),
            Self::Time(it) => CellValue::Time(it),
            Self::Text(it) => CellValue::Text(Cow::Owned(it.into_owned())),
        }
    }

    /// Whether nothing is known.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
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

    /// What tells it from other values when rows are grouped; `None` for nothing.
    pub fn key(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Float(it) => Some(it.to_string()),
            Self::Time(it) => Some(it.to_string()),
            Self::Bool(true) => Some("yes".to_owned()),
            Self::Bool(false) => Some("no".to_owned()),
            Self::Int(it) => Some(it.to_string()),
            Self::Text(it) => Some(it.as_ref().to_owned()),
        }
    }

    /// As a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(it) => Some(*it as f64),
            Self::Float(it) => Some(*it),
            _ => None,
        }
    }

    /// That order, or the other way round; nothing comes last either way.
    pub fn towards(a: &Self, b: &Self, is_falling: bool) -> Ordering {
        if is_falling && !a.is_null() && !b.is_null() { b.order(a) } else { a.order(b) }
    }

    /// A total order: numbers by size, text by letters whatever their case; nothing comes last.
    pub fn order(&self, other: &Self) -> Ordering {
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

/// A member of a row as a cell.
pub(super) trait ToCell {
    fn value(&self) -> CellValue<'_>;
}

impl ToCell for String {
    fn value(&self) -> CellValue<'_> {
        CellValue::Text(Cow::Borrowed(self))
    }
}

impl ToCell for bool {
    fn value(&self) -> CellValue<'_> {
        CellValue::Bool(*self)
    }
}

impl ToCell for u64 {
    fn value(&self) -> CellValue<'_> {
        CellValue::Int(i128::from(*self))
    }
}

impl ToCell for i64 {
    fn value(&self) -> CellValue<'_> {
        CellValue::Int(i128::from(*self))
    }
}

impl ToCell for f64 {
    fn value(&self) -> CellValue<'_> {
        CellValue::Float(*self)
    }
}

impl ToCell for Timestamp {
    fn value(&self) -> CellValue<'_> {
        CellValue::Time(*self)
    }
}

impl<T: ToCell> ToCell for Option<T> {
    fn value(&self) -> CellValue<'_> {
        self.as_ref().map_or(CellValue::Null, ToCell::value)
    }
}
