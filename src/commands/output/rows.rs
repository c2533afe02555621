//! Rows for programs: a line of JSON for each, or CSV; for notes: a table in markdown.
//!
//! CSV is quoted as RFC 4180 says, with a header and `\n` at line ends. Cells hold the data and nothing else: nothing is put
//! before a `=` to keep spreadsheets from computing it. Control characters are left out, except for line ends and tabs.

use std::fmt::Write as _;

use serde_json::Value;

use super::Format;
use crate::base::text::{fold_whitespace, sanitise};

/// The rows in `format`; `None` where it is no format of rows. Each row is an object that has all `columns`.
pub fn export(format: Format, columns: &[impl AsRef<str>], rows: impl IntoIterator<Item = Value>) -> Option<String> {
    let mut out = String::new();
    match format {
        Format::Jsonl => {
            for row in rows {
                let _ = writeln!(out, "{row}");
            }
        }
        Format::Csv => {
            line(&mut out, columns.iter().map(|name| name.as_ref().to_owned()));
            for row in rows {
                line(&mut out, columns.iter().map(|name| cell(row.get(name.as_ref()).unwrap_or(&Value::Null))));
            }
        }
        Format::Markdown => {
            bars(&mut out, columns.iter().map(|name| name.as_ref().to_owned()));
            bars(&mut out, columns.iter().map(|_| "---".to_owned()));
            for row in rows {
                bars(&mut out, columns.iter().map(|name| cell(row.get(name.as_ref()).unwrap_or(&Value::Null))));
            }
        }
        _ => return None,
    }
    Some(out)
}

/// A value as the text of a cell: nothing is an empty cell, and a list is joined.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => sanitise(text).into_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// A row of a table in markdown.
fn bars(out: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| fold_whitespace(&cell).replace('|', "\\|")).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(',');
        }
        let edge = |c: Option<char>| c.is_some_and(char::is_whitespace);
        if cell.contains(['"', ',', '\n', '\r']) || edge(cell.chars().next()) || edge(cell.chars().next_back()) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn csv_is_quoted_where_it_must_be() {
        let rows = [
            json!({ "a": "x,y", "b": "say \"hi\"", "c": ["p", "q"] }),
            json!({ "a": "two\r\nlines", "b": "\u{1b}[31m=1+1\u{7}", "c": null }),
            json!({ "a": 1, "b": 2.5, "c": true }),
            json!({ "a": " x", "b": "", "c": "é" }),
        ];
        let text = export(Format::Csv, &["a", "b", "c"], rows).unwrap();
        assert_eq!(text, "a,b,c\n\"x,y\",\"say \"\"hi\"\"\",\"p, q\"\n\"two\nlines\",=1+1,\n1,2.5,true\n\" x\",,é\n");
    }

    #[test]
    fn a_table_for_a_note_has_a_line_for_each_row() {
        let rows = [json!({ "a": "x|y\nz", "link": "[[s#^d-01]]" }), json!({ "a": null, "link": 2 })];
        let text = export(Format::Markdown, &["a", "link"], rows).unwrap();
        assert_eq!(text, "| a | link |\n| --- | --- |\n| x\\|y z | [[s#^d-01]] |\n|  | 2 |\n");
    }

    #[test]
    fn a_line_for_each_row() {
        let rows = [json!({ "b": 1, "a": "x\ny" }), json!({ "b": null, "a": "" })];
        let text = export(Format::Jsonl, &["b", "a"], rows).unwrap();
        assert_eq!(text, "{\"b\":1,\"a\":\"x\\ny\"}\n{\"b\":null,\"a\":\"\"}\n");
        assert_eq!(export(Format::Json, &["a"], []), None);
    }
}
