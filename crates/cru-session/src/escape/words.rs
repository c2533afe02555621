//! A person's exact words: in quotes, and what was done behind them.
//!
//! `"words" - interpretation`. The quotes stand on lines of their own where the words begin or end with a block, so
//! that a fence or list in them stays one. The closing quote is the first live `"` outside code that ` - ` follows or
//! that ends the last line; one inside the words that would be taken for it is escaped.

use super::Place;
use super::danger::{self, is_field, may_end};
use super::outline::{Line, Outline};
use super::slash::{Way, slashes_before};
use super::turn;
use cru_base::text;

/// Where the words stand.
const WORDS: Place<'static> = Place { below_text: true, quote: true, ..Place::PROSE };
/// Where the interpretation stands.
const INTERPRETED: Place<'static> = Place { dash: true, ..Place::PROSE };

/// A body with quoted words, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The exact words, or the whole body where it has no quotes.
    pub words: String,
    /// What was done with them.
    pub interpretation: Option<String>,
    /// What follows on later lines, as written: fields.
    pub rest: String,
}

/// `words` in quotes, with what was done.
pub fn quoted(words: &str, interpretation: Option<&str>) -> String {
    let words = text::sanitise(words);
    let words = turn::lines(words.trim(), Way::Escape, WORDS);
    let lines: Vec<&str> = words.split('\n').collect();
    let mut outline = Outline::new(&lines, true);
    let mut kinds = (0..lines.len()).map(|index| outline.next_line(index));
    let first = kinds.next();
    let last = kinds.last().or_else(|| first.clone());
    let plain = |kind: Option<&Line>, line: Option<&&str>| {
        matches!(kind, Some(Line::Text { at: 0, .. })) && line.is_none_or(|line| !line.starts_with('|'))
    };
    let open = if words.is_empty() || plain(first.as_ref(), lines.first()) { "" } else { "\n" };
    let close = match &last {
        // A backslash would take the quote with it.
        _ if words.ends_with('\\') => "\n",
        _ if words.is_empty() || plain(last.as_ref(), lines.last()) => "",
        Some(Line::Text { .. }) => "\n\n",
        _ => "\n",
    };
    let mut out = format!("\"{open}{words}{close}\"");
    let interpreted =
        interpretation.map(|interpreted| text::fold_whitespace(&text::sanitise(interpreted))).unwrap_or_default();
    if !interpreted.is_empty() {
        out.push_str(" - ");
        out.push_str(&turn::line(&interpreted, Way::Escape, INTERPRETED));
    }
    out
}

/// Takes the body of a `[!user]` callout (quote marks of the callout taken off, escapes still in) apart.
pub fn split_quoted(body: &str) -> Words {
    let body = body.trim();
    let whole = || Words { words: turn::lines(body, Way::Undo, WORDS), ..Words::default() };
    let Some(inner) = body.strip_prefix('"') else { return whole() };
    let inner = inner.strip_prefix('\n').unwrap_or(inner);
    let Some(end) = closing(inner) else { return whole() };
    let words = turn::lines(inner[..end].trim(), Way::Undo, WORDS);
    let (tail, rest) = tail(&inner[end + 1..]);
    let interpretation = tail.and_then(|tail| {
        let interpreted = turn::line(&text::fold_whitespace(last_part(tail)), Way::Undo, INTERPRETED);
        (!interpreted.is_empty()).then_some(interpreted)
    });
    Words { words, interpretation, rest: rest.trim().to_owned() }
}

/// Where the quote ends: where it must, else (by hand) at the last quote of all.
fn closing(inner: &str) -> Option<usize> {
    let lines: Vec<&str> = inner.split('\n').collect();
    let mut outline = Outline::new(&lines, true);
    let mut start = 0;
    let mut last = None;
    for (index, line) in lines.iter().enumerate() {
        if let Line::Text { at, table, .. } = outline.next_line(index) {
            let quotes = danger::quotes(line, at, table, may_end(&lines, index));
            if let Some((sure, _)) = quotes.iter().find(|(_, sure)| *sure) {
                return Some(start + sure);
            }
            last = quotes.last().map(|(quote, _)| start + quote).or(last);
        }
        start += line.len() + 1;
    }
    last
}

/// What stands behind the closing quote: the words that belong to it, and the lines that are fields.
fn tail(after: &str) -> (Option<&str>, &str) {
    let mut end = 0;
    for line in after.split_inclusive('\n') {
        if end > 0 && (is_field(line) || line.trim().is_empty()) {
            break;
        }
        end += line.len();
    }
    let (tail, rest) = after.split_at(end);
    (Some(tail).filter(|tail| !tail.trim().is_empty()), rest)
}

/// What follows the last live ` - `.
fn last_part(tail: &str) -> &str {
    let plain = super::view::View::of(tail, 0, false);
    let dash = plain.plain.rmatch_indices(" - ").find_map(|(at, _)| {
        let raw = plain.raw(at + 1)?;
        slashes_before(tail, raw, 0).is_multiple_of(2).then_some(raw + 1)
    });
    let tail = dash.map_or(tail, |from| &tail[from..]).trim();
    // A dash at the line's end, the words wrapped by an editor.
    tail.strip_prefix('-').filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(tail)
}
