//! Callouts of checkpoints, written into notes behind everything else that waited.

use super::shelf::SessionCopies;
use crate::base::text::{fold_whitespace, sanitise};
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::live::entry::{self, Entry};
use crate::live::log::{Log, Target};
use crate::memory::checkpoint::points::{PointKind, points};
use crate::memory::checkpoint::{CheckpointKind, CopyManifest, callout, kind, listing};
use crate::session::mask::Masks;
use crate::session::{Session, Status};

/// Writes the callouts of checkpoints that were made and not written yet; their ids.
pub(in crate::commands) fn write_waiting(log: &Log<'_>, target: &Target, cx: &Context<'_>) -> Result<Vec<String>> {
    let shelf = SessionCopies::of(target, log.state);
    if shelf.is_empty() {
        return Ok(Vec::new());
    }
    let (copies, _) = shelf.all();
    let mut waiting: Vec<CopyManifest> = copies.into_iter().filter(|copy| copy.unwritten).collect();
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let session = log.vault.session(&target.path)?;
    for copy in &mut waiting {
        // A callout of this id and of other words is another checkpoint of the same second.
        let other = listing::written(&session).any(|it| {
            let (kind, title) = CheckpointKind::of_title(&it.title);
            it.id.as_deref() == Some(copy.id.as_str()) && (kind, title) != (copy.kind, shown(&copy.title).as_str())
        });
        if other {
            shelf.rename(copy)?;
        }
        add(log, target, entry_of(copy, &session))?;
    }
    log.flush(target, "checkpoint")?;
    let mut written = Vec::new();
    for mut copy in waiting {
        copy.unwritten = false;
        // What cannot be noted is in the note: the next one finds its id there and does not write it again.
        if let Err(error) = shelf.put(&copy) {
            cx.ui.detail(&error.to_string());
        }
        written.push(copy.id);
    }
    Ok(written)
}

/// Behind a flush: the kinds that the configuration adds, and the final checkpoint of a session that is not active while
/// something is open. Whether something was written.
pub(in crate::commands) fn finish(log: &Log<'_>, target: &Target) -> Result<bool> {
    let kinds = &log.vault.config().checkpoint.write;
    let head = crate::vault::Head::read(log.vault, target.path.clone());
    let is_at_rest = head.meta.status.as_ref().is_some_and(|status| *status != Status::Active);
    if kinds.is_empty() && !is_at_rest {
        return Ok(false);
    }
    let session = log.vault.session(&target.path)?;
    let mut any = false;
    for point in points(&session) {
        let (PointKind::Kind(kind), Some(time)) = (point.what, point.time) else { continue };
        let id = kind::id_of(time);
        let is_known = |callout: &crate::session::Callout| {
            callout.id.as_deref().is_some_and(|known| known.starts_with(&id))
                && CheckpointKind::of_title(&callout.title).0 == kind
        };
        if !kinds.iter().any(|word| word == kind.as_str()) || listing::written(&session).any(is_known) {
            continue;
        }
        let made = entry::Checkpoint {
            at: Some(time),
            kind: Some(kind.as_str().to_owned()),
            title: point.title,
            after: point.block.filter(|id| id.starts_with("n-")),
            ..entry::Checkpoint::default()
        };
        add(log, target, made)?;
        any = true;
    }
    if is_at_rest && callout::needs_final(&session) {
        let made = entry::Checkpoint {
            kind: Some(CheckpointKind::Final.as_str().to_owned()),
            since: callout::since(&session, log.now),
            ..entry::Checkpoint::default()
        };
        add(log, target, made)?;
        any = true;
    }
    if any {
        log.flush(target, "checkpoint")?;
    }
    Ok(any)
}

fn add(log: &Log<'_>, target: &Target, entry: entry::Checkpoint) -> Result<()> {
    let entry = log.masked(Entry::Checkpoint(entry)).map_err(|bad| Error::usage(bad.message))?;
    log.add(target, &entry).map(drop)
}

/// A title as a note shows it.
fn shown(title: &str) -> String {
    let title = Masks::unnumbered().text(title).into_owned();
    fold_whitespace(&sanitise(&title)).trim().to_owned()
}

/// What the note is told of a checkpoint.
fn entry_of(copy: &CopyManifest, session: &Session) -> entry::Checkpoint {
    entry::Checkpoint {
        at: Some(copy.time),
        kind: Some(copy.kind.as_str().to_owned()),
        title: copy.title.clone(),
        blocked: copy.blocked.clone(),
        since: callout::since(session, copy.time),
        files: callout::files(copy),
        left_out: callout::left_out(copy),
        base: callout::base(copy),
        restore: callout::restore(copy),
        id: Some(copy.id.clone()),
        after: callout::step_before(session, copy.time),
        ..entry::Checkpoint::default()
    }
}
