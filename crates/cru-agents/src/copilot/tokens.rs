//! Tokens by model: what the host sums up when it ends, and until then the output that each message states.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::file::value::usage_with_cache;
use crate::stream::out::Out;
use cru_session::event::{EventKind, Usage};

/// The tokens of a session as far as they are told.
#[derive(Debug, Default)]
pub(super) struct CopilotTokens {
    /// How often the host ended and said so: each sum is of what was used since the last.
    run: u64,
    /// Output since then of messages that state their model, by model.
    stated: BTreeMap<String, u64>,
    /// Output since then of messages that do not, by the model that was in use as far as is known.
    guessed: BTreeMap<String, u64>,
}

impl CopilotTokens {
    /// A message states its output. `model` was in use as far as is known; `stated`: the message says so itself.
    pub(super) fn message(&mut self, model: &str, stated: bool, output: u64, out: &mut Out<'_>) {
        if output == 0 {
            return;
        }
        let sums = if stated { &mut self.stated } else { &mut self.guessed };
        let sum = sums.entry(model.to_owned()).or_default();
        *sum = sum.saturating_add(output);
        let of = |sums: &BTreeMap<String, u64>| sums.get(model).copied().unwrap_or(0);
        let output = of(&self.stated).saturating_add(of(&self.guessed));
        // What went in is told at the end alone.
        self.tell(model, model, Usage { output, only_output: true, ..Usage::default() }, out);
    }

    /// The host ends and sums up: what it says takes the place of what was guessed.
    pub(super) fn shutdown(&mut self, record: &Value, out: &mut Out<'_>) {
        let metrics: Vec<(&String, Usage)> = record
            .pointer("/data/modelMetrics")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(model, metric)| (model, usage(metric)))
            .filter(|(_, usage)| *usage != Usage::default())
            .collect();
        let named = metrics.iter().find(|(_, usage)| usage.output > 0).map(|(model, _)| *model);
        if named.is_some() {
            for model in std::mem::take(&mut self.guessed).into_keys() {
                let stated = self.stated.get(&model).copied();
                let only_output = stated.is_some();
                let usage = Usage { output: stated.unwrap_or(0), only_output, ..Usage::default() };
                // A model that nothing is known of any more is not told.
                let shown = named.filter(|_| stated.is_none()).unwrap_or(&model);
                self.tell(&model, shown, usage, out);
            }
        }
        for (model, mut usage) in metrics {
            let told = [&self.stated, &self.guessed].map(|sums| sums.get(model).copied().unwrap_or(0));
            usage.output = usage.output.max(told[0].saturating_add(told[1]));
            self.tell(model, model, usage, out);
        }
        self.run += 1;
        self.stated.clear();
        self.guessed.clear();
    }

    /// Tells the sum of `key`, told before or not, as used by `model`.
    fn tell(&self, key: &str, model: &str, usage: Usage, out: &mut Out<'_>) {
        let message = format!("{} {key}", self.run).into();
        out.emit(EventKind::Usage { message, model: model.to_owned().into(), usage });
    }
}

/// The host counts what it read from the cache as input, too.
fn usage(metric: &Value) -> Usage {
    usage_with_cache(&metric["usage"], ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"])
}
