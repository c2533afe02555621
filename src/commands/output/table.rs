//! Columns for people.

use std::borrow::Cow;
use std::fmt::Write as _;

use rayon::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use super::View;
use super::style;
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
        if memchr::memchr2(b'\n', b'\t', text.as_bytes()).is_some() {
            text = text.replace(['\n', '\t'], " ");
        }
        let width = if text.is_ascii() { text.len() } else { text.width() };
        Self { text, width, style: anstyle::Style::new() }
    }

    /// In a style.
    #[must_use]
    pub fn style(mut self, style: anstyle::Style) -> Self {
        self.style = style;
        self
    }
}

/// Rows of cells under headings. On a terminal one column takes what is left of the width, a third of it at least while others can
/// leave; in a pipe nothing is cut.
#[derive(Debug)]
pub struct Table<'a> {
    columns: Vec<(&'a str, Align)>,
    rows: Vec<Vec<Cell>>,
    /// The column that is cut where a terminal has no room.
    wide: usize,
    /// In which order columns leave a terminal that has no room for them, the smallest first; those with 0 stay.
    ranks: Vec<u8>,
}

impl<'a> Table<'a> {
    /// An empty table.
    pub fn new(columns: &[(&'a str, Align)]) -> Self {
        let wide = columns.len().saturating_sub(1);
        Self { columns: columns.to_vec(), rows: Vec::new(), wide, ranks: vec![0; columns.len()] }
    }

    /// With another column that is cut than the last one.
    #[must_use]
    pub fn wide(mut self, column: usize) -> Self {
        self.wide = column;
        self
    }

    /// With the order in which columns leave a terminal that has no room for them, a rank for each; those with 0 stay.
    #[must_use]
    pub fn leaving(mut self, ranks: Vec<u8>) -> Self {
        self.ranks = ranks;
        self
    }

    /// Adds a row with one cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds what a row is made of for each of `items`, on all threads where there are many.
    pub fn extend<T: Sync, R: Into<Vec<Cell>>>(&mut self, items: &[T], row: impl Fn(&T) -> R + Sync) {
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
        let shown = self.fitting(&widths, view);
        let head: Vec<Cell> = self.columns.iter().map(|(name, _)| Cell::new(name).style(style::DIM)).collect();
        let mut out = String::new();
        self.line(&head, &shown, &mut out);
        let lines = self.rows.par_chunks(TOGETHER).map(|rows| {
            let mut out = String::new();
            for row in rows {
                self.line(row, &shown, &mut out);
            }
            out
        });
        out.push_str(&lines.collect::<Vec<_>>().concat());
        out
    }

    /// The columns that are shown, each with its width.
    fn fitting(&self, widths: &[usize], view: &View) -> Vec<(usize, usize)> {
        let mut shown: Vec<(usize, usize)> = widths.iter().copied().enumerate().collect();
        if !view.terminal {
            return shown;
        }
        let room = |shown: &[(usize, usize)]| {
            let others = shown.iter().filter(|(at, _)| *at != self.wide).map(|(_, width)| width + 2);
            view.width.saturating_sub(others.sum())
        };
        while room(&shown) < widths[self.wide].min(view.width / 3) {
            let leaving = shown.iter().map(|(at, _)| *at).filter(|at| self.ranks[*at] > 0);
            let Some(first) = leaving.min_by_key(|at| self.ranks[*at]) else { break };
            shown.retain(|(at, _)| *at != first);
        }
        let room = room(&shown).max(8);
        shown.iter_mut().filter(|(at, _)| *at == self.wide).for_each(|(_, width)| *width = room.min(*width));
        shown
    }

    fn line(&self, row: &[Cell], shown: &[(usize, usize)], out: &mut String) {
        for (place, (at, width)) in shown.iter().enumerate() {
            let Some(cell) = row.get(*at) else { break };
            let last = place + 1 == shown.len();
            let text = if cell.width > *width { Cow::Owned(cut(&cell.text, *width)) } else { (&*cell.text).into() };
            let pad = " ".repeat(width.saturating_sub(cell.width));
            let align = self.columns[*at].1;
            if align == Align::Right {
                out.push_str(&pad);
            }
            if cell.style.is_plain() {
                out.push_str(&text);
            } else {
                let _ = write!(out, "{}{text}{:#}", cell.style, cell.style);
            }
            if align == Align::Left && !last {
                out.push_str(&pad);
            }
            if !last {
                out.push_str("  ");
            }
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
