//! Tool call lists: an item with its nested lines is a step.

use jiff::civil::Date;

use crate::model::{FileRef, Step};
use crate::{escape, file_ref, render, step_line};
use cru_base::Span;
use cru_note::{Block, BlockKind, Note};

use super::link;

/// Whether a list item is a step: a code span, then an arrow, a time or nothing. Without the `**Tool calls:**` line
/// above, only an arrow tells.
pub(super) fn is_step(note: &Note, item: &Block, header: bool) -> bool {
    let Some(line) = first_line(note, item) else { return false };
    step_line::is_step(line, header)
}

/// The step of a list item.
pub(super) fn step(note: &Note, item: &Block, header: bool, day: Option<Date>) -> Option<Step> {
    let mut step = step_line::parse(first_line(note, item)?, header, day)?;
    step.id = note.id(item).map(str::to_owned);
    step.span = item.content;
    for (index, child) in item.children.iter().enumerate() {
        match &child.kind {
            BlockKind::List { .. } => {
                for nested in &child.children {
                    field(note, nested, &mut step);
                }
            }
            BlockKind::Fence { info, .. } => {
                let place = match info.of(note.text()).trim() {
                    render::INPUT => &mut step.input,
                    render::OUTPUT => &mut step.output,
                    _ => &mut step.command,
                };
                if place.is_none() {
                    *place = Some(escape::uncode_text(note.unquoted(child).as_str()).into_owned());
                }
            }
            BlockKind::Paragraph if index == 0 && child.content.of(note.text()).contains('\n') => {
                // Lines that an editor wrapped under the first one.
                let lines = note.unquoted(child).into_string();
                for line in lines.lines().skip(1) {
                    step_line::nested(&mut step, line.trim());
                }
            }
            _ => {}
        }
    }
    Some(step)
}

fn field(note: &Note, nested: &Block, step: &mut Step) {
    let BlockKind::ListItem { text, .. } = nested.kind else { return };
    let line = text.of(note.text());
    let links = || link::all(note, text);
    let name = line.split_once(':').map_or("", |(name, _)| name.trim());
    if name.eq_ignore_ascii_case("after") {
        step.after.extend(links());
    } else if name.eq_ignore_ascii_case("replays") {
        step.replays = links().into_iter().next();
    } else if name.eq_ignore_ascii_case("cell") && !links().is_empty() {
        step.cell = links().into_iter().next();
    } else {
        step_line::nested(step, line);
    }
}

fn first_line<'a>(note: &'a Note, item: &Block) -> Option<&'a str> {
    match item.kind {
        BlockKind::ListItem { text, .. } => Some(text.of(note.text())),
        _ => None,
    }
}

/// Reads a report `**Inputs**: a, b`, `**Outputs**: c (created)`, `**Summary**: …` into the step before it; `false`
/// when the block is none.
pub(super) fn report(note: &Note, block: &Block, step: &mut Step) -> bool {
    // Nearly everything that follows a step is none, and its first line tells.
    let first = block.content.of(note.text()).lines().next().unwrap_or_default();
    if report_field(first.trim_start_matches(['>', ' ', '\t'])).is_none() {
        return false;
    }
    let text = note.unquoted(block).into_string();
    let fields: Option<Vec<_>> = text.lines().filter(|line| !line.trim().is_empty()).map(report_field).collect();
    // One other line makes it prose; a summary alone is no report.
    let Some(fields) = fields else { return false };
    if !fields.iter().any(|(name, _)| *name != "summary") {
        return false;
    }
    for (name, value) in fields {
        match name {
            "inputs" => add(&mut step.reads, &value),
            "outputs" => add(&mut step.writes, &value),
            _ if step.result.is_none() => step.result = Some(escape::uninline(&value)),
            _ => {}
        }
    }
    step.span = Span::new(step.span.start, block.content.end);
    true
}

/// `- **Inputs**: a, b`: the name in lower case, and the value.
fn report_field(line: &str) -> Option<(&'static str, String)> {
    let line = line.trim();
    let line = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).map_or(line, str::trim_start);
    let (bold, line) = line.strip_prefix("**").map_or((false, line), |rest| (true, rest));
    let (name, value) = line.split_once(':')?;
    let (name, value) = match name.strip_suffix("**") {
        Some(name) if bold => (name, value),
        _ if bold => (name, value.strip_prefix("**")?),
        _ => (name, value),
    };
    let known = ["inputs", "outputs", "summary"].into_iter().find(|known| known.eq_ignore_ascii_case(name))?;
    Some((known, value.trim().to_owned()))
}

fn add(files: &mut Vec<FileRef>, value: &str) {
    for part in value.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "–" && *part != "none") {
        let (part, created) = match part.strip_suffix("(created)") {
            Some(rest) => (rest.trim_end(), true),
            None => (part.strip_suffix("(modified)").map_or(part, str::trim_end), false),
        };
        let mut file = file_ref::parse(part.trim_matches('`').trim_start_matches('@'));
        file.created = created;
        cru_base::list::push_new(files, file);
    }
}
