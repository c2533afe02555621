//! What `cru check w:NAME` finds in workflows.

use super::find;
use super::show::DialectArg;
use crate::base::{Diagnostic, Result};
use crate::commands::Context;
use crate::workflow::{dialect, validate};

/// What is wrong in the workflows that are named, else in all of the vault: cycles, conditions that lead nowhere, names made twice, types
/// that differ, records that cannot be read. Of each its path, its text as it is shown, and the diagnostics.
pub(in crate::commands) fn remarks(
    names: &[String],
    strict: Option<DialectArg>,
    cx: &Context<'_>,
) -> Result<Vec<(String, String, Vec<Diagnostic>)>> {
    let found = find::some(names, cx)?;
    let checked = found.into_iter().map(|found| {
        let mut diagnostics = found.diagnostics.clone();
        diagnostics.extend(validate(&found.workflow));
        if strict == Some(DialectArg::Crucible) {
            diagnostics.extend(dialect::strict(&found.note));
        }
        found.lead_back(&mut diagnostics);
        diagnostics.sort_by_key(|it| (it.span.start, it.code));
        (found.path, found.shown, diagnostics)
    });
    Ok(checked.collect())
}
