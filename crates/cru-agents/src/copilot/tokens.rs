//! Tokens by model: what the host sums up when it ends, and until then the output that each message states.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::jsonl::count;
use crate::out::Out;
use cru_session::event::{EventKind, Usage};

/// The tokens of a session as far as they are told.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// How often the host ended and said so: each sum is of what was used since the last.
    run: u64,
    /// Output by model since then.
    output: BTreeMap<String, u64>,
}

impl Tokens {
    /// A message states its output.
    pub(super) fn message(&mut self, model: &str, output: u64, out: &mut Out<'_>) {
        if output == 0 {
            return;
        }
        let sum = self.output.entry(model.to_owned()).or_default();
        *sum = sum.saturating_add(output);
        let usage = Usage { output: *sum, ..Usage::default() };
        self.tell(model, usage, out);
    }

    /// The host ends and sums up.
    pub(super) fn shutdown(&mut self, record: &Value, out: &mut Out<'_>) {
        let metrics = record.pointer("/data/modelMetrics").and_then(Value::as_object);
        for (model, metric) in metrics.into_iter().flatten() {
            let of = |key: &str| count(metric, &format!("/usage/{key}"));
            let (read, write) = (of("cacheReadTokens"), of("cacheWriteTokens"));
            // The host counts what it read from the cache as input, too.
            let input = of("inputTokens");
            let usage = Usage {
                input: input.checked_sub(read.saturating_add(write)).unwrap_or(input),
                output: of("outputTokens").max(self.output.get(model).copied().unwrap_or(0)),
                cache_write: write,
                cache_read: read,
            };
            if usage != Usage::default() {
                self.tell(model, usage, out);
            }
        }
        self.run += 1;
        self.output.clear();
    }

    fn tell(&self, model: &str, usage: Usage, out: &mut Out<'_>) {
        let message = format!("{} {model}", self.run).into();
        out.emit(EventKind::Usage { message, model: model.to_owned().into(), usage });
    }
}
