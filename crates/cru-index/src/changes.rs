//! What differs between the notes on disk and those that the index knows.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::manifest::{Look, Manifest, Seen};
use cru_base::files::{self, Fingerprint};
use cru_vault::{Vault, VaultPath};

/// The difference.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Notes to read: new ones and those whose bytes are others.
    pub(super) dirty: Vec<VaultPath>,
    /// Notes that only look different: by index in the manifest.
    pub(super) touched: HashMap<usize, Fingerprint>,
    /// Notes that are gone: indices in the manifest, ascending.
    pub(super) gone: Vec<usize>,
}

impl Changes {
    /// Compares. Both lists are sorted by path. Where the file system leaves a doubt, the bytes decide.
    pub(super) fn of(vault: &Vault, manifest: &Manifest, found: &[(VaultPath, Fingerprint)]) -> Self {
        let mut changes = Self::default();
        let mut doubtful: Vec<(usize, &VaultPath, Fingerprint)> = Vec::new();
        let mut known = manifest.notes.iter().enumerate().peekable();
        for (path, fingerprint) in found {
            // Those that come before it are not there any more.
            while let Some((index, _)) = known.next_if(|(_, seen)| path.order(&seen.path) == Ordering::Greater) {
                changes.gone.push(index);
            }
            match known.next_if(|(_, seen)| path.order(&seen.path) == Ordering::Equal) {
                None => changes.dirty.push(path.clone()),
                Some((index, seen)) => {
                    if seen.look(fingerprint) == Look::Doubtful {
                        doubtful.push((index, path, *fingerprint));
                    }
                }
            }
        }
        changes.gone.extend(known.map(|(index, _)| index));
        let decided: Vec<_> = doubtful
            .into_par_iter()
            .map(|(index, path, fingerprint)| (index, path, fingerprint, is_same(vault, &manifest.notes[index], path)))
            .collect();
        for (index, path, fingerprint, same) in decided {
            if same {
                changes.touched.insert(index, fingerprint);
            } else {
                changes.dirty.push(path.clone());
            }
        }
        changes
    }

    /// Adds the notes whose evidence is no longer what the entries were made of.
    pub(super) fn add_evidence(
        &mut self,
        manifest: &Manifest,
        found: &[(VaultPath, Fingerprint)],
        now: impl Fn(&Seen) -> Option<u64> + Sync,
    ) {
        let other = |seen: &&Seen| seen.row.is_some() && now(seen) != seen.evidence;
        let others: HashSet<&str> = manifest.notes.par_iter().filter(other).map(|seen| seen.path.as_str()).collect();
        let dirty: HashSet<&VaultPath> = self.dirty.iter().collect();
        let more = found.iter().map(|(path, _)| path);
        let more: Vec<VaultPath> =
            more.filter(|path| others.contains(path.text().as_ref()) && !dirty.contains(path)).cloned().collect();
        self.dirty.extend(more);
    }

    /// Whether every answer of the index is right as it stands.
    pub(super) fn is_none(&self) -> bool {
        self.dirty.is_empty() && self.gone.is_empty()
    }

    /// How many notes answer wrongly.
    pub(super) fn count(&self) -> usize {
        self.dirty.len() + self.gone.len()
    }
}

fn is_same(vault: &Vault, seen: &Seen, path: &VaultPath) -> bool {
    matches!(files::digest(&vault.file(path)), Ok(Some(digest)) if digest[..seen.hash.len()] == seen.hash)
}
