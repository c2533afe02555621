//! Bringing the index up to date before it is asked.
//!
//! Few changed notes are not worth a write: whoever asks reads them into memory, which takes a few milliseconds, and a
//! note that an agent is writing to would else be written into the index after each of its steps. Many are written,
//! and so is everything when that is what was asked for.

use cru_base::Result;
use cru_base::files::{self, Fingerprint};
use cru_vault::{Vault, VaultPath, Walk};

use super::changes::Changes;
use super::disk::{Disk, Opened, Trouble};
use super::manifest::{self, Manifest, Seen};
use super::update::{self, Options, Sources};

/// So many changed notes are read into memory rather than waiting for somebody who writes the index.
const AT_ONCE: usize = 256;

/// So many changed notes, and bytes of them and of their transcripts, are read into memory rather than written.
const FEW: usize = 16;
const LITTLE: u64 = 512 << 10;

/// So many bytes of evidence of so few notes may wait for whoever asks next.
const MUCH: u64 = 4 << 20;

/// So many notes that only look different are worth being remembered as they look now.
const AGAIN: usize = 32;

/// How often an index that somebody writes in this moment is looked at, and the pause between (milliseconds).
const LOOKS: u32 = 200;
const PAUSE: u64 = 5;

/// What was done to bring the index up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Notes that were read and written.
    pub read: usize,
    /// Notes that are gone.
    pub gone: usize,
    /// Why all was made anew.
    pub rebuilt: Option<String>,
    /// Why it could not be written, where it could not.
    pub unwritten: Option<String>,
}

/// An index that can be asked.
pub(super) struct Ready {
    /// That on disk; `None` where none could be made.
    pub(super) opened: Option<Opened>,
    /// What it does not know.
    pub(super) changes: Changes,
    /// What was done.
    pub(super) refreshed: Refreshed,
    /// The files that there are.
    pub(super) walk: Walk,
}

type Found = [(VaultPath, Fingerprint)];

/// Brings the index of a vault up to date for whoever asks next.
pub fn prepare(vault: &Vault, options: &Options<'_>) -> Result<Refreshed> {
    refresh(vault, options).map(|ready| ready.refreshed)
}

/// Brings the index of a vault up to date.
pub(super) fn refresh(vault: &Vault, options: &Options<'_>) -> Result<Ready> {
    let mut refreshed = Refreshed::default();
    let Some(disk) = Disk::of(vault) else {
        refreshed.unwritten = Some("this machine has no folder for caches: set XDG_CACHE_HOME or HOME".to_owned());
        return Ok(in_memory(vault, refreshed));
    };
    let mut anew = options.rebuild;
    for look in 0..LOOKS {
        let (opened, walk) = rayon::join(|| disk.open(), || Walk::of(vault));
        let found = &walk.notes;
        let trouble = match opened {
            Ok(opened) if !anew => {
                let mut changes = Changes::of(vault, &opened.manifest, found);
                if let Some(evidence) = options.sources.evidence.filter(|_| options.complete) {
                    let now = |seen: &Seen| evidence.fingerprint(&opened.row(seen.row?)?);
                    changes.add_evidence(&opened.manifest, found, now);
                }
                if changes.is_none() || is_all_that_is_left(vault, &changes) {
                    if changes.touched.len() > AGAIN {
                        restamp(vault, &disk, &opened, &changes);
                    }
                    return ready(opened, changes, refreshed, walk);
                }
                if !options.complete && is_little(&opened, &changes, found, &options.sources) {
                    return ready(opened, changes, refreshed, walk);
                }
                if options.may_wait && is_slow(&opened, &changes, &options.sources) {
                    return ready(opened, changes, refreshed, walk);
                }
                match disk.try_lock() {
                    Ok(Some(_lock)) if disk.manifest().as_ref() == Some(&opened.manifest) => {
                        let Opened { manifest, index, .. } = &opened;
                        match update::update(vault, &disk, index, manifest, &changes, options) {
                            Ok(()) => {
                                refreshed.read += changes.dirty.len();
                                refreshed.gone += changes.gone.len();
                            }
                            Err(error) => {
                                refreshed.unwritten = Some(error.with_causes());
                                return ready(opened, changes, refreshed, walk);
                            }
                        }
                        // What changed since the walk is found by whoever asks next.
                        changes.dirty.retain(|path| !can_be_kept(vault, path));
                        let left = Changes { dirty: changes.dirty, ..Changes::default() };
                        match disk.open() {
                            Ok(opened) => return ready(opened, left, refreshed, walk),
                            Err(_) => continue,
                        }
                    }
                    // Somebody else has just done it.
                    Ok(Some(_)) => continue,
                    Ok(None) if options.complete || changes.count() > AT_ONCE => {
                        drop(disk.lock()?);
                        continue;
                    }
                    Ok(None) => return ready(opened, changes, refreshed, walk),
                    Err(error) => {
                        refreshed.unwritten = Some(error.with_causes());
                        return ready(opened, changes, refreshed, walk);
                    }
                }
            }
            Ok(_) => None,
            Err(trouble) => Some(trouble),
        };
        // Who writes in this moment leaves it for a few milliseconds.
        let lock = match disk.try_lock() {
            Ok(Some(lock)) => lock,
            Ok(None) if look + 1 < LOOKS && matches!(trouble, Some(Trouble::Between)) => {
                std::thread::sleep(std::time::Duration::from_millis(PAUSE));
                continue;
            }
            Ok(None) => disk.lock()?,
            Err(error) => {
                refreshed.unwritten = Some(error.with_causes());
                break;
            }
        };
        let mended = if anew { Mended::No } else { mend(vault, &disk, found, options) };
        match mended {
            Mended::Fine => {}
            Mended::Done(count) => refreshed.read += count,
            Mended::No => {
                refreshed.rebuilt = Some(why(trouble.as_ref(), options.rebuild));
                refreshed.read = found.len();
                if let Err(error) = build(vault, &disk, found, options) {
                    refreshed.unwritten = Some(error.with_causes());
                    break;
                }
            }
        }
        anew = false;
        drop(lock);
    }
    // Nothing can be written here, or somebody never stops.
    Ok(in_memory(vault, refreshed))
}

#[expect(clippy::unnecessary_wraps, reason = "what `refresh` gives")]
fn ready(opened: Opened, changes: Changes, refreshed: Refreshed, walk: Walk) -> Result<Ready> {
    Ok(Ready { opened: Some(opened), changes, refreshed, walk })
}

/// All of it in memory.
fn in_memory(vault: &Vault, refreshed: Refreshed) -> Ready {
    let walk = Walk::of(vault);
    let dirty = walk.paths().cloned().collect();
    Ready { opened: None, changes: Changes { dirty, ..Changes::default() }, refreshed, walk }
}

/// Whether there can be rows and entries of a note: it can be read, is not too long, and its path is text.
fn can_be_kept(vault: &Vault, path: &VaultPath) -> bool {
    let opened = files::open_regular(&vault.file(path)).and_then(|file| file.metadata());
    path.as_path().to_str().is_some() && opened.is_ok_and(|metadata| metadata.len() <= files::LARGEST_NOTE)
}

/// Whether no note that differs can be kept in the index.
fn is_all_that_is_left(vault: &Vault, changes: &Changes) -> bool {
    changes.gone.is_empty() && !changes.dirty.iter().any(|path| can_be_kept(vault, path))
}

/// Whether it takes less time to read the changed notes than to write them into the index.
fn is_little(opened: &Opened, changes: &Changes, found: &Found, sources: &Sources<'_>) -> bool {
    let size = |path| found.binary_search_by(|(other, _)| other.cmp(path)).map_or(0, |place| found[place].1.size);
    let bytes = |path| size(path) + evidence(opened, path, sources);
    changes.count() <= FEW && changes.dirty.iter().map(bytes).sum::<u64>() <= LITTLE
}

/// Whether it takes much time to write a few changed notes into the index.
fn is_slow(opened: &Opened, changes: &Changes, sources: &Sources<'_>) -> bool {
    changes.count() <= FEW && changes.dirty.iter().map(|path| evidence(opened, path, sources)).sum::<u64>() > MUCH
}

/// Bytes of the evidence of a note that is known.
fn evidence(opened: &Opened, path: &VaultPath, sources: &Sources<'_>) -> u64 {
    let notes = &opened.manifest.notes;
    let known = notes.binary_search_by(|seen| path.order(&seen.path).reverse()).ok();
    let row = known.and_then(|place| opened.row(notes[place].row?));
    row.and_then(|row| Some(sources.evidence?.size(&row))).unwrap_or(0)
}

enum Mended {
    /// It can be used as it is.
    Fine,
    /// What a killed writer had begun with was done again: so many notes.
    Done(usize),
    /// It cannot be used.
    No,
}

/// Mends what a killed writer has left; under the lock.
fn mend(vault: &Vault, disk: &Disk, found: &Found, options: &Options<'_>) -> Mended {
    match disk.open() {
        Ok(_) => return Mended::Fine,
        Err(Trouble::Between) => {}
        Err(_) => return Mended::No,
    }
    let (Some(manifest), Ok(index)) = (disk.manifest(), disk.index()) else { return Mended::No };
    if !disk.has_rows(&manifest) {
        return Mended::No;
    }
    let Some(begun) = Disk::committed(&index).and_then(|generation| disk.begun(generation)) else { return Mended::No };
    let begun: std::collections::HashSet<String> = begun.into_iter().collect();
    let mut changes = Changes::of(vault, &manifest, found);
    let again = found.iter().map(|(path, _)| path).filter(|path| begun.contains(path.text().as_ref()));
    for path in again {
        if !changes.dirty.contains(path) {
            changes.dirty.push(path.clone());
        }
    }
    // What is gone again was never in the manifest, but may be among the entries.
    let count = changes.count();
    match update::update(vault, disk, &index, &manifest, &changes, options) {
        Ok(()) => Mended::Done(count),
        Err(_) => Mended::No,
    }
}

/// Remembers how notes look now that have not changed, so that nobody has to look into them again. Only worth it once
/// their looks can be trusted; where it fails, nothing is lost.
fn restamp(vault: &Vault, disk: &Disk, opened: &Opened, changes: &Changes) {
    let Ok(Some(_lock)) = disk.try_lock() else { return };
    let newest = changes.touched.values().map(|fingerprint| fingerprint.mtime).max().unwrap_or(i64::MAX);
    let settled = disk.clock().is_ok_and(|now| now > newest.saturating_add(manifest::SLACK));
    if settled && disk.manifest().as_ref() == Some(&opened.manifest) {
        let _ = update::update(vault, disk, &opened.index, &opened.manifest, changes, &Options::default());
    }
}

/// Makes all of it anew; under the lock.
fn build(vault: &Vault, disk: &Disk, found: &Found, options: &Options<'_>) -> Result<()> {
    let index = disk.create()?;
    let dirty = found.iter().map(|(path, _)| path.clone()).collect();
    let changes = Changes { dirty, ..Changes::default() };
    update::update(vault, disk, &index, &Manifest::default(), &changes, options)
}

fn why(trouble: Option<&Trouble>, asked: bool) -> String {
    match trouble {
        _ if asked => "asked for".to_owned(),
        None | Some(Trouble::Missing) => "there was none".to_owned(),
        Some(Trouble::Outdated) => "it was of another version".to_owned(),
        Some(Trouble::Damaged(why)) => format!("it was damaged: {why}"),
        Some(Trouble::Between) => "a writer was stopped in between".to_owned(),
    }
}
