//! Editing a JSON text where it stands: what is not edited keeps every byte, its order and its layout.
//!
//! Knows where each value lies; knows nothing of settings. There is one reader, `serde_json`, which is as strict as the
//! hosts are; places are those of the raw values that it borrows from the text.

use std::fmt::{self, Write as _};
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A value and where it lies.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: JsonKind,
}

#[derive(Debug)]
pub(super) enum JsonKind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar,
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    start: usize,
    pub(super) value: Node,
}

/// Reads a text; the error has line and column.
pub(super) fn parse(text: &str) -> Result<(Node, Value), serde_json::Error> {
    let value: Value = serde_json::from_str(text)?;
    Ok((node(text, serde_json::from_str(text)?)?, value))
}

impl Node {
    /// The value of the last member of that name, which is the one that counts.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let JsonKind::Object(members) = &self.kind else { return None };
        members.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// Position of that member.
    pub(super) fn position(&self, key: &str) -> Option<usize> {
        let JsonKind::Object(members) = &self.kind else { return None };
        members.iter().rposition(|member| member.key == key)
    }

    /// The elements of a list.
    pub(super) fn items(&self) -> &[Self] {
        if let JsonKind::Array(items) = &self.kind { items } else { &[] }
    }

    /// Elements or members with their keys.
    fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            JsonKind::Object(members) => members.iter().map(|member| member.start..member.value.span.end).collect(),
            JsonKind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            JsonKind::Scalar => Vec::new(),
        }
    }

    /// How many elements or members it has.
    pub(super) fn len(&self) -> usize {
        match &self.kind {
            JsonKind::Object(members) => members.len(),
            JsonKind::Array(items) => items.len(),
            JsonKind::Scalar => 0,
        }
    }
}

/// `text` with one part more at the end of the list or object `node`, laid out like its neighbours.
pub(super) fn append(text: &str, node: &Node, key: Option<&str>, value: &Value) -> String {
    let parts = node.parts();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let inner = node.span.start + 1..node.span.end - 1;
    let written = |indent: Option<&str>| {
        let value = pretty(value, indent.map(|indent| (newline, indent, unit(text))));
        let colon = if indent.is_some() { ": " } else { ":" };
        key.map_or_else(|| value.clone(), |key| format!("{}{colon}{value}", Value::from(key)))
    };
    let Some(last) = parts.last() else {
        let root = node.span.start == text.len() - text.trim_start().len();
        if !root && !text.trim().contains('\n') {
            return splice(text, inner, &written(None));
        }
        let base = indent_of_line(text, node.span.start);
        let indent = format!("{base}{}", unit(text));
        return splice(text, inner, &format!("{newline}{indent}{}{newline}{base}", written(Some(&indent))));
    };
    // White space before the last part: a new line and its indent, or nothing of a line.
    let before = &text[..last.start];
    let gap = &before[before.trim_end().len()..];
    let added = match gap.rfind('\n') {
        Some(at) => {
            let indent = &gap[at + 1..];
            format!(",{newline}{indent}{}", written(Some(indent)))
        }
        None if gap.is_empty() => format!(",{}", written(None)),
        None => format!(", {}", written(None)),
    };
    splice(text, last.end..last.end, &added)
}

/// `text` without a part of the list or object `node`.
pub(super) fn remove(text: &str, node: &Node, index: usize) -> String {
    let parts = node.parts();
    let range = match (index.checked_sub(1).and_then(|at| parts.get(at)), parts.get(index), parts.get(index + 1)) {
        (_, None, _) => return text.to_owned(),
        (None, Some(_), None) => node.span.start + 1..node.span.end - 1,
        (Some(previous), Some(it), None) => previous.end..it.end,
        (_, Some(it), Some(next)) => it.start..next.start,
    };
    splice(text, range, "")
}

/// `text` with another value in the place of `node`.
pub(super) fn replace(text: &str, node: &Node, value: &Value) -> String {
    splice(text, node.span.clone(), &value.to_string())
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// White space at the start of the line in which `at` lies.
fn indent_of_line(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One level of indent, as the first indented line has it.
fn unit(text: &str) -> &str {
    let first = text.lines().map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    let first = first.zip(text.lines()).find(|(indent, line)| !indent.is_empty() && indent.len() < line.len());
    first.map_or("  ", |(indent, _)| indent)
}

/// A value over several lines, or in one where there is no layout.
fn pretty(value: &Value, layout: Option<(&str, &str, &str)>) -> String {
    let Some((newline, base, unit)) = layout else { return value.to_string() };
    let mut out = String::new();
    write_pretty(&mut out, value, newline, base, unit);
    out
}

fn write_pretty(out: &mut String, value: &Value, newline: &str, base: &str, unit: &str) {
    /// Bytes of a line, its indent not counted.
    const WIDTH: usize = 140;
    let line = in_a_line(value);
    let parts = parts(value);
    if line.len() <= WIDTH || parts.is_empty() {
        return out.push_str(&line);
    }
    let deeper = format!("{base}{unit}");
    let (open, close) = brackets(value);
    out.push_str(open);
    for (index, (key, value)) in parts.into_iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{newline}{deeper}{key}");
        write_pretty(out, value, newline, &deeper, unit);
    }
    let _ = write!(out, "{newline}{base}{close}");
}

/// `{ "a": [1, 2] }`.
fn in_a_line(value: &Value) -> String {
    let parts = parts(value);
    if parts.is_empty() {
        return value.to_string();
    }
    let (open, close) = brackets(value);
    let blank = if value.is_object() { " " } else { "" };
    let parts: Vec<_> = parts.into_iter().map(|(key, value)| format!("{key}{}", in_a_line(value))).collect();
    format!("{open}{blank}{}{blank}{close}", parts.join(", "))
}

fn brackets(value: &Value) -> (&'static str, &'static str) {
    if value.is_object() { ("{", "}") } else { ("[", "]") }
}

/// Elements, or members with `"key": ` before them.
fn parts(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(map) => map.iter().map(|(key, it)| (format!("{}: ", Value::from(key.as_str())), it)).collect(),
        Value::Array(list) => list.iter().map(|it| (String::new(), it)).collect(),
        _ => Vec::new(),
    }
}

/// The members of an object as they are written, a repeated key as often as it is there.
struct WrittenJson<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for WrittenJson<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = WrittenJson<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(WrittenJson(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Where `raw`, which was read from `text`, and all that is in it lie. The parser's limit of depth bounds the recursion,
/// and with it how often a byte is read.
fn node(text: &str, raw: &RawValue) -> Result<Node, serde_json::Error> {
    let written = raw.get();
    let kind = match written.as_bytes().first() {
        Some(b'{') => {
            let WrittenJson(members) = serde_json::from_str(written)?;
            let member = |(key, value): &(&RawValue, &RawValue)| {
                let start = offset(text, key);
                Ok(Member { key: serde_json::from_str(key.get())?, start, value: node(text, value)? })
            };
            JsonKind::Object(members.iter().map(member).collect::<Result<_, serde_json::Error>>()?)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(written)?;
            JsonKind::Array(items.into_iter().map(|item| node(text, item)).collect::<Result<_, _>>()?)
        }
        _ => JsonKind::Scalar,
    };
    let start = offset(text, raw);
    Ok(Node { span: start..start + written.len(), kind })
}

/// Where `part`, which borrows from `text`, begins in it.
fn offset(text: &str, part: &RawValue) -> usize {
    part.get().as_ptr().addr() - text.as_ptr().addr()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(text: &str, key: Option<&str>, value: &Value) -> String {
        append(text, &parse(text).unwrap().0, key, value)
    }

    #[test]
    fn places_are_those_of_the_values() {
        let text = " {\"a\\\"\": [1, {\"b\" :\"}]\"} ,null],\n\"c\":-1.5e+3, \"a\\\"\": true}\n";
        let (root, _) = parse(text).unwrap();
        assert_eq!(&text[root.get("a\"").unwrap().span.clone()], "true", "the last of two counts");
        assert_eq!(&text[root.get("c").unwrap().span.clone()], "-1.5e+3");
        let JsonKind::Object(members) = &root.kind else { panic!("an object") };
        let items: Vec<_> = members[0].value.items().iter().map(|item| &text[item.span.clone()]).collect();
        assert_eq!(items, ["1", "{\"b\" :\"}]\"}", "null"]);
    }

    #[test]
    fn the_deepest_text_that_is_read_has_places() {
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(parse(&deep(127)).unwrap().0.span, 0..255);
        assert!(parse(&deep(128)).is_err());
        assert!(parse(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn added_parts_look_like_their_neighbours() {
        let value = json!({"k": [1]});
        assert_eq!(with("{}", Some("a"), &value), "{\n  \"a\": { \"k\": [1] }\n}");
        assert_eq!(with("{\"x\":1}", Some("a"), &value), "{\"x\":1,\"a\":{\"k\":[1]}}");
        assert_eq!(with("[1, 2]", None, &json!(3)), "[1, 2, 3]");
        assert_eq!(with("[\n\t1\n]\n", None, &value), "[\n\t1,\n\t{ \"k\": [1] }\n]\n");
        let long = json!({"a": "x".repeat(80), "b": ["y".repeat(80)]});
        let (x, y) = ("x".repeat(80), "y".repeat(80));
        assert_eq!(
            with("[\n\t1\n]", None, &long),
            format!("[\n\t1,\n\t{{\n\t\t\"a\": \"{x}\",\n\t\t\"b\": [\"{y}\"]\n\t}}\n]")
        );
        assert_eq!(with("{\r\n    \"x\": 1\r\n}", Some("a"), &json!(2)), "{\r\n    \"x\": 1,\r\n    \"a\": 2\r\n}");
    }

    #[test]
    fn a_part_that_was_added_last_goes_without_a_trace() {
        for text in ["{\"x\":1}", "{\n \"x\": 1\n}\n", "{ \"x\": 1 }", "{\"x\":1, \"y\":2\n}"] {
            let more = with(text, Some("a"), &json!([1, {"b": 2}]));
            let (root, value) = parse(&more).unwrap();
            assert_eq!(value["a"], json!([1, {"b": 2}]));
            assert_eq!(remove(&more, &root, root.position("a").unwrap()), text);
        }
        let (root, _) = parse("[1, 2, 3]").unwrap();
        assert_eq!(remove("[1, 2, 3]", &root, 0), "[2, 3]");
        assert_eq!(remove("[1, 2, 3]", &root, 7), "[1, 2, 3]");
        assert_eq!(remove("[ 1 ]", &parse("[ 1 ]").unwrap().0, 0), "[]");
    }
}
