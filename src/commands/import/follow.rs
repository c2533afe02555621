//! `cru import --watch`: transcripts that are being written, followed into their notes.

use std::path::PathBuf;
use std::time::Duration;

use super::what::TranscriptSource;
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::commands::watching::Watching;
use crate::session::source::Importer;
use crate::sync::import::follow::Followed;
use crate::sync::import::{Machine, Options};
use crate::sync::report::{Outcome, Report};
use crate::vault::Vault;

/// Interval between checks for idle sessions.
const LOOK: Duration = Duration::from_mins(1);

/// Follows the transcripts in `sources` until the program is stopped.
pub(super) fn follow(
    vault: &Vault,
    sources: Vec<(&'static Importer, TranscriptSource)>,
    options: &Options,
    cx: &Context<'_>,
) -> Result<()> {
    let mut followed = Followed::default();
    for (importer, source) in sources {
        let roots: Vec<PathBuf> = match source {
            TranscriptSource::Paths(roots) => roots,
            TranscriptSource::Found(found) => found.bundles.into_iter().flat_map(|bundle| bundle.files).collect(),
        };
        // What the system tells of is named without links.
        followed.add(importer, roots.into_iter().map(|path| std::fs::canonicalize(&path).unwrap_or(path)).collect());
    }
    let roots = followed.roots();
    let failed = |error: notify::Error| {
        Error::internal("watch the transcripts", error).with_hint("`cru import` without --watch can be run at any time")
    };
    // From here on, so that nothing is missed while all is imported once.
    let watching = Watching::begin(&roots, followed.is_meant()).map_err(failed)?;
    let mut options = Options { live: true, ..options.clone() };
    followed.all(vault, &options, &mut |report| tell(cx, report))?;
    cx.ui.note(&format!("watching {}", plural(roots.len() as u64, "folder")));
    while let Some(changed) = watching.next(followed.is_running().then_some(LOOK)) {
        let now = cx.env.now();
        options.machine = options.machine.map(|machine| Machine { now, ..machine });
        followed.changed(vault, &changed.paths, changed.missed, &options, &mut |report| match report {
            Ok(report) => tell(cx, &report),
            // The next change may go better: a note that is being saved, a disk that is full for a moment.
            Err(error) => cx.ui.warn(&error.to_string()),
        })?;
    }
    Ok(())
}

/// A line for each note that was written.
fn tell(cx: &Context<'_>, report: &Report) {
    for row in &report.sessions {
        let note = sanitise(row.note.as_deref().unwrap_or(&row.host_session)).into_owned();
        match (row.outcome, &row.detail) {
            (Outcome::Created, _) => cx.ui.note(&format!("new      {note}")),
            (Outcome::Updated, Some(detail)) => cx.ui.note(&format!("updated  {note}  {}", sanitise(detail))),
            (Outcome::Updated, None) => cx.ui.note(&format!("updated  {note}")),
            (Outcome::Grown, Some(detail)) => cx.ui.detail(&format!("skipped  {note}  {}", sanitise(detail))),
            _ => {}
        }
    }
}
