//! Cutting what tools were given and gave back: the whole of it is in the transcript, and a journal must stay small.

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation as _;

use cru_base::lines::floor_char_boundary;

/// How much is kept.
pub(super) struct Limit {
    /// Bytes of one text.
    text: usize,
    /// Bytes of all of it, as a rough count.
    whole: usize,
}

/// Of a tool's result.
pub(super) const RESPONSE: Limit = Limit { text: 8 << 10, whole: 1 << 20 };

/// Of a tool's arguments: what was written to a file matters more than what was read.
pub(super) const INPUT: Limit = Limit { text: 64 << 10, whole: 4 << 20 };

/// How far back from the limit a cut looks for the end of a character as people see it.
const WINDOW: usize = 256;

/// Cuts the texts in `value`, and drops the tail of lists and objects once `limit.whole` is spent.
pub(super) fn value(value: &mut Value, limit: &Limit) {
    let mut left = limit.whole;
    walk(value, limit.text, &mut left);
}

fn walk(value: &mut Value, max: usize, left: &mut usize) {
    *left = left.saturating_sub(8);
    match value {
        Value::String(text) => {
            shorten(text, max.min(*left));
            *left = left.saturating_sub(text.len());
        }
        Value::Array(items) => {
            let mut kept = 0;
            while kept < items.len() && *left > 0 {
                walk(&mut items[kept], max, left);
                kept += 1;
            }
            if kept < items.len() {
                let dropped = items.len() - kept;
                items.truncate(kept);
                items.push(Value::String(format!("… [cut: {dropped} more]")));
            }
        }
        Value::Object(fields) => {
            let mut kept = 0;
            for (key, value) in fields.iter_mut() {
                if *left == 0 {
                    break;
                }
                *left = left.saturating_sub(key.len());
                walk(value, max, left);
                kept += 1;
            }
            if kept < fields.len() {
                let dropped = fields.len() - kept;
                let mut index = 0;
                fields.retain(|_, _| {
                    index += 1;
                    index <= kept
                });
                fields.insert("…".to_owned(), Value::String(format!("[cut: {dropped} more]")));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts `text` to at most `max` bytes and says so behind it.
fn shorten(text: &mut String, max: usize) {
    if text.len() <= max {
        return;
    }
    let whole = text.len();
    text.truncate(boundary(text, max));
    text.push_str(&format!("… [cut: {} of {whole} bytes]", text.len()));
}

/// The last place up to `max` between two characters as people see them; between two code points where a character
/// is longer than anybody writes.
fn boundary(text: &str, max: usize) -> usize {
    let floor = floor_char_boundary(text, max);
    let start = floor_char_boundary(text, floor.saturating_sub(WINDOW));
    let end = floor_char_boundary(text, (floor + WINDOW).min(text.len()));
    // The first character of the window may be the rest of one that began before it.
    let mut last =
        text[start..end].grapheme_indices(true).map(|(at, _)| start + at).filter(|&at| at > start && at <= floor);
    last.next_back().unwrap_or(floor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cut(mut it: Value, text: usize, whole: usize) -> Value {
        value(&mut it, &Limit { text, whole });
        it
    }

    #[test]
    fn short_texts_stay() {
        let it = json!({"stdout": "ok", "n": 1.5, "list": ["a", null, true, {"b": "é"}]});
        assert_eq!(cut(it.clone(), 8, 1000), it);
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let it = cut(json!({"a": ["0123456789", "x"]}), 4, 1000);
        assert_eq!(it, json!({"a": ["0123… [cut: 4 of 10 bytes]", "x"]}));
    }

    #[test]
    fn never_inside_a_character() {
        assert_eq!(cut(json!("aaé"), 3, 1000), json!("aa… [cut: 2 of 4 bytes]"));
        let family = "👩‍👩‍👧";
        assert_eq!(
            cut(json!(format!("ab{family}")), 10, 1000),
            json!(format!("ab… [cut: 2 of {} bytes]", 2 + family.len()))
        );
        let marks = format!("a{}", "\u{301}".repeat(5000));
        let Value::String(text) = cut(json!(marks), 4096, 100_000) else { panic!("a text") };
        assert!(text.starts_with("a\u{301}") && text.len() < 4200);
    }

    #[test]
    fn the_whole_is_bounded() {
        let many = json!({"list": vec!["0123456789"; 10_000], "after": "x"});
        let it = cut(many, 100, 1000);
        assert!(serde_json::to_string(&it).unwrap().len() < 2500, "{it}");
        let list = it["list"].as_array().unwrap();
        assert!(list.last().unwrap().as_str().unwrap().starts_with("… [cut: 99"), "{:?}", list.last());
        assert_eq!(it["…"], "[cut: 1 more]");
        let wide: Value =
            (0..10_000).map(|n| (format!("key {n}"), json!({}))).collect::<serde_json::Map<_, _>>().into();
        assert!(cut(wide, 100, 1000).as_object().unwrap().len() < 200);
    }

    #[test]
    fn limits_are_those_of_the_documents() {
        assert_eq!((RESPONSE.text, INPUT.text), (8192, 65536));
    }
}
