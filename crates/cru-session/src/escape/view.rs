//! A line as its readers see it: without backslashes, each code span one character.

use super::code;

/// Stands for a code span; text that was cleaned holds no such character.
pub(super) const CODE: char = '\u{1}';

/// A line without backslashes and code. Both directions of the escaping see the same one.
#[derive(Debug)]
pub(super) struct View {
    /// What is left.
    pub(super) plain: String,
    /// Byte offset in the line, for each byte of `plain`.
    at: Vec<usize>,
}

impl View {
    /// Looks at `line` from byte `from` on.
    pub(super) fn of(line: &str, from: usize, table: bool) -> Self {
        let rest = line.get(from..).unwrap_or("");
        let mut view = Self { plain: String::with_capacity(rest.len()), at: Vec::with_capacity(rest.len()) };
        let mut done = 0;
        for span in code::inert_spans(rest, table) {
            view.text(&rest[done..span.start], from + done);
            view.plain.push(CODE);
            view.at.push(from + span.start);
            done = span.end;
        }
        view.text(&rest[done..], from + done);
        view
    }

    fn text(&mut self, text: &str, from: usize) {
        let mut start = 0;
        for part in text.split('\\') {
            self.plain.push_str(part);
            self.at.extend(from + start..from + start + part.len());
            start += part.len() + 1;
        }
    }

    /// `text` without its backslashes.
    pub(super) fn without_slashes(text: &str) -> String {
        text.chars().filter(|c| *c != '\\').collect()
    }

    /// Where byte `index` of `plain` stands in the line.
    pub(super) fn raw(&self, index: usize) -> Option<usize> {
        self.at.get(index).copied()
    }
}
