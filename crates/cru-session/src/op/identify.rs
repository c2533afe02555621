//! Giving a phase the line that says its id.

use super::draft::TextDraft;
use super::place;
use super::run::Outcome;
use crate::{read, time};
use cru_base::Span;
use cru_note::edit::{EditError, add_id};
use cru_note::id::is_id;
use cru_note::patch::Edit;
use cru_note::{Block, BlockKind, Note, Patch};

/// Writes the id of the phase that is known by `id` below its heading, and the time where it has none.
pub(super) fn identify(draft: &mut TextDraft, id: &str, at: Option<&str>) -> Result<Outcome, EditError> {
    if !is_id(id) {
        return Err(EditError::BadId(id.to_owned()));
    }
    let at = at.and_then(time::parse).map(time::format);
    let note = draft.note();
    let phases = read::phases(note);
    let Some(phase) = phases.iter().find(|phase| phase.id == id) else { return Ok(Outcome::Gone) };
    if phase.id_written {
        return Ok(Outcome::Present);
    }
    let heading = phase.heading_span.start;
    let top = note.blocks().binary_search_by_key(&heading, |block| block.content.start);
    let Ok(top) = top else { return Ok(Outcome::Gone) };
    let linked = phase.started.is_some() || phase.from.is_some() || !phase.after.is_empty();
    let line = note.blocks().get(top + 1).filter(|block| is_line(note, block, linked));
    let patch = match (line, &at) {
        (Some(line), _) => {
            let start = line.content.start;
            let missing = at.filter(|_| !line.content.of(note.text()).starts_with('*'));
            let time = missing.map(|at| Edit { span: Span::at(start), text: format!("*{at}* ") });
            let patch = add_id(note, line, id)?;
            match time {
                Some(time) => patch.and(Patch::new(vec![time])?)?,
                None => patch,
            }
        }
        (None, Some(at)) => place::insert(note, top + 1, &format!("*{at}* ^{id}"))?,
        // Without a time the heading itself carries it.
        (None, None) => add_id(note, &note.blocks()[top], id)?,
    };
    let after = Note::parse(patch.apply(note.bytes()));
    let right = read::phases(&after)
        .iter()
        .any(|phase| phase.id == id && phase.id_written && phase.heading_span.start == heading);
    if !right {
        return Err(EditError::Merge);
    }
    draft.apply(&patch);
    Ok(Outcome::Done)
}

/// Whether the block below a heading is its line: `linked` when it said something; a time that cannot be read counts.
fn is_line(note: &Note, block: &Block, linked: bool) -> bool {
    let text = block.content.of(note.text());
    let one_line = matches!(block.kind, BlockKind::Paragraph) && !text.contains('\n');
    let timed = text.strip_prefix('*').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    one_line && (timed && text.ends_with('*') || linked)
}
