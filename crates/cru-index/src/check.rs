//! Whether the index says what the notes say.
//!
//! Every session is read anew and compared: its row, its record, and its entries by their hashes, which stand beside them. That
//! tantivy's files are what was written is told by their checksums.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::Serialize;
use tantivy::Index;

use super::disk::{Disk, failed};
use super::entry::NoteKey;
use super::snapshot::{Part, Snapshot};
use super::update::{Read, Sources};
use cru_base::Result;
use cru_vault::{Vault, VaultPath, Walk};

/// Something that the index has wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Difference {
    /// The note, or the index's own file.
    pub path: String,
    /// What is wrong.
    pub what: String,
}

/// All that the index has wrong; sorted by path. What notes only point at is left out.
pub fn differences(vault: &Vault, snapshot: &Snapshot) -> Result<Vec<Difference>> {
    let mut hashes: HashMap<NoteKey, Vec<u64>> = HashMap::new();
    for part in snapshot.parts() {
        collect(part, &mut hashes)?;
    }
    let records: HashMap<String, _> =
        snapshot.records(|_| true).into_iter().map(|record| (record.session.path.clone(), record)).collect();
    let notes: Vec<VaultPath> = Walk::of(vault).paths().cloned().collect();
    let compare = |path: &VaultPath| -> Option<Difference> {
        let text = path.text().into_owned();
        let read = Read::bytes(path, vault.read(path).ok()?.into_owned(), &Sources::default());
        let what = match (&read.record, records.get(&text)) {
            (None, None) => return None,
            (Some(_), None) => "the index does not have it",
            (None, Some(_)) => "the index has it, and it is no session",
            (Some(wanted), Some(found)) if wanted != found => "its record says something else",
            (Some(wanted), Some(_)) if snapshot.session(NoteKey::of(path)) != Some(&wanted.session) => {
                "its row says something else"
            }
            (Some(_), Some(_)) => {
                let mut wanted: Vec<u64> = read.entries.iter().map(super::Entry::hash).collect();
                wanted.sort_unstable();
                let mut found = hashes.get(&NoteKey::of(path)).cloned().unwrap_or_default();
                found.sort_unstable();
                if wanted == found {
                    return None;
                }
                "its entries say something else"
            }
        };
        Some(Difference { path: text, what: what.to_owned() })
    };
    let mut found: Vec<Difference> = notes.par_iter().filter_map(compare).collect();
    let known: std::collections::HashSet<String> = notes.iter().map(|path| path.text().into_owned()).collect();
    let gone = records.keys().filter(|path| !known.contains(*path));
    found.extend(gone.map(|path| Difference { path: path.clone(), what: "the note is gone".to_owned() }));
    if let Some(Ok(index)) = Disk::of(vault).map(|disk| Index::open_in_dir(disk.entries())) {
        for path in index.validate_checksum().map_err(failed)? {
            let what = "its checksum is another".to_owned();
            found.push(Difference { path: path.display().to_string(), what });
        }
    }
    found.sort();
    Ok(found)
}

/// The hashes of the entries that count, by note; those of evidence left out.
fn collect(part: &Part, hashes: &mut HashMap<NoteKey, Vec<u64>>) -> Result<()> {
    for segment in part.searcher().segment_readers() {
        let fast = segment.fast_fields();
        let (note, hash) = (fast.u64("note").map_err(failed)?, fast.u64("hash").map_err(failed)?);
        let evidence = fast.u64("evidence").map_err(failed)?;
        for doc in segment.doc_ids_alive() {
            let (Some(key), None) = (note.first(doc).map(NoteKey), evidence.first(doc)) else { continue };
            if part.counts(key) {
                hashes.entry(key).or_default().extend(hash.first(doc));
            }
        }
    }
    Ok(())
}

/// How many entries of each kind count.
pub(super) fn kinds(snapshot: &Snapshot) -> BTreeMap<String, u64> {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for part in snapshot.parts() {
        for segment in part.searcher().segment_readers() {
            let fast = segment.fast_fields();
            let (Ok(note), Ok(Some(kind))) = (fast.u64("note"), fast.str("kind")) else { continue };
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for doc in segment.doc_ids_alive() {
                if note.first(doc).is_some_and(|key| part.counts(NoteKey(key))) {
                    for ord in kind.term_ords(doc) {
                        *counts.entry(ord).or_default() += 1;
                    }
                }
            }
            for (ord, count) in counts {
                let mut name = String::new();
                if kind.ord_to_str(ord, &mut name).is_ok_and(|found| found) {
                    *kinds.entry(name).or_default() += count;
                }
            }
        }
    }
    kinds
}
