//! The tool `exec`: a script that calls other tools, `await tools.exec_command({cmd: "ls"})`.
//!
//! The script is never run. Calls are read whose arguments are literals, or constants that are set to one; a script with any
//! other call is told as a script.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

/// Name under which a script is told whose calls are not all known.
pub(super) const SCRIPT: &str = "javascript";

/// Calls that are read of one script.
const MOST: usize = 50;

/// Deepest nesting of an argument.
const DEPTH: usize = 16;

/// The calls of a script, in order; `None` where one of them cannot be read.
pub(super) fn calls(script: &str) -> Option<Vec<(String, Value)>> {
    const MARK: &str = "tools.";
    let constants = constants(script);
    let mut found = Vec::new();
    let mut rest = script;
    while let Some(at) = next_code(rest, MARK) {
        let call = &rest[at + MARK.len()..];
        let end = call.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$')))?;
        let text = call[end..].trim_start().strip_prefix('(')?;
        let mut reader = Literal { text, constants: Some(&constants) };
        let value = if reader.skip().text.starts_with(')') { Value::Null } else { reader.value(DEPTH)? };
        if !reader.skip().text.starts_with([')', ',']) || end == 0 || found.len() == MOST {
            return None;
        }
        found.push((call[..end].to_owned(), value));
        rest = reader.text;
    }
    Some(found)
}

/// What the constants of a script are set to, as far as that is a literal.
fn constants(script: &str) -> HashMap<&str, Value> {
    const MARK: &str = "const ";
    let mut found = HashMap::new();
    let mut rest = script;
    while let Some(at) = next_code(rest, MARK) {
        rest = rest[at + MARK.len()..].trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let Some(text) = behind.trim_start().strip_prefix('=') else { continue };
        let mut reader = Literal { text, constants: None };
        if let Some(value) = reader.value(DEPTH)
            && ends_statement(reader.text)
            && found.len() < MOST
        {
            // A name that is given twice, in two blocks, says nothing.
            let value = if found.contains_key(name) { Value::Null } else { value };
            found.insert(name, value);
        }
    }
    found.retain(|_, value| !value.is_null());
    found
}

/// Whether a statement ends where `rest` begins: what is added to a literal, or called of it, makes another value.
fn ends_statement(rest: &str) -> bool {
    let next = rest.trim_start();
    let is_next_line = rest[..rest.len() - next.len()].contains('\n');
    match next.chars().next() {
        None | Some(';' | '}') => true,
        Some(c) => is_next_line && (c.is_alphanumeric() || matches!(c, '_' | '$') || next.starts_with("//")),
    }
}

/// Where `mark` stands next outside of strings and comments.
fn next_code(text: &str, mark: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len() - at, |end| end + 4);
            }
            quote @ (b'"' | b'\'' | b'`') => at = literal_end(bytes, at, quote),
            b'/' if begins_pattern(bytes, at) => at = literal_end(bytes, at, b'/'),
            _ if bytes[at..].starts_with(mark.as_bytes()) && !after_name(bytes, at) => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Offset behind a string or pattern that opens at `at`. One that is not closed ends with its line, unless lines may
/// stand in it.
fn literal_end(bytes: &[u8], at: usize, close: u8) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 1,
            b'\n' if close != b'`' => return end,
            _ if byte == close => return end + 1,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}

/// Whether a slash opens a pattern: it stands where a value does, not behind one.
fn begins_pattern(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|byte| b"(,=:[!&|?{};\n".contains(byte))
}

fn after_name(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || matches!(bytes[at - 1], b'_' | b'$' | b'.'))
}

/// Reads a literal from the beginning of a text.
struct Literal<'t> {
    text: &'t str,
    /// What names stand for.
    constants: Option<&'t HashMap<&'t str, Value>>,
}

impl Literal<'_> {
    fn skip(&mut self) -> &mut Self {
        self.text = self.text.trim_start();
        self
    }

    fn take(&mut self, mark: char) -> bool {
        let rest = self.skip().text.strip_prefix(mark);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        match self.skip().text.chars().next()? {
            '{' => self.object(depth),
            '[' => {
                self.take('[');
                let mut items = Vec::new();
                while !self.take(']') {
                    items.push(self.value(depth)?);
                    if !self.take(',') && !self.text.starts_with(']') {
                        return None;
                    }
                }
                Some(Value::Array(items))
            }
            quote @ ('"' | '\'' | '`') => self.string(quote).map(Value::String),
            _ => {
                let end = self
                    .text
                    .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_' | '$')))?;
                let (word, rest) = self.text.split_at(end);
                self.text = rest;
                match word {
                    "true" => Some(Value::Bool(true)),
                    "false" => Some(Value::Bool(false)),
                    "null" | "undefined" => Some(Value::Null),
                    word => {
                        let constant = self.constants.and_then(|constants| constants.get(word)).cloned();
                        constant.or_else(|| serde_json::from_str(&word.replace('_', "")).ok())
                    }
                }
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.take('{');
        let mut map = Map::new();
        while !self.take('}') {
            let first = self.skip().text.chars().next()?;
            let key: Cow<'_, str> = if matches!(first, '"' | '\'') {
                Cow::Owned(self.string(first)?)
            } else {
                let end = self.text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))?;
                let (key, rest) = self.text.split_at(end);
                self.text = rest;
                Cow::Borrowed(key)
            };
            if key.is_empty() || !self.take(':') {
                return None;
            }
            let value = self.value(depth)?;
            map.insert(key.into_owned(), value);
            if !self.take(',') && !self.text.starts_with('}') {
                return None;
            }
        }
        Some(Value::Object(map))
    }

    /// A string; `None` for one with parts that are computed.
    fn string(&mut self, quote: char) -> Option<String> {
        let mut out = String::new();
        let mut chars = self.text.strip_prefix(quote)?.chars();
        loop {
            match chars.next()? {
                c if c == quote => break,
                '$' if quote == '`' && chars.as_str().starts_with('{') => return None,
                '\\' => match chars.next()? {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    '0' => out.push('\0'),
                    '\n' => {}
                    'u' => {
                        let code = u32::from_str_radix(chars.as_str().get(..4)?, 16).ok()?;
                        out.push(char::from_u32(code)?);
                        chars = chars.as_str()[4..].chars();
                    }
                    'x' => {
                        let code = u8::from_str_radix(chars.as_str().get(..2)?, 16).ok()?;
                        out.push(char::from(code));
                        chars = chars.as_str()[2..].chars();
                    }
                    other => out.push(other),
                },
                c => out.push(c),
            }
        }
        self.text = chars.as_str();
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn literal_calls() {
        let rows: &[(&str, Option<Value>)] = &[
            (
                r#"const r = await tools.exec_command({"cmd":"pwd && rg","workdir":"/tmp"}); text(r.output);"#,
                Some(json!([["exec_command", { "cmd": "pwd && rg", "workdir": "/tmp" }]])),
            ),
            (
                "// tools.x()\nawait Promise.all([tools.exec_command({cmd: 'a \\'b\\'', tty: true,}), tools.apply_patch(`*** x\n`)])",
                Some(json!([["exec_command", { "cmd": "a 'b'", "tty": true }], ["apply_patch", "*** x\n"]])),
            ),
            (
                "const patch = \"*** x\\n\";\ntext(await tools.apply_patch(patch));",
                Some(json!([["apply_patch", "*** x\n"]])),
            ),
            (
                "const cmd = 'ls'\ntools.exec_command({cmd: cmd, tty: true})",
                Some(json!([["exec_command", { "cmd": "ls", "tty": true }]])),
            ),
            ("let cmd = 'ls'; tools.exec_command({cmd: cmd})", None),
            ("const cmd = 'ls' + x; tools.exec_command({cmd: cmd})", None),
            ("const cmd = 'ls'\n  .trim(); tools.exec_command({cmd: cmd})", None),
            ("{const cmd = 'ls';} {const cmd = 'rm'; tools.exec_command({cmd: cmd})}", None),
            ("// const cmd = 'ls';\ntools.exec_command({cmd: cmd})", None),
            ("tools.exec_command({cmd: `ls ${x}`})", None),
            ("tools.exec_command({cmd: a + b})", None),
            ("tools.exec_command({cmd: \"a\" + b})", None),
            ("tools.exec_command(", None),
            ("text(\"tools.exec_command()\")", Some(json!([]))),
            ("mytools.run()", Some(json!([]))),
            ("tools.now()", Some(json!([["now", null]]))),
            ("const m = /it's/; tools.now()", Some(json!([["now", null]]))),
            ("if (/[\"']$/.test(x)) y();\ntools.now()", Some(json!([["now", null]]))),
            ("don't\ntools.now()", Some(json!([["now", null]]))),
            ("a / b; tools.now() // '", Some(json!([["now", null]]))),
        ];
        for (script, wanted) in rows {
            let calls =
                calls(script).map(|calls| calls.into_iter().map(|(name, value)| json!([name, value])).collect());
            assert_eq!(calls, *wanted, "{script}");
        }
    }

    proptest! {
        #[test]
        fn total(parts in prop::collection::vec(prop::sample::select(vec![
            "tools.", "const ", "a", "=", ";", "exec_command", "(", ")", "{", "}", "[", "]", "cmd", ":", ",", "'", "\"", "`", "\\", "\\u12", "é", "$", "${", "/", "//", "\n", "1", " ",
        ]), 0..40)) {
            calls(&parts.concat());
        }
    }
}
