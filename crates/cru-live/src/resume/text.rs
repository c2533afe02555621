//! Text of others as it may stand in a pack: quoted, cut to a number of tokens.
//!
//! A pack is read by a model as its first instruction, so what a program printed or an agent wrote must not look like a
//! part of it: every such text stands in a quote, in a code span, or on one line behind words of ours.

use super::token;
use cru_base::text::{fold_whitespace, sanitise, truncate, without_links};
use cru_session::escape;

/// Without control characters; what a person keeps to themselves is in no session that is read.
pub(super) fn clean(text: &str) -> String {
    without_links(&sanitise(text), false)
}

/// On one line, nothing in it live. Stands behind words of ours, never at the start of a line.
pub(super) fn inline(text: &str) -> String {
    escape::inline(&clean(text))
}

/// [`inline`], at most `max` characters.
pub(super) fn short(text: &str, max: usize) -> String {
    escape::inline(&truncate(&fold_whitespace(&clean(text)), max))
}

/// As a code span on one line, at most `max` characters.
pub(super) fn code(text: &str, max: usize) -> String {
    let text = fold_whitespace(&clean(text));
    let text = truncate(&text, max);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{gap}{text}{gap}{marks}")
}

/// `text` as a quote: every line behind `> `, so that nothing in it can end it or begin a section of the pack. Headings
/// in it become text. `indent` stands before each line (in a list).
pub(super) fn quote(text: &str, indent: &str) -> String {
    let text = clean(text);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut fence: Option<(char, usize)> = None;
    let mut gap = false;
    for line in text.trim_matches('\n').lines() {
        let line = line.trim_end();
        if line.is_empty() && fence.is_none() {
            // Blank lines in a row say no more than one.
            if !gap && !out.is_empty() {
                out.push_str(indent);
                out.push_str(">\n");
            }
            gap = true;
            continue;
        }
        gap = false;
        out.push_str(indent);
        out.push_str(if line.is_empty() { ">" } else { "> " });
        let at = content(line);
        match (fence_of(&line[at..]), fence) {
            (Some((mark, len, bare)), Some((open, least))) if mark == open && len >= least && bare => fence = None,
            (Some((mark, len, _)), None) => fence = Some((mark, len)),
            (_, None) if is_heading(&line[at..]) => {
                out.push_str(&line[..at]);
                out.push('\\');
                out.push_str(&line[at..]);
                out.push('\n');
                continue;
            }
            _ => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// `text` in a fence that nothing in it can close: for commands, where every sign counts.
pub(super) fn fence(text: &str, indent: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat((longest + 1).max(3));
    let mut out = format!("{indent}{marks}\n");
    for line in text.trim_matches('\n').lines() {
        let line = line.trim_end();
        if !line.is_empty() {
            out.push_str(indent);
            out.push_str(line);
        }
        out.push('\n');
    }
    out.push_str(indent);
    out.push_str(&marks);
    out.push('\n');
    out
}

/// The end of `text` that costs at most `max` tokens, in whole lines, and whether something was cut.
pub(super) fn tail(text: &str, max: u64) -> (String, bool) {
    if token::count(text) <= max {
        return (text.to_owned(), false);
    }
    let mut room = max.saturating_sub(4);
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines().rev() {
        let cost = token::line(line) + u64::from(!line.trim().is_empty());
        if cost > room {
            break;
        }
        room -= cost;
        kept.push(line);
    }
    kept.push("…");
    kept.reverse();
    (kept.join("\n"), true)
}

/// Where the text of a line begins, behind the marks of quotes and lists.
fn content(line: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let blank = rest.len() - rest.trim_start().len();
        let text = &rest[blank..];
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let mark = match text.as_bytes() {
            [b'>', ..] => 1,
            [b'-' | b'*' | b'+', b' ' | b'\t', ..] => 1,
            bytes if (1..=9).contains(&digits) && matches!(bytes.get(digits), Some(b'.' | b')')) => digits + 1,
            _ => return at + blank,
        };
        at += blank + mark;
    }
}

/// Mark, length, and whether nothing follows.
fn fence_of(text: &str) -> Option<(char, usize, bool)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let len = text.chars().take_while(|c| *c == mark).count();
    let rest = text[len..].trim();
    (len >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, len, rest.is_empty()))
}

/// `# Title`, or the line under one.
fn is_heading(text: &str) -> bool {
    let marks = text.bytes().take_while(|byte| *byte == b'#').count();
    let atx = (1..=6).contains(&marks) && text[marks..].chars().next().is_none_or(char::is_whitespace);
    let line = text.trim_end();
    let under = |mark: char| !line.is_empty() && line.chars().all(|c| c == mark);
    atx || under('=') || under('-')
}

/// The beginning of `text` that costs at most `max` tokens, and whether something was cut. Whole lines, then whole
/// words of the next one; what is cut ends with `…`.
pub(super) fn cut(text: &str, max: u64) -> (String, bool) {
    if token::count(text) <= max {
        return (text.to_owned(), false);
    }
    let mut out = String::new();
    // The ellipsis costs two, and a line of a quote has its mark.
    let mut room = max.saturating_sub(3);
    for line in text.lines() {
        let cost = token::line(line) + u64::from(!line.trim().is_empty());
        if cost <= room {
            room -= cost;
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let kept = words(line, room.saturating_sub(2));
        if kept.is_empty() {
            out.truncate(out.trim_end().len());
        }
        out.push_str(kept);
        break;
    }
    if !out.is_empty() && !out.ends_with(char::is_whitespace) {
        out.push(' ');
    }
    out.push('…');
    (out, true)
}

/// The first words of a line that cost at most `max`.
fn words(line: &str, max: u64) -> &str {
    let mut spent = 0;
    let mut end = 0;
    for part in line.split_inclusive(' ') {
        // The line end counts once.
        spent += token::line(part).saturating_sub(1);
        if spent > max {
            break;
        }
        end += part.len();
    }
    line[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_control_characters_go() {
        assert_eq!(clean("100 %% sure, \u{1b}[31mred"), "100 %% sure, red");
        assert_eq!(clean("see [[#^n-005]], [[#^|x]] and [[a#^n-1]]"), "see n-005, [[#^|x]] and [[a#^n-1]]");
    }

    #[test]
    fn nothing_leaves_a_quote() {
        let text = "# Do this\n\n\n- # that\n===\n```sh\n# a comment\n```\n   ## now\n#no heading";
        insta::assert_snapshot!(quote(text, ""), @r"
        > \# Do this
        >
        > - \# that
        > \===
        > ```sh
        > # a comment
        > ```
        >    \## now
        > #no heading
        ");
        assert_eq!(quote("one\ntwo", "  "), "  > one\n  > two\n");
    }

    #[test]
    fn cuts_at_words_and_lines() {
        assert_eq!(cut("a few words", 10), ("a few words".to_owned(), false));
        let long = "one two three four\nfive six seven eight\nnine ten";
        for max in 0..20 {
            let (text, short) = cut(long, max);
            assert!(token::count(&text) <= max.max(3), "{max}: {text}");
            assert_eq!(short, text.ends_with('…'));
        }
        assert_eq!(cut(long, 12).0, "one two three four\nfive …");
        assert_eq!(cut(long, 3).0, "…");
    }

    #[test]
    fn code_holds_backticks() {
        assert_eq!(code("a `b` c", 80), "``a `b` c``");
        assert_eq!(code("`x`", 80), "`` `x` ``");
        assert_eq!(code("cat a\n  b", 80), "`cat a b`");
    }
}
