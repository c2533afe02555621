//! What a note counts of records that its transcript no longer has.
//!
//! Hosts cut transcripts, and work that was done is not undone by that: what such records counted is kept, and a note
//! counts on from there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cru_session::event::Usage;
use cru_session::{Item, Session, usage};

/// Tokens by model, and what the host says that they cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    tokens: BTreeMap<String, Usage>,
    cost: f64,
}

impl Counted {
    /// What a session counts.
    pub(super) fn of(session: &Session) -> Self {
        let tables = session.items().filter_map(|(_, item)| match item {
            Item::Callout(it) if it.kind == usage::KIND => Some(usage::read(&it.body)),
            _ => None,
        });
        let mut tokens: BTreeMap<String, Usage> = BTreeMap::new();
        for (model, used) in tables.flatten() {
            tokens.entry(model).or_default().add(used);
        }
        Self { tokens, cost: session.meta.cost_usd.unwrap_or(0.0) }
    }

    /// What it has beyond `other`.
    pub(super) fn since(self, other: &Self) -> Self {
        let more = |(model, used): (String, Usage)| {
            let more = used.since(other.tokens.get(&model).copied().unwrap_or_default());
            (more != Usage { only_output: more.only_output, ..Usage::default() }).then_some((model, more))
        };
        let cost = (self.cost - other.cost).max(0.0);
        Self { tokens: self.tokens.into_iter().filter_map(more).collect(), cost }
    }

    /// Counts it in a session, too.
    pub(super) fn add_to(&self, session: &mut Session) {
        if self.cost > 0.0 {
            let cost = session.meta.cost_usd.unwrap_or(0.0) + self.cost;
            session.meta.cost_usd = Some((cost * 1e6).round() / 1e6);
        }
        if self.tokens.is_empty() {
            return;
        }
        let mut sum = Self::of(session).tokens;
        for (model, used) in &self.tokens {
            sum.entry(model.clone()).or_default().add(*used);
        }
        let mut rows: Vec<(String, Usage)> = sum.into_iter().collect();
        rows.sort_by(|a, b| b.1.output.cmp(&a.1.output).then_with(|| a.0.cmp(&b.0)));
        let is_table = |item: &&mut Item| matches!(item, Item::Callout(it) if it.kind == usage::KIND);
        let table = session.phases.iter_mut().flat_map(|phase| &mut phase.items).find(is_table);
        if let Some(Item::Callout(table)) = table {
            (table.title, table.body) = (usage::title(&rows), usage::table(&rows));
        }
        session.meta.tokens_used = usage::total(&rows).known().or(session.meta.tokens_used);
    }

    /// As one word for each model.
    pub(crate) fn pack(&self) -> Vec<(String, String)> {
        let is_word = |model: &str| !model.is_empty() && !model.contains(|c: char| c.is_whitespace() || c == '=');
        let tokens = self.tokens.iter().filter(|(model, _)| is_word(model)).map(|(model, used)| {
            let mut counts = String::new();
            for count in
                [used.input, used.output, used.cache_write, used.cache_write_1h, used.cache_read, used.web_searches]
            {
                let _ = write!(counts, "{}{count}", if counts.is_empty() { "" } else { "," });
            }
            (model.clone(), counts)
        });
        let cost = (self.cost > 0.0).then(|| (String::new(), self.cost.to_string()));
        tokens.chain(cost).collect()
    }

    /// Takes such a word back in.
    pub(crate) fn unpack(&mut self, model: &str, counts: &str) {
        if model.is_empty() {
            self.cost = counts.parse().ok().filter(|cost: &f64| cost.is_finite()).unwrap_or(0.0);
            return;
        }
        let counts: Vec<u64> = counts.split(',').filter_map(|count| count.parse().ok()).collect();
        if let [input, output, cache_write, cache_write_1h, cache_read, web_searches] = counts[..] {
            let used =
                Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches, only_output: false };
            self.tokens.insert(model.to_owned(), used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_kept_as_words() {
        let used = Usage {
            input: 1,
            output: 2,
            cache_write: 4,
            cache_write_1h: 3,
            cache_read: 5,
            web_searches: 6,
            only_output: false,
        };
        let counted = Counted { tokens: BTreeMap::from([("us/m".to_owned(), used)]), cost: 0.5 };
        let mut again = Counted::default();
        for (model, counts) in counted.pack() {
            again.unpack(&model, &counts);
        }
        assert_eq!(again, counted);
        assert_eq!(counted.clone().since(&counted), Counted::default());
    }
}
