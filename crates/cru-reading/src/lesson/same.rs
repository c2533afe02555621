//! Whether two lessons say the same, or the contrary.

use std::collections::HashSet;
use std::sync::LazyLock;

use cru_session::words::list::is_unspaced;

use crate::record::text::alike;

/// What two lessons are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// They say the same.
    Same,
    /// They are about the same and say the contrary, as far as words tell; somebody must decide.
    Contrary,
    /// Neither.
    Other,
}

/// Share of words that two lessons of one thing have in common.
const ALIKE: f64 = 0.7;

static NEGATIONS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../data/negations.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// A text in lower case, without the punctuation of sentences at the edges of words: what is left of a word (`c++`, `≥`,
/// `--no-verify`, `v20`) may name something.
pub(super) fn normal(text: &str) -> String {
    let text = alike(text).to_lowercase();
    let words = text.split(' ').map(|word| {
        word.trim_start_matches(['"', '\'', '(', '[', '¡', '¿', '`'])
            .trim_end_matches(['.', ',', ';', ':', '!', '?', '"', '\'', ')', ']', '…', '。', '、', '！', '？', '`'])
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The words that carry meaning, in order, and how many turn the sentence round.
fn parts(text: &str) -> (Vec<String>, usize) {
    let text = normal(text);
    let mut words = Vec::new();
    let mut negations = 0;
    for word in text.split(' ').map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '/')) {
        if NEGATIONS.contains(word) {
            negations += 1;
        } else if word.chars().any(is_unspaced) {
            negations += NEGATIONS.iter().filter(|it| it.chars().all(is_unspaced) && word.contains(**it)).count();
            let chars: Vec<char> = word.chars().collect();
            words.extend(chars.windows(2).map(|pair| pair.iter().collect()));
        } else if word.chars().count() >= 3 {
            words.push(word.to_owned());
        }
    }
    (words, negations)
}

/// What two lessons are to each other, by their words. Linear. The same are only those that differ in capitals, blanks and
/// the punctuation of sentences: any other word may be a number, a name or a denial, and one lesson must not take the place
/// of another.
pub fn likeness(one: &str, other: &str) -> Likeness {
    if normal(one) == normal(other) {
        return Likeness::Same;
    }
    let ((a, no_a), (b, no_b)) = (parts(one), parts(other));
    let (set_a, set_b): (HashSet<&String>, HashSet<&String>) = (a.iter().collect(), b.iter().collect());
    let common = set_a.intersection(&set_b).count();
    let all = set_a.union(&set_b).count();
    if all == 0 || (common as f64) < ALIKE * all as f64 {
        return Likeness::Other;
    }
    let kept = |words: &[String], set: &HashSet<&String>| -> Vec<String> {
        let mut seen = HashSet::new();
        words.iter().filter(|word| set.contains(word) && seen.insert((*word).clone())).cloned().collect()
    };
    // "Use a, not b" and "use b, not a" have the same words.
    if (no_a > 0) == (no_b > 0) && kept(&a, &set_b) == kept(&b, &set_a) { Likeness::Other } else { Likeness::Contrary }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lessons_that_say_the_same() {
        let rows = [
            ("Use pnpm, not npm.", "use pnpm not npm", Likeness::Same),
            ("Use pnpm, not npm.", "Use npm, not pnpm.", Likeness::Contrary),
            ("Delete tests that fail", "Never delete tests that fail", Likeness::Contrary),
            ("Run the formatter before a commit.", "run the  formatter before a commit!", Likeness::Same),
            ("Run the formatter before a commit.", "Run the formatter before each commit.", Likeness::Other),
            ("Run the checks before the last commit.", "Run the checks after the last commit.", Likeness::Other),
            ("Build it with Node 18 and pnpm 9", "Build it with Node 20 and pnpm 9", Likeness::Other),
            ("Keep Node at ≥ 20 here", "Keep Node at ≤ 20 here", Likeness::Other),
            ("Write the parser of dates in C", "Write the parser of dates in C++", Likeness::Other),
            ("Commit docs with --no-verify set", "Commit docs with --no-edit set", Likeness::Other),
            ("Ask Ann before the release is tagged", "Ask Bob before the release is tagged", Likeness::Other),
            ("Use port 80 for the service", "Use port -80 for the service", Likeness::Other),
            ("Run the formatter before a commit.", "Ask before a push.", Likeness::Other),
            ("テストを消さない", "テストを消さない", Likeness::Same),
            ("", "", Likeness::Same),
            ("", "x", Likeness::Other),
        ];
        for (one, other, expected) in rows {
            assert_eq!(likeness(one, other), expected, "{one} / {other}");
            assert_eq!(likeness(other, one), expected, "{other} / {one}");
        }
    }
}
