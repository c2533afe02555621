//! A file that is one JSON document, taken apart without reading it whole: its fields, and the members of one list.
//!
//! A document that was cut or damaged still gives the members that are whole. Nothing is decoded here: each piece is
//! handed on as the bytes that stand there.

/// A document, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// Name and value of each field but the list, in order.
    pub(super) fields: Vec<(&'a [u8], &'a [u8])>,
    /// Members of the list.
    pub(super) members: Vec<&'a [u8]>,
    /// What stands behind the last whole member or field, where the document ends before its end.
    pub(super) cut: bool,
}

impl<'a> Document<'a> {
    /// Takes a document apart whose list has the name `list`.
    pub(super) fn of(bytes: &'a [u8], list: &str) -> Self {
        let mut document = Self::default();
        document.cut = document.read(bytes, list.as_bytes()).is_none();
        document
    }

    /// The value of a field, the last of its name.
    pub(super) fn field(&self, name: &str) -> Option<&'a [u8]> {
        self.fields.iter().rev().find(|(key, _)| *key == name.as_bytes()).map(|(_, value)| *value)
    }

    /// `None` where the bytes end too early.
    fn read(&mut self, bytes: &'a [u8], list: &[u8]) -> Option<()> {
        let mut at = blank(bytes, 0);
        if *bytes.get(at)? != b'{' {
            return None;
        }
        at += 1;
        loop {
            at = between(bytes, at);
            match *bytes.get(at)? {
                b'}' => return Some(()),
                b'"' => {}
                // What is no name is passed over.
                _ => {
                    at = value(bytes, at)?;
                    continue;
                }
            }
            let end = value(bytes, at)?;
            let name = &bytes[at + 1..end - 1];
            at = blank(bytes, end);
            if *bytes.get(at)? != b':' {
                continue;
            }
            at = blank(bytes, at + 1);
            if name == list && *bytes.get(at)? == b'[' {
                at = self.members(bytes, at + 1)?;
            } else {
                let end = value(bytes, at)?;
                self.fields.push((name, &bytes[at..end]));
                at = end;
            }
        }
    }

    fn members(&mut self, bytes: &'a [u8], mut at: usize) -> Option<usize> {
        loop {
            at = between(bytes, at);
            if *bytes.get(at)? == b']' {
                return Some(at + 1);
            }
            let end = value(bytes, at)?;
            self.members.push(&bytes[at..end]);
            at = end;
        }
    }
}

fn blank(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(bytes.len(), |more| at + more)
}

fn between(bytes: &[u8], at: usize) -> usize {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    bytes[at..].iter().position(|byte| !is_between(byte)).map_or(bytes.len(), |more| at + more)
}

/// The end of the value at `at`, at least one byte on; `None` where the bytes end before it.
fn value(bytes: &[u8], at: usize) -> Option<usize> {
    match *bytes.get(at)? {
        b'"' => string(bytes, at),
        b'{' | b'[' => container(bytes, at),
        _ => {
            let ends =
                |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']' | b'"' | b'{' | b'[');
            let more = bytes[at + 1..].iter().position(ends)?;
            Some(at + 1 + more)
        }
    }
}

fn string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn container(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_u64;
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at = string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Vec<(String, String)>, Vec<String>, bool) {
        let document = Document::of(text.as_bytes(), "list");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields = document.fields.iter().map(|(key, value)| (text(key), text(value))).collect();
        (fields, document.members.iter().map(|it| text(it)).collect(), document.cut)
    }

    #[test]
    fn fields_and_members() {
        let (fields, members, cut) = of(r#" {"a": {"x":["}"]}, "list":[{"b":"\"]"}, 3 ,"x"],"c" : true} "#);
        assert_eq!(fields, [("a".into(), r#"{"x":["}"]}"#.into()), ("c".into(), "true".into())]);
        assert_eq!(members, [r#"{"b":"\"]"}"#, "3", "\"x\""]);
        assert!(!cut);
    }

    #[test]
    fn what_is_whole_of_a_cut_document() {
        let whole = r#"{"a":1,"list":[{"b":1},{"c":"é"}],"d":2}"#;
        for end in 0..whole.len() {
            let Some(text) = whole.get(..end) else { continue };
            let (_, members, cut) = of(text);
            assert!(cut, "{text}");
            assert_eq!(members.len(), usize::from(end >= 22) + usize::from(end >= 33), "{text}");
        }
        for odd in ["", "[]", "null", "{{}", "{\"a\"1}", "{:,}", "{\"list\":[}", "{\"list\":[:]}"] {
            of(odd);
        }
    }
}
