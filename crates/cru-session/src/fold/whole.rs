//! What a full account shows of a call's input and answer: as much as a person reads, its beginning and its end.
//!
//! Nothing is shown twice: an input that is the step's own argument and an answer that is the step's result line are left
//! out. Texts come here free of secrets, so that no cut can hide a part of one from the rules.

use std::fmt::Write as _;

use serde_json::Value;

use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, plural, sanitise};

/// Lines that stand for a long text: at its beginning, and at its end.
const LINES: (usize, usize) = (30, 10);

/// Bytes of one line.
const LINE: usize = 400;

/// Bytes of one text.
const BYTES: usize = 6_000;

/// Bytes of all texts of a stream: a note that holds more can be opened by nobody.
const ALL: usize = 16 << 20;

/// What is left of [`ALL`].
#[derive(Debug)]
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(ALL)
    }
}

impl Room {
    /// `text` as it is shown; `None` where nothing of it is, or there is no room left.
    pub(super) fn shown(&mut self, text: &str) -> Option<String> {
        let text = bounded(text);
        if text.is_empty() || text.len() > self.0 {
            return None;
        }
        self.0 -= text.len();
        Some(text)
    }
}

/// A call's input, an argument a line; empty where `args` say all of it.
pub(super) fn given(input: &Value, args: &str) -> String {
    let Value::Object(map) = input else { return String::new() };
    let args = fold_whitespace(args);
    let mut out = String::new();
    for (name, value) in map {
        let text = match value {
            Value::String(text) => text.trim_end(),
            Value::Null => continue,
            other => {
                let _ = writeln!(out, "{name}: {other}");
                continue;
            }
        };
        // A path is shown from the project on.
        let line = fold_whitespace(text);
        if line.is_empty() || args.contains(&line) || (!args.is_empty() && line.ends_with(&args)) {
            continue;
        }
        if text.contains('\n') {
            let _ = writeln!(out, "{name}:");
            for line in text.lines() {
                let _ = writeln!(out, "{}{line}", if line.is_empty() { "" } else { "  " });
            }
        } else {
            let _ = writeln!(out, "{name}: {text}");
        }
    }
    out
}

/// An answer; empty where the step's line, `told`, is all of it.
pub(super) fn answered<'t>(output: &'t str, told: &str) -> &'t str {
    if output.trim() == told { "" } else { output }
}

fn bounded(text: &str) -> String {
    let text = sanitise(text);
    let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
    let cut = |line: &str| match floor_char_boundary(line, LINE) {
        end if end < line.len() => format!("{}…", &line[..end]),
        _ => line.to_owned(),
    };
    let (mut first, mut last) = if lines.len() > LINES.0 + LINES.1 + 1 { LINES } else { (lines.len(), 0) };
    let size = |lines: &[&str]| lines.iter().map(|line| line.len().min(LINE) + 1).sum::<usize>();
    while first + last > 2 && size(&lines[..first]) + size(&lines[lines.len() - last..]) > BYTES {
        (first, last) = if last == 0 { (first * 2 / 3, first / 6) } else { (first * 3 / 4, last * 3 / 4) };
        first = first.max(1);
    }
    let mut out: Vec<String> = lines[..first].iter().map(|line| cut(line)).collect();
    let hidden = lines.len() - first - last;
    if hidden > 0 {
        out.push(format!("… {} …", plural(hidden as u64, "more line")));
    }
    out.extend(lines[lines.len() - last..].iter().map(|line| cut(line)));
    out.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inputs_without_what_the_line_says() {
        let input = json!({"path": "src/a.rs", "old": "x\n\n  y\n", "all": true, "none": null, "n": 3});
        insta::assert_snapshot!(given(&input, "src/a.rs"), @r"
        old:
          x

            y
        all: true
        n: 3
        ");
        assert_eq!(given(&json!({"command": "ls\n-la"}), "ls -la"), "");
        assert_eq!(given(&json!("text"), ""), "");
    }

    #[test]
    fn long_texts_keep_both_ends() {
        let text: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
        let shown = bounded(&text.join("\n"));
        assert!(shown.starts_with("line 1\nline 2\n") && shown.ends_with("\nline 99\nline 100"), "{shown}");
        assert!(shown.contains("line 30\n… 60 more lines …\nline 91"), "{shown}");
        assert_eq!(bounded(&text[..41].join("\n")), text[..41].join("\n"));
        assert_eq!(bounded("\n\na  \n"), "a");
    }

    #[test]
    fn no_text_takes_more_than_its_room() {
        for lines in [1, 5, 39, 42, 5_000] {
            let shown = bounded(&vec!["é".repeat(3_000); lines].join("\n"));
            assert!(shown.len() < BYTES + 200, "{lines}: {}", shown.len());
        }
        let mut room = Room(10);
        assert_eq!(room.shown("12345678").as_deref(), Some("12345678"));
        assert_eq!((room.shown("123"), room.shown("12").as_deref()), (None, Some("12")));
    }
}
