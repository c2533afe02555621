//! The looks of a step that are not told each: files read, searches, listings, and what was tried, folded away in the order
//! of the session.

use std::collections::HashMap;

use super::call::{Call, CallKind, Ended};
use super::clean;
use super::data::Data;
use super::draft::Draft;
use super::unit::Entry;
use super::whole::Whole;
use crate::model::Part;
use crate::text::code_span;
use cru_action::ToolKind;
use cru_base::text::{plural, truncate};
use cru_session::Item;

/// Looks between two things that are told.
const MAX_TOLD: usize = 40;
/// Characters of one.
const MAX_LINE: usize = 300;

/// Adds the looks of `draft` to `parts`: those between two things that are told stand together where the last of them
/// stands.
pub(super) fn add(draft: &Draft<'_>, data: &Data, whole: &Whole<'_>, parts: &mut HashMap<usize, Vec<Part>>) {
    let mut lines: Vec<String> = Vec::new();
    let mut count = 0;
    let mut last = 0;
    for (at, entry) in draft.entries.iter().enumerate() {
        let look = entry.call().filter(|_| !parts.contains_key(&at)).and_then(|call| line(call, data, whole));
        if let Some(line) = look {
            last = at;
            // The same look again says no more.
            if !lines.contains(&line) {
                count += 1;
                if lines.len() < MAX_TOLD {
                    lines.push(line);
                }
            }
        } else if parts.contains_key(&at) || is_told(entry) {
            flush(&mut lines, &mut count, last, parts);
        }
    }
    flush(&mut lines, &mut count, last, parts);
}

fn flush(lines: &mut Vec<String>, count: &mut usize, at: usize, parts: &mut HashMap<usize, Vec<Part>>) {
    if lines.is_empty() {
        return;
    }
    let mut text = format!("> [!looks]- {}", plural(*count as u64, "look"));
    for line in lines.iter() {
        text.push_str("\n> - ");
        text.push_str(line);
    }
    if *count > lines.len() {
        text.push_str(&format!("\n> - and {} more", *count - lines.len()));
    }
    lines.clear();
    *count = 0;
    parts.entry(at).or_default().push(Part::prose(text));
}

/// Whether something that is no call is told in its place.
fn is_told(entry: &Entry<'_>) -> bool {
    match entry {
        Entry::Call(call) => call.kind == CallKind::Edit && call.succeeded(),
        Entry::Request { .. } | Entry::Conclusion(..) => true,
        Entry::Item(item, _) => {
            matches!(item, Item::Decision(_) | Item::Subagent(_) | Item::Error(_) | Item::Callout(_))
        }
    }
}

/// A look with what it looked at or for; `None` for a call that is none, or that says nothing.
fn line(call: &Call<'_>, data: &Data, whole: &Whole<'_>) -> Option<String> {
    let looks = match call.tool {
        ToolKind::Shell => matches!(call.kind, CallKind::Look | CallKind::Run),
        ToolKind::Read | ToolKind::Search => true,
        _ => false,
    };
    if !looks || matches!(call.ended, Ended::Denied) {
        return None;
    }
    let text = if call.tool == ToolKind::Shell {
        let mut lines = call.text.lines();
        let first = lines.next().unwrap_or_default();
        let more = if lines.next().is_some() { " …" } else { "" };
        data.named(&format!("{}{more}", whole.facts.inputs.named(first, call.keeps_versions)))
    } else {
        let args = clean(call.step.full_args());
        let what = call.reads.first().map(AsRef::as_ref).filter(|_| call.tool == ToolKind::Read);
        format!("{} {}", call.step.tool, what.unwrap_or(&args))
    };
    let text = clean(&truncate(&clean(&text), MAX_LINE));
    let failed = match call.step.exit.filter(|_| call.failed()) {
        Some(code) => format!(" — exit {code}"),
        None if call.failed() => " — failed".to_owned(),
        None => String::new(),
    };
    text.contains(char::is_alphanumeric).then(|| format!("{}{failed}", code_span(&text)))
}
