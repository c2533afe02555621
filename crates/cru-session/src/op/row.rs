//! Where the rows of a JSON list stand, and their fields: so that one can change and the others keep their form.
//!
//! Only for text that a JSON reader has accepted; anything else gives spans that mean nothing, but no panic.

use serde_json::Value as Json;

use cru_base::Span;

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// From `{` to `}`.
    pub(super) span: Span,
    /// Names with the places of their values.
    pub(super) fields: Vec<(String, Span)>,
}

/// The rows of the list in `span` of `text`.
pub(super) fn rows(text: &str, span: Span) -> Vec<Row> {
    let Some(list) = inside(text, span, b'[') else { return Vec::new() };
    let rows = parts(text, list).into_iter().map(|part| {
        let members = inside(text, part, b'{').map(|object| parts(text, object)).unwrap_or_default();
        let field = |member: Span| {
            let colon = end_of_key(member.of(text))?;
            let name: String = serde_json::from_str(member.of(text)[..colon].trim()).ok()?;
            Some((name, trimmed(text, Span::new(member.start + colon + 1, member.end))))
        };
        Row { span: part, fields: members.into_iter().filter_map(field).collect() }
    });
    rows.collect()
}

/// What stands between the brackets of `span`, `open` being the first of them.
pub(super) fn inside(text: &str, span: Span, open: u8) -> Option<Span> {
    let span = trimmed(text, span);
    let bytes = span.of(text).as_bytes();
    (bytes.len() >= 2 && bytes[0] == open).then(|| Span::new(span.start + 1, span.end - 1))
}

/// Where the name of `"name": value` ends: its colon.
fn end_of_key(member: &str) -> Option<usize> {
    let mut walk = DepthWalk::default();
    member.bytes().position(|byte| walk.is_top(byte) && byte == b':')
}

/// The parts between top-level commas.
fn parts(text: &str, span: Span) -> Vec<Span> {
    let mut walk = DepthWalk::default();
    let mut parts = Vec::new();
    let mut start = span.start;
    for (at, byte) in span.of(text).bytes().enumerate() {
        if walk.is_top(byte) && byte == b',' {
            parts.push(Span::new(start, span.start + at));
            start = span.start + at + 1;
        }
    }
    parts.push(Span::new(start, span.end));
    parts.into_iter().map(|part| trimmed(text, part)).filter(|part| !part.is_empty()).collect()
}

fn trimmed(text: &str, span: Span) -> Span {
    let part = span.of(text);
    let start = span.start + (part.len() - part.trim_start().len());
    Span::new(start, start + part.trim().len())
}

/// How deep a walk through JSON stands.
#[derive(Debug, Default)]
struct DepthWalk {
    depth: usize,
    string: bool,
    escape: bool,
}

impl DepthWalk {
    /// Steps over a byte; whether it stands outside strings and brackets.
    const fn is_top(&mut self, byte: u8) -> bool {
        if self.string {
            if self.escape {
                self.escape = false;
            } else if byte == b'\\' {
                self.escape = true;
            } else if byte == b'"' {
                self.string = false;
            }
            return false;
        }
        match byte {
            b'"' => self.string = true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => return self.depth == 0,
        }
        false
    }
}

/// JSON on one line.
pub(super) fn spell(value: &Json) -> String {
    value.to_string()
}
