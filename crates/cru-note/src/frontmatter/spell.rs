//! The second reading of a YAML text, for the spelling of its numbers.
//!
//! The reader hands out a number as a number; asked for text it hands out the same scalar as written. What to ask for
//! is known from the first reading.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Number, Value};

/// Whether some number in `yaml` may be written otherwise than it is shown (`1.10`, `0x1F`, `+1`), so that the second
/// reading is worth its time. May say yes for text that only looks like such a number.
pub(super) fn is_worthwhile(yaml: &str) -> bool {
    let mut words = yaml.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_')));
    words.any(|word| {
        let digits = word.trim_start_matches(['+', '-']);
        match digits.as_bytes() {
            [b'0', b'x' | b'o' | b'b', ..] | [b'.', ..] => true,
            // With a leading zero it is text to YAML, unless it has a fraction or an exponent.
            [b'0', b'0'..=b'9', ..] => digits.contains(['.', 'e', 'E']),
            [b'0'..=b'9', ..] if word.starts_with('+') || digits.contains(['.', 'e', 'E']) || digits.len() > 18 => {
                word.parse::<f64>().is_ok_and(|number| number.to_string() != word)
            }
            [b'0'] => word != "0",
            _ => false,
        }
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_odd_spellings_are_worth_it() {
        for yaml in
            ["a: 1", "a: 0.41", "a: -3", "t: 2026-11-20T09:31:04Z", "v: 4f1c2ab", "a: 1.2.3", "u: 949d76fb-5d94"]
        {
            assert!(!is_worthwhile(yaml), "{yaml}");
        }
        for yaml in [
            "a: 1.10",
            "a: [+1]",
            "{\"a\":0x1F}",
            "a: 1e3",
            "a: .5",
            "a: 5.",
            "a: -0",
            "a: 00.5",
            "a: 1234567890123456789012",
        ] {
            assert!(is_worthwhile(yaml), "{yaml}");
        }
    }
}
