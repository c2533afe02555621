//! The end of a heading: who worked there, and on which channel.
//!
//! Only the tail of the line counts, `title [SP "@" agent ["@" version]] [SP "#" channel]`, so that addresses, issue
//! numbers and names like `C#` stay title. `\@` and `\#` are text and end the tail.

use std::borrow::Cow;

use super::tag;
use cru_base::Span;

/// The parts of a heading's text, as ranges of that text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// What stands before the tail, without the blanks between; escapes are still in it, see [`unescape`].
    pub title: Span,
    /// Agent, without `@`.
    pub agent: Option<Span>,
    /// The agent's version, without `@`.
    pub version: Option<Span>,
    /// Channel, without `#`.
    pub channel: Option<Span>,
}

impl Tail {
    /// Reads the text of a heading (marks and block id left out).
    pub fn parse(text: &str) -> Self {
        let mut tail = Self::default();
        let mut end = text.trim_end().len();
        if let Some(token) = last_token(text, end)
            && let Some(channel) = channel(text, token)
        {
            tail.channel = Some(channel);
            end = text[..token.start].trim_end().len();
        }
        if let Some(token) = last_token(text, end)
            && let Some((agent, version)) = agent(text, token)
        {
            tail.agent = Some(agent);
            tail.version = version;
            end = text[..token.start].trim_end().len();
        }
        tail.title = Span::new(end - text[..end].trim_start().len(), end);
        tail
    }
}

/// `title` with `\@` and `\#` as the characters they stand for.
pub fn unescape(title: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', title.as_bytes()).is_none() {
        return Cow::Borrowed(title);
    }
    Cow::Owned(title.replace("\\@", "@").replace("\\#", "#"))
}

/// The last word of `text[..end]`.
fn last_token(text: &str, end: usize) -> Option<Span> {
    let start = text[..end].rfind(char::is_whitespace).map_or(0, |at| at + char_len(text, at));
    (start < end).then(|| Span::new(start, end))
}

fn char_len(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

fn channel(text: &str, token: Span) -> Option<Span> {
    let name = token.of(text).strip_prefix('#')?;
    (tag::name(name)? == name.len()).then(|| Span::new(token.start + 1, token.end))
}

fn agent(text: &str, token: Span) -> Option<(Span, Option<Span>)> {
    let rest = token.of(text).strip_prefix('@')?;
    let (name, version) = match rest.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (rest, None),
    };
    if !name.starts_with(char::is_alphabetic) || !name.chars().all(is_name_char) {
        return None;
    }
    if version.is_some_and(|version| version.is_empty() || !version.chars().all(|c| is_name_char(c) || c == '+')) {
        return None;
    }
    let name_end = token.start + 1 + name.len();
    Some((Span::new(token.start + 1, name_end), version.map(|_| Span::new(name_end + 1, token.end))))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Title, agent, version, channel.
    type Parts<'a> = (&'a str, Option<&'a str>, Option<&'a str>, Option<&'a str>);

    fn read(text: &str) -> Parts<'_> {
        let tail = Tail::parse(text);
        let of = |span: Option<Span>| span.map(|span| span.of(text));
        (tail.title.of(text), of(tail.agent), of(tail.version), of(tail.channel))
    }

    #[test]
    fn whole_tails() {
        assert_eq!(read("Research @planner@1.2 #dev"), ("Research", Some("planner"), Some("1.2"), Some("dev")));
        assert_eq!(read("Build  @coder  #dev/api "), ("Build", Some("coder"), None, Some("dev/api")));
        assert_eq!(read("Talk #dev"), ("Talk", None, None, Some("dev")));
        assert_eq!(read("Work @claude-code@2.0.1-beta+7"), ("Work", Some("claude-code"), Some("2.0.1-beta+7"), None));
        assert_eq!(read("@planner #dev"), ("", Some("planner"), None, Some("dev")));
    }

    #[test]
    fn no_tail() {
        for title in [
            "Summary",
            "Migration: 1.0 -> 2.0",
            "RFC 5322 @example.com addresses",
            "Call C#",
            "Fix #123",
            "Ask \\@planner",
            "About \\#dev",
            "Mail to me@example.org",
            "Odd @ and #",
            "Version @1.2",
            "Empty @planner@",
            "Question @planner ?",
        ] {
            assert_eq!(read(title), (title, None, None, None));
        }
        assert_eq!(read(""), ("", None, None, None));
        assert_eq!(read("  "), ("", None, None, None));
    }

    #[test]
    fn the_order_is_fixed() {
        assert_eq!(read("A #dev @planner"), ("A #dev", Some("planner"), None, None));
        assert_eq!(read("A @x @planner #dev"), ("A @x", Some("planner"), None, Some("dev")));
        assert_eq!(read("A @planner \\#dev"), ("A @planner \\#dev", None, None, None));
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape("Ask \\@planner about \\#dev"), "Ask @planner about #dev");
        assert_eq!(unescape("a \\n b"), "a \\n b");
    }
}
