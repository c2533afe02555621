//! One cell of a row: a plain value that compares, and that reads alike in every format.

use std::borrow::Cow;
use std::cmp::Ordering;

use jiff::Timestamp;
use serde_json::Value;

/// What a row has in a column.
#[derive(Clone, Debug, Default)]
pub enum CellValue<'a> {
    /// Nothing is known.
    #[default]
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
    /// Several texts.
    List(Vec<String>),
    /// A place in an object: its URI, the first byte and the number of bytes.
    Place(Box<(String, Option<i64>, Option<i64>)>),
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
            Self::List(it) => CellValue::List(it),
            Self::Place(it) => CellValue::Place(it),
        }
    }

    /// Whether nothing is known.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => (*it).into(),
            Self::Int(it) => match (u64::try_from(*it), i64::try_from(*it)) {
                (Ok(it), _) => it.into(),
                (_, Ok(it)) => it.into(),
                _ => (*it as f64).into(),
            },
            Self::Float(it) => serde_json::Number::from_f64(*it).map_or(Value::Null, Into::into),
            Self::Time(it) => it.to_string().into(),
            Self::Text(it) => it.as_ref().into(),
            Self::List(it) => it.as_slice().into(),
            Self::Place(it) => it.0.as_str().into(),
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
            Self::List(it) => Some(it.join("; ")),
            Self::Place(it) => Some(it.0.clone()),
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
        if is_falling && !a.is_null() && !b.is_null() { b.cmp(a) } else { a.cmp(b) }
    }
}

/// A total order: numbers by size, text by letters whatever their case; nothing comes last.
impl Ord for CellValue<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Greater,
            (_, Self::Null) => Ordering::Less,
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => a.cmp(b),
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

impl PartialOrd for CellValue<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for CellValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for CellValue<'_> {}

impl<'a> From<&'a Value> for CellValue<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Bool(*it),
            Value::Number(it) => match it.as_i128() {
                Some(it) => Self::Int(it),
                None => it.as_f64().map_or(Self::Null, Self::Float),
            },
            Value::String(it) => Self::Text(it.into()),
            Value::Array(items) => {
                let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
                Self::List(items.iter().map(text).collect())
            }
            Value::Object(_) => Self::Text(Cow::Owned(value.to_string())),
        }
    }
}

/// Members of rows as cells, owned and borrowed.
macro_rules! cells {
    ($($of:ty: |$it:ident| $value:expr;)*) => {$(
        impl From<$of> for CellValue<'_> {
            fn from($it: $of) -> Self {
                $value
            }
        }

        impl<'a> From<&'a $of> for CellValue<'a> {
            fn from(it: &'a $of) -> Self {
                let $it = it.clone();
                $value
            }
        }
    )*};
}

cells! {
    bool: |it| Self::Bool(it);
    u64: |it| Self::Int(it.into());
    i64: |it| Self::Int(it.into());
    usize: |it| Self::Int(it as i128);
    f64: |it| Self::Float(it);
    Timestamp: |it| Self::Time(it);
    Vec<String>: |it| Self::List(it);
}

impl From<String> for CellValue<'_> {
    fn from(it: String) -> Self {
        Self::Text(it.into())
    }
}

impl<'a> From<&'a String> for CellValue<'a> {
    fn from(it: &'a String) -> Self {
        Self::Text(it.into())
    }
}

impl<'a> From<&'a str> for CellValue<'a> {
    fn from(it: &'a str) -> Self {
        Self::Text(it.into())
    }
}

impl<'a, T: Into<CellValue<'a>>> From<Option<T>> for CellValue<'a> {
    fn from(it: Option<T>) -> Self {
        it.map_or(Self::Null, Into::into)
    }
}

impl<'a, T> From<&'a Option<T>> for CellValue<'a>
where
    &'a T: Into<CellValue<'a>>,
{
    fn from(it: &'a Option<T>) -> Self {
        it.as_ref().into()
    }
}
