//! Field types that take whatever JSON stands there.
//!
//! The host changes its records between releases, and files get damaged: a field of another type than expected is
//! read as missing and never fails the line. Strings borrow from the line where they hold no escape.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string; anything else is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl<'a> Text<'a> {
    /// The string, `""` where there is none.
    pub(crate) fn str(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }

    /// The string where it says something.
    pub(crate) fn filled(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// Takes the string out where it says something.
    pub(crate) fn take(&mut self) -> Option<Cow<'a, str>> {
        self.0.take().filter(|text| !text.trim().is_empty())
    }
}

/// A truth value; anything but `true` is `false`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

/// A number; anything else is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Number(pub(crate) Option<f64>);

impl Number {
    /// As a whole number, `None` where it is negative or no number.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    pub(crate) fn count(self) -> Option<u64> {
        self.0.filter(|number| *number >= 0.0).map(|number| number as u64)
    }

    /// As a count, 0 where there is none.
    pub(crate) fn or_zero(self) -> u64 {
        self.count().unwrap_or(0)
    }
}

/// An object of known fields; anything else is `None`.
#[derive(Clone, Debug)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A list of objects of known fields; members of another kind are left out.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Number of members of a list or object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Length(pub(crate) Option<u64>);

/// Reads the rest of a list or object and forgets it.
pub(crate) fn drain_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<u64, A::Error> {
    let mut count = 0;
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// As [`drain_map`], for lists.
pub(crate) fn drain_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<u64, A::Error> {
    let mut count = 0;
    while seq.next_element::<IgnoredAny>()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// The methods of a visitor for what it does not want.
macro_rules! otherwise {
    ($none:expr; $($method:ident($type:ty)),*) => {
        $(fn $method<E: Error>(self, _: $type) -> Result<Self::Value, E> { Ok($none) })*
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> { Ok($none) }
        fn visit_none<E: Error>(self) -> Result<Self::Value, E> { Ok($none) }
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("anything") }
    };
}
macro_rules! drained {
    ($none:expr; map) => {
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            $crate::file::lenient::drain_map(map)?;
            Ok($none)
        }
    };
    ($none:expr; seq) => {
        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            $crate::file::lenient::drain_seq(seq)?;
            Ok($none)
        }
    };
}
pub(crate) use {drained, otherwise};

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    otherwise!(Text(None); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
    drained!(Text(None); map);
    drained!(Text(None); seq);

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    otherwise!(Flag(false); visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
    drained!(Flag(false); map);
    drained!(Flag(false); seq);

    fn visit_bool<E: Error>(self, value: bool) -> Result<Flag, E> {
        Ok(Flag(value))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    otherwise!(Number(None); visit_bool(bool), visit_str(&str));
    drained!(Number(None); map);
    drained!(Number(None); seq);

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number(Some(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number(Some(value as f64)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(Some(value as f64)))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct MaybeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MaybeVisitor<T> {
    type Value = Maybe<T>;

    otherwise!(Maybe(None); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
    drained!(Maybe(None); seq);

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Maybe<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Maybe(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MaybeVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    otherwise!(List(Vec::new()); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
    drained!(List(Vec::new()); map);

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(Maybe(member)) = seq.next_element()? {
            list.extend(member);
        }
        Ok(List(list))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct LengthVisitor;

impl<'de> Visitor<'de> for LengthVisitor {
    type Value = Length;

    otherwise!(Length(None); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Length, A::Error> {
        drain_map(map).map(|count| Length(Some(count)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Length, A::Error> {
        drain_seq(seq).map(|count| Length(Some(count)))
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LengthVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Sample<'a> {
        #[serde(borrow, default)]
        text: Text<'a>,
        #[serde(default)]
        flag: Flag,
        #[serde(default)]
        number: Number,
        #[serde(borrow, default)]
        list: List<Inner<'a>>,
        #[serde(borrow, default)]
        inner: Maybe<Inner<'a>>,
    }

    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, default)]
        name: Text<'a>,
    }

    #[test]
    fn any_type_is_taken_anywhere() {
        for value in ["null", "true", "3", "-2.5", "\"word\"", "[1,[2]]", "{\"name\":{\"a\":[]}}"] {
            let line = format!(
                "{{\"text\":{value},\"flag\":{value},\"number\":{value},\"list\":{value},\"inner\":{value},\"more\":{value}}}"
            );
            let sample: Sample<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(sample.text.0.is_some(), value.starts_with('"'), "{value}");
            assert_eq!(sample.flag.0, value == "true", "{value}");
            assert_eq!(sample.number.0.is_some(), value == "3" || value == "-2.5", "{value}");
            assert_eq!(sample.inner.0.is_some(), value.starts_with('{'), "{value}");
            assert!(sample.list.0.is_empty());
        }
    }

    #[test]
    fn strings_borrow_and_lists_drop_strangers() {
        let line = r#"{"text":"plain","list":[1,{"name":"a\nb"},"x",{"name":"c"}]}"#;
        let sample: Sample<'_> = serde_json::from_str(line).unwrap();
        assert!(matches!(sample.text.0, Some(Cow::Borrowed("plain"))));
        assert_eq!(sample.list.0.iter().map(|inner| inner.name.str()).collect::<Vec<_>>(), ["a\nb", "c"]);
    }
}
