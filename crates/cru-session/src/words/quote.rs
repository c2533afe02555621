//! Words of a person as they stand where they are told again: as they were said, on one line, and shorter only where `…`
//! says so.
//!
//! No list of words decides here. What was pasted between the words is left out by its shape, and marked too.

use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};

use super::pasted::{is_fence, is_pasted};
use super::sentence::sentences;
use super::shorten::{at_sentence, at_word};
use super::title::{unmarked, unwrapped};

/// `words` on one line of at most `max` characters: whole sentences as they were said, white space folded, `…` for each
/// stretch that is left out. Empty where nothing was said in words.
///
/// Every part between two `…` occurs in `words`, once white space is folded and control characters are gone.
pub fn quote(words: &str, max: usize) -> String {
    // Bytes of somebody's words that are looked at: what stands further down is not shown.
    let seen = floor_char_boundary(words, 16_000);
    let clean = sanitise(&words[..seen]);
    let text = unmarked(unwrapped(&clean)).trim_start();
    // A shell's own mark, taken along with the words.
    let text = text.strip_prefix("❯ ").unwrap_or(text);
    let mut parts = parts(text);
    if parts.iter().all(Option::is_none) {
        // All of it looks pasted: then that is what was said.
        parts = vec![Some(fold_whitespace(text)).filter(|text| text.contains(char::is_alphanumeric))];
    }
    if seen < words.len() {
        parts.push(None);
    }
    let mut told = String::new();
    for (at, part) in parts.iter().enumerate() {
        // Each part but the last leaves room for a mark behind it.
        let room = max.saturating_sub(told.chars().count() + 3);
        let mark = if at + 1 == parts.len() { 2 } else { 0 };
        match part {
            Some(part) if part.chars().count() <= room + mark => push(&mut told, part),
            Some(part) => {
                let first = sentences(part).next().map_or(0, |first| first.trim_end().chars().count());
                let cut = if told.is_empty() || first + 2 <= room { at_sentence(part, room) } else { "…".into() };
                // Where whole sentences leave half of the room, words say more.
                let is_short = cut.chars().count() * 2 < room;
                let cut = if is_short && room * 4 > max { at_word(part, room).into() } else { cut };
                if cut != "…" || !told.ends_with('…') {
                    push(&mut told, &cut);
                }
                break;
            }
            None if told.ends_with('…') => {}
            None => push(&mut told, "…"),
        }
    }
    if told.contains(char::is_alphanumeric) { told } else { String::new() }
}

fn push(told: &mut String, part: &str) {
    if !told.is_empty() {
        told.push(' ');
    }
    told.push_str(part);
}

/// The stretches of words, each folded to one line, and `None` for what stands between and was pasted.
fn parts(text: &str) -> Vec<Option<String>> {
    let mut parts: Vec<Option<String>> = Vec::new();
    let mut run = String::new();
    let mut fenced = false;
    let mut end = |run: &mut String, gap: bool| {
        let folded = fold_whitespace(&std::mem::take(run));
        if !folded.is_empty() {
            parts.push(Some(folded));
        }
        if gap && !matches!(parts.last(), Some(None)) {
            parts.push(None);
        }
    };
    for line in text.lines() {
        let bare = line.trim().trim_start_matches(['#', '>', '*', '-', '•', ' ']);
        let fence = is_fence(bare);
        if fence || fenced || is_pasted(bare) {
            end(&mut run, true);
        } else {
            run.push_str(line);
            run.push('\n');
        }
        fenced ^= fence;
    }
    end(&mut run, false);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_as_they_were_said() {
        let is = |words, expected: &str| assert_eq!(quote(words, 400), expected, "{words}");
        is("No tests should be deleted", "No tests should be deleted");
        is("ok, please don't touch the docs!", "ok, please don't touch the docs!");
        is("nein, nicht so.\n\nLass alle Tests stehen", "nein, nicht so. Lass alle Tests stehen");
        is("do not push\nnever commit", "do not push never commit");
        is("- [ ] first\n- [ ] second", "- [ ] first - [ ] second");
        is("You are ann.\n\nMend the pump", "You are ann. Mend the pump");
        is("不要删除测试。", "不要删除测试。");
    }

    #[test]
    fn what_was_pasted_is_marked() {
        let is = |words, expected: &str| assert_eq!(quote(words, 400), expected, "{words}");
        is("Merge main:\n```\ngit merge main\n```\nThen push", "Merge main: … Then push");
        is("Use the https address\n01:12:38.208 Cloning into x\n01:12:39.208 done", "Use the https address …");
        is("diff --git a/x b/x\n@@ -1 @@\nMend the path", "… Mend the path");
        is("{\"a\": 1}", "{\"a\": 1}");
        is("## User Input\n\n```text\nMend the pump\n```", "Mend the pump");
        is("```\n```", "");
        is(" \n", "");
    }

    #[test]
    fn long_words_end_at_a_sentence() {
        let long = "Move the pump to the cellar. ".repeat(50);
        let told = quote(&long, 200);
        assert!(told.ends_with("cellar. …") && told.chars().count() <= 200, "{told}");
        assert_eq!(quote("One is short. Two is not so very short at all.", 24), "One is short. …");
        assert_eq!(quote("One is short.\n{\"a\": 1}\nTwo is not so very short.", 24), "One is short. …");
        assert_eq!(quote("{x}\nOne is exactly as long.\n```", 25), "… One is exactly as lo…");
        assert!(quote(&"word ".repeat(20_000), 100_000).ends_with('…'));
    }

    proptest::proptest! {
        /// What is quoted was said: each stretch, in its order.
        #[test]
        fn every_stretch_occurs_in_the_words(
            words in "([a-zé ]{1,8}|[.!?。:] ?|\\n|```|❯ |no |not |- |# |\\{x\\}|please |…|\u{1b}\\[3m|\u{7}){0,60}",
            max in 10_usize..200,
        ) {
            let told = quote(&words, max);
            proptest::prop_assert!(told.chars().count() <= max, "{told:?}");
            let source = fold_whitespace(&sanitise(&words));
            let mut rest = source.as_str();
            for part in told.split('…').map(str::trim).filter(|part| !part.is_empty()) {
                let at = rest.find(part);
                proptest::prop_assert!(at.is_some(), "{part:?} in {rest:?}");
                rest = &rest[at.unwrap_or(0) + part.len()..];
            }
        }
    }
}
