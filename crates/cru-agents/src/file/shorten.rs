//! A JSON document without what no record of it can hold, left out while it is read.
//!
//! A string or a depth beyond what is read makes its record unreadable whatever stands in it, so it need not be held. The
//! record stays as unreadable as it was, and for the same reason; brackets, quotes and line breaks stay where they stood.

/// Levels that are kept: the parser of values goes half as deep.
const DEPTH: u32 = 256;

/// Stands where something is left out. No JSON may hold it, so that nothing shortened is ever read as whole.
const MARK: u8 = 0x01;

/// A document while it is read.
#[derive(Debug)]
pub(crate) struct Shortener {
    kept: Vec<u8>,
    /// Bytes of a string that are kept.
    limit: usize,
    depth: u32,
    /// The string that is being read.
    string: Option<Quoted>,
    /// Whether the last byte was left out.
    leaving: bool,
}

#[derive(Debug, Default)]
struct Quoted {
    length: usize,
    /// Whether a backslash stands before.
    escaped: bool,
    /// Whether the rest of it is left out.
    cut: bool,
}

impl Shortener {
    /// Keeps `limit` bytes of a string; has room for `bytes` in all, so that they are not held twice while it grows.
    pub(crate) fn new(limit: usize, bytes: usize) -> Self {
        let mut kept = Vec::new();
        kept.reserve_exact(bytes);
        Self { kept, limit, depth: 0, string: None, leaving: false }
    }

    /// Bytes that are kept.
    pub(crate) const fn len(&self) -> usize {
        self.kept.len()
    }

    /// What is left of the document.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.kept
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let keeps = self.keeps(byte);
            if keeps || byte == b'\n' {
                self.kept.push(byte);
            } else if !self.leaving {
                self.kept.push(MARK);
            }
            self.leaving = !keeps;
        }
    }

    fn keeps(&mut self, byte: u8) -> bool {
        let depth = self.depth;
        let mut cut = false;
        match (&mut self.string, byte) {
            (Some(Quoted { escaped: false, .. }), b'"') => self.string = None,
            (Some(string), _) => {
                // Neither an escape nor a character is cut in two.
                let may_cut = !string.escaped && !(0x80..0xc0).contains(&byte);
                string.cut |= string.length >= self.limit && may_cut;
                string.length += 1;
                string.escaped = byte == b'\\' && !string.escaped;
                cut = string.cut;
            }
            (None, b'"') => self.string = Some(Quoted::default()),
            (None, b'{' | b'[') => {
                self.depth = depth.saturating_add(1);
                return self.depth <= DEPTH;
            }
            (None, b'}' | b']') => self.depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        !cut && depth <= DEPTH
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shortened(text: &str, limit: usize, chunk: usize) -> String {
        let mut shortener = Shortener::new(limit, 0);
        text.as_bytes().chunks(chunk).for_each(|bytes| shortener.push(bytes));
        String::from_utf8(shortener.finish()).unwrap()
    }

    #[test]
    fn long_strings_lose_their_ends() {
        let text = r#"{"a":"12345","b":"123\\\"6\n","é":"1234é7"}"#;
        assert_eq!(shortened(text, 5, 3), "{\"a\":\"12345\",\"b\":\"123\\\\\u{1}\",\"é\":\"1234é\u{1}\"}");
        assert_eq!(shortened("\"123\n456", 2, 1), "\"12\u{1}\n");
    }

    #[test]
    fn depths_stay_empty() {
        let deep = 2 * DEPTH as usize;
        let text = format!("[{}\n\"]\"{},2]", "[".repeat(deep), "]".repeat(deep));
        let kept = DEPTH as usize - 1;
        let expected = format!("[{}\u{1}\n{},2]", "[".repeat(kept), "]".repeat(kept));
        assert_eq!(shortened(&text, 9, 7), expected);
    }

    proptest! {
        #[test]
        fn what_is_short_stays(text in "[\\[\\]{}:,\"\\\\a1 é\n]{0,80}", chunk in 1_usize..9) {
            prop_assert_eq!(shortened(&text, 80, chunk), text);
        }

        #[test]
        fn items_stay_where_they_stood(items in prop::collection::vec("[\\[\\]{}:,\\\\a1 é\n]{0,20}", 0..6), limit in 1_usize..9) {
            let texts: Vec<String> = items.iter().map(|item| serde_json::Value::from(item.as_str()).to_string()).collect();
            let text = format!("[{}]", texts.join(",\n"));
            let short = shortened(&text, limit, 4);
            let left = super::super::document::items(&short);
            prop_assert_eq!(left.len(), items.len());
            for ((piece, text), item) in left.iter().zip(&texts).zip(&items) {
                prop_assert!(piece.whole);
                let length = text.len() - 2;
                // An escape or a character that the limit falls into is kept.
                prop_assert!(if piece.value().is_some() { length < limit + 2 } else { length > limit }, "{}", piece.text);
                prop_assert!(piece.value().is_none_or(|value| value == item.as_str()));
            }
        }
    }
}
