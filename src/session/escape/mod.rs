//! Text of others inside a note: written so that it opens no structure, and read back. Interim.

pub(crate) mod code;

use crate::base::text;

/// Markdown under a phase.
pub fn prose(text: &str) -> String {
    lines(text::sanitise(text).trim(), true)
}
/// The text that [`prose`] was given.
pub fn unprose(text: &str) -> String {
    lines(text.trim(), false)
}
/// One line.
pub fn inline(text: &str) -> String {
    turn(&text::fold_whitespace(&text::sanitise(text)), true)
}
/// The text that [`inline`] was given.
pub fn uninline(text: &str) -> String {
    turn(text.trim(), false)
}

fn lines(text: &str, escape: bool) -> String {
    let mut out = String::new();
    let mut fence: Option<(char, usize)> = None;
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let inner = line.trim_start();
        let mark = inner.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| inner.chars().take_while(|c| *c == mark).count());
        match (fence, mark) {
            (Some((open, len)), Some(mark)) if mark == open && run >= len && inner[run..].trim().is_empty() => {
                fence = None
            }
            (None, Some(mark)) if run >= 3 => fence = Some((mark, run)),
            (Some(_), _) => {}
            _ => {
                let hashes = inner.chars().take_while(|c| *c == '#').count();
                if escape && (1..=3).contains(&hashes) && inner[hashes..].starts_with(' ') {
                    out.push_str("###");
                }
                out.push_str(&turn(line, escape));
                continue;
            }
        }
        out.push_str(line);
    }
    if escape && let Some((mark, len)) = fence {
        out.push('\n');
        out.extend(std::iter::repeat_n(mark, len));
    }
    out
}

fn turn(line: &str, escape: bool) -> String {
    let spans = code::spans(line, false);
    let mut out = String::new();
    let mut before = ' ';
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let rest = &line[at..];
        if spans.iter().any(|span| span.contains(&at)) {
            out.push(c);
            before = c;
            continue;
        }
        let danger = |rest: &str, before: char| {
            rest.starts_with("[[")
                || rest.starts_with("[!")
                || rest.starts_with("%%")
                || rest.starts_with("::")
                || (rest.starts_with('<')
                    && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)))
                || (rest.starts_with('#')
                    && before.is_whitespace()
                    && rest[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                || (rest.starts_with('^') && before.is_whitespace())
        };
        if escape {
            if danger(rest, before) {
                out.push('\\');
            }
        } else if c == '\\' && danger(&rest[1..], before) {
            continue;
        }
        out.push(c);
        before = c;
    }
    out
}

/// A person's words in quotes, and what was done.
pub fn quoted(words: &str, interpretation: Option<&str>) -> String {
    let words = prose(words);
    match interpretation {
        Some(text) => format!("\"{words}\" - {}", inline(text)),
        None => format!("\"{words}\""),
    }
}

/// Words and interpretation of a callout's body.
pub fn split_quoted(body: &str) -> (String, Option<String>) {
    let text = body.trim();
    let whole = || (unprose(text), None);
    let Some(rest) = text.strip_prefix('"') else { return whole() };
    let Some(end) = rest.rfind('"') else { return whole() };
    let after = rest[end + 1..].trim();
    let after = after.strip_prefix("- ").or_else(|| after.strip_prefix("-\n")).unwrap_or(after).trim();
    (unprose(&rest[..end]), (!after.is_empty()).then(|| uninline(&after.replace('\n', " "))))
}
