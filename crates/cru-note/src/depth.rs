//! How deep quotes and lists could nest, as an upper bound that holds whatever the lines mean.
//!
//! A line opens at most as many containers as it has marks in front. A container that was open goes on only where the
//! line pays for it, a quote with its mark and a list item with two columns of blanks, or where the line goes on with a
//! paragraph, and then it opens none.

use super::marker;

/// Blocks deeper than this are not read.
pub(super) const MAX: usize = 32;

/// The marks of containers at the start of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefix {
    /// Quote marks, list markers, footnote labels.
    pub(super) markers: usize,
    /// Columns of blanks before the last mark (or before the text, without marks); tabs count four.
    pub(super) columns: usize,
    /// Where the last mark ends.
    pub(super) end: usize,
}

impl Prefix {
    /// Reads the marks of `line`. A row of `- - -` to the line's end is a rule and counts as none.
    pub(super) fn of(line: &[u8]) -> Self {
        let mut prefix = Self::default();
        let mut columns = 0;
        let mut at = 0;
        let mut run = (0, 0);
        loop {
            match line.get(at) {
                Some(b' ') => columns += 1,
                Some(b'\t') => columns += 4,
                byte => {
                    let len = match byte {
                        Some(b'>') => 1,
                        Some(b'[') => marker::footnote(&line[at..]).unwrap_or(0),
                        Some(b'-' | b'+' | b'*' | b'0'..=b'9') => {
                            marker::list_marker(&line[at..]).map_or(0, |marker| marker.len)
                        }
                        _ => 0,
                    };
                    if len == 0 {
                        break;
                    }
                    run = if line[at] == run.0 { (run.0, run.1 + 1) } else { (line[at], 1) };
                    prefix.markers += 1;
                    prefix.columns = columns;
                    at += len;
                    prefix.end = at;
                    continue;
                }
            }
            at += 1;
        }
        if prefix.markers == 0 {
            prefix.columns = columns;
        }
        if matches!(run, (b'-' | b'*', 3..)) && marker::is_blank(&line[at..]) {
            prefix.markers -= run.1;
        }
        prefix
    }
}

/// The bound, line after line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bound {
    depth: usize,
    after_blank: bool,
}

impl Bound {
    /// Whether the last line was blank.
    pub(super) fn after_blank(self) -> bool {
        self.after_blank
    }

    /// Whether the parser could stand deeper than [`MAX`].
    pub(super) fn is_too_deep(self) -> bool {
        self.depth > MAX
    }

    /// Reads on.
    pub(super) fn line(&mut self, line: &[u8], prefix: Prefix) {
        if prefix.markers > 0 {
            let paid = prefix.markers + prefix.columns / 2;
            self.depth = paid.min(self.depth + prefix.markers);
            self.after_blank = false;
        } else if marker::is_blank(line) {
            self.blank();
        } else {
            self.text(prefix.columns);
        }
    }

    /// Reads a blank line.
    pub(super) fn blank(&mut self) {
        self.after_blank = true;
    }

    /// Reads a line without marks, behind `columns` of blanks.
    pub(super) fn text(&mut self, columns: usize) {
        if self.after_blank {
            self.depth = self.depth.min(columns / 2);
        }
        self.after_blank = false;
    }

    /// The bound when the parser never saw the marks of `line`.
    pub(super) fn seen(self, line: &[u8]) -> Self {
        Self { after_blank: marker::is_blank(line), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> usize {
        let mut bound = Bound::default();
        for line in text.lines() {
            bound.line(line.as_bytes(), Prefix::of(line.as_bytes()));
        }
        bound.depth
    }

    #[test]
    fn counts_marks() {
        assert_eq!(after("> - a"), 2);
        assert_eq!(after("> > > a\nlazy"), 3);
        assert_eq!(after("> > > a\n\nfree"), 0);
        assert_eq!(after("- a\n  - b\n    - c"), 3);
        assert_eq!(after("- a\n- b\n- c"), 1);
        assert_eq!(after("[^1]: > a"), 2);
        assert_eq!(after(&"- ".repeat(100)), 0);
        assert_eq!(after(&"+ ".repeat(100)), 100);
        assert_eq!(after(&format!("{}x", "- ".repeat(100))), 100);
    }
}
