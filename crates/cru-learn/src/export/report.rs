//! What there is in numbers: how many cases of which kind, how the answers are known, how long rows are.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::export::draft::Record;
use crate::export::split::Split;

/// Upper ends of the bars of the histogram of tokens; the last bar has none.
const BARS: [usize; 8] = [256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768];

/// Counts of cases and rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Cases by kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// Cases by how the answer is known; `none` where it is not.
    pub answer_from: BTreeMap<&'static str, usize>,
    /// Cases that are exported by how sure they are: `accepted`, `judged`, `proven`, `proposed`.
    pub grades: BTreeMap<&'static str, usize>,
    /// Cases by what an export makes of them.
    pub standing: BTreeMap<&'static str, usize>,
    /// Cases by how much of their tool calls is there.
    pub fidelity: BTreeMap<&'static str, usize>,
    /// Cases that a person accepted.
    pub accepted: usize,
    /// Cases of which a person wrote a part anew.
    pub edited: usize,
    /// Secrets and personal data that were taken out.
    pub redactions: usize,
    /// Groups of near duplicates.
    pub dup_groups: usize,
    /// Families of sessions, and how many cases are on each side.
    pub families: usize,
    /// Cases to train on.
    pub train: usize,
    /// Cases to evaluate with.
    pub validation: usize,
    /// Rows by file.
    pub rows: BTreeMap<String, usize>,
    /// Rows by tokens: upper end (0: longer) and count.
    pub tokens: Vec<(usize, usize)>,
    /// Tokens of the longest row.
    pub longest: usize,
    /// The `max_length` to train with: what holds the longest row, also by a tokenizer that counts a quarter more.
    pub max_length: usize,
    /// What was left out, by reason.
    pub left_out: Vec<(String, usize)>,
}

impl Report {
    /// Counts a case.
    pub(crate) fn case(&mut self, case: &Record) {
        *self.kinds.entry(case.kind.as_str()).or_default() += 1;
        let from = if case.answer_from.is_empty() { "none" } else { case.answer_from };
        *self.answer_from.entry(from).or_default() += 1;
        *self.standing.entry(case.standing.as_str()).or_default() += 1;
        *self.fidelity.entry(case.fidelity.as_str()).or_default() += 1;
        self.accepted += usize::from(case.accepted);
        self.edited += usize::from(case.edited);
        self.redactions += case.redactions;
    }

    /// With the sides of those that are no duplicates.
    pub(crate) fn split(mut self, split: &Split) -> Self {
        self.families = split.families;
        self.validation = split.validation.iter().filter(|validation| **validation).count();
        self.train = split.validation.len() - self.validation;
        self.dup_groups = split.dup_group.iter().copied().max().unwrap_or_default();
        self
    }

    /// Counts a row of so many tokens.
    pub(crate) fn row(&mut self, tokens: usize) {
        if self.tokens.is_empty() {
            self.tokens = BARS.iter().map(|end| (*end, 0)).chain([(0, 0)]).collect();
        }
        let bar = BARS.iter().position(|end| tokens <= *end).unwrap_or(BARS.len());
        self.tokens[bar].1 += 1;
        self.longest = self.longest.max(tokens);
        self.max_length = (self.longest * 5 / 4).next_multiple_of(256);
    }
}
