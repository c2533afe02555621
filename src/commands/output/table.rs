//! Columns for people.

use unicode_width::UnicodeWidthStr as _;

use super::View;
use super::style::{self, paint};
use crate::base::text::sanitise;

/// How a column lines up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One cell: text and the style it is painted in.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: anstyle::Style,
}

impl Cell {
    /// A plain cell. Control characters are taken out, line ends become blanks.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self { text: sanitise(text.as_ref()).replace(['\n', '\t'], " "), style: anstyle::Style::new() }
    }

    /// In a style.
    #[must_use]
    pub fn style(mut self, style: anstyle::Style) -> Self {
        self.style = style;
        self
    }
}

/// Rows of cells under headings. The last column takes what is left of a terminal's width; in a pipe nothing is cut.
#[derive(Debug)]
pub struct Table<'a> {
    columns: Vec<(&'a str, Align)>,
    rows: Vec<Vec<Cell>>,
}

impl<'a> Table<'a> {
    /// An empty table.
    pub fn new(columns: &[(&'a str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with one cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as lines.
    pub fn render(&self, view: &View) -> String {
        let mut out = String::new();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|index| {
                let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.width());
                cells.chain([self.columns[index].0.width()]).max().unwrap_or(0)
            })
            .collect();
        let head: Vec<Cell> = self.columns.iter().map(|(name, _)| Cell::new(name).style(style::DIM)).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            let mut used = 0;
            for (index, cell) in row.iter().enumerate().take(self.columns.len()) {
                let last = index + 1 == self.columns.len();
                let text = if last && view.terminal {
                    cut(&cell.text, view.width.saturating_sub(used).max(8))
                } else {
                    cell.text.clone()
                };
                let pad = " ".repeat(widths[index].saturating_sub(text.width()));
                let painted = if cell.style.is_plain() { text } else { paint(cell.style, text) };
                match self.columns[index].1 {
                    Align::Left if last => out.push_str(&painted),
                    Align::Left => out.extend([painted.as_str(), &pad]),
                    Align::Right => out.extend([pad.as_str(), &painted]),
                }
                if !last {
                    out.push_str("  ");
                }
                used += widths[index] + 2;
            }
            out.push('\n');
        }
        out
    }
}

/// `text` cut to `width` columns, `…` at the end when something was cut.
pub fn cut(text: &str, width: usize) -> String {
    use unicode_segmentation::UnicodeSegmentation as _;
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        used += grapheme.width();
        if used >= width {
            break;
        }
        out.push_str(grapheme);
    }
    out.push('…');
    out
}
