//! Editing a JSON text where it stands.
//!
//! `jsonc-parser` says where each value lies; strict JSON is read by `serde_json` first, whose errors name line and
//! column. Its own editor of syntax trees is not used: it lays lines out anew that hold several values.

use std::fmt::Write as _;
use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use super::trivia::rest;
use super::{Refused, splice};

/// A value and where it lies.
#[derive(Debug)]
pub struct Node {
    /// Its bytes.
    pub span: Range<usize>,
    /// What it holds.
    pub kind: JsonKind,
}

/// What a [`Node`] holds.
#[derive(Debug)]
pub enum JsonKind {
    /// Members, a repeated key as often as it is there.
    Object(Vec<Member>),
    /// Elements.
    Array(Vec<Node>),
    /// Anything else.
    Scalar,
}

/// A key with its value.
#[derive(Debug)]
pub struct Member {
    /// As it reads, without escapes.
    pub key: String,
    start: usize,
    /// Its value.
    pub value: Node,
}

/// Reads a text; with `comments`, one that may hold comments and trailing commas.
pub fn parse(text: &str, comments: bool) -> Result<(Node, Value), Refused> {
    if !comments {
        serde_json::from_str::<Value>(text)
            .map_err(|error| Refused { message: error.to_string(), place: Some((error.line(), error.column())) })?;
    }
    let options = ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Refused::at(text, error.range().start, error.kind().to_string()))?;
    let value = parsed.value.ok_or_else(|| Refused::at(text, text.len(), "there is no value"))?;
    Ok((node(&value), plain(&value)))
}

fn node(value: &ast::Value<'_>) -> Node {
    let (range, kind) = match value {
        ast::Value::Object(object) => {
            let member = |it: &ast::ObjectProp<'_>| Member {
                key: it.name.as_str().to_owned(),
                start: it.range.start,
                value: node(&it.value),
            };
            (object.range, JsonKind::Object(object.properties.iter().map(member).collect()))
        }
        ast::Value::Array(array) => (array.range, JsonKind::Array(array.elements.iter().map(node).collect())),
        ast::Value::StringLit(it) => (it.range, JsonKind::Scalar),
        ast::Value::NumberLit(it) => (it.range, JsonKind::Scalar),
        ast::Value::BooleanLit(it) => (it.range, JsonKind::Scalar),
        ast::Value::NullKeyword(it) => (it.range, JsonKind::Scalar),
    };
    Node { span: range.start..range.end, kind }
}

fn plain(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::Object(object) => {
            let members = object.properties.iter();
            Value::Object(members.map(|it| (it.name.as_str().to_owned(), plain(&it.value))).collect::<Map<_, _>>())
        }
        ast::Value::Array(array) => array.elements.iter().map(plain).collect(),
        ast::Value::StringLit(it) => Value::from(it.value.as_ref()),
        // A number that has no place in 64 bits is compared as it is written.
        ast::Value::NumberLit(it) => serde_json::from_str(it.value).unwrap_or_else(|_| Value::from(it.value)),
        ast::Value::BooleanLit(it) => Value::from(it.value),
        ast::Value::NullKeyword(_) => Value::Null,
    }
}

impl Node {
    /// The value of the last member of that name, which is the one that counts.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let JsonKind::Object(members) = &self.kind else { return None };
        members.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// Position of that member.
    pub fn position(&self, key: &str) -> Option<usize> {
        let JsonKind::Object(members) = &self.kind else { return None };
        members.iter().rposition(|member| member.key == key)
    }

    /// The elements of a list.
    pub fn items(&self) -> &[Self] {
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
    pub fn len(&self) -> usize {
        match &self.kind {
            JsonKind::Object(members) => members.len(),
            JsonKind::Array(items) => items.len(),
            JsonKind::Scalar => 0,
        }
    }

    /// Whether it has no element and no member.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is between its brackets.
    fn inner(&self) -> Range<usize> {
        self.span.start + 1..self.span.end - 1
    }
}

/// `text` with one part more at the end of the list or object `node`, laid out like its neighbours.
pub fn append(text: &str, node: &Node, key: Option<&str>, value: &Value) -> String {
    let newline = newline(text);
    let inner = node.inner();
    let written = |indent: Option<&str>| {
        let value = pretty(value, indent.map(|indent| (newline, indent, unit(text))));
        let colon = if indent.is_some() { ": " } else { ":" };
        key.map_or_else(|| value.clone(), |key| format!("{}{colon}{value}", Value::from(key)))
    };
    let parts = node.parts();
    let Some(last) = parts.last() else {
        let is_blank = text[inner.clone()].trim().is_empty();
        let is_root = node.span.start == text.len() - text.trim_start().len();
        if is_blank && !is_root && !text.trim().contains('\n') {
            return splice(text, inner, &written(None));
        }
        let base = indent_of_line(text, node.span.start);
        let indent = format!("{base}{}", unit(text));
        // Comments stay above what is added.
        let kept = inner.start + text[inner.clone()].trim_end().len();
        let added = format!("{newline}{indent}{}{newline}{base}", written(Some(&indent)));
        return splice(text, kept..inner.end, &added);
    };
    let after = rest(text, last.end..inner.end);
    let value_end = after.comma.map_or(last.end, |comma| comma + 1);
    // White space before the last part: a new line and its indent, or nothing of a line.
    let before = &text[..last.start];
    let gap = &before[before.trim_end().len()..];
    let (at, added) = match gap.rfind('\n') {
        Some(found) => {
            let indent = &gap[found + 1..];
            (after.line_end.unwrap_or(value_end), format!("{newline}{indent}{}", written(Some(indent))))
        }
        None if gap.is_empty() && after.comma.is_none() => (value_end, written(None)),
        None => (value_end, format!(" {}", written(None))),
    };
    if after.comma.is_some() {
        return splice(text, at..at, &format!("{added},"));
    }
    let text = splice(text, at..at, &added);
    splice(&text, last.end..last.end, ",")
}

/// `text` without a part of the list or object `node`. Comments of other parts stay.
pub fn remove(text: &str, node: &Node, index: usize) -> String {
    let parts = node.parts();
    let Some(it) = parts.get(index) else { return text.to_owned() };
    let inner = node.inner();
    let previous = index.checked_sub(1).and_then(|at| parts.get(at));
    let next = parts.get(index + 1);
    let after = rest(text, it.end..next.map_or(inner.end, |next| next.start));
    let own_end = after.comma.map_or(it.end, |comma| comma + 1);
    let before = text[..it.start].trim_end_matches([' ', '\t']);
    let line = before.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).len());
    let own_line = line.filter(|line| *line >= inner.start).zip(after.line_end);
    let range = match (own_line, previous, next) {
        (Some((start, end)), ..) => start..end,
        (None, Some(previous), None) if !rest(text, previous.end..it.start).has_comment => previous.end..it.end,
        (None, _, Some(next)) if !after.has_comment => it.start..next.start,
        // The blank that parted it from what stood before goes with its comma.
        (None, Some(_), None) if after.comma.is_some() => {
            it.start - usize::from(text[..it.start].ends_with(' '))..own_end
        }
        (None, ..) => it.start..own_end,
    };
    let is_last = next.is_none() && range.start != previous.map_or(usize::MAX, |previous| previous.end);
    // The comma before what was last goes with it; one behind it stays for the part before.
    let comma = previous
        .filter(|_| is_last && after.comma.is_none())
        .and_then(|previous| rest(text, previous.end..it.start).comma);
    let mut rest_of_text = splice(text, range.clone(), "");
    let mut end = inner.end - range.len();
    if let Some(comma) = comma {
        rest_of_text = splice(&rest_of_text, comma..comma + 1, "");
        end -= 1;
    }
    if parts.len() == 1 && rest_of_text[inner.start..end].trim().is_empty() {
        return splice(&rest_of_text, inner.start..end, "");
    }
    rest_of_text
}

/// `text` with another value in the place of `node`.
pub fn replace(text: &str, node: &Node, value: &Value) -> String {
    let written = if value.is_object() || value.is_array() { in_a_line(value) } else { value.to_string() };
    splice(text, node.span.clone(), &written)
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(text: &str, key: Option<&str>, value: &Value) -> String {
        append(text, &parse(text, true).unwrap().0, key, value)
    }

    #[test]
    fn places_are_those_of_the_values() {
        let text = " {\"a\\\"\": [1, {\"b\" :\"}]\"} ,null],\n\"c\":-1.5e+3, \"a\\\"\": true}\n";
        let (root, _) = parse(text, false).unwrap();
        assert_eq!(&text[root.get("a\"").unwrap().span.clone()], "true", "the last of two counts");
        assert_eq!(&text[root.get("c").unwrap().span.clone()], "-1.5e+3");
        let JsonKind::Object(members) = &root.kind else { panic!("an object") };
        let items: Vec<_> = members[0].value.items().iter().map(|item| &text[item.span.clone()]).collect();
        assert_eq!(items, ["1", "{\"b\" :\"}]\"}", "null"]);
    }

    #[test]
    fn the_deepest_text_that_is_read_has_places() {
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(parse(&deep(127), false).unwrap().0.span, 0..255);
        assert!(parse(&deep(128), false).is_err());
        assert!(parse(&"[".repeat(1_000_000), true).is_err());
    }

    #[test]
    fn comments_are_read_where_they_are_allowed() {
        let text = "// mine\n{ /* a */ \"a\": 1, }";
        assert_eq!(parse(text, true).unwrap().1, json!({"a": 1}));
        assert_eq!(parse(text, false).unwrap_err().place, Some((1, 1)));
        for loose in ["{a: 1}", "{'a': 1}", "{\"a\": 0x1}", "{\"a\": 1 \"b\": 2}", ""] {
            assert!(parse(loose, true).is_err(), "{loose}");
        }
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
    fn comments_stay_where_they_stand() {
        for (text, wanted) in [
            ("{\n  \"x\": 1 // one, or two\n}", "{\n  \"x\": 1, // one, or two\n  \"a\": 2\n}"),
            ("{\n  \"x\": 1, // one\n  // end\n}", "{\n  \"x\": 1, // one\n  \"a\": 2,\n  // end\n}"),
            ("{\n  // none yet\n}", "{\n  // none yet\n  \"a\": 2\n}"),
            ("{\"x\": 1, /* y */}", "{\"x\": 1, \"a\":2, /* y */}"),
        ] {
            let more = with(text, Some("a"), &json!(2));
            assert_eq!(more, wanted);
            let (root, value) = parse(&more, true).unwrap();
            assert_eq!(value["a"], 2);
            assert_eq!(remove(&more, &root, root.position("a").unwrap()), text);
        }
        let text = "{\n  // of a\n  \"a\": 1, // a\n  // of b\n  \"b\": 2 // b\n}";
        let (root, _) = parse(text, true).unwrap();
        assert_eq!(remove(text, &root, 0), "{\n  // of a\n  // of b\n  \"b\": 2 // b\n}");
        assert_eq!(remove(text, &root, 1), "{\n  // of a\n  \"a\": 1 // a\n  // of b\n}");
    }

    #[test]
    fn a_part_that_was_added_last_goes_without_a_trace() {
        for text in ["{\"x\":1}", "{\n \"x\": 1\n}\n", "{ \"x\": 1 }", "{\"x\":1, \"y\":2\n}", "{\"x\": [1,],\n}"] {
            let more = with(text, Some("a"), &json!([1, {"b": 2}]));
            let (root, value) = parse(&more, true).unwrap();
            assert_eq!(value["a"], json!([1, {"b": 2}]));
            assert_eq!(remove(&more, &root, root.position("a").unwrap()), text, "{more}");
        }
        let (root, _) = parse("[1, 2, 3]", false).unwrap();
        assert_eq!(remove("[1, 2, 3]", &root, 0), "[2, 3]");
        assert_eq!(remove("[1, 2, 3]", &root, 7), "[1, 2, 3]");
        assert_eq!(remove("[ 1 ]", &parse("[ 1 ]", false).unwrap().0, 0), "[]");
    }
}
