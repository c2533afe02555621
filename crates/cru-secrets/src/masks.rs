//! The secrets of one session: each has one name in all its texts, numbered by rule in the order of appearance.
//!
//! The same events in the same order give the same names, so a session that is read again, or further, keeps them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::{is_known_by_place, masked, search_for};
use cru_base::text::sanitise;

/// What stands for the secrets of a session.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    /// Secrets and what stands in their place.
    names: HashMap<String, String>,
    /// How many secrets each rule found.
    counts: BTreeMap<&'static str, u64>,
    /// Whether they are only named by their rule.
    unnumbered: bool,
    /// Those that are known wherever they stand, and what stands in their places.
    anywhere: Option<(AhoCorasick, Vec<String>)>,
}

impl Masks {
    /// Where nothing is known of what was masked before: `[secret:github-token]`.
    pub fn unnumbered() -> Self {
        Self { unnumbered: true, ..Self::default() }
    }

    /// How many secrets each rule found; one that stands in many places is one.
    pub const fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// These, for the same texts once more: a secret that only its place told, and that no other word is likely to be, is taken
    /// out wherever it stands. So are those of `others`. None where there is no such secret.
    pub fn with_hindsight<'m>(&self, others: impl Iterator<Item = &'m Self>) -> Option<Self> {
        let mut names = self.names.clone();
        for (secret, name) in others.flat_map(|other| &other.names) {
            // Its number is one of the other session.
            let rule = name.rsplit_once('-').map_or(name.as_str(), |(rule, _)| rule);
            names.entry(secret.clone()).or_insert_with(|| format!("{rule}]"));
        }
        let (secrets, shown): (Vec<_>, Vec<_>) =
            names.iter().filter(|(secret, _)| is_known_by_place(secret)).map(|(a, b)| (a.clone(), b.clone())).unzip();
        let anywhere = Some((search_for(&secrets)?, shown));
        Some(Self { names, anywhere, ..self.clone() })
    }

    /// `text` without control characters and without its secrets: a secret that is interrupted by an escape sequence
    /// would be whole again once that is taken out.
    pub fn text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        match sanitise(text) {
            Cow::Borrowed(text) => self.clean(text),
            Cow::Owned(text) => Cow::Owned(self.clean(&text).into_owned()),
        }
    }

    fn clean<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let text = masked(text, |rule, secret, out| {
            if let Some(name) = self.names.get(secret) {
                out.push_str(name);
                return;
            }
            let count = self.counts.entry(rule).or_default();
            *count += 1;
            let name = if self.unnumbered { format!("[secret:{rule}]") } else { format!("[secret:{rule}-{count}]") };
            out.push_str(&name);
            self.names.insert(secret.to_owned(), name);
        });
        match text {
            Cow::Borrowed(text) => self.known(text),
            Cow::Owned(text) => Cow::Owned(self.known(&text).into_owned()),
        }
    }

    /// `text` without the secrets that are known wherever they stand.
    pub fn known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some((search, names)) = self.anywhere.as_ref().filter(|(search, _)| search.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut out = String::with_capacity(text.len());
        search.replace_all_with(text, &mut out, |found, _, out| {
            // As in `masked`.
            if out.ends_with('[') {
                out.push(' ');
            }
            out.push_str(&names[found.pattern()]);
            true
        });
        Cow::Owned(out)
    }

    /// Every text in a value.
    pub fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => map.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Every text below a name: a password is told by its name alone.
    pub fn member(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                let named = format!("{name}: {text}");
                let masked = self.text(&named);
                match masked.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")) {
                    Some(masked) => *text = masked.to_owned(),
                    None => self.string(text),
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.member(name, item)),
            Value::Object(map) => map.iter_mut().for_each(|(name, value)| self.member(name, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn string(&mut self, text: &mut String) {
        if let Cow::Owned(masked) = self.text(text) {
            *text = masked;
        }
    }
}
