//! Blanks and quote marks at the start of a line, counted in columns, where a tab may be used up in parts.

/// A place in one line.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
    column: usize,
    /// Columns of a tab before `at` that are not used up yet.
    spare: usize,
}

impl<'a> Cursor<'a> {
    /// The start of `line`, which holds no line end.
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0, column: 0, spare: 0 }
    }

    /// Offset in the line.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// Columns of blanks ahead, and the offset behind them.
    pub(super) fn indent(&self) -> (usize, usize) {
        let mut columns = self.spare;
        let mut column = self.column;
        let mut at = self.at;
        loop {
            let width = match self.line.get(at) {
                Some(b' ') => 1,
                Some(b'\t') => 4 - column % 4,
                _ => return (columns, at),
            };
            columns += width;
            column += width;
            at += 1;
        }
    }

    /// Uses up at most `columns` columns of blanks.
    pub(super) fn skip(&mut self, mut columns: usize) {
        while columns > 0 {
            if self.spare > 0 {
                let used = self.spare.min(columns);
                self.spare -= used;
                columns -= used;
                continue;
            }
            match self.line.get(self.at) {
                Some(b' ') => {
                    self.column += 1;
                    columns -= 1;
                }
                Some(b'\t') => {
                    self.spare = 4 - self.column % 4;
                    self.column += self.spare;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    /// Goes behind `bytes` bytes that are no blanks, after all blanks before them.
    pub(super) fn advance(&mut self, bytes: usize) {
        let (columns, _) = self.indent();
        self.skip(columns);
        self.at += bytes;
        self.column += bytes;
    }

    /// Takes a quote mark with up to three blanks before it and one behind it.
    pub(super) fn quote(&mut self) -> bool {
        let (columns, at) = self.indent();
        if columns > 3 || self.line.get(at) != Some(&b'>') {
            return false;
        }
        self.advance(1);
        self.skip(1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_are_used_up_in_parts() {
        let mut cursor = Cursor::new(b">\t- x");
        assert!(cursor.quote());
        assert_eq!(cursor.indent(), (2, 2));
        cursor.skip(1);
        assert_eq!(cursor.indent(), (1, 2));
        cursor.advance(1);
        assert_eq!(cursor.rest(), b" x");
    }

    #[test]
    fn a_quote_mark_is_indented_by_three_at_most() {
        assert!(Cursor::new(b"   > a").quote());
        assert!(!Cursor::new(b"    > a").quote());
    }
}
