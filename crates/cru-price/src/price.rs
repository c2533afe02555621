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
}

/// [`Price`] before its numbers are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrice {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

impl TryFrom<WrittenPrice> for Price {
    type Error = String;

    fn try_from(it: WrittenPrice) -> Result<Self, String> {
        let numbers = [Some(it.input), Some(it.output), it.cache_read, it.cache_write];
        if let Some(wrong) = numbers.into_iter().flatten().find(|number| !(number.is_finite() && *number >= 0.0)) {
            return Err(format!("invalid price {wrong}; use US dollars per million tokens"));
        }
        Ok(Self { input: it.input, output: it.output, cache_read: it.cache_read, cache_write: it.cache_write })
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
                + part(usage.cache_write, self.cache_write)?,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_price_is_unknown_and_not_free() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 2_000_000, ..Usage::default() };
        assert_eq!(price.cost(usage), Some(5.1));
        assert_eq!(price.cost(Usage { cache_write: 1, ..usage }), None);
        assert_eq!(price.cost(Usage { only_output: true, ..usage }), None);
        assert_eq!(price.cost(Usage::default()), Some(0.0));
    }
}
