//! Parts of a text that are cut away, or kept alone.
//!
//! Each function gives the text that is left, or `None` where the row finds nothing in it. All run in linear time.

use memchr::memmem::{find, rfind};

use super::begins_with;
use super::table::Row;

/// What stands between the tags; with heads, only in a text that begins with one of them. An element that is not closed
/// goes on to the end.
pub(super) fn words(row: &Row, text: &str) -> Option<String> {
    if !row.head.is_empty() && !row.head.iter().any(|head| text.trim_start().starts_with(head.as_str())) {
        return None;
    }
    let mut found: Vec<&str> = Vec::new();
    let mut names: Vec<(Option<usize>, &String)> = row.element.iter().map(|name| (Some(0), name)).collect();
    let mut from = 0;
    loop {
        // What stands within an element is its words, tags of others too.
        for (at, name) in names.iter_mut().filter(|(at, _)| at.is_some_and(|at| at < from || from == 0)) {
            *at = text[from..].find(&format!("<{name}>")).map(|at| from + at);
        }
        let Some((at, name)) = names.iter().filter_map(|(at, name)| Some(((*at)?, *name))).min() else { break };
        let inside = &text[at + name.len() + 2..];
        let (part, behind) = inside.split_once(&format!("</{name}>")).unwrap_or((inside, ""));
        found.extend(Some(part.trim()).filter(|part| !part.is_empty()));
        from = text.len() - behind.len();
    }
    (!found.is_empty()).then(|| found.join("\n\n"))
}

/// What stands behind the parts that a text begins with.
pub(super) fn before(row: &Row, text: &str) -> Option<String> {
    let mut rest = text.trim();
    let (mut any, mut stamped) = (false, false);
    loop {
        let part = behind_element(row, rest).or_else(|| behind_line(row, rest)).or_else(|| behind_block(row, rest));
        // A host writes one stamp; behind it the block may follow that it is of.
        let stamp = if row.stamp && !stamped && part.is_none() { behind_stamp(rest) } else { None };
        stamped |= stamp.is_some();
        let Some(behind) = part.or(stamp) else { break };
        rest = behind.trim_start();
        any = true;
    }
    any.then(|| rest.to_owned())
}

fn behind_element<'t>(row: &Row, text: &'t str) -> Option<&'t str> {
    let name = row.element.iter().find(|name| begins_with(text, name))?;
    let close = format!("</{name}>");
    Some(find(text.as_bytes(), close.as_bytes()).map_or("", |at| &text[at + close.len()..]))
}

fn behind_line<'t>(row: &Row, text: &'t str) -> Option<&'t str> {
    let is = row.head.iter().any(|head| text.starts_with(head.as_str()));
    is.then(|| text.split_once('\n').map_or("", |(_, behind)| behind))
}

/// A line that ends with a label, and the block in a fence behind it.
fn behind_block<'t>(row: &Row, text: &'t str) -> Option<&'t str> {
    const FENCE: &str = "```";
    let (first, rest) = text.split_once('\n')?;
    let first = behind_stamp(first).unwrap_or(first);
    if !row.label.iter().any(|label| first.trim_end().ends_with(label.as_str())) {
        return None;
    }
    let (_, block) = rest.trim_start().strip_prefix(FENCE)?.split_once('\n')?;
    let close = format!("\n{FENCE}");
    let at = if block.starts_with(FENCE) { Some(0) } else { find(block.as_bytes(), close.as_bytes()).map(|at| at + 1) };
    let behind = &block[at? + FENCE.len()..];
    Some(behind.split_once('\n').map_or("", |(_, behind)| behind))
}

/// What stands behind `[Fri 2026-11-20 09:31 UTC] `, perhaps with a place before the date. A date alone begins a line
/// of a log.
fn behind_stamp(text: &str) -> Option<&str> {
    const LONGEST: usize = 200;
    let (inside, behind) = text.strip_prefix('[')?.split_once(']')?;
    let words: Vec<&str> = inside.split(' ').collect();
    let is_date = |word: &&&str| word.len() == 10 && word.parse::<jiff::civil::Date>().is_ok();
    let at = words.iter().position(|word| is_date(&word))?;
    let is_time = words.get(at + 1).is_some_and(|word| word.len() >= 5 && word.parse::<jiff::civil::Time>().is_ok());
    // Behind the time there is at most its zone.
    let fits = inside.len() <= LONGEST && !inside.contains('\n') && words.len() <= at + 3;
    (at > 0 && is_time && fits).then(|| behind.trim_start())
}

/// A text without the elements that stand in it. One that is not closed is none of the host's.
pub(super) fn inserted(row: &Row, text: &str) -> Option<String> {
    let mut left: Option<String> = None;
    for name in &row.element {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let from = left.as_deref().unwrap_or(text);
        if let Some(shorter) = without(from, &open, &close) {
            left = Some(shorter);
        }
    }
    left.map(|left| left.trim().to_owned())
}

fn without(text: &str, open: &str, close: &str) -> Option<String> {
    let mut kept = String::new();
    let mut rest = text;
    let mut any = false;
    while let Some(from) = find(rest.as_bytes(), open.as_bytes()) {
        let Some(length) = find(&rest.as_bytes()[from..], close.as_bytes()) else { break };
        kept.push_str(&rest[..from]);
        rest = &rest[from + length + close.len()..];
        any = true;
    }
    kept.push_str(rest);
    any.then_some(kept)
}

/// What stands before the first of the heads.
pub(super) fn after(row: &Row, text: &str) -> Option<String> {
    let at = row.head.iter().filter_map(|head| find(text.as_bytes(), head.as_bytes())).min()?;
    Some(text[..at].trim_end().to_owned())
}

/// What stands behind the first mark that is there, in a text that begins with one of the heads.
pub(super) fn behind(row: &Row, text: &str) -> Option<String> {
    if !row.head.iter().any(|head| text.trim_start().starts_with(head.as_str())) {
        return None;
    }
    let behind = row.ends.iter().find_map(|mark| text.find(mark.as_str()).map(|at| &text[at + mark.len()..]))?;
    Some(behind.trim().to_owned())
}

/// A text without its last line, where that begins with one of the heads and is closed.
pub(super) fn last_line(row: &Row, text: &str) -> Option<String> {
    let text = text.trim_end();
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let is = row.head.iter().any(|head| last.starts_with(head.as_str())) && last.ends_with(']');
    is.then(|| before.trim_end().to_owned())
}

/// An answer without the element or line that it ends with.
pub(super) fn end<'t>(row: &Row, text: &'t str) -> Option<&'t str> {
    let text = text.trim_end();
    let element = row.element.iter().find_map(|name| {
        let inside = text.strip_suffix(&format!("</{name}>"))?;
        rfind(inside.as_bytes(), format!("<{name}>").as_bytes())
    });
    let line = || {
        let from = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
        row.head.iter().any(|head| text[from..].starts_with(head.as_str())).then_some(from)
    };
    element.or_else(line).map(|at| text[..at].trim_end())
}

/// Whether a text ends with the end of the element that it begins with.
pub(super) fn closes(text: &str, name: &str) -> bool {
    let name = name.split(' ').next().unwrap_or(name);
    let inside = text.trim_end().strip_suffix('>').and_then(|text| text.rsplit_once("</"));
    inside.is_some_and(|(_, last)| last.split(' ').next() == Some(name))
}
