//! Where a new frontmatter key goes, where keys have an order.
//!
//! It looks for a place between lines and moves none: keys that stand in another order, and keys of a person, stay where
//! they are.

use crate::frontmatter::Values;
use crate::frontmatter::split::lines_from;
use cru_base::Span;

/// The place of `key` among the properties in `yaml`; none where no key of `order` is there to tell.
pub(super) fn place(text: &str, yaml: Span, values: &Values, key: &str, order: &[&str]) -> Option<usize> {
    let at = order.iter().position(|known| *known == key)?;
    let lines = |known: &&str| values.entries().iter().rev().find(|entry| entry.key == **known)?.lines;
    let before = order[..at].iter().rev().find_map(lines);
    let after = || order[at + 1..].iter().find_map(lines);
    before.map(|lines| behind(text, yaml, lines.end)).or_else(|| after().map(|lines| above(text, yaml, lines.start)))
}

/// Behind the comments that are indented as the value is which ends at `end`.
fn behind(text: &str, yaml: Span, end: usize) -> usize {
    let mut place = end;
    let yaml = &text[..yaml.end];
    for line in lines_from(yaml, end) {
        let content = line.of(yaml);
        let comment = content.trim_start_matches([' ', '\t']);
        if comment.starts_with('#') && comment.len() < content.len() {
            place = line.end;
        } else if !comment.trim().is_empty() {
            break;
        }
    }
    place
}

/// Above the comments that stand right above the key at `start`.
fn above(text: &str, yaml: Span, start: usize) -> usize {
    let lines: Vec<Span> = lines_from(&text[..start], yaml.start).collect();
    let comments = lines.iter().rev().take_while(|line| line.of(text).starts_with('#'));
    comments.last().map_or(start, |line| line.start)
}
