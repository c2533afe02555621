//! Closed sets of words as values of the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::base::words::WordSet;

/// Reads a word of a set.
pub(super) fn words<T: WordSet + Send + Sync>() -> impl TypedValueParser<Value = T> {
    parser(T::written().map(|(word, _)| PossibleValue::new(word)))
}

/// Reads one of these words of a set; help says of each what stands beside it.
pub(super) fn explained<T: WordSet + Send + Sync>(
    words: &'static [(T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    parser(words.iter().map(|(value, help)| PossibleValue::new(value.word()).help(*help)))
}

fn parser<T: WordSet + Send + Sync>(words: impl Iterator<Item = PossibleValue>) -> impl TypedValueParser<Value = T> {
    let value = |word: String| T::written().find(|(known, _)| *known == word).map(|(_, value)| value);
    PossibleValuesParser::new(words).try_map(move |word| value(word).ok_or("no word of the set"))
}
