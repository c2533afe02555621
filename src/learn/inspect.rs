//! Puzzles as samples of the evaluation framework Inspect: `id`, `input`, `target`, `metadata`.
//!
//! The input ends with the failure (or the person's words) and a question, the target is the recorded answer, and
//! `metadata.failure` is the answer that must not score. A list of words that the answer must hold is given only where
//! the note's own author set them apart as code in a resolution; everything else needs a grader that reads.

use serde::Serialize;

use super::case::{Case, Story};
use super::chat::{self, Message};
use super::row::Metadata;

/// The question that ends every input.
const QUESTION: &str = "What do you do next?";

/// Lengths of words, in characters, that are worth asking for.
const WORD: std::ops::RangeInclusive<usize> = 3..=60;

/// One sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Id of the case.
    pub id: String,
    /// The conversation up to the failure.
    pub input: Vec<Message>,
    /// The recorded answer.
    pub target: String,
    /// For graders and for filtering.
    pub metadata: SampleMetadata,
}

/// What graders want, then what every row has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleMetadata {
    /// What did not work.
    pub failure: String,
    /// Words that a right answer holds; empty where a grader must read.
    pub must_include: Vec<String>,
    /// Words that only a wrong answer holds; empty where a grader must read.
    pub must_not_include: Vec<String>,
    /// What every row has.
    #[serde(flatten)]
    pub common: Metadata,
}

/// The sample of a case; `None` where the record has no answer or the question already holds it.
pub fn sample(case: &Case, system: &str) -> Option<Sample> {
    let target = case.answer()?;
    let failure = case.failure();
    let mut input = chat::prompt(case, system);
    let asked = format!("{}\n{failure}", chat::flat(&input)).to_lowercase();
    if asked.contains(&target.trim().to_lowercase()) {
        return None;
    }
    if let Some(last) = input.last_mut() {
        last.content.push_str("\n\n");
        last.content.push_str(QUESTION);
    }
    let must_include = words(case, &asked);
    let common = Metadata::of(case);
    let metadata = SampleMetadata { failure, must_include, must_not_include: Vec::new(), common };
    Some(Sample { id: case.id.clone(), input, target, metadata })
}

/// What the author of a resolution wrote as code and the question does not give away.
fn words(case: &Case, asked: &str) -> Vec<String> {
    let Story::Puzzle(puzzle) = &case.story else { return Vec::new() };
    let resolution = puzzle.resolution.as_deref().unwrap_or_default();
    let mut words: Vec<String> = Vec::new();
    for word in resolution.split('`').skip(1).step_by(2) {
        let fits = WORD.contains(&word.chars().count()) && !word.contains(['\n', '…']) && word.trim() == word;
        // A link to a step became its call: nobody can be asked to repeat that.
        let linked = puzzle.fix.iter().any(|entry| entry.text().contains(&format!("`{word}`")));
        if fits && !linked && !asked.contains(&word.to_lowercase()) && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}
