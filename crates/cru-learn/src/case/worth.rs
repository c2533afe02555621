//! What a case is worth: how its answer is known, and how much there is for it.
//!
//! A number for filters, made of what the record shows and of nothing else. A person's word is above all of it.

use crate::case::{Case, Fidelity, Story};

impl Case {
    /// How the right answer is known: `later success`, `resolution`, `response`, `check passed`, `approved`, or `""`
    /// when it is not.
    pub fn evidence(&self) -> &'static str {
        match &self.story {
            Story::Puzzle(it) if it.verified => "later success",
            Story::Puzzle(it) if it.resolution.is_some() || !it.fix.is_empty() => "resolution",
            Story::Preference(it) if !it.response.is_empty() => "approved",
            Story::Correction(it) if it.interpretation.is_some() || !it.response.is_empty() => "response",
            Story::Demonstration(it) => {
                if it.check.is_some() {
                    "check passed"
                } else {
                    "approved"
                }
            }
            Story::Puzzle(_) | Story::Correction(_) | Story::Preference(_) => "",
        }
    }

    /// Whether the record itself shows that the answer worked.
    pub const fn verified(&self) -> bool {
        match &self.story {
            Story::Puzzle(it) => it.verified,
            Story::Demonstration(it) => it.check.is_some(),
            Story::Preference(_) => true,
            Story::Correction(_) => false,
        }
    }

    /// How much there is for it that the answer is right, from 0 to 1.
    pub fn quality(&self) -> f64 {
        let mut points: i32 = match (&self.story, self.evidence()) {
            (_, "") => 0,
            (Story::Demonstration(it), _) if it.check.is_none() => 60,
            (Story::Puzzle(_), "later success") => 80,
            (Story::Demonstration(_) | Story::Preference(_), _) => 80,
            (Story::Puzzle(_), _) => 60,
            (Story::Correction(it), _) => match it.rule {
                "words" => 70,
                "denied" | "titled" => 60,
                _ => 40,
            },
        };
        if points > 0 {
            points += if self.fidelity == Fidelity::Summary { 0 } else { 10 };
            points += if self.said().is_empty() { 0 } else { 10 };
            points -= if self.correction().is_some_and(|it| it.corrected_again) { 30 } else { 0 };
            points -= if self.correction().is_some_and(|it| it.more > 0) { 5 } else { 0 };
            points = if self.accepted { 100 } else { points };
        }
        f64::from(points.clamp(0, 100)) / 100.0
    }
}
