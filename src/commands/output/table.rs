//! Columns for people.

use std::borrow::Cow;

use rayon::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use super::View;
use super::style::{self, paint};
use crate::base::text::sanitise;

/// Rows that one thread lays out before another helps.
const TOGETHER: usize = 256;

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
    /// Columns that it takes.
    width: usize,
    style: anstyle::Style,
}

impl Cell {
    /// A plain cell. Control characters are taken out, line ends become blanks.
    pub fn new(text: impl AsRef<str>) -> Self {
        let mut text = sanitise(text.as_ref()).into_owned();
        if text.contains(['\n', '\t']) {
            text = text.replace(['\n', '\t'], " ");
        }
        let width = text.width();
        Self { text, width, style: anstyle::Style::new() }
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

    /// Adds what a row is made of for each of `items`, on all threads where there are many.
    pub fn extend<T: Sync, const N: usize>(&mut self, items: &[T], row: impl Fn(&T) -> [Cell; N] + Sync) {
        self.rows.par_extend(items.par_iter().with_min_len(TOGETHER).map(|item| row(item).into()));
    }

    /// The table as lines.
    pub fn render(&self, view: &View) -> String {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|index| {
                let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.width);
                cells.chain([self.columns[index].0.width()]).max().unwrap_or(0)
            })
            .collect();
        let head: Vec<Cell> = self.columns.iter().map(|(name, _)| Cell::new(name).style(style::DIM)).collect();
        let mut out = String::new();
        self.line(&head, &widths, view, &mut out);
        let lines = self.rows.par_chunks(TOGETHER).map(|rows| {
            let mut out = String::new();
            for row in rows {
                self.line(row, &widths, view, &mut out);
            }
            out
        });
        out.push_str(&lines.collect::<Vec<_>>().concat());
        out
    }

    fn line(&self, row: &[Cell], widths: &[usize], view: &View, out: &mut String) {
        let mut used = 0;
        for (index, (cell, (width, (_, align)))) in row.iter().zip(widths.iter().zip(&self.columns)).enumerate() {
            let last = index + 1 == self.columns.len();
            let room = if last && view.terminal { view.width.saturating_sub(used).max(8) } else { usize::MAX };
            let text = if cell.width > room { Cow::Owned(cut(&cell.text, room)) } else { (&*cell.text).into() };
            let pad = std::iter::repeat_n(' ', width.saturating_sub(cell.width));
            if *align == Align::Right {
                out.extend(pad.clone());
            }
            if cell.style.is_plain() {
                out.push_str(&text);
            } else {
                out.push_str(&paint(cell.style, text));
            }
            if *align == Align::Left && !last {
                out.extend(pad);
            }
            if !last {
                out.push_str("  ");
            }
            used += width + 2;
        }
        out.push('\n');
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
