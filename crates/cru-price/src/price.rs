//! The price of one model.

use cru_session::event::Usage;
use serde::Deserialize;

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenPrice")]
pub struct Price {
    /// Tokens of the request that come from no cache.
    pub input: f64,
    /// Tokens of the answer, reasoning included.
    pub output: f64,
    /// Tokens read from the prompt cache; `None` where no price is known.
    pub cache_read: Option<f64>,
    /// Tokens written to the prompt cache; `None` where no price is known.
    pub cache_write: Option<f64>,
    /// Those that are kept for an hour; `None` where they have no price of their own: they cost what others do.
    pub cache_write_1h: Option<f64>,
    /// By what all of these are multiplied where the model answers quickly; `None` where that is unknown.
    pub fast: Option<f64>,
    /// The same where it runs in the United States alone.
    pub us: Option<f64>,
    /// US dollars for one search of the web; `None` where no price is known.
    pub web_search: Option<f64>,
}

/// [`Price`] before its numbers are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrice {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
    fast: Option<f64>,
    us: Option<f64>,
    web_search: Option<f64>,
}

impl TryFrom<WrittenPrice> for Price {
    type Error = String;

    fn try_from(it: WrittenPrice) -> Result<Self, String> {
        let numbers = [Some(it.input), Some(it.output), it.cache_read, it.cache_write, it.cache_write_1h];
        let numbers = numbers.into_iter().chain([it.fast, it.us, it.web_search]);
        if let Some(wrong) = numbers.flatten().find(|number| !(number.is_finite() && *number >= 0.0)) {
            return Err(format!("invalid price {wrong}; use US dollars per million tokens"));
        }
        let WrittenPrice { input, output, cache_read, cache_write, cache_write_1h, fast, us, web_search } = it;
        Ok(Self { input, output, cache_read, cache_write, cache_write_1h, fast, us, web_search })
    }
}

impl Price {
    /// The price of tokens, multiplied.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let times = |price: Option<f64>| price.map(|price| price * factor);
        Self {
            input: self.input * factor,
            output: self.output * factor,
            cache_read: times(self.cache_read),
            cache_write: times(self.cache_write),
            cache_write_1h: times(self.cache_write_1h),
            ..self
        }
    }

    /// US dollars for these tokens; `None` where a count is unknown or has no price.
    pub fn cost(&self, usage: Usage) -> Option<f64> {
        if usage.only_output {
            return None;
        }
        let part = |tokens: u64, price: Option<f64>| match tokens {
            0 => Some(0.0),
            _ => price.map(|price| tokens as f64 * price / 1e6),
        };
        Some(
            part(usage.input, Some(self.input))?
                + part(usage.output, Some(self.output))?
                + part(usage.cache_read, self.cache_read)?
                + part(usage.cache_write.saturating_sub(usage.cache_write_1h), self.cache_write)?
                + part(usage.cache_write_1h.min(usage.cache_write), self.cache_write_1h.or(self.cache_write))?
                + part(usage.web_searches, self.web_search.map(|price| price * 1e6))?,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Price {
        toml::from_str("input = 3.0\noutput = 15.0").unwrap()
    }

    #[test]
    fn searches_are_paid_for_beside_the_tokens() {
        let usage = Usage { input: 1_000_000, web_searches: 5, ..Usage::default() };
        assert_eq!(plain().cost(usage), None);
        assert_eq!(Price { web_search: Some(0.01), ..plain() }.cost(usage), Some(3.05));
        assert_eq!(Price { web_search: Some(0.01), ..plain() }.times(2.0).cost(usage), Some(6.05));
    }

    #[test]
    fn what_has_no_price_is_unknown_and_not_free() {
        let price = Price { cache_read: Some(0.3), ..plain() };
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 2_000_000, ..Usage::default() };
        assert_eq!(price.cost(usage), Some(5.1));
        assert_eq!(price.cost(Usage { cache_write: 1, ..usage }), None);
        assert_eq!(price.cost(Usage { only_output: true, ..usage }), None);
        assert_eq!(price.cost(Usage::default()), Some(0.0));
    }

    #[test]
    fn writes_that_are_kept_for_an_hour_have_their_own_price() {
        let price = Price { cache_write: Some(4.0), cache_write_1h: Some(6.0), ..plain() };
        let usage = Usage { cache_write: 1_000_000, cache_write_1h: 500_000, ..Usage::default() };
        assert_eq!(price.cost(usage), Some(5.0));
        assert_eq!(Price { cache_write_1h: None, ..price }.cost(usage), Some(4.0));
        assert_eq!(price.cost(Usage { cache_write_1h: 9_000_000, ..usage }), Some(6.0));
    }
}
