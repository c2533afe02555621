//! Lists of words and phrases, kept as data: a file for each language and purpose.
//!
//! A row is a word or phrase in lower case with straight apostrophes; `#` begins a comment. What a list is for, and why a
//! wrong row does no harm, is told at the head of its English file.

use std::sync::LazyLock;

/// Rows of one purpose, of all languages.
#[derive(Debug)]
pub struct List {
    /// Sorted, so that the rows that begin with one letter stand together.
    rows: Vec<&'static str>,
}

impl List {
    /// Reads the rows of `files`. Blank lines and comments are skipped.
    fn of(files: &[&'static str]) -> Self {
        let lines = files.iter().flat_map(|file| file.lines()).map(str::trim);
        let mut rows: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        rows.sort_unstable();
        rows.dedup();
        Self { rows }
    }

    /// The rows, sorted.
    pub fn rows(&self) -> &[&'static str] {
        &self.rows
    }

    /// Whether `word` is a row, in capitals or not.
    pub fn has(&self, word: &str) -> bool {
        if self.rows.binary_search(&word).is_ok() {
            return true;
        }
        let folds = |c: char| c.is_uppercase() || c == '’';
        word.contains(folds) && self.rows.binary_search(&cru_base::text::lowered(word).as_str()).is_ok()
    }

    /// Bytes of the longest row that `text` begins with, as whole words and in capitals or not.
    pub fn at_start(&self, text: &str) -> Option<usize> {
        let first = folded(text.chars().next()?);
        let from = self.rows.partition_point(|row| row.chars().next().is_some_and(|c| c < first));
        let likely = self.rows[from..].iter().take_while(|row| row.starts_with(first));
        likely.filter_map(|row| starts(text, row)).max()
    }
    /// Whether a row stands in `text` as whole words. Takes time in proportion to `text` times the longest row.
    pub fn is_in(&self, text: &str) -> bool {
        word_starts(text).any(|at| self.at_start(&text[at..]).is_some())
    }
}

/// Where words of `text` begin. In a script that writes no blanks every character may begin one.
fn word_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut before = None;
    text.char_indices().filter_map(move |(at, c)| {
        let inside = before.is_some_and(|before| is_word(before) && !is_unspaced(before));
        before = Some(c);
        (is_word(c) && !inside).then_some(at)
    })
}

/// Bytes of `text` that `row` takes at its start; `None` where it does not begin so, or goes on inside a word.
fn starts(text: &str, row: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    for wanted in row.chars() {
        if folded(chars.next()?.1) != wanted {
            return None;
        }
    }
    let end = chars.next();
    let ends = end.is_none_or(|(_, next)| !is_word(next) || row.chars().next_back().is_some_and(is_unspaced));
    ends.then(|| end.map_or(text.len(), |(at, _)| at))
}

/// In lower case, one kind of apostrophe. A character whose lower case is more than one stays as it is.
fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    if c == '’' {
        return '\'';
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Whether a character goes on with a word: `can't`, `re-run`, `so_far`, `to/from`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_' | '/')
}

/// Whether a character belongs to a script that writes no blanks between words.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Declares lists: a static for each, with the files it is read from.
macro_rules! lists {
    ($($(#[doc = $doc:literal])+ $name:ident: $file:literal in $($language:literal)+;)+) => {
        $(
            $(#[doc = $doc])+
            pub static $name: LazyLock<List> =
                LazyLock::new(|| List::of(&[$(include_str!(concat!("lists/", $language, "/", $file, ".txt"))),+]));
        )+

        /// Every list with its name.
        #[cfg(test)]
        pub(super) fn all() -> Vec<(&'static str, &'static List)> {
            vec![$(($file, &*$name)),+]
        }
    };
}

lists! {
    /// What opens a sentence without a meaning of its own.
    FILLER: "filler" in "en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru" "zh" "ja";
    /// What makes a wish or a question of a request.
    ASKING: "asking" in "en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru" "zh" "ja";
    /// What denies.
    NEGATION: "negation" in "en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru" "zh" "ja";
    /// What says how much or how many.
    QUANTIFIER: "quantifier" in "en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru" "zh" "ja";
    /// Words that name nothing.
    STOP: "stop" in "en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru" "zh" "ja";
    /// Words that name nothing in a request.
    VAGUE: "vague" in "en";
    /// Abbreviations that end with a full stop.
    ABBREVIATION: "abbreviation" in "en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru";
    /// Headings below which the task of a long prompt stands.
    TASK_HEADING: "task-heading" in "en" "de";
    /// What opens a paragraph that says who an agent is.
    PERSONA: "persona" in "en" "de";
    /// What opens a sentence with which an agent offers more.
    OFFER: "offer" in "en";
    /// What opens words that correct an agent.
    CORRECTION: "correction" in "en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru" "zh" "ja" "ko";
    /// What corrects an agent anywhere in the first words.
    CORRECTION_INSIDE: "correction-inside" in "en";
    /// What stands before words that correct and changes nothing in them.
    HESITATION: "hesitation" in "en";
    /// What opens like a correction and is none.
    NO_CORRECTION: "no-correction" in "en" "pl";
    /// What lets an agent go on after it was stopped.
    GOING_ON: "going-on" in "en" "de" "fr" "es" "zh" "ja" "ko";
    /// What opens words after a stop that correct nothing by themselves.
    ASIDE: "aside" in "en";
    /// What opens words that say that the work was right.
    APPROVAL: "approval" in "en" "de" "fr";
    /// What turns against the praise before it.
    CONTRAST: "contrast" in "en" "de" "fr";
    /// A plain no.
    NO: "no" in "en" "de" "fr" "pt" "nl" "pl" "ru";
    /// A plain yes.
    YES: "yes" in "en" "de" "fr" "es" "pt";
    /// What opens an answer that agrees with words that corrected.
    AGREEMENT: "agreement" in "en";
    /// What the answer of a failed call says that tells nothing of the work.
    NO_REASON: "no-reason" in "en";
    /// Words, and beginnings of words, that say that something went wrong.
    TROUBLE: "trouble" in "en";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_as_they_are_compared() {
        for (name, list) in all() {
            assert!(!list.rows().is_empty(), "{name}");
            for row in list.rows() {
                let folded: String = row.chars().map(folded).collect();
                assert_eq!(*row, folded, "{name}");
                assert_eq!(row.trim(), *row, "{name}");
                assert!(!row.contains("  "), "{name}: {row}");
                assert_eq!(list.at_start(row), Some(row.len()), "{name}: {row}");
            }
        }
    }

    /// What is taken off a title denies nothing and counts nothing.
    #[test]
    fn filler_has_no_negation_and_no_quantifier() {
        for row in FILLER.rows().iter().chain(ASKING.rows()) {
            assert!(!NEGATION.is_in(row), "{row}");
            assert!(!QUANTIFIER.is_in(row), "{row}");
        }
    }

    #[test]
    fn whole_words_in_any_case() {
        assert_eq!(FILLER.at_start("Hello, you"), Some(5));
        assert_eq!(FILLER.at_start("helloes"), None);
        assert_eq!(ASKING.at_start("I’d like you to go"), Some("I’d like you to".len()));
        assert_eq!(FILLER.at_start("so-called"), None);
        assert_eq!(ASKING.at_start("请修复登录"), Some("请".len()));
        assert!(NEGATION.is_in("it does NOT work") && !NEGATION.is_in("a knot and a note"));
        assert!(NEGATION.is_in("请不要删除"));
        assert!(STOP.has("The") && !STOP.has("theory"));
    }
}
