//! What differs between the notes on disk and those that the index knows.

use std::collections::HashMap;

use rayon::prelude::*;

use super::manifest::{Look, Manifest, Seen, hash};
use crate::base::files::{self, Fingerprint};
use crate::vault::{Vault, VaultPath};

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
        let known: HashMap<&str, usize> = if is_sorted_alike(manifest, found) {
            HashMap::new()
        } else {
            manifest.notes.iter().enumerate().map(|(index, seen)| (seen.path.as_str(), index)).collect()
        };
        let mut doubtful: Vec<(usize, &VaultPath, Fingerprint)> = Vec::new();
        let mut there = vec![false; manifest.notes.len()];
        for (place, (path, fingerprint)) in found.iter().enumerate() {
            // Mostly both lists name the same notes.
            let index = if known.is_empty() && !manifest.notes.is_empty() {
                Some(place)
            } else {
                known.get(path.text().as_ref()).copied()
            };
            let seen = index.and_then(|index| Some((index, manifest.notes.get(index)?)));
            match seen {
                None => changes.dirty.push(path.clone()),
                Some((index, seen)) => {
                    there[index] = true;
                    if seen.look(fingerprint) == Look::Doubtful {
                        doubtful.push((index, path, *fingerprint));
                    }
                }
            }
        }
        changes.gone = there.iter().enumerate().filter(|(_, there)| !**there).map(|(index, _)| index).collect();
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
    files::read(&vault.file(path)).is_ok_and(|bytes| hash(&bytes) == seen.hash)
}

/// Whether both lists name the same notes in the same order.
fn is_sorted_alike(manifest: &Manifest, found: &[(VaultPath, Fingerprint)]) -> bool {
    manifest.notes.len() == found.len()
        && manifest.notes.iter().zip(found).all(|(seen, (path, _))| path.as_path().as_os_str() == seen.path.as_str())
}
