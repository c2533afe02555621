//! Execution records: the `session-toon` fence, a TOON table under the key `execution`.
//!
//! Written strictly (two blanks before a row, cells quoted where TOON asks for it), read with tolerance: any indent, any
//! of TOON's delimiters, a row count that does not fit, rows that are too short or too long.

use std::fmt::Write as _;

use super::model::Record;
use cru_base::{Diagnostic, Span};

/// The info string of the fence.
pub const FENCE: &str = "session-toon";

/// Columns whose cells are numbers.
const NUMERIC: [&str; 2] = ["duration_ms", "tokens_used"];

/// The text between the fences, without the last line end.
pub fn encode(record: &Record) -> String {
    let columns: Vec<String> = record.columns.iter().map(|name| key(name)).collect();
    let mut out = format!("execution[{}]{{{}}}:", record.rows.len(), columns.join(","));
    for row in &record.rows {
        out.push_str("\n  ");
        for (index, column) in record.columns.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            let cell = row.get(index).map_or("", String::as_str);
            let number = NUMERIC.contains(&column.as_str()) && is_canonical_number(cell);
            if number || !needs_quotes(cell) { out.push_str(cell) } else { quote(cell, &mut out) }
        }
    }
    out
}

fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && name.chars().all(plain) {
        return name.to_owned();
    }
    let mut out = String::new();
    quote(name, &mut out);
    out
}

fn needs_quotes(cell: &str) -> bool {
    cell.is_empty()
        || cell.trim() != cell
        || matches!(cell, "true" | "false" | "null")
        || cell.starts_with(['-', '#'])
        || looks_numeric(cell)
        || cell.bytes().any(|byte| {
            matches!(byte, b':' | b'"' | b'\\' | b'[' | b']' | b'{' | b'}' | b',' | b'|') || byte.is_ascii_control()
        })
        || (!cell.is_ascii() && cell.chars().any(char::is_control))
}

fn looks_numeric(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) && cell.parse::<f64>().is_ok()
}

fn is_canonical_number(cell: &str) -> bool {
    cell == "0" || (!cell.is_empty() && !cell.starts_with('0') && cell.bytes().all(|byte| byte.is_ascii_digit()))
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Reads the text between the fences; `at` is where it starts in the file. `None` where the header cannot be read:
/// then one of the diagnostics is an error.
pub fn decode(body: &str, at: usize, diagnostics: &mut Vec<Diagnostic>) -> Option<Record> {
    let mut record: Option<(Record, usize, char, Span)> = None;
    let mut offset = at;
    for line in body.split_inclusive('\n') {
        let span = Span::new(offset, offset + line.trim_end().len());
        offset += line.len();
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let Some((record, _, delimiter, _)) = &mut record else {
            match header(text) {
                Ok((columns, count, delimiter)) => {
                    record = Some((Record { columns, ..Record::default() }, count, delimiter, span));
                }
                Err(problem) => {
                    let message = format!("the header of the execution record cannot be read: {problem}");
                    let help = "it should look like `execution[2]{phase,status}:`";
                    diagnostics.push(Diagnostic::error("record-header", span, message).help(help));
                    return None;
                }
            }
            continue;
        };
        let mut row = cells(text, *delimiter);
        if row.len() != record.columns.len() {
            let message = format!("the row has {} cells, the header names {}", row.len(), record.columns.len());
            diagnostics.push(Diagnostic::warning("record-row", span, message));
            row.resize(record.columns.len(), String::new());
        }
        record.rows.push(row);
    }
    let (record, count, _, span) = record?;
    if count != record.rows.len() {
        let message = format!("the header counts {count} rows, there are {}", record.rows.len());
        diagnostics.push(Diagnostic::warning("record-count", span, message));
    }
    for column in ["phase", "status"] {
        if !record.columns.iter().any(|name| name == column) {
            let message = format!("the execution record has no column '{column}'");
            diagnostics.push(Diagnostic::warning("record-column", span, message));
        }
    }
    Some(record)
}

/// `execution[2]{phase,status}:` gives columns, count and delimiter.
fn header(text: &str) -> Result<(Vec<String>, usize, char), &'static str> {
    let rest = text.strip_prefix("execution").ok_or("it does not start with `execution`")?.trim_start();
    let rest = rest.strip_prefix('[').ok_or("`[` and a row count are missing")?;
    let (count, rest) = rest.split_once(']').ok_or("`]` is missing after the row count")?;
    let (count, delimiter) = match count.chars().last() {
        Some(c @ ('\t' | '|')) => (&count[..count.len() - 1], c),
        _ => (count, ','),
    };
    let count = count.trim().trim_start_matches('#').parse().map_err(|_| "the row count is no number")?;
    let rest = rest.trim_start().strip_prefix('{').ok_or("`{` and the column names are missing")?;
    let (names, rest) = rest.rsplit_once('}').ok_or("`}` is missing after the column names")?;
    if rest.trim() != ":" {
        return Err("`:` is missing at its end");
    }
    let columns = cells(names, delimiter);
    if columns.iter().any(String::is_empty) { Err("a column has no name") } else { Ok((columns, count, delimiter)) }
}

/// The cells of a row, quotes and escapes undone.
fn cells(text: &str, delimiter: char) -> Vec<String> {
    let mut cells = Vec::new();
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(' ');
        let (cell, after) = match trimmed.strip_prefix('"').and_then(unquote) {
            Some((cell, after)) if after.trim().is_empty() || after.trim_start().starts_with(delimiter) => {
                (cell, after.trim_start().strip_prefix(delimiter))
            }
            _ => match rest.split_once(delimiter) {
                Some((cell, after)) => (cell.trim().to_owned(), Some(after)),
                None => (rest.trim().to_owned(), None),
            },
        };
        cells.push(cell);
        match after {
            Some(after) => rest = after,
            None => return cells,
        }
    }
}

/// Text after an opening quote: the string and what follows its closing quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'u' => {
                    let hex: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                    out.push(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32)?);
                }
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
    None
}

/// The form in which titles and `phase` cells are compared: letters and digits in lower case, without a leading
/// `Phase N:`.
pub fn squeeze(title: &str) -> String {
    let squeezed = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if let Some((head, rest)) = title.split_once(':') {
        let head: String = squeezed(head);
        let number = head.strip_prefix("phase").unwrap_or("");
        if !number.is_empty() && number.chars().all(char::is_numeric) {
            return squeezed(rest);
        }
    }
    squeezed(title)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(body: &str) -> (Option<Record>, Vec<&'static str>) {
        let mut diagnostics = Vec::new();
        let record = decode(body, 0, &mut diagnostics);
        (record, diagnostics.iter().map(|it| it.code).collect())
    }

    #[test]
    fn reads_what_is_in_the_wild() {
        let (record, codes) =
            read("execution[2]{phase,agent,status}:\n Planning,pm,success\n    \"Build, test\",,failed\n");
        let record = record.unwrap();
        assert_eq!(record.rows, [["Planning", "pm", "success"], ["Build, test", "", "failed"]]);
        assert_eq!(record.cell(0, "agent"), Some("pm"));
        assert_eq!(record.cell(1, "agent"), None);
        assert!(codes.is_empty(), "{codes:?}");
        assert_eq!(read("execution[1]{phase,status}:\n  a\n").1, ["record-row"]);
        assert_eq!(read("execution[3]{phase,status}:\n  a,b\n").1, ["record-count"]);
        assert_eq!(read("execution[1|]{phase|status}:\n  a,b|c\n").0.unwrap().rows, [["a,b", "c"]]);
    }

    #[test]
    fn malformed_headers_are_named() {
        for body in [
            "execution[2{phase}:\n",
            "execution{a}:",
            "exec[1]{a}:",
            "execution[x]{a}:",
            "execution[1]{a}",
            "execution[1]{a,}:",
        ] {
            assert_eq!(read(body), (None, vec!["record-header"]), "{body}");
        }
        assert_eq!(read(""), (None, vec![]));
    }

    #[test]
    fn squeezes_titles() {
        assert_eq!(squeeze("Receive Order"), squeeze("ReceiveOrder"));
        assert_eq!(squeeze("Phase 1: Planning"), squeeze("Planning"));
        assert_eq!(squeeze("Phases: a"), "phasesa");
    }

    proptest! {
        #[test]
        fn records_read_back(rows in prop::collection::vec(prop::collection::vec("[a-c0-9 ,:\"\\\\\\n#|\\[\\]-]{0,8}", 3), 0..4)) {
            let columns = ["phase", "status", "duration_ms"].map(str::to_owned).to_vec();
            let record = Record { columns, rows, span: Span::default() };
            let mut diagnostics = Vec::new();
            let read = decode(&encode(&record), 0, &mut diagnostics);
            prop_assert_eq!(read, Some(record));
            prop_assert_eq!(diagnostics, vec![]);
        }
    }
}
