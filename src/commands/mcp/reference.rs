//! `session#^n-014`, `[[session#^n-014]]`, `cru://session/…/n-014`: what a caller wants to read.

use crate::base::text::{one_line, truncate};
use crate::base::{Error, Result};

/// A session, and perhaps a block in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) session: String,
    pub(super) block: Option<String>,
}

impl Reference {
    /// Reads one. Error: a name that could be a path to somewhere else.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let bare = text.trim().trim_start_matches("[[").trim_end_matches("]]");
        let (session, block) = match bare.strip_prefix("cru://session/") {
            Some(rest) => rest.rsplit_once('/').map_or((rest, None), |(session, block)| (session, Some(block))),
            None => bare.split_once('#').map_or((bare, None), |(session, block)| (session, Some(block))),
        };
        let session = decoded(session);
        let block = block.map(|block| decoded(block).trim_start_matches('^').to_owned()).filter(|it| !it.is_empty());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let odd = session.trim().is_empty()
            || session.starts_with(['/', '\\', '-', '~'])
            || session.split(['/', '\\']).any(|part| part == "..")
            || session.contains(char::is_control)
            || block.as_ref().is_some_and(|block| !block.chars().all(plain));
        if odd {
            let shown = truncate(&one_line(text), 80).into_owned();
            return Err(Error::usage(format!("`{shown}` is no ref"))
                .with_hint("a ref is the id of a session, or `session#^n-014` for a block of it"));
        }
        Ok(Self { session, block })
    }

    /// As it is given to callers.
    pub(super) fn of(session: &str, block: Option<&str>) -> String {
        block.map_or_else(|| session.to_owned(), |block| format!("{session}#^{block}"))
    }
}

/// `%20` and its like, where they are UTF-8.
pub(super) fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%');
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs() {
        let read = |text: &str| Reference::parse(text).ok().map(|it| (it.session, it.block));
        let block = Some("n-014".to_owned());
        for text in ["a b#^n-014", "[[a b#^n-014]]", "a b#n-014", "cru://session/a%20b/n-014"] {
            assert_eq!(read(text), Some(("a b".to_owned(), block.clone())), "{text}");
        }
        assert_eq!(read(" s-1 "), Some(("s-1".to_owned(), None)));
        for text in
            ["", "../../etc/passwd", "/etc/passwd", "~/x", "--vault=/x", "a#b c", "a\u{7}b", "x/../../y", "a#^n;1"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(Reference::of("a", Some("d-01")), "a#^d-01");
    }
}
