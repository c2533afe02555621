//! JSON documents that hold many records, taken apart without being held as values.
//!
//! A document may be cut off anywhere, or be damaged: what stands before that is told piece by piece, so that one broken
//! record never takes the others with it. Nothing here recurses, and a text is walked through once for each level that
//! is asked for. Knows no agent's fields.

use super::value;
use std::borrow::Cow;
use std::io::{BufRead as _, Read as _};
use std::path::Path;

use serde_json::Value;

use super::lines::{MAX_DOCUMENT, MAX_LINE};
use super::shorten::Shortener;
use cru_base::{Error, Result, json};
use cru_session::source::Bundle;

/// Why a record is left out that cannot be read.
pub(crate) const BROKEN: &str = "broken record";
/// Why a record is left out that is too long to be held.
pub(crate) const OVERSIZED: &str = "oversized record";
/// Why a record is left out whose end is not there: a later reading takes it whole.
pub(crate) const PARTIAL: &str = "partial last record";

/// The text of one file; `None` where it is larger than what is read as one.
pub(crate) fn read(bundle: &Bundle, path: &Path) -> Result<Option<String>> {
    let failed = |source| Error::io("read", path, source);
    let mut bytes = Vec::new();
    let limit = MAX_DOCUMENT as u64;
    // What is read would else be held twice while the room for it grows.
    bytes.reserve_exact(size(path).min(MAX_DOCUMENT) + 1);
    bundle.open(path).map_err(failed)?.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes.len() <= MAX_DOCUMENT).then(|| text_of(bytes)))
}

/// The text of a file that holds JSON, shortened where no record could be read.
pub(crate) fn read_json(bundle: &Bundle, path: &Path) -> Result<Option<String>> {
    let size = size(path);
    if size <= MAX_LINE {
        return read(bundle, path);
    }
    let failed = |source| Error::io("read", path, source);
    let mut source = bundle.open(path).map_err(failed)?;
    let mut shortener = Shortener::new(MAX_LINE, size.min(MAX_DOCUMENT) + 1);
    loop {
        let bytes = source.fill_buf().map_err(failed)?;
        if bytes.is_empty() {
            return Ok(Some(text_of(shortener.finish())));
        }
        shortener.push(bytes);
        if shortener.len() > MAX_DOCUMENT {
            return Ok(None);
        }
        let count = bytes.len();
        source.consume(count);
    }
}

fn size(path: &Path) -> usize {
    std::fs::metadata(path).map_or(0, |metadata| usize::try_from(metadata.len()).unwrap_or(usize::MAX))
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A value within a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// As it is written.
    pub(crate) text: &'a str,
    /// Whether its end is there.
    pub(crate) whole: bool,
}

impl Piece<'_> {
    /// What it says; `None` where it is cut off or broken.
    pub(crate) fn value(&self) -> Option<Value> {
        // As much is held twice then.
        let fits = self.whole && self.text.len() <= MAX_LINE;
        if fits { value::read(self.text.as_bytes()) } else { None }
    }

    /// Why it says nothing.
    pub(crate) const fn trouble(&self) -> &'static str {
        match self.whole {
            true if self.text.len() > MAX_LINE => OVERSIZED,
            true => BROKEN,
            false => PARTIAL,
        }
    }
}

/// The members of an object, in order; none where it is something else.
pub(crate) fn members(text: &str) -> Vec<(Cow<'_, str>, Piece<'_>)> {
    let mut scan = Scan::of(text);
    let mut found = Vec::new();
    if !scan.eat(b'{') {
        return found;
    }
    while scan.next() == Some(b'"') {
        let name = scan.value();
        if !name.whole || !scan.eat(b':') {
            break;
        }
        let Some(_) = scan.next() else { break };
        let value = scan.value();
        let name = name.text;
        let plain = || name.trim_matches('"');
        let name = if name.contains('\\') {
            serde_json::from_str::<String>(&json::whole_characters(name))
                .map_or_else(|_| Cow::Borrowed(plain()), Cow::Owned)
        } else {
            Cow::Borrowed(plain())
        };
        found.push((name, value));
        if !scan.eat(b',') {
            break;
        }
    }
    found
}

/// The items of a list, in order; none where it is something else.
pub(crate) fn items(text: &str) -> Vec<Piece<'_>> {
    let mut scan = Scan::of(text);
    let mut found = Vec::new();
    if !scan.eat(b'[') {
        return found;
    }
    while scan.next().is_some_and(|byte| byte != b']') {
        let value = scan.value();
        if value.text.is_empty() {
            break;
        }
        found.push(value);
        if !scan.eat(b',') {
            break;
        }
    }
    found
}

/// The last member of that name.
pub(crate) fn member<'p, 'a>(members: &'p [(Cow<'a, str>, Piece<'a>)], name: &str) -> Option<&'p Piece<'a>> {
    members.iter().rev().find(|(known, _)| known == name).map(|(_, piece)| piece)
}

/// The text of the last member of one of these names, where it is a string that says something.
pub(crate) fn told(members: &[(Cow<'_, str>, Piece<'_>)], names: &[&str]) -> Option<String> {
    let strings = names
        .iter()
        .filter_map(|name| serde_json::from_str::<String>(&json::whole_characters(member(members, name)?.text)).ok());
    strings.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}

/// Walks through a text.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn of(text: &'a str) -> Self {
        Self { text: text.trim_start_matches('\u{feff}'), at: 0 }
    }

    /// The next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == 0) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Passes over `byte` if it comes next.
    fn eat(&mut self, byte: u8) -> bool {
        let is = self.next() == Some(byte);
        self.at += usize::from(is);
        is
    }

    /// Passes over the value that begins here.
    fn value(&mut self) -> Piece<'a> {
        let from = self.at;
        let bytes = self.text.as_bytes();
        let whole = match bytes.get(self.at) {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.nested(),
            _ => {
                let end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':') || byte.is_ascii_whitespace();
                self.at += bytes[self.at..].iter().position(end).unwrap_or(bytes.len() - self.at);
                self.at < bytes.len()
            }
        };
        Piece { text: &self.text[from..self.at], whole }
    }

    fn string(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return true;
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = bytes.len();
        false
    }

    fn nested(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    if !self.string() {
                        return false;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return true;
            }
        }
        false
    }
}

/// The lines of a document, so that a piece of it can be pointed at.
pub(crate) struct Where<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> Where<'a> {
    /// In this document.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The line that a piece of the document begins in. Pieces are asked for in their order.
    pub(crate) fn line(&mut self, piece: &str) -> u64 {
        let offset = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if let Some(passed) = self.text.as_bytes().get(self.at..offset) {
            self.line += passed.split(|byte| *byte == b'\n').skip(1).map(|_| 1).sum::<u64>();
            self.at = offset;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn members_and_items() {
        let text = " {\"a\": [1, {\"b\": \"}]\\\"\"}, [2]], \"c\\n\" :null , \"d\":\"x\"} ";
        let found = members(text);
        let names: Vec<_> = found.iter().map(|(name, piece)| (name.as_ref(), piece.text, piece.whole)).collect();
        assert_eq!(names[0].0, "a");
        assert_eq!(&names[1..], [("c\n", "null", true), ("d", "\"x\"", true)]);
        let list: Vec<_> = items(names[0].1).into_iter().map(|piece| piece.text).collect();
        assert_eq!(list, ["1", "{\"b\": \"}]\\\"\"}", "[2]"]);
        assert_eq!(told(&found, &["a", "d"]).as_deref(), Some("x"));
        assert_eq!((members("[1]"), items("{}"), items("[]")), (vec![], vec![], vec![]));
    }

    #[test]
    fn what_is_cut_off_is_told_up_to_there() {
        let text = "{\"a\":1,\"b\":[{\"c\":2},{\"d\":";
        let found = members(text);
        assert!(found[0].1.whole && !found[1].1.whole);
        let list = items(found[1].1.text);
        assert_eq!((list[0].value(), list[1].value()), (Some(json!({"c": 2})), None));
        assert_eq!(list[1].trouble(), PARTIAL);
        assert!(!items("[12")[0].whole && items("[12]")[0].whole);
    }

    #[test]
    fn lines() {
        let text = "{\n\"a\": [1,\n2]}";
        let mut place = Where::new(text);
        let found = members(text);
        let list = items(found[0].1.text);
        assert_eq!((place.line(list[0].text), place.line(list[1].text)), (2, 3));
        assert_eq!(place.line("elsewhere"), 3);
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(text in "[\\[\\]{}:,\"\\\\a1 é]{0,60}") {
            for (_, piece) in members(&text) {
                items(piece.text);
                piece.value();
            }
            items(&text);
        }
    }
}
