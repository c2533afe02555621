//! Token counts, which the host tells as sums over the session, again and again.

use serde_json::Value;

use crate::file::value::{self, number, object};
use cru_session::event::Usage;

/// The sums that were last told.
#[derive(Debug, Default)]
pub(super) struct Counter {
    last: Option<Usage>,
    /// Whether the next sums hold what was used in another file.
    inherits: bool,
    /// Tokens of the context, as of the last message.
    context: Option<u64>,
}

/// Counts as the host writes them: what a cache gave and took is a part of the input.
fn counts(tokens: &Value) -> Usage {
    value::usage(tokens, ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"])
}

/// What came to a sum since it was told before.
fn since(sum: Usage, before: Usage) -> Usage {
    Usage {
        input: sum.input.saturating_sub(before.input),
        output: sum.output.saturating_sub(before.output),
        cache_write: sum.cache_write.saturating_sub(before.cache_write),
        cache_read: sum.cache_read.saturating_sub(before.cache_read),
        ..sum
    }
}

impl Counter {
    /// What was used since the last counts; `None` where nothing was.
    ///
    /// Sums that are smaller than before were begun anew: then only the last message is known to be new.
    pub(super) fn count(&mut self, info: &Value) -> Option<Usage> {
        let last = object(info, "last_token_usage");
        if let Some(last) = last {
            self.context = number(last, "total_tokens").filter(|total| *total > 0).or(self.context);
        }
        let (sum, before) = (counts(object(info, "total_token_usage")?), self.last.unwrap_or_default());
        self.last = Some(sum);
        let anew = sum.input < before.input || sum.output < before.output;
        let inherits = std::mem::take(&mut self.inherits) && last.is_some() && sum != before;
        let new = if anew || inherits { counts(last.unwrap_or(&Value::Null)) } else { since(sum, before) };
        let input = new.input.saturating_sub(new.cache_read).saturating_sub(new.cache_write);
        (new != Usage::default()).then_some(Usage { input, ..new })
    }

    /// The next sums go on from those of another file: of them only the last message is new.
    pub(super) const fn inherit(&mut self, from: Option<Usage>) {
        if from.is_some() {
            self.last = from;
        }
        self.inherits = true;
    }

    /// The sums that were last told.
    pub(super) const fn sum(&self) -> Option<Usage> {
        self.last
    }

    /// Tokens of the context before it is compacted; afterwards they are not known until they are counted again.
    pub(super) const fn compact(&mut self) -> Option<u64> {
        self.context.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(total: [u64; 3], last: [u64; 3]) -> Value {
        let tokens = |[input, cached, output]: [u64; 3]| {
            format!(
                r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":{output},"total_tokens":{}}}"#,
                input + output
            )
        };
        let text = format!(r#"{{"total_token_usage":{},"last_token_usage":{}}}"#, tokens(total), tokens(last));
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn sums_are_told_as_what_is_new() {
        let mut counter = Counter::default();
        let usage =
            |input, output, cache_read| Some(Usage { input, output, cache_write: 0, cache_read, ..Usage::default() });
        assert_eq!(counter.count(&info([100, 60, 10], [100, 60, 10])), usage(40, 10, 60));
        assert_eq!(counter.count(&info([100, 60, 10], [100, 60, 10])), None);
        assert_eq!(counter.count(&info([250, 160, 15], [150, 100, 5])), usage(50, 5, 100));
        assert_eq!((counter.compact(), counter.compact()), (Some(155), None));
        assert_eq!(counter.count(&info([30, 0, 2], [30, 0, 2])), usage(30, 2, 0));
        assert_eq!(counter.count(&Value::Null), None);
        // Another file goes on from these sums: it tells them again, or with its first message.
        let goes_on = || {
            let mut next = Counter::default();
            next.inherit(counter.sum());
            next
        };
        assert_eq!(goes_on().count(&info([30, 0, 2], [30, 0, 2])), None);
        assert_eq!(goes_on().count(&info([90, 0, 9], [40, 0, 3])), usage(40, 3, 0));
    }
}
