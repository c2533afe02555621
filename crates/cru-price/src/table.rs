//! The table of prices.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cru_session::event::Usage;
use cru_session::usage::SERVED;
use serde::Deserialize;

use crate::normalise::{candidates, makers_id};
use crate::price::Price;

const DATA: &str = include_str!("../data/prices.toml");

/// `data/prices.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    source: PriceSource,
    normalise: Normalise,
    models: BTreeMap<String, Price>,
    retired: BTreeMap<String, Price>,
}

#[derive(Debug, Deserialize)]
struct PriceSource {
    date: String,
    name: String,
}

#[derive(Debug, Deserialize)]
struct Normalise {
    prefixes: Vec<String>,
}

fn file() -> &'static PriceFile {
    static FILE: OnceLock<PriceFile> = OnceLock::new();
    FILE.get_or_init(|| toml::from_str(DATA).expect("the embedded table of prices is TOML; a test reads it"))
}

/// The prices of models: the embedded list prices with the user's own over them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    own: BTreeMap<String, Price>,
}

impl Prices {
    /// With the user's own prices, by model.
    pub const fn new(own: BTreeMap<String, Price>) -> Self {
        Self { own }
    }

    /// The price of a model; `None` where it is unknown. Of one that is asked in a way with a price of its own, the
    /// [words before its name](SERVED) tell.
    pub fn of(&self, model: &str) -> Option<Price> {
        let [fast, us] = SERVED;
        self.named(model).or_else(|| match (model.strip_prefix(fast), model.strip_prefix(us)) {
            (Some(rest), _) => {
                let price = self.of(rest)?;
                Some(price.times(price.fast?))
            }
            (None, Some(rest)) => {
                let price = self.of(rest)?;
                Some(price.times(price.us?))
            }
            (None, None) => self.named(&makers_id(model)?),
        })
    }

    fn named(&self, model: &str) -> Option<Price> {
        let file = file();
        let names = candidates(model, &file.normalise.prefixes);
        let own = names.iter().find_map(|name| self.own.get(*name));
        let listed = || names.iter().find_map(|name| file.models.get(*name).or_else(|| file.retired.get(*name)));
        own.or_else(listed).copied()
    }

    /// US dollars for the tokens of a model, an estimate; `None` where a price or a count is unknown.
    pub fn cost(&self, model: &str, usage: Usage) -> Option<f64> {
        self.of(model)?.cost(usage)
    }

    /// The day on which the embedded list prices were current: `2026-11-12`.
    pub fn date() -> &'static str {
        &file().source.date
    }

    /// Where the embedded list prices come from.
    pub fn source() -> &'static str {
        &file().source.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_is_sound() {
        let file = file();
        assert_eq!(file.source.date.len(), 10);
        assert!(file.models.len() > 50 && !file.source.name.is_empty());
        assert!(file.retired.keys().all(|model| !file.models.contains_key(model)));
        let all = || file.models.iter().chain(&file.retired);
        assert!(all().all(|(_, price)| price.input > 0.0 && price.output > 0.0), "nothing is free");
        // A cache that costs more than the request itself, or less than nothing, is a slip of the file.
        let odd = all().filter(|(_, it)| it.cache_read.is_some_and(|read| read >= it.input));
        assert_eq!(odd.map(|(model, _)| model).collect::<Vec<_>>(), Vec::<&String>::new());
    }

    #[test]
    fn a_model_is_found_by_its_id_without_prefix_and_date() {
        let prices = Prices::default();
        let input = |model: &str| prices.of(model).map(|price| price.input);
        assert_eq!(input("claude-opus-4-5"), Some(5.0));
        assert_eq!(input("claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(input("anthropic/claude-opus-4-20250514"), Some(15.0), "a retired one");
        assert_eq!((input("gpt-4o"), input("gpt-4o-2024-05-13")), (Some(2.5), Some(5.0)), "its own date first");
        assert_eq!(input("us.anthropic.claude-opus-4-5-20251101-v1:0"), Some(5.0));
        assert_eq!(input("vertex_ai/claude-opus-4-5@20251101"), Some(5.0));
        assert_eq!(input("github_copilot/claude-opus-4.5"), Some(5.0));
        for unknown in ["", "claude", "claude-opus", "groq/kimi-k3", "gpt-4o-mini-free", "opus", "unknown"] {
            assert_eq!(input(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn how_a_model_is_asked_has_a_price() {
        let prices = Prices::default();
        let input = |model: &str| prices.of(model).map(|price| (price.input * 1e6).round() / 1e6);
        assert_eq!(input("fast/claude-opus-4-8"), Some(10.0));
        assert_eq!(input("us/claude-opus-4-8"), Some(5.5));
        assert_eq!(input("fast/us/us.anthropic.claude-opus-4-8-v1:0"), Some(11.0));
        assert_eq!((input("fast/claude-sonnet-5"), input("us/gpt-4o"), input("fast/")), (None, None, None));
    }

    #[test]
    fn own_prices_stand_over_the_list() {
        let price: Price = toml::from_str("input = 1.0\noutput = 2.0").unwrap();
        let prices = Prices::new(BTreeMap::from([("gpt-4o".into(), price), ("mine".into(), price)]));
        assert_eq!(prices.of("gpt-4o-2024-05-13"), Some(price));
        assert_eq!(prices.cost("mine", Usage { input: 2_000_000, ..Usage::default() }), Some(2.0));
        assert_eq!(prices.cost("mine", Usage { cache_read: 1, ..Usage::default() }), None);
        assert_eq!(prices.cost("other", Usage::default()), None);
    }
}
