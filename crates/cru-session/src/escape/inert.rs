//! Markdown that `cru` made of words of others, made inert as a whole: its layout stays, and nothing in it is run.
//!
//! For pages that have a layout and a reader of their own (cases, workflows, readings, cards of a canvas). Notes of
//! sessions are escaped by [`super::prose`] and its like, which can be undone.

use super::{active, code};

/// `markdown` with another name for each fence that an editor runs, no inline code that is run, and no template. `own` are the
/// info strings of fences that belong to the page.
pub fn inert(markdown: &str, own: &[&str]) -> String {
    let mut out = String::with_capacity(markdown.len() + 16);
    let mut open: Option<(u8, usize)> = None;
    for line in markdown.split_inclusive('\n') {
        let lead = container(line);
        let rest = line[lead..].trim_end();
        let mark = rest.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'));
        let len = rest.bytes().take_while(|byte| Some(*byte) == mark).count();
        let info = rest.get(len..).unwrap_or_default().trim();
        match (open, mark) {
            (Some((byte, least)), Some(mark)) if mark == byte && len >= least && info.is_empty() => {
                open = None;
                out.push_str(line);
            }
            (Some(_), _) => out.push_str(&broken(line)),
            (None, Some(mark)) if len >= 3 && (mark == b'~' || !info.contains('`')) => {
                open = Some((mark, len));
                out.push_str(&line[..lead + len]);
                let is_shown = info.starts_with('\\') || active::is_shown(info) || own.contains(&info);
                out.push_str(if is_shown { "" } else { "\\" });
                out.push_str(&broken(line[lead + len..].trim_start_matches(' ')));
            }
            _ => text(line, &mut out),
        }
    }
    out
}

/// Bytes of the marks of quotes and lists that a line begins with.
fn container(line: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '>']).len();
        let bare = &rest[blank..];
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let mark = match bare.as_bytes().get(digits) {
            Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
            Some(b'-' | b'*' | b'+') if digits == 0 => 1,
            _ => return at + blank,
        };
        if !bare[mark..].starts_with([' ', '\t']) {
            return at + blank;
        }
        at += blank + mark;
    }
}

/// A line outside of fences.
fn text(line: &str, out: &mut String) {
    let mut at = 0;
    for span in code::spans(line, false) {
        if !active::is_called(code::text(&line[span.clone()])) {
            continue;
        }
        out.push_str(&broken(&line[at..span.start]));
        // Its backticks become text.
        let marks = line[span.clone()].bytes().take_while(|byte| *byte == b'`').count();
        let ticks = "\\`".repeat(marks);
        out.push_str(&ticks);
        out.push_str(&broken(&line[span.start + marks..span.end - marks]));
        out.push_str(&ticks);
        at = span.end;
    }
    out.push_str(&broken(&line[at..]));
}

/// Text in which no mark begins that counts in code too.
fn broken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for at in active::marks(text) {
        let is_broken = code::slashes_before(text, at, 0) > 0;
        out.push_str(&text[done..at]);
        out.push_str(if is_broken { "" } else { "\\" });
        done = at;
    }
    out.push_str(&text[done..]);
    out
}
