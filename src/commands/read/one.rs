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
        read: None,
        // Known where it is written.
        reason: String::new(),
        tokens,
        status: status(checked),
    }
}

/// What a reading is before somebody decides: a brief of which every statement holds is proven.
fn status(checked: &Checked) -> ReviewStatus {
    let holds = checked.answer.is_brief && checked.kept > 0 && checked.refused().next().is_none();
    if holds { ReviewStatus::Proven } else { ReviewStatus::Proposed }
}

/// Where reading goes on, where all that was read is as it was: behind the phase that was the last one when `old` was made, or with it
/// where it has more now.
pub(super) fn grown_from(source: &Source, old: &ReadingNote) -> Option<usize> {
    old.answer.as_ref()?;
    let ledger = &source.ledger;
    let at = ledger.position(&old.head.through)?;
    if at + 1 < ledger.phases.len() && ledger.hash_before(at + 1) == old.head.note {
        return Some(at + 1);
    }
    (at > 0 && ledger.hash_before(at) == old.head.before).then_some(at)
}
