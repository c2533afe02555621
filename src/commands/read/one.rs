//! What the head of a reading says, and whether a session was read already.

use super::prompt::Prompts;
use super::source::Source;
use crate::readings::note::{ReadingHead, ReadingNote, ReviewStatus};
use crate::readings::{Checked, SCHEMA};

/// The hash of everything that an answer depends on.
pub(super) fn key(source: &Source, template: &str, reader: &str, only: &[String]) -> String {
    let schema = SCHEMA.to_string();
    crate::readings::hash(&[&source.record.note, template, &schema, reader, &only.join(",")])
}

/// The frontmatter of a fresh reading.
pub(super) fn head(
    source: &Source,
    prompts: &Prompts<'_>,
    reader: &str,
    only: &[String],
    checked: &Checked,
    tokens: Option<u64>,
) -> ReadingHead {
    let phases = &source.ledger.phases;
    let template = prompts.template();
    ReadingHead {
        session: source.name.clone(),
        note: source.record.note.clone(),
        through: phases.last().map(|phase| phase.id.clone()).unwrap_or_default(),
        before: source.ledger.hash_before(phases.len().saturating_sub(1)),
        reader: reader.to_owned(),
        key: key(source, &template, reader, only),
        prompt: template,
        judge: None,
        claims: (checked.kept, checked.claims),
        tokens,
        status: ReviewStatus::Proposed,
    }
}

/// Where reading goes on: the phase that was the last one when `old` was made, where all before it is as it was.
pub(super) fn grown_from(source: &Source, old: &ReadingNote) -> Option<usize> {
    let at = source.ledger.position(&old.head.through)?;
    (at > 0 && source.ledger.hash_before(at) == old.head.before && old.answer.is_some()).then_some(at)
}
