//! What a session did, as words: what it wrote, what it committed, what it concluded. A title is measured against them.

use std::collections::HashSet;

use cru_base::lines::floor_char_boundary;

use super::list::is_unspaced;
use super::title::content;

/// Bytes of one text that are looked at.
const ENOUGH: usize = 32 * 1024;

/// Bytes of all texts.
const ALL: usize = 4 << 20;

/// Letters by which two forms of one word are taken for the same: `conflict`, `conflicts`, `conflicting`.
const STEM: usize = 5;

/// Words that were written, committed or concluded.
#[derive(Debug, Default)]
pub struct DoneWords {
    stems: HashSet<Box<str>>,
    seen: usize,
}

impl DoneWords {
    /// Takes in the words of `text`.
    pub fn add(&mut self, text: &str) {
        let end = floor_char_boundary(text, ENOUGH.min(ALL - self.seen));
        self.seen += end;
        for stem in stems(&text[..end]) {
            if !self.stems.contains(stem.as_str()) {
                self.stems.insert(stem.into());
            }
        }
    }

    /// How many different content words of `text` are among them.
    pub fn shared(&self, text: &str) -> usize {
        let words: HashSet<String> = content(text).flat_map(stems).collect();
        words.iter().filter(|word| self.stems.contains(word.as_str())).count()
    }

    /// Whether two content words of `text` are among them, by which a title says what was done.
    pub fn confirm(&self, text: &str) -> bool {
        self.shared(text) >= 2
    }
}

/// The stems of the words of `text`: letters and digits, parts of `snake_case` and `camelCase` apart. In a script that
/// writes no blanks, every two characters.
fn stems(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).flat_map(|word| {
        let mut parts = Vec::new();
        let mut from = 0;
        let mut before: Option<char> = None;
        for (at, c) in word.char_indices() {
            let turn = before.is_some_and(|before| {
                (c.is_uppercase() && before.is_lowercase()) || is_unspaced(c) != is_unspaced(before)
            });
            if turn {
                parts.push(&word[from..at]);
                from = at;
            }
            before = Some(c);
        }
        parts.push(&word[from..]);
        parts.into_iter().flat_map(stems_of_part)
    })
}

fn stems_of_part(part: &str) -> Vec<String> {
    if part.contains(is_unspaced) {
        let chars: Vec<char> = part.chars().collect();
        return chars.windows(2).map(|pair| pair.iter().collect()).collect();
    }
    let lower = part.to_lowercase();
    let bare = lower.strip_suffix('s').filter(|rest| rest.chars().count() >= 3).unwrap_or(&lower);
    match bare.chars().count() {
        0 | 1 => Vec::new(),
        _ => vec![bare.chars().take(STEM).collect()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one() {
        let mut done = DoneWords::default();
        done.add("resolves the conflicting hunks of signingKeys in src/token_store.rs");
        for title in ["Conflicts in the token store", "Signing of keys", "The HUNK of the conflict"] {
            assert!(done.confirm(title), "{title}");
        }
        for title in ["Fix the pump", "Read the manual of the pump", "token", "", "keys keys key"] {
            assert!(!done.confirm(title), "{title}");
        }
    }

    #[test]
    fn scripts_without_blanks() {
        let mut done = DoneWords::default();
        done.add("已修复登录页面的错误");
        assert!(done.confirm("请修复登录页面") && !done.confirm("删除所有测试"));
    }

    proptest::proptest! {
        #[test]
        fn every_text_confirms_itself(words in proptest::collection::vec("[a-zé]{4,9}", 2..9)) {
            let text = words.join(" ");
            let mut done = DoneWords::default();
            done.add(&text);
            proptest::prop_assert!(done.shared(&text) <= words.len());
            let said = content(&text).flat_map(stems).collect::<HashSet<_>>().len();
            proptest::prop_assert_eq!(done.shared(&text), said);
        }
    }
}
