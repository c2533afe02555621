//! What `cru check w:NAME` finds in workflows.

use super::find;
use crate::base::Result;
use crate::commands::Context;
use crate::commands::check::CheckedNote;
use crate::workflow::{Dialect, dialect, validate};

/// What is wrong in the workflows that are named, else in all of the vault: cycles, conditions that lead nowhere, names made twice, types
/// that differ, records that cannot be read.
pub(in crate::commands) fn checked(
    names: &[String],
    strict: Option<Dialect>,
    cx: &Context<'_>,
) -> Result<Vec<CheckedNote>> {
    let found = find::some(names, cx)?;
    let checked = found.into_iter().map(|found| {
        let mut diagnostics = found.diagnostics.clone();
        diagnostics.extend(validate(&found.workflow));
        if strict == Some(Dialect::Crucible) {
            diagnostics.extend(dialect::strict(&found.note));
        }
        found.lead_back(&mut diagnostics);
        diagnostics.sort_by_key(|it| (it.span.start, it.code));
        CheckedNote { path: found.path, text: found.shown, diagnostics, ..CheckedNote::default() }
    });
    Ok(checked.collect())
}
