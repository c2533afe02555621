//! Foreign words as a workflow shows them: cleaned on one line, as markdown that shows the same bytes, or as a quotation with
//! its lines.
//!
//! A quotation is never read as an edge of the flow, whatever arrows stand in it, so nothing in it is replaced.

use super::place::homeless;
use crate::flow;
use crate::text;
use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_session::words::pasted::is_fence;
use cru_session::words::sentence::sentences;

/// One line of foreign text, safe to be shown.
pub(super) fn clean(text: &str) -> String {
    fold_whitespace(&homeless(&sanitise(text)))
}

/// At most the first `max` bytes.
pub(super) fn head(text: &str, max: usize) -> &str {
    &text[..floor_char_boundary(text, max)]
}

/// A command in a remark: without backticks, so that cutting the text cannot leave a code span open.
pub(super) fn plain_code(command: &str) -> String {
    truncate(&clean(command).replace('`', "'"), 120).into_owned()
}
/// One line of foreign text as markdown.
pub(super) fn inline(words: &str) -> String {
    text::escape(&clean(words))
}

/// Foreign text as one block of markdown that opens no structure: a paragraph, or a quotation where a paragraph would be
/// read as an edge of the flow.
pub(crate) fn paragraph(words: &str) -> String {
    let escaped = inline(words);
    // Any right side may be the title of some step.
    if flow::parse(&escaped, 0, &|_| true).is_some() {
        return format!("> {}", escaped.replacen("[!", "\\[!", usize::from(escaped.starts_with("[!"))));
    }
    text::opening_nothing(escaped)
}

/// `words` with their lines as a quotation of at most about `max` bytes. Where it is longer it ends with a whole
/// paragraph, item or sentence, and a mark with `read_on`, a link to the block that has all of it.
pub(super) fn quotation(words: &str, max: usize, read_on: Option<&str>) -> String {
    let words = sanitise(words);
    let words = homeless(&words);
    let (kept, cut) = shortened(words.trim(), max);
    let mut out = String::with_capacity(kept.len() + 64);
    let mut fence: Option<&str> = None;
    for line in kept.lines() {
        let line = line.trim_end();
        out.push('>');
        let bare = line.trim_start();
        let toggles = is_fence(bare)
            && fence.is_none_or(|open| bare.starts_with(open) && bare.trim_matches(['`', '~']).is_empty());
        if !line.is_empty() {
            out.push(' ');
        }
        if fence.is_some() || toggles {
            out.push_str(line);
        } else {
            // A first line `[!kind]` would make it a callout.
            let opens = out.len() == 2 && line.starts_with("[!");
            out.push_str(if opens { "\\" } else { "" });
            let indent = line.len() - bare.len();
            out.push_str(&line[..indent]);
            out.push_str(&text::escape_words(bare));
        }
        out.push('\n');
        if toggles {
            fence = match fence {
                Some(_) => None,
                None => Some(&bare[..bare.bytes().take_while(|byte| matches!(byte, b'`' | b'~')).count()]),
            };
        }
    }
    if let Some(open) = fence {
        out.push_str("> ");
        out.push_str(open);
        out.push('\n');
    }
    if cut {
        out.push_str(">\n> ");
        out.push_str(&cut_mark(read_on));
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// The mark for what is left out, with the block to read on.
pub(super) fn cut_mark(read_on: Option<&str>) -> String {
    read_on.map_or_else(|| "…".to_owned(), |link| format!("… (all of it: {link})"))
}

/// The beginning of `text` that ends with a whole paragraph, else line, else sentence, and whether something is left out.
fn shortened(text: &str, max: usize) -> (&str, bool) {
    if text.len() <= max {
        return (text, false);
    }
    let head = &text[..floor_char_boundary(text, max)];
    let least = head.len() / 2;
    let paragraph = head.rfind("\n\n").filter(|at| *at > least);
    let line = || head.rfind('\n').filter(|at| *at > least);
    let sentence = || {
        let mut end = 0;
        for sentence in sentences(text) {
            if end + sentence.len() > head.len() {
                break;
            }
            end += sentence.len();
        }
        Some(end).filter(|end| *end > 0)
    };
    let end = paragraph.or_else(line).or_else(sentence).unwrap_or(head.len());
    (text[..end].trim_end(), true)
}

/// A link to a block of the session's note, shown as its id: `[[note#^n-014|n-014]]`; the bare id where the note has no
/// name that a link may hold.
pub(super) fn block_link(note: Option<&str>, id: &str) -> String {
    let id = clean(id);
    let plain = |text: &str| !text.is_empty() && !text.contains(['[', ']', '|', '#', '^', '\\', '`', '\n', '<', '%']);
    match note.map(clean).filter(|note| plain(note) && plain(&id)) {
        Some(note) => format!("[[{note}#^{id}|{id}]]"),
        None => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_stay_as_they_were_written() {
        assert_eq!(inline("use `a -> b` and x -> y → z"), "use `a -> b` and x -> y → z");
        assert_eq!(paragraph("rename a->b in the parser, please"), "rename a->b in the parser, please");
        // This one alone would be an edge.
        assert_eq!(paragraph("a.rs -> b.rs"), "> a.rs -> b.rs");
        assert_eq!(paragraph("If it fails → go to Build"), "> If it fails → go to Build");
    }

    #[test]
    fn quotations_keep_their_lines() {
        let words = "Plan:\n\n# Steps\n1. `a` → b\n\n```rust\nlet x = vec![1]; // <b>\n```\n[[x]] <i>";
        assert_eq!(
            quotation(words, 1_000, None),
            "> Plan:\n>\n> # Steps\n> 1. `a` → b\n>\n> ```rust\n> let x = vec![1]; // <b>\n> ```\n> \\[[x]] \\<i>"
        );
        assert_eq!(quotation("[!gate] Mine", 100, None), "> \\[!gate] Mine");
    }

    #[test]
    fn a_cut_ends_with_a_paragraph_and_names_the_block() {
        let words = "One paragraph.\n\nAnother one of some length.\n\nThe last one is far too long to stand here.";
        let link = block_link(Some("note"), "u-01");
        assert_eq!(
            quotation(words, 60, Some(&link)),
            "> One paragraph.\n>\n> Another one of some length.\n>\n> … (all of it: [[note#^u-01|u-01]])"
        );
        assert!(quotation("```\nopen\nmore lines", 8, None).ends_with("> ```\n>\n> …"));
    }
}
