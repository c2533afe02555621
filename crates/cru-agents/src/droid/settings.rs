//! What stands in `<session>.settings.json` beside a transcript: model, effort, tokens and time of the whole session.
//!
//! The host writes it anew again and again, so it is no record: it is told with the first one, as it now is.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::file::value::{self, count, word};
use crate::record::session::usage;
use cru_base::{Error, Result};
use cru_session::event::Usage;
use cru_session::source::Bundle;

/// How the name of such a file ends.
pub(super) const END: &str = ".settings.json";

/// Settings larger than that are none.
const LARGEST: u64 = 1 << 20;

/// Words that go into the note, and their names there.
const WORDS: &[(&str, &str)] = &[
    ("/reasoningEffort", "reasoning_effort"),
    ("/providerLock", "provider"),
    ("/apiProviderLock", "api_provider"),
    ("/interactionMode", "mode"),
    ("/autonomyLevel", "autonomy"),
];

/// The settings of one session.
#[derive(Debug)]
pub(super) struct Settings(Value);

/// Whether a file is called like settings.
pub(super) fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(END))
}

/// The settings beside a transcript.
pub(super) fn of_transcript(path: &Path) -> PathBuf {
    path.with_extension("settings.json")
}

/// The transcript beside settings.
pub(super) fn transcript(path: &Path) -> PathBuf {
    path.with_extension("").with_extension("jsonl")
}

impl Settings {
    /// Reads them; nothing where they are none, or were just being written.
    pub(super) fn read(bundle: &Bundle, path: &Path) -> Result<Option<Self>> {
        let failed = |source| Error::io("read", path, source);
        let mut bytes = Vec::new();
        bundle.open(path).map_err(failed)?.take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
        Ok(value::read(&bytes).filter(Value::is_object).map(Self))
    }

    /// Whether they say something that a note has.
    pub(super) fn says_something(&self) -> bool {
        !self.model().is_empty() || self.usage() != Usage::default() || !self.properties().is_empty()
    }

    /// How much they count: what they count only grows.
    pub(super) fn weight(&self) -> u64 {
        let usage = self.usage();
        usage.used().saturating_add(usage.cache_read)
    }

    /// What they say of the session. What the model was in the end is all that is known of the models.
    pub(super) fn head(&self) -> Value {
        let Usage { input, output, cache_read, cache_write, .. } = self.usage();
        let usage = json!({ "input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write });
        json!({ "model": self.model(), "more": self.properties(), "usage": usage })
    }

    fn model(&self) -> &str {
        word(&self.0, "/model").trim()
    }

    /// Those of the session's own work: its sub-agents have settings of their own.
    fn usage(&self) -> Usage {
        usage(&self.0["tokenUsage"], ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"])
    }

    fn properties(&self) -> Map<String, Value> {
        let words = WORDS.iter().map(|(place, name)| (*name, word(&self.0, place).trim()));
        let words = words.filter(|(_, word)| !word.is_empty()).map(|(name, word)| (name, Value::from(word)));
        let seconds = count(&self.0, "/assistantActiveTimeMs").div_ceil(1000);
        let thought = count(&self.0, "/tokenUsage/thinkingTokens");
        let numbers = [("active_seconds", seconds), ("thinking_tokens", thought)].into_iter();
        let numbers = numbers.filter(|(_, number)| *number > 0).map(|(name, number)| (name, Value::from(number)));
        words.chain(numbers).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_lie_beside() {
        let (transcript_path, settings_path) = (Path::new("/x/9f.a.jsonl"), Path::new("/x/9f.a.settings.json"));
        assert_eq!(of_transcript(transcript_path), settings_path);
        assert_eq!(transcript(settings_path), transcript_path);
        assert!(is_named(settings_path) && !is_named(transcript_path) && !is_named(Path::new("/x/settings.json")));
    }
}
