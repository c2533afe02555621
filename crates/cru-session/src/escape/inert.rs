//! Markdown that `cru` made of words of others, made inert as a whole: its layout stays, and nothing in it is run.
//!
//! For pages that have a layout and a reader of their own (cases, workflows, readings, cards of a canvas). Notes of
//! sessions are escaped by [`super::prose`] and its like, which can be undone.

use super::{active, code};

/// `markdown` with another name for each fence that an editor runs, no inline code that is run, and no template. `own` are the
/// info strings of fences that belong to the page.
pub fn inert(markdown: &str, own: &[&str]) -> String {
    let mut out = String::with_capacity(markdown.len() + 16);
    // The mark of the fence that is open, its length, and how far lines of the list or quote around it are indented.
    let mut open: Option<(u8, usize, usize, bool)> = None;
    let is_shown = |info: &str| info.starts_with('\\') || active::is_shown(info) || own.contains(&info);
    for line in markdown.split_inclusive('\n') {
        let lead = container(line);
        let rest = line[lead..].trim_end();
        let mark = rest.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'));
        let len = rest.bytes().take_while(|byte| Some(*byte) == mark).count();
        let info = rest.get(len..).unwrap_or_default().trim();
        // So far in, a line is code of the paragraph or list before it, or a fence in a list: nothing begins or ends for sure.
        let around = open.map_or(0, |(_, _, around, _)| around);
        let blank = lead - line[..lead].trim_end_matches([' ', '\t']).len();
        let is_deep = blank >= around + 4 || line[..lead].contains('\t');
        // A fence ends with the list or quote that it stands in.
        open = open.filter(|(_, _, around, is_quote)| lead >= *around || (rest.is_empty() && !is_quote));
        match (open, mark) {
            (Some((byte, least, ..)), Some(mark)) if mark == byte && len >= least && info.is_empty() && !is_deep => {
                open = None;
                out.push_str(line);
            }
            (Some(_), _) => out.push_str(&broken(line)),
            (None, Some(mark)) if len >= 3 && (mark == b'~' || !info.contains('`')) => {
                let is_within = line[..lead].contains(|c: char| !c.is_whitespace());
                let is_quote = line[..lead].contains('>');
                open = (!is_deep).then_some((mark, len, if is_within { lead } else { 0 }, is_quote));
                out.push_str(&line[..lead + len]);
                out.push_str(if is_shown(info) { "" } else { "\\" });
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
    let mut line = std::borrow::Cow::Borrowed(line);
    // What stood inside of code that became text may be code itself then.
    while let Some(without) = without_called(&line) {
        line = std::borrow::Cow::Owned(without);
    }
    out.push_str(&broken(&line));
}

/// The line in which the backticks of code that is run are text; `None` where there is none.
fn without_called(line: &str) -> Option<String> {
    let mut spans = code::spans(line, false);
    spans.retain(|span| active::is_called(code::text(&line[span.clone()])));
    if spans.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(line.len() + 8);
    let mut at = 0;
    for span in spans {
        out.push_str(&line[at..span.start]);
        let marks = line[span.clone()].bytes().take_while(|byte| *byte == b'`').count();
        let ticks = "\\`".repeat(marks);
        out.push_str(&ticks);
        out.push_str(&line[span.start + marks..span.end - marks]);
        out.push_str(&ticks);
        at = span.end;
    }
    out.push_str(&line[at..]);
    Some(out)
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
