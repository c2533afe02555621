//! Lines of a tree, and the guides in front of them.

use unicode_width::UnicodeWidthStr as _;

use crate::base::text::truncate;
use crate::commands::View;
use crate::commands::output::cut;

/// Deeper nesting is drawn at this depth: the guides of a hostile chain would be its square.
const DEEPEST: usize = 24;

/// A line of the tree: its depth, what is always shown, what may be cut, and what follows.
pub(super) struct TreeRow {
    pub(super) depth: usize,
    pub(super) head: String,
    pub(super) label: String,
    pub(super) tail: String,
}

/// All rows as lines; a row belongs to the last one before it that is less deep.
pub(super) fn draw(rows: &[TreeRow], view: &View) -> String {
    // Whether a later line stands at each depth before one that is nearer to the root: from the end, that is known.
    let mut more = [false; DEEPEST + 2];
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        let depth = row.depth.min(DEEPEST);
        let mut guide = String::new();
        for open in more.iter().take(depth).skip(1) {
            guide.push_str(if *open { "│  " } else { "   " });
        }
        if depth > 0 {
            guide.push_str(if more[depth] { "├─ " } else { "└─ " });
        }
        more[depth] = true;
        more[depth + 1..].fill(false);
        lines.push(row.line(&guide, view));
    }
    lines.reverse();
    lines.concat()
}

impl TreeRow {
    fn line(&self, guide: &str, view: &View) -> String {
        let around = format!("{guide}{}{}", self.head, self.tail);
        let used = anstream::adapter::strip_str(&around).to_string().width();
        let label = if view.terminal {
            cut(&self.label, view.width.saturating_sub(used).max(24))
        } else {
            // How much of a label is shown where lines are not cut.
            truncate(&self.label, 180).into_owned()
        };
        let painted = format!("{guide}{}{label}\u{1b}[0m{}", self.head, self.tail);
        format!("{}\n", painted.trim_end())
    }
}
