//! Values as YAML, spelled as the editor itself would spell them.
//!
//! The editor rewrites the whole block when a person changes a property; what is written here is what it would write,
//! so that this first edit makes no noise: block lists indented by two, plain scalars where they are safe, double
//! quotes else (single ones only around text that has double ones), no folding. Dates stay plain.

use std::fmt::Write as _;

use super::{Mapping, Value};

/// The YAML lines of a frontmatter, without the `---` lines, each ended by `\n`.
///
/// A key must be shorter than 1,024 characters, the limit of YAML readers.
pub fn emit<K: AsRef<str>>(entries: &[(K, Value)]) -> String {
    let mut out = String::new();
    for (key, value) in entries {
        entry(&mut out, key.as_ref(), value, 0);
    }
    out
}

/// One `key: value` with all its lines, indented by `indent`.
pub(crate) fn entry(out: &mut String, key: &str, value: &Value, indent: usize) {
    pad(out, indent);
    entry_here(out, key, value, indent);
}

/// One item of a list, its dash indented by `indent`.
pub(crate) fn item(out: &mut String, value: &Value, indent: usize) {
    pad(out, indent);
    out.push('-');
    match value {
        Value::Map(map) if !map.is_empty() => {
            out.push(' ');
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    pad(out, indent + 2);
                }
                entry_here(out, key, value, indent + 2);
            }
        }
        Value::List(items) if !items.is_empty() => {
            out.push(' ');
            for (at, value) in items.iter().enumerate() {
                let start = out.len();
                item(out, value, indent + 2);
                if at == 0 {
                    // The first dash stands on the line of the dash outside.
                    out.replace_range(start..start + indent + 2, "");
                }
            }
        }
        scalar => leaf(out, scalar, indent),
    }
}

fn entry_here(out: &mut String, key: &str, value: &Value, indent: usize) {
    out.push_str(&quoted_if_needed(key));
    out.push(':');
    match value {
        Value::Map(map) if !map.is_empty() => {
            out.push('\n');
            for (key, value) in map.iter() {
                entry(out, key, value, indent + 2);
            }
        }
        Value::List(items) if !items.is_empty() => {
            out.push('\n');
            for value in items {
                item(out, value, indent + 2);
            }
        }
        scalar => leaf(out, scalar, indent),
    }
}

/// A scalar or an empty collection, from the blank before it to its line end.
fn leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => {}
        Value::String(text) if is_literal(text) => {
            out.push_str(if text.ends_with('\n') { " |" } else { " |-" });
            for line in text.lines() {
                out.push('\n');
                if !line.is_empty() {
                    pad(out, indent + 2);
                    out.push_str(line);
                }
            }
        }
        other => {
            out.push(' ');
            out.push_str(&one_line(other));
        }
    }
    out.push('\n');
}

/// A scalar or an empty collection on one line; `""` for null and for what needs lines of its own.
pub(crate) fn one_line(value: &Value) -> String {
    match value {
        Value::String(text) if is_old_boolean(text) => double_quoted(text),
        Value::String(text) => quoted_if_needed(text),
        Value::List(items) if items.is_empty() => "[]".to_owned(),
        Value::Map(map) if map.is_empty() => "{}".to_owned(),
        other => other.text().unwrap_or("").to_owned(),
    }
}

/// Whether `value` takes one line behind its key.
pub(crate) fn fits_one_line(value: &Value) -> bool {
    match value {
        Value::String(text) => !is_literal(text),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn quoted_if_needed(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else if text.contains('"')
        && !text.contains("<%")
        && !text.contains(['\'', '\\'])
        && text.chars().all(is_printable)
    {
        format!("'{text}'")
    } else {
        double_quoted(text)
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            // The beginning of a template, which would be run in a new note.
            '%' if out.ends_with('<') => {
                out.pop();
                out.push_str("\\x3c%");
            }
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => {
                // Writing into a string cannot fail.
                let _ = match u32::from(c) {
                    code @ ..=0xff => write!(out, "\\x{code:02x}"),
                    code @ ..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

/// Whether YAML reads `text`, written without quotes on one line, as this very text.
pub(super) fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let indicator = matches!(
        first,
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' | ' ' | '='
    );
    let dash = matches!(first, '-' | '?' | ':') && matches!(text[1..].chars().next(), None | Some(' '));
    !indicator
        && !dash
        && !text.ends_with([' ', ':', '-'])
        && !text.contains("<%")
        && !text.contains(": ")
        && !text.contains(" #")
        && !matches!(text, "---" | "..." | "<<")
        && !text.starts_with("--- ")
        && !text.starts_with("... ")
        && text.chars().all(is_printable)
        && !is_no_text(text)
}

/// Whether an older YAML reader takes the bare word for a boolean.
fn is_old_boolean(text: &str) -> bool {
    ["yes", "no", "on", "off", "y", "n"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether YAML takes the bare word for a null, boolean or number.
pub(super) fn is_no_text(text: &str) -> bool {
    if ["null", "true", "false", "~"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return true;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if [".inf", ".nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        return true;
    }
    let digits = |prefix: &str, radix: u32| {
        unsigned.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    digits("0x", 16) || digits("0o", 8) || digits("0b", 2) || {
        let numeric =
            unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-' | b'_'));
        let plain: String = unsigned.chars().filter(|c| *c != '_').collect();
        numeric && unsigned.bytes().any(|b| b.is_ascii_digit()) && plain.parse::<f64>().is_ok()
    }
}

/// Whether the text is written as a block of lines: more than one line and nothing that such a block could not hold.
fn is_literal(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.ends_with("\n\n")
        && !text.contains("<%")
        && text.chars().all(|c| c == '\n' || is_printable(c))
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
}

/// Whether the character may stand in YAML as it is and means itself.
fn is_printable(c: char) -> bool {
    !matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

impl Mapping {
    /// Its YAML lines, without `---` lines.
    pub fn emit(&self) -> String {
        let mut out = String::new();
        for (key, value) in self.iter() {
            entry(&mut out, key, value, 0);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session() {
        let subagent: Mapping =
            [("session", Value::from("2026-11-20-reviewer")), ("tokens", Value::from(9120u64))].into_iter().collect();
        let text = emit(&[
            ("type", "session".into()),
            ("started", "2026-11-20T09:31:04Z".into()),
            ("participants", vec!["planner@1.2", "@coder"].into()),
            ("cost_usd", 0.41.into()),
            ("project", "~/code/api".into()),
            ("commit", "4711000".into()),
            ("parent", "[[2026-11-19-auth-plan]]".into()),
            ("title", "Fix: the bug".into()),
            ("quote", "say \"no\"".into()),
            ("answer", "no".into()),
            ("empty", "".into()),
            ("nothing", Value::Null),
            ("none", Value::List(Vec::new())),
            ("subagents", vec![subagent].into()),
            ("matrix", vec![vec![1u64, 2], vec![3]].into()),
            ("note", "first\n\nsecond".into()),
        ]);
        insta::assert_snapshot!(text, @r#"
        type: session
        started: 2026-11-20T09:31:04Z
        participants:
          - planner@1.2
          - "@coder"
        cost_usd: 0.41
        project: ~/code/api
        commit: "4711000"
        parent: "[[2026-11-19-auth-plan]]"
        title: "Fix: the bug"
        quote: say "no"
        answer: "no"
        empty: ""
        nothing:
        none: []
        subagents:
          - session: 2026-11-20-reviewer
            tokens: 9120
        matrix:
          - - 1
            - 2
          - - 3
        note: |-
          first

          second
        "#);
    }

    #[test]
    fn quotes_what_would_be_read_otherwise() {
        for text in [
            "no", "True", "~", "1", "1.5", "1e5", "0x1f", "-.inf", "0123", "- a", "a: b", "a #b", "a ", "a:", "[x]",
            "#x", "@x", "", "\u{85}", "a\tb",
        ] {
            let line = emit(&[("k", text.into())]);
            assert!(line.starts_with("k: \"") || line.starts_with("k: '"), "{line}");
        }
        for text in [
            "2026-11-20",
            "2026-11-20T09:31:04Z",
            "12:30:45",
            "a-b",
            "-x",
            "4f1c2ab",
            "1.2.3",
            "nope",
            "a#b",
            "~/x",
            "claude-opus-4-5",
            "1 file",
        ] {
            assert_eq!(emit(&[("k", text.into())]), format!("k: {text}\n"));
        }
        assert_eq!(emit(&[("k", "\"x\": y".into())]), "k: '\"x\": y'\n");
        assert_eq!(emit(&[("k", "it's \"x\": y\u{7}".into())]), "k: \"it's \\\"x\\\": y\\x07\"\n");
    }
}
