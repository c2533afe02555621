//! What the tokens of a session cost by list prices.

use crate::index::SessionRow;
use crate::index::table::Families;
use crate::price::Prices;

/// The cost of a session's own tokens, an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// US dollars for the tokens that have a price; `None` where none has.
    pub known_usd: Option<f64>,
    /// Tokens without a known price or model, cache reads included.
    pub unpriced: u64,
}

impl Estimate {
    /// Of the usage tables of a session. Tokens that the frontmatter tells beyond them are of no known model.
    pub fn of(row: &SessionRow, prices: &Prices) -> Self {
        let mut sum = Self::default();
        let mut used: u64 = 0;
        for it in &row.usage {
            let usage = it.usage();
            used = used.saturating_add(usage.used());
            match prices.cost(&it.model, usage) {
                Some(cost) => sum.known_usd = Some(sum.known_usd.unwrap_or(0.0) + cost),
                None => sum.unpriced = sum.unpriced.saturating_add(usage.used()).saturating_add(usage.cache_read),
            }
        }
        sum.unpriced = sum.unpriced.saturating_add(row.tokens.unwrap_or(0).saturating_sub(used));
        sum
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let known_usd = match (self.known_usd, other.known_usd) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        Self { known_usd, unpriced: self.unpriced.saturating_add(other.unpriced) }
    }

    /// `about US$ 1.20, without 4,100 tokens of unknown price`; `unknown` where no token has a price.
    pub fn text(self) -> String {
        cost_text(self.known_usd, self.unpriced)
    }
}

/// What sessions used up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tokens, without those read from a cache.
    pub tokens: u64,
    /// What they cost by list prices.
    pub cost: Estimate,
}

impl Spent {
    /// Of one session alone.
    pub fn of(row: &SessionRow, prices: &Prices) -> Self {
        Self { tokens: row.tokens.unwrap_or(0), cost: Estimate::of(row, prices) }
    }

    /// Of a session with all that worked for it. Tokens of sub-agents without a note have no known price.
    pub fn of_family(row: &SessionRow, families: &Families<'_>, prices: &Prices) -> Self {
        let of = |row: &SessionRow| Self::of(row, prices).and_tokens(families.tokens_without_note(row));
        families.members(row).into_iter().map(of).fold(Self::default(), Self::plus)
    }

    /// With tokens whose price is unknown.
    #[must_use]
    pub fn and_tokens(self, tokens: u64) -> Self {
        self.plus(Self { tokens, cost: Estimate { known_usd: None, unpriced: tokens } })
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), cost: self.cost.plus(other.cost) }
    }
}

/// A cost and the tokens that it leaves out, in words. It always says that it is an estimate.
pub fn cost_text(known_usd: Option<f64>, unpriced: u64) -> String {
    use crate::base::text::thousands;
    match (known_usd, unpriced) {
        (None, _) => "unknown".to_owned(),
        (Some(cost), 0) => about(cost),
        (Some(cost), tokens) => format!("{}, without {} tokens of unknown price", about(cost), thousands(tokens)),
    }
}

fn about(cost: f64) -> String {
    if is_small(cost) { "less than US$ 0.01".to_owned() } else { format!("about US$ {cost:.2}") }
}

/// An estimate in a column of US dollars: `1.20`, `< 0.01`.
pub fn usd(cost: f64) -> String {
    if is_small(cost) { "< 0.01".to_owned() } else { format!("{cost:.2}") }
}

/// Whether two digits would show it as nothing.
fn is_small(cost: f64) -> bool {
    cost > 0.0 && cost < 0.005
}

/// What the checks of a session prove, in words: `green`, `2 writes after the last passing check`, `failing`, `never
/// checked`, `check result unknown`. `None` where nothing was written and nothing was checked.
pub fn proof_text(row: &SessionRow) -> Option<String> {
    proof_words(row.proof.as_deref(), row.writes_after_check)
}

/// The same of its parts.
pub fn proof_words(proof: Option<&str>, writes_after: u64) -> Option<String> {
    use crate::base::text::plural;
    Some(match proof? {
        "writes_after" => format!("{} after the last passing check", plural(writes_after, "write")),
        "never_checked" => "never checked".to_owned(),
        "unknown" => "check result unknown".to_owned(),
        other => other.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ModelUsage;

    fn used(model: &str, input: Option<u64>, output: u64, cache_read: u64) -> ModelUsage {
        let cache_read = input.map(|_| cache_read);
        ModelUsage {
            model: model.into(),
            input,
            output,
            cache_write: input.map(|_| 0),
            cache_read,
            ..ModelUsage::default()
        }
    }

    #[test]
    fn unknown_is_not_nothing() {
        let of = |tokens: Option<u64>, usage: Vec<ModelUsage>| {
            Estimate::of(&SessionRow { tokens, usage, ..SessionRow::default() }, &Prices::default()).text()
        };
        let known = || used("claude-opus-4-5-20251101", Some(100_000), 20_000, 1_000_000);
        assert_eq!(of(None, vec![]), "unknown");
        assert_eq!(of(Some(0), vec![]), "unknown");
        assert_eq!(of(Some(900), vec![]), "unknown");
        assert_eq!(of(Some(120_000), vec![known()]), "about US$ 1.50");
        let mixed = vec![known(), used("house-model", Some(10), 5, 100), used("gpt-5", None, 7, 0)];
        assert_eq!(of(Some(120_022), mixed), "about US$ 1.50, without 122 tokens of unknown price");
        assert_eq!(of(Some(120_500), vec![known()]), "about US$ 1.50, without 500 tokens of unknown price");
        assert_eq!(of(Some(9), vec![used("gpt-5", None, 9, 0)]), "unknown");
        assert_eq!(of(Some(1), vec![used("gpt-5", Some(1), 0, 0)]), "less than US$ 0.01");
    }
}
