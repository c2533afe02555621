//! Field lines of callouts, `Name: value`, and the text around them: both directions.
//!
//! A value may go on over lines until the next field or a blank line outside code; so a value that is written loses its
//! blank lines outside code. Text that only looks like a field is escaped at its colon.

use super::callout::{goes_on, split_field};
use super::escape::{self, Line, Outline, Place};
use cru_base::text;

/// The place of the text and of the values of a callout whose fields are `names`.
fn place<'a>(names: Option<&'a [&'a str]>, keep: &'a [String]) -> Place<'a> {
    Place { below_text: true, fields: names.unwrap_or_default(), links: names.is_none(), keep, ..Place::PROSE }
}

/// The text of a callout; with `names: None` (any kind without fields of its own) lines that are fields stay fields.
/// The links among `keep` (as written) stay links.
pub(super) fn text(text: &str, names: Option<&[&str]>, keep: &[String]) -> String {
    escape::body(text, place(names, keep))
}

/// `Name: value`, on one line or more; `""` where there is nothing to say.
pub(super) fn line(name: &str, value: &str, names: Option<&[&str]>, keep: &[String]) -> String {
    let value = without_gaps(text::sanitise(value).trim());
    let value = escape::body(&value, place(names, keep));
    if value.is_empty() {
        return String::new();
    }
    let first = value.lines().next().unwrap_or_default();
    let starts_block = !matches!(Outline::new(&[first], true).next_line(0), Line::Text { at: 0, .. });
    format!("{name}:{}{value}", if starts_block || first.starts_with('|') { '\n' } else { ' ' })
}

/// A whole body with its escapes undone, fields included.
pub(super) fn body(text: &str, names: Option<&[&str]>) -> String {
    escape::unbody(text, place(names, &[]))
}

/// Without blank lines, but for those in code.
fn without_gaps(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut outline = Outline::new(&lines, true);
    let mut kept = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let code = outline.in_code();
        outline.next_line(index);
        if code || !line.trim().is_empty() {
            kept.push(*line);
        }
    }
    kept.join("\n")
}

/// What stands in a callout's body.
#[derive(Debug, Default)]
pub(super) struct FieldParts {
    /// Text outside fields, escapes undone.
    pub(super) text: String,
    /// Names as written, values with escapes undone, in order.
    pub(super) fields: Vec<(String, String)>,
    /// For each line of the body, the index of the field it belongs to.
    pub(super) owner: Vec<Option<usize>>,
}

/// Takes a body (the callout's quote marks taken off, escapes still in) apart.
pub(super) fn split(body: &str, names: Option<&[&str]>) -> FieldParts {
    let undo = |text: &str| escape::unbody(text, place(names, &[]));
    if memchr::memchr(b':', body.as_bytes()).is_none() {
        let owner = vec![None; memchr::memchr_iter(b'\n', body.as_bytes()).count() + 1];
        return FieldParts { text: undo(body), fields: Vec::new(), owner };
    }
    let lines: Vec<&str> = body.split('\n').collect();
    let mut outline = Outline::new(&lines, true);
    let mut plain: Vec<&str> = Vec::new();
    let mut fields: Vec<(String, Vec<&str>)> = Vec::new();
    let mut owner = Vec::with_capacity(lines.len());
    let mut open = false;
    for (index, &line) in lines.iter().enumerate() {
        let code = outline.in_code();
        let top = matches!(outline.next_line(index), Line::Text { at: 0, .. });
        if top && let Some((name, _)) = split_field(line, names) {
            let value = &line[name.len() + 1..];
            fields.push((name.to_owned(), vec![value.strip_prefix(' ').unwrap_or(value)]));
            open = goes_on(name);
            owner.push(Some(fields.len() - 1));
        } else if open
            && (code || !line.trim().is_empty())
            && let Some((_, value)) = fields.last_mut()
        {
            value.push(line);
            owner.push(Some(fields.len() - 1));
        } else {
            open = false;
            plain.push(line);
            owner.push(None);
        }
    }
    let fields = fields.into_iter().map(|(name, value)| (name, undo(&value.join("\n")))).collect();
    FieldParts { text: undo(&plain.join("\n")), fields, owner }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Option<&[&str]> = Some(&["Why", "Rejected"]);

    #[test]
    fn takes_a_body_apart() {
        let parts = split("It is so.\nWhy: one\ntwo\nRejected: three\n\nMore.\n```\nWhy: code\n```", NAMES);
        assert_eq!(parts.text, "It is so.\n\nMore.\n```\nWhy: code\n```");
        assert_eq!(parts.fields, [("Why".into(), "one\ntwo".into()), ("Rejected".into(), "three".to_owned())]);
    }

    #[test]
    fn what_looks_like_a_field_is_text() {
        assert_eq!(text("Why: not\nNote: stays", NAMES, &[]), "Why\\: not\nNote: stays");
        assert_eq!(line("Why", "a\n\nRejected: b", NAMES, &[]), "Why: a\nRejected\\: b");
        assert_eq!(line("Why", "- a\n- b", NAMES, &[]), "Why:\n- a\n- b");
        assert_eq!(line("Why", " \n ", NAMES, &[]), "");
    }
}
