//! What a property holds: the crate's own YAML value.
//!
//! Numbers keep the text they were written with, so `1.10` stays `1.10` and nothing is rounded on the way through.
//! Maps keep their order and hold text keys only.

use std::fmt;

/// A value of a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text; dates and times are text too.
    String(String),
    /// A list.
    List(Vec<Value>),
    /// A map.
    Map(Mapping),
}

/// A number as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    text: String,
}

/// A map in the order of the file; a key stands once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    entries: Vec<(String, Value)>,
}

impl Value {
    /// A scalar as text: numbers as written, `true` and `false`; `None` for null, lists and maps.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Number(number) => Some(&number.text),
            Self::String(text) => Some(text),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Texts of a list, or of a scalar as a list of one; null gives none. Items that are no scalar are left out.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::List(items) => items.iter().filter_map(Self::text).collect(),
            other => other.text().into_iter().collect(),
        }
    }

    /// It on one line, without the marks of YAML: the items of a list and of a map with commas between them.
    pub fn line(&self) -> String {
        let joined = |parts: &mut dyn Iterator<Item = String>| parts.collect::<Vec<_>>().join(", ");
        match self {
            Self::List(items) => joined(&mut items.iter().map(Self::line)),
            Self::Map(map) => joined(&mut map.iter().map(|(key, value)| format!("{key}: {}", value.line()))),
            scalar => scalar.text().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    /// A whole number from 0, also when it is written as text (`"42"`).
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A finite number, also when it is written as text.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            Self::String(text) => text.trim().parse().ok(),
            _ => None,
        }
        .filter(|number| number.is_finite())
    }

    /// `true` or `false`, also when it is written as text.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
            Self::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        }
    }

    /// The map it is.
    pub const fn as_map(&self) -> Option<&Mapping> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list it is.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }
}

impl Number {
    /// A number that was read; `text` must be one that YAML takes as a number.
    pub(super) fn written(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// As a whole number from 0; `None` when it is negative, a fraction or too large. `12.0` counts as 12.
    pub fn as_u64(&self) -> Option<u64> {
        let text = self.text.strip_prefix('+').unwrap_or(&self.text);
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
            if let Some(digits) = text.strip_prefix(prefix) {
                return u64::from_str_radix(digits, radix).ok();
            }
        }
        text.parse().ok().or_else(|| whole(text.parse().ok()?))
    }

    /// As a float; not finite for `.inf`, `.nan` and numbers beyond the range.
    pub fn as_f64(&self) -> Option<f64> {
        let (sign, text) = match self.text.strip_prefix('-') {
            Some(rest) => (-1.0, rest),
            None => (1.0, self.text.strip_prefix('+').unwrap_or(&self.text)),
        };
        match text {
            ".inf" | ".Inf" | ".INF" => Some(sign * f64::INFINITY),
            ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
            text if text.starts_with("0x") || text.starts_with("0o") || text.starts_with("0b") => {
                Some(sign * self.as_u64()? as f64)
            }
            text => Some(sign * text.parse::<f64>().ok()?),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Mapping {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets `key`, in its old place or at the end.
    pub fn insert(&mut self, key: impl Into<String>, value: Value) {
        let key = key.into();
        match self.entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.entries.push((key, value)),
        }
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Mapping {
    /// The last value of a key wins.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut seen = std::collections::HashMap::new();
        let mut map = Self::default();
        for (key, value) in entries {
            let (key, value) = (key.into(), value.into());
            if let Some(&at) = seen.get(&key) {
                map.entries[at] = (key, value);
            } else {
                seen.insert(key.clone(), map.entries.len());
                map.entries.push((key, value));
            }
        }
        map
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(Number::written(number.to_string()))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        let text = match number {
            n if n.is_nan() => ".nan".to_owned(),
            n if n == f64::INFINITY => ".inf".to_owned(),
            n if n == f64::NEG_INFINITY => "-.inf".to_owned(),
            n => n.to_string(),
        };
        Self::Number(Number::written(text))
    }
}

impl From<Mapping> for Value {
    fn from(map: Mapping) -> Self {
        Self::Map(map)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_text() {
        let number = |text: &str| Value::Number(Number::written(text));
        assert_eq!(number("1.10").text(), Some("1.10"));
        assert_eq!(number("0x1F").as_u64(), Some(31));
        assert_eq!(number("12.0").as_u64(), Some(12));
        assert_eq!(number("-1").as_u64(), None);
        assert_eq!(number("340282366920938463463374607431768211456").as_u64(), None);
        assert_eq!(number("-2.5e1").as_f64(), Some(-25.0));
        assert_eq!(number(".nan").as_f64(), None);
        assert_eq!(number("1e999").as_f64(), None);
        assert_eq!(Value::from("42").as_u64(), Some(42));
        assert_eq!(Value::from(0.41).text(), Some("0.41"));
    }

    #[test]
    fn a_scalar_is_a_list_of_one() {
        assert_eq!(Value::from("a").texts(), ["a"]);
        assert_eq!(Value::Null.texts(), [] as [&str; 0]);
        assert_eq!(Value::List(vec!["a".into(), Value::Null, 3u64.into()]).texts(), ["a", "3"]);
    }

    #[test]
    fn the_last_value_of_a_key_wins_in_its_first_place() {
        let map: Mapping = [("a", 1u64), ("b", 2), ("a", 3)].into_iter().collect();
        assert_eq!(
            map.iter().map(|(key, value)| (key, value.as_u64())).collect::<Vec<_>>(),
            [("a", Some(3)), ("b", Some(2))]
        );
    }
}
