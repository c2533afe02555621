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
}

impl TryFrom<WrittenPrice> for Price {
    type Error = String;

    fn try_from(it: WrittenPrice) -> Result<Self, String> {
        let numbers = [Some(it.input), Some(it.output), it.cache_read, it.cache_write, it.cache_write_1h];
        if let Some(wrong) = numbers.into_iter().flatten().find(|number| !(number.is_finite() && *number >= 0.0)) {
            return Err(format!("invalid price {wrong}; use US dollars per million tokens"));
        }
        let WrittenPrice { input, output, cache_read, cache_write, cache_write_1h } = it;
        Ok(Self { input, output, cache_read, cache_write, cache_write_1h })
    }
}

impl Price {
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
                + part(usage.cache_write_1h.min(usage.cache_write), self.cache_write_1h.or(self.cache_write))?,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_price_is_unknown_and_not_free() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None, cache_write_1h: None };
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 2_000_000, ..Usage::default() };
        assert_eq!(price.cost(usage), Some(5.1));
        assert_eq!(price.cost(Usage { cache_write: 1, ..usage }), None);
        assert_eq!(price.cost(Usage { only_output: true, ..usage }), None);
        assert_eq!(price.cost(Usage::default()), Some(0.0));
    }

    #[test]
    fn writes_that_are_kept_for_an_hour_have_their_own_price() {
        let price =
            Price { input: 3.0, output: 15.0, cache_read: None, cache_write: Some(4.0), cache_write_1h: Some(6.0) };
        let usage = Usage { cache_write: 1_000_000, cache_write_1h: 500_000, ..Usage::default() };
        assert_eq!(price.cost(usage), Some(5.0));
        assert_eq!(Price { cache_write_1h: None, ..price }.cost(usage), Some(4.0));
        assert_eq!(price.cost(Usage { cache_write_1h: 9_000_000, ..usage }), Some(6.0));
    }
}
