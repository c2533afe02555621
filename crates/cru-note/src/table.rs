//! The size of tables, from their lines, before the markdown parser makes cells of them.
//!
//! That parser fills up rows that lack cells, and after a quarter of a million filled cells it loses its place; so a
//! table that lacks too many is read only up to there.

/// Tables of more columns are not read.
pub(super) const MAX_COLUMNS: usize = 128;

/// Rows are read until a table lacks more cells than this.
const MAX_MISSING: usize = 200_000;

/// A table that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    columns: usize,
    missing: usize,
}

impl Table {
    /// A table of `columns`.
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, missing: 0 }
    }

    /// Reads a row; `false` when the table lacks too many cells.
    pub(super) fn row(&mut self, row: &[u8]) -> bool {
        self.missing += self.columns.saturating_sub(cells(row));
        self.missing <= MAX_MISSING
    }
}

/// The columns of a line that could be the second one of a table.
pub(super) fn columns(line: &[u8]) -> Option<usize> {
    if !matches!(line.first(), Some(b'|' | b':' | b'-')) {
        return None;
    }
    let only = line.iter().all(|byte| matches!(byte, b'|' | b':' | b'-' | b' ' | b'\t' | b'\r'));
    (only && memchr::memchr2(b'|', b':', line).is_some()).then(|| cells(line))
}

/// Whether `line` could be the second one of a table with too many columns.
pub(super) fn is_wide(line: &[u8]) -> bool {
    line.len() > 2 * MAX_COLUMNS && columns(line).is_some_and(|columns| columns > MAX_COLUMNS)
}

fn cells(row: &[u8]) -> usize {
    let row = row.trim_ascii();
    let row = row.strip_prefix(b"|").unwrap_or(row);
    let row = if row.ends_with(b"\\|") { row } else { row.strip_suffix(b"|").unwrap_or(row) };
    1 + memchr::memchr_iter(b'|', row).filter(|&at| at == 0 || row[at - 1] != b'\\').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!(columns(b"|---|:-:|"), Some(2));
        assert_eq!(columns(b"--- | ---"), Some(2));
        assert_eq!(columns(b"---"), None);
        assert_eq!(columns(b"| a |"), None);
        assert_eq!(cells(b"| a \\| b | c |"), 2);
        assert!(is_wide("|-".repeat(129).as_bytes()) && !is_wide(format!("{}|", "|-".repeat(128)).as_bytes()));
    }

    #[test]
    fn rows_lack_cells() {
        let mut table = Table::new(100);
        assert!((0..2_000).all(|_| table.row(b"|a|")));
        assert!((0..100).any(|_| !table.row(b"|a|")));
    }
}
