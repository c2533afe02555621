//! The second reading of a YAML text, for the spelling of its numbers.
//!
//! The reader hands out a number as a number; asked for text it hands out the same scalar as written. What to ask for
//! is known from the first reading.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Number, Value};

/// Gives the numbers of a mapping the text they are written with.
pub(super) struct Spelling<'v>(pub &'v mut [(String, Value)]);

impl<'de> DeserializeSeed<'de> for Spelling<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(SpellEntries(self.0.iter_mut().map(|(_, value)| value)))
    }
}

struct Spell<'v>(&'v mut Value);

impl<'de> DeserializeSeed<'de> for Spell<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Value::Number(number) => deserializer.deserialize_str(SpellNumber(number)),
            Value::List(items) => deserializer.deserialize_seq(SpellItems(items)),
            Value::Map(map) => deserializer.deserialize_map(SpellEntries(map.values_mut())),
            Value::Null | Value::Bool(_) | Value::String(_) => {
                deserializer.deserialize_ignored_any(serde::de::IgnoredAny).map(drop)
            }
        }
    }
}

struct SpellNumber<'v>(&'v mut Number);

impl Visitor<'_> for SpellNumber<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        *self.0 = Number::written(text);
        Ok(())
    }
}

struct SpellItems<'v>(&'v mut [Value]);

impl<'de> Visitor<'de> for SpellItems<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for value in self.0 {
            items.next_element_seed(Spell(value))?;
        }
        Ok(())
    }
}

struct SpellEntries<I>(I);

impl<'de, 'v, I: Iterator<Item = &'v mut Value>> Visitor<'de> for SpellEntries<I> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        for value in self.0 {
            map.next_key::<serde::de::IgnoredAny>()?;
            map.next_value_seed(Spell(value))?;
        }
        Ok(())
    }
}
