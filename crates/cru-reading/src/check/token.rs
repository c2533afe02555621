//! What a claim names: identifiers, paths, numbers; and numbers of things that the program can count.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use cru_session::words::list::is_unspaced;

use crate::record::text::{alike, is_bounded};

/// What a claim names, in lower case and made alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Identifiers, paths, hashes, addresses, texts in backticks, numbers of three digits and more.
    pub(super) names: Vec<String>,
    /// Numbers of one or two digits.
    pub(super) small: Vec<String>,
    /// Ids of blocks.
    pub(super) blocks: Vec<String>,
}

/// Marks around a word that are none of it.
const EDGES: &[char] = &[
    '.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '{', '}', '"', '\'', '…', '*', '«', '»', '„', '<', '>', '–', '—',
    '%', '=', '→', '|',
];

impl Named {
    /// What `text` names. Linear.
    pub(super) fn of(text: &str) -> Self {
        let text = alike(&set_off(text));
        let mut named = Self::default();
        let mut rest = String::with_capacity(text.len());
        // Every second piece stands between backticks.
        let pieces: Vec<&str> = text.split('`').collect();
        let closed = pieces.len() % 2 == 1;
        for (at, piece) in pieces.iter().enumerate() {
            if at % 2 == 1 && (closed || at + 1 < pieces.len()) {
                named.add_code(piece.trim());
                rest.push(' ');
            } else {
                rest.push_str(piece);
            }
        }
        // Scripts without blanks stand between words as blanks do.
        for word in rest.split(|c: char| c.is_whitespace() || is_unspaced(c)) {
            named.add_word(without_marks(word));
        }
        named
    }

    /// Whether a text is one identifier or path and nothing else.
    pub(super) fn is_one_name(text: &str) -> bool {
        let text = text.trim();
        text.chars().count() >= MIN_NAME
            && without_marks(text) == text
            && !text.contains(char::is_whitespace)
            && !text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation())
            && (is_path(text) || is_identifier(text))
    }

    fn add_code(&mut self, code: &str) {
        if is_block_id(code) {
            self.blocks.push(code.to_owned());
        } else if !code.is_empty() {
            self.names.push(code.to_lowercase());
        }
    }

    fn add_word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let bare = word.trim_start_matches('^');
        if is_block_id(bare) {
            self.blocks.push(bare.to_owned());
        } else if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',' || byte == b'.') {
            let digits = word.replace(',', "");
            if digits.len() <= 2 { self.small.push(digits) } else { self.names.push(digits) }
        } else if word.contains('/') && !is_path(word) {
            // `and/or`: two words.
            word.split('/').for_each(|part| self.add_word(without_marks(part)));
        } else if is_identifier(word) {
            self.names.push(word.to_lowercase());
        }
    }
}

/// Characters of an identifier that is cited by itself.
const MIN_NAME: usize = 3;

/// A word without the marks around it; `../x` and `./x` keep their points.
fn without_marks(word: &str) -> &str {
    let word = word.trim_end_matches(EDGES);
    let inner = word.trim_start_matches(EDGES);
    let points = word[..word.len() - inner.len()].bytes().rev().take_while(|byte| *byte == b'.').count();
    if inner.starts_with('/') && (1..=2).contains(&points) { &word[word.len() - inner.len() - points..] } else { inner }
}

/// `text` with a blank in place of each mark of Chinese and Japanese that ends a word; code between backticks as it is.
fn set_off(text: &str) -> String {
    let mut is_code = false;
    let ends = |c: char| {
        matches!(c, '\u{3000}'..='\u{303f}' | '\u{30fb}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}')
            && !c.is_alphanumeric()
    };
    let one = |c: char| {
        is_code ^= c == '`';
        // Underlines, slashes and the like of full width stand inside names.
        if ends(c) && !is_code && !matches!(c, '＿' | '／' | '．' | '－' | '＠' | '＃' | '％' | '＼' | '＝') {
            ' '
        } else {
            c
        }
    };
    text.chars().map(one).collect()
}

/// Whether a word is the id of a block of a note, `n-014`.
fn is_block_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(head, number)| {
        head.len() == 1
            && head.bytes().all(|byte| byte.is_ascii_lowercase())
            && number.len() >= 2
            && number.len() <= 6
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_path(word: &str) -> bool {
    word.starts_with(['/', '~', '.'])
        || word.contains("://")
        || word.matches('/').count() >= 2
        || word.contains(['.', '_', '*', '@', ':'])
        || word.bytes().any(|byte| byte.is_ascii_digit())
        || word.ends_with('/')
}

fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    let first = chars.next();
    let inner = |c: char| word.trim_matches(c).contains(c);
    let camel = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    word.contains(['_', '\\', '@', '#', '$', '/'])
        || word.contains("::")
        || word.contains("()")
        || word.bytes().any(|byte| byte.is_ascii_digit())
        || (first == Some('-') && word.len() > 1 && word.chars().any(char::is_alphabetic))
        || (inner('.') && !is_abbreviation(word))
        || camel
}

/// Whether a word with points is `e.g` and its kind.
fn is_abbreviation(word: &str) -> bool {
    word.split('.').all(|part| part.chars().count() <= 1)
}

/// Which of `names` stand in one of `texts`, whole. Linear in the texts.
pub(super) fn found<'n, 't>(names: &HashSet<&'n str>, texts: impl Iterator<Item = &'t str>) -> HashSet<&'n str> {
    let list: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    let mut found = HashSet::new();
    let Ok(search) = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&list) else { return found };
    for text in texts {
        let text = text.to_lowercase();
        let plain = if text.contains(',') { without_thousands(&text) } else { String::new() };
        for text in [&text, &plain] {
            for place in search.find_overlapping_iter(text.as_str()) {
                let name = list[place.pattern().as_usize()];
                if !found.contains(name) && is_whole(name, text, place.start(), place.end()) {
                    found.insert(name);
                }
            }
        }
        if found.len() == list.len() {
            break;
        }
    }
    found
}

/// Whether a name stands whole at a place. Letters may stand beside a number of three digits and more: `0m1.192s`.
fn is_whole(name: &str, text: &str, start: usize, end: usize) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    if name.chars().count() < 3 || !name.chars().all(is_number) {
        return is_bounded(text, start, end);
    }
    let beside = [text[..start].chars().next_back(), text[end..].chars().next().filter(|c| *c != '.')];
    !beside.into_iter().flatten().any(is_number)
}

/// `1,234` as `1234`.
fn without_thousands(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    text.char_indices()
        .filter(|(at, c)| !(*c == ',' && digit(at.checked_sub(1)) && digit(Some(at + 1))))
        .map(|(_, c)| c)
        .collect()
}

/// Words of numbers and of things.
struct Numbers {
    values: HashMap<&'static str, u64>,
    nouns: HashSet<&'static str>,
    alone: HashSet<&'static str>,
}

static NUMBERS: LazyLock<Numbers> = LazyLock::new(|| {
    let mut numbers = Numbers { values: HashMap::new(), nouns: HashSet::new(), alone: HashSet::new() };
    for line in include_str!("../../data/numbers.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("number") => {
                let value = words.next().and_then(|value| value.parse().ok()).unwrap_or_default();
                numbers.values.extend(words.map(|word| (word, value)));
            }
            Some("noun") => numbers.nouns.extend(words),
            Some("alone") => numbers.alone.extend(words),
            _ => {}
        }
    }
    numbers
});

/// Numbers of things that the program can count: "eight edits", "8 blind edits", "twice".
pub(super) fn counted(text: &str) -> Vec<(u64, String)> {
    let text = alike(text).to_lowercase();
    let words: Vec<&str> = text.split(' ').map(|word| word.trim_matches(EDGES)).collect();
    let numbers = &*NUMBERS;
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(value) = numbers.values.get(word).copied().or_else(|| word.parse().ok()) else { continue };
        let next = words.iter().skip(at + 1).take(2);
        if value >= 2 && (numbers.alone.contains(word) || next.into_iter().any(|next| numbers.nouns.contains(next))) {
            found.push((value, (*word).to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_texts_name() {
        let rows: &[(&str, &str)] = &[
            ("The agent said that it works, e.g. here and/or there.", ""),
            ("It ran `npm test` in src/a.rs with --no-verify.", "npm test src/a.rs --no-verify"),
            ("getUser and user_id moved to auth::token", "getuser user_id auth::token"),
            ("commit 4f1c2ab, release v1.2.3", "4f1c2ab v1.2.3"),
            ("It has 1,234 rows, 12 of them new (30%).", "1234 small:12 small:30"),
            ("See n-014 and `^u-05`.", "block:n-014 ^u-05"),
            ("src/a.rsを編集した。", "src/a.rs"),
            ("设置 DOCKER_API=\"1.46\"。然后运行，foo_bar，getUser！", "docker_api=\"1.46 foo_bar getuser"),
            ("Take ../x and ./run.sh (see .../b_c).", "../x ./run.sh /b_c"),
            // Between backticks an ellipsis is text.
            ("It spreads `{...x,y}` and `{…z}`.", "{...x,y} {...z}"),
            ("an open ` mark", ""),
            ("the host's own GitHub page", "github"),
        ];
        for (text, expected) in rows {
            let named = Named::of(text);
            let mut all = named.names.clone();
            all.extend(named.small.iter().map(|it| format!("small:{it}")));
            all.extend(named.blocks.iter().map(|it| format!("block:{it}")));
            let mut wanted: Vec<&str> = expected.split(' ').filter(|it| !it.is_empty()).collect();
            if text.contains("npm test") {
                wanted = vec!["npm test", "src/a.rs", "--no-verify"];
            }
            all.sort();
            wanted.sort_unstable();
            assert_eq!(all, wanted, "{text}");
        }
    }

    #[test]
    fn numbers_of_things() {
        let values = |text| counted(text).into_iter().map(|(value, _)| value).collect::<Vec<u64>>();
        assert_eq!(values("Eight blind edits, then 3 commands; it failed twice."), [8, 3, 2]);
        assert_eq!(values("Seven tests fail; one edit; port 8080"), Vec::<u64>::new());
    }

    #[test]
    fn names_are_found_whole() {
        let names: HashSet<&str> = ["12", "src/a.rs", "1234", "user", "1.192", "413", "504"].into();
        let text = "at 112 and in src/a.rs: 1,234 users, 0m1.192s, HTTP413. x12, 5040";
        assert_eq!(found(&names, [text].into_iter()), ["src/a.rs", "1234", "1.192", "413"].into());
    }
}
