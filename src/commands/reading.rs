//! The vault as commands see it that only read: with what was logged and could not be written yet.
//!
//! `cru log` writes at once, so there is something only where a note could not be written. Nothing is written here, and
//! what cannot be computed is left as it stands on disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Zoned;
use jiff::tz::TimeZone;

use super::session::filter::{Chosen, SessionFilter};
use super::{Context, Reach};
use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::index::{Options, Snapshot, Sources, prepare};
use crate::live::log::{Log, Target};
use crate::sync::evidence::Transcripts;
use crate::sync::projects;
use crate::sync::read::Heard;
use crate::vault::state::key;
use crate::vault::{Catalog, State, Vault};

/// The vault, its notes reading as they will once all that waits is written.
pub(super) fn vault(cx: &Context<'_>) -> Result<Vault> {
    let vault = Vault::find_to_read(cx.vault_arg(), cx.env)?;
    let overlay = overlay(&vault, cx).unwrap_or_default();
    Ok(if overlay.is_empty() { vault } else { vault.overlaid(overlay) })
}

/// The same, with its notes by name.
pub(super) fn vault_with_catalog(cx: &Context<'_>) -> Result<(Vault, Catalog)> {
    let vault = vault(cx)?;
    let catalog = Catalog::read(&vault);
    Ok((vault, catalog))
}

/// The time as it is, in the zone of the vault; without one, in UTC.
pub(super) fn now(cx: &Context<'_>) -> Zoned {
    let utc = || cx.env.now().to_zoned(TimeZone::UTC);
    Vault::find_to_read(cx.vault_arg(), cx.env).map_or_else(|_| utc(), |vault| vault.now(cx.env))
}

/// What a question about sessions begins with.
pub(super) struct Asked {
    /// Which sessions are meant.
    pub(super) chosen: Chosen,
    pub(super) vault: Vault,
    /// All of them as they are now.
    pub(super) snapshot: Arc<Snapshot>,
}

/// The filter read, the vault found, the index brought up to date.
pub(super) fn asked(filter: &SessionFilter, cx: &Context<'_>) -> Result<Asked> {
    let vault = vault(cx)?;
    let chosen = filter.read(&vault.now(cx.env), cx.env)?;
    let snapshot = snapshot(&vault, cx)?;
    Ok(Asked { chosen, vault, snapshot })
}

/// All sessions as they are now, from the index, which is brought up to date first.
pub(super) fn snapshot(vault: &Vault, cx: &Context<'_>) -> Result<Arc<Snapshot>> {
    let take = || snapshot_with(vault, cx, false, false);
    match (&cx.global.last, cx.global.reach) {
        (Some(last), Reach::All) => last.of("all", vault, cx.env.now(), take),
        (Some(last), Reach::Shared) => last.of("shared", vault, cx.env.now(), take),
        // Which sessions are at work is another matter each time.
        (None, _) | (_, Reach::Earlier) => take().map(Arc::new),
    }
}

/// The same; with `complete` all that changed is written, and notes whose transcript has changed are read again; with
/// `rebuild` all of them are.
pub(super) fn snapshot_with(vault: &Vault, cx: &Context<'_>, complete: bool, rebuild: bool) -> Result<Snapshot> {
    let transcripts = Transcripts::of(vault, cx.env);
    let sources = Sources { evidence: Some(&transcripts) };
    let mut snapshot = Snapshot::open_with(vault, &Options { sources, complete, rebuild, may_wait: false })?;
    cx.global.reach.restrict(&mut snapshot, vault, cx.env);
    Ok(tell(cx, snapshot))
}

/// Brings the index up to date with what was just written, and with the transcripts it came from. Nobody asked for it, so
/// nothing is said, and what fails, or takes long for a note or two, is done by whoever asks next.
pub(super) fn refresh(vault: &Vault, heard: Option<Arc<Heard>>, cx: &Context<'_>) {
    let transcripts = match heard {
        Some(heard) => Transcripts::with_heard(vault, cx.env, heard),
        None => Transcripts::of(vault, cx.env),
    };
    let sources = Sources { evidence: Some(&transcripts) };
    let _ = prepare(vault, &Options { sources, complete: true, rebuild: false, may_wait: true });
}

/// Brings the lists in the notes of all projects up to date; whether they are so, but for what only a person can mend. What
/// fails is told.
pub(super) fn refresh_projects(vault: &Vault, cx: &Context<'_>) -> bool {
    // Nobody asked for the index: how it was brought up to date is not said.
    let transcripts = Transcripts::of(vault, cx.env);
    let sources = Sources { evidence: Some(&transcripts) };
    let opened = Snapshot::open_with(vault, &Options { sources, complete: false, rebuild: false, may_wait: false });
    match opened.and_then(|snapshot| projects::refresh(vault, &snapshot)) {
        Ok(refreshed) => {
            for (note, why) in &refreshed.failed {
                cx.ui.warn(&format!("{note}: {why}"));
            }
            refreshed.failed.iter().all(|(_, why)| matches!(why, Error::Usage { .. }))
        }
        Err(error) => {
            cx.ui.warn(&format!("the lists in project notes are not up to date: {error}"));
            false
        }
    }
}

/// Says on stderr what a person should know of how the index was brought up to date.
fn tell(cx: &Context<'_>, snapshot: Snapshot) -> Snapshot {
    for finding in &snapshot.findings {
        cx.ui.warn(&format!("{}: {}", finding.path, finding.diagnostic.message));
    }
    let refreshed = &snapshot.refreshed;
    if let Some(why) = &refreshed.rebuilt {
        cx.ui.note(&format!("built search index ({}, {why})", plural(snapshot.len() as u64, "session")));
    }
    if let Some(why) = &refreshed.unwritten {
        cx.ui.detail(&format!("the search index could not be written, so notes are read each time: {why}"));
    }
    snapshot
}

fn overlay(vault: &Vault, cx: &Context<'_>) -> Option<BTreeMap<crate::vault::VaultPath, Vec<u8>>> {
    let state = State::existing(vault, cx.env)?;
    let journals = std::fs::read_dir(state.dir().join("journal")).ok()?;
    let names = journals.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let log = Log::new(vault, &state, cx.env.now()).ok()?;
    let mut overlay = BTreeMap::new();
    let mut catalog = None;
    for name in names {
        let Some(name) = name.strip_suffix(".jsonl").filter(|name| !name.contains("--")) else { continue };
        // Mostly a note is where its name says; only a renamed one is looked for.
        let target = Target::by_stem(name, vault).or_else(|| {
            let catalog = catalog.get_or_insert_with(|| Catalog::read(vault));
            catalog.sessions().find(|head| key(&head.id()) == name).map(Target::of)
        });
        let Some(target) = target else { continue };
        if let Ok(Some(bytes)) = log.preview(&target) {
            let count = "what was logged and could not be written yet is shown too";
            cx.ui.note(&format!("{}: {count}; `cru admin flush {}` writes it", target.id, target.id));
            overlay.insert(target.path, bytes);
        }
    }
    Some(overlay)
}
