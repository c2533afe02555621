//! Markdown that `cru` made of words of others, made inert as a whole: its layout stays, and nothing in it is run.
//!
//! For pages that have a layout and a reader of their own (cases, workflows, readings, cards of a canvas). Notes of
//! sessions are escaped by [`super::prose`] and its like, which can be undone.

use std::borrow::Cow;
use std::ops::Range;

use super::slash::slashes_before;
use super::{active, code};

/// `markdown` with another name for each fence that an editor runs, no inline code that is run, and no template. `own` are the
/// info strings of fences that belong to the page.
///
/// A line that could open a fence is taken for one everywhere, in code too, and inline code stays what it is only in fences
/// whose end is known for sure.
pub fn inert(markdown: &str, own: &[&str]) -> String {
    let has_tags = |markdown: &str| markdown.lines().any(has_tag);
    let is_cut = has_tags(markdown);
    let out = pass(markdown, own, is_cut);
    // A tag that stood in code may stand in the text now.
    if is_cut || !has_tags(&out) { out } else { pass(&out, own, true) }
}

/// Goes over the text once. `is_cut`: tags may stand in the text, so that what looks like code may be none.
fn pass(markdown: &str, own: &[&str], is_cut: bool) -> String {
    let mut out = String::with_capacity(markdown.len() + 16);
    let mut within = Within::Text;
    let name_of = |info: &str| active::name_of(info).filter(|&at| !own.contains(&info) && !info[..at].ends_with('\\'));
    let is_called = has_called(markdown, markdown.len());
    let mut end = 0;
    for line in markdown.split_inclusive('\n') {
        let at = end;
        end += line.len();
        let lead = container(line);
        let rest = line[lead..].trim_end();
        let fence = Fence::of(rest);
        let was_in_fence = matches!(within, Within::Fence { .. });
        within = match &fence {
            // One of the page itself stands in nothing.
            Some(fence) if lead == 0 && own.contains(&fence.info) && !was_in_fence => fence.begin(),
            _ => within.next(&line[..lead], rest, fence.as_ref()),
        };
        match fence {
            _ if was_in_fence => out.push_str(&broken(line)),
            Some(Fence { len, info, .. }) => {
                out.push_str(&line[..lead + len]);
                let behind = &line[lead + len..];
                let named = match name_of(info) {
                    Some(at) => {
                        let at = at + behind.len() - behind.trim_start().len();
                        Cow::Owned(format!("{}\\{}", &behind[..at], &behind[at..]))
                    }
                    None => Cow::Borrowed(behind),
                };
                // So far in, it may be text.
                out.push_str(&broken(&without_others(&named, &[])));
            }
            None if is_called => {
                text(line, is_cut && has_called(&markdown[at..], line.len()), &mut out);
            }
            None => out.push_str(&broken(line)),
        }
    }
    out
}

/// A line that could open or end a fence.
struct Fence<'a> {
    mark: u8,
    len: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    /// That of a line without what stands before it.
    fn of(rest: &'a str) -> Option<Self> {
        let mark = rest.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let len = rest.bytes().take_while(|byte| *byte == mark).count();
        let info = rest[len..].trim();
        (len >= 3 && (mark == b'~' || !info.contains('`'))).then_some(Self { mark, len, info })
    }

    /// Where the lines behind it stand.
    fn begin(&self) -> Within {
        Within::Fence { mark: self.mark, len: self.len }
    }
}

/// Where a line stands.
#[derive(Clone, Copy)]
enum Within {
    /// In no fence.
    Text,
    /// In a fence that began at the start of a line: it stands in no list and no quote.
    Fence { mark: u8, len: usize },
    /// Perhaps in a fence: where it ends is decided by lists, quotes, HTML, mathematics or comments around it.
    Unsure {
        /// It can only be one of a list or quote.
        is_contained: bool,
    },
}

impl Within {
    /// Where what follows the line stands; of a line that is no fence, where it stands itself.
    fn next(self, lead: &str, rest: &str, fence: Option<&Fence<'_>>) -> Self {
        // A line with nothing before it ends all lists and quotes but their paragraphs.
        let is_top = lead.is_empty() && !rest.is_empty();
        match self {
            Self::Unsure { is_contained: true } if is_top => Self::Text.next(lead, rest, fence),
            Self::Fence { mark, len } => match fence {
                Some(end) if end.mark == mark && end.len >= len && end.info.is_empty() && is_margin(lead) => Self::Text,
                _ => self,
            },
            Self::Unsure { .. } => self,
            Self::Text => match fence {
                Some(fence) if is_top => fence.begin(),
                Some(_) => Self::Unsure { is_contained: lead.contains(|c: char| !c.is_whitespace()) },
                None if opens_another(rest) => Self::Unsure { is_contained: false },
                None => self,
            },
        }
    }
}

/// Whether HTML, mathematics or a comment may begin in a line: a fence that stands in it is none.
fn opens_another(rest: &str) -> bool {
    let has = |sign: &str| rest.match_indices(sign).any(|(at, _)| slashes_before(rest, at, 0) == 0);
    (rest.starts_with('<') && has_tag(rest)) || has("$$") || has("%%")
}

/// Whether a tag may begin in a line, outside of code.
fn has_tag(line: &str) -> bool {
    let begins = |at: &usize| line[at + 1..].starts_with(|c: char| c.is_alphabetic() || "/!?".contains(c));
    let mut tags = memchr::memchr_iter(b'<', line.as_bytes()).filter(begins).peekable();
    if tags.peek().is_none() {
        return false;
    }
    let spans = code::spans(line, false);
    tags.any(|at| slashes_before(line, at, 0).is_multiple_of(2) && !spans.iter().any(|span| span.contains(&at)))
}

/// Whether so few blanks stand before a fence that they do not count.
fn is_margin(lead: &str) -> bool {
    lead.len() <= 3 && lead.bytes().all(|byte| byte == b' ')
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

/// Whether what an editor runs stands behind a backtick among the first `len` bytes, be it on the next line.
fn has_called(markdown: &str, len: usize) -> bool {
    memchr::memchr_iter(b'`', &markdown.as_bytes()[..len]).any(|at| {
        let is_blank = |c: char| (c.is_whitespace() && c != '\n') || c == '\u{feff}';
        let behind = markdown[at + 1..].trim_start_matches(is_blank);
        let next = behind.strip_prefix('\n').map(|next| next.trim_start_matches(|c: char| is_blank(c) || c == '>'));
        let behind = next.unwrap_or(behind);
        let behind = behind.split('\n').next().unwrap_or_default();
        !behind.starts_with('`') && active::is_called(behind)
    })
}

/// A line outside of fences. `is_cut`: what looks like code may be none.
fn text(line: &str, is_cut: bool, out: &mut String) {
    if is_cut {
        out.push_str(&broken(&without_others(line, &[])));
        return;
    }
    let mut line = Cow::Borrowed(line);
    // What stood inside of code that became text may be code itself then.
    while let Some(without) = without_called(&line) {
        line = Cow::Owned(without);
    }
    // With backticks of another line, those that stand alone would be code.
    let spans = code::spans(&line, false);
    out.push_str(&broken(&without_others(&line, &spans)));
}

/// The line in which the backticks outside of these parts are text.
fn without_others(line: &str, spans: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(line.len() + 4);
    let mut done = 0;
    for at in memchr::memchr_iter(b'`', line.as_bytes()).filter(|at| !spans.iter().any(|span| span.contains(at))) {
        let is_text = slashes_before(line, at, done) % 2 == 1;
        out.push_str(&line[done..at]);
        out.push_str(if is_text { "`" } else { "\\`" });
        done = at + 1;
    }
    out.push_str(&line[done..]);
    out
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
        let is_broken = slashes_before(text, at, 0) > 0;
        out.push_str(&text[done..at]);
        out.push_str(if is_broken { "" } else { "\\" });
        done = at;
    }
    out.push_str(&text[done..]);
    out
}
