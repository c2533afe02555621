//! Case notes in the vault: those that are there, and those that are written.
//!
//! A note is found by its `case_id` wherever it stands under `cases/`. Ids that were written once stand in
//! `.cru/cases.txt`, one a line, so that a note that a person deleted is not made again, on any machine that has the vault.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use serde::Serialize;

use crate::base::{Result, files};
use crate::learn::review::Front;
use crate::learn::review::document::{Layout, file_name};
use crate::learn::review::verdict::{CaseVerdict, without_verdict};
use crate::learn::{Case, Extraction, LeftOut, Reason, Review, ReviewStatus, review};
use crate::note::frontmatter;
use crate::vault::{Catalog, Vault, VaultPath};

/// The folder of case notes.
const FOLDER: &str = "cases";

/// Where it stands which ids were written.
const LEDGER: &str = ".cru/cases.txt";

/// What persons made of cases.
#[derive(Debug, Default)]
pub(in crate::commands) struct Reviews {
    /// Case notes, by the order of their paths.
    pub(in crate::commands) notes: Vec<Review>,
    /// Their places by id; of two notes of one case the first.
    by_id: HashMap<String, usize>,
    /// Ids that were written at any time.
    written: BTreeSet<String>,
}

/// What became of the note of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::commands) enum Fate {
    Created,
    Renewed,
    Unchanged,
    Kept,
    Deleted,
    Taken,
}

/// A case note; `None` where a note is none.
fn parse(path: &str, text: &str) -> Option<Review> {
    let (values, _) = frontmatter::read(text, &frontmatter::split(text).block?);
    let value = |key| values.string(key).unwrap_or_default();
    let front = Front {
        kind: value("type"),
        case_id: value("case_id"),
        case_type: value("case_type"),
        status: value("status"),
        session: value("session"),
        rendered: value("rendered"),
        reading: value("reading"),
        judged: value("judged"),
    };
    Review::read(path, text, &front)
}

impl Reviews {
    /// Reads them.
    pub(in crate::commands) fn read(catalog: &Catalog, vault: &Vault) -> Self {
        let mut reviews = Self::default();
        let under = |path: &VaultPath| path.as_path().starts_with(FOLDER);
        for head in catalog.heads.iter().filter(|head| under(&head.path) && !head.is_session()) {
            let Ok(bytes) = vault.read(&head.path) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            let Some(review) = parse(&head.path.text(), &text) else { continue };
            reviews.by_id.entry(review.id.clone()).or_insert(reviews.notes.len());
            reviews.notes.push(review);
        }
        let ledger = files::read(&vault.root().join(LEDGER)).unwrap_or_default();
        reviews.written = String::from_utf8_lossy(&ledger).lines().map(|line| line.trim().to_owned()).collect();
        reviews
    }

    /// The note of a case.
    pub(in crate::commands) fn of(&self, id: &str) -> Option<&Review> {
        self.by_id.get(id).map(|at| &self.notes[*at])
    }

    /// How many nobody has decided about.
    pub(in crate::commands) fn proposed(&self) -> u64 {
        self.notes.iter().filter(|review| review.status == ReviewStatus::Proposed).count() as u64
    }

    /// Whether a person deleted the note of a case.
    fn deleted(&self, id: &str) -> bool {
        self.written.contains(id) && !self.by_id.contains_key(id)
    }

    /// Takes over what persons decided and wrote: rejected cases go, edited parts take the place of the record's.
    pub(super) fn apply(&self, extraction: &mut Extraction, layout: &Layout<'_>, accepted_only: bool) -> Result<()> {
        let mut left_out: Vec<LeftOut> = Vec::new();
        let mut kept = Vec::with_capacity(extraction.cases.len());
        for mut case in std::mem::take(&mut extraction.cases) {
            let review = self.of(&case.id);
            let status = review.map(|review| review.status).unwrap_or_default();
            let verdict = review.and_then(|review| review.judged);
            if status == ReviewStatus::Rejected || self.deleted(&case.id) {
                left_out.push(case.left_out(Reason::Rejected));
            } else if accepted_only && status != ReviewStatus::Accepted {
                left_out.push(case.left_out(Reason::NotAccepted));
            } else if status != ReviewStatus::Accepted && verdict.is_some_and(|verdict| verdict != CaseVerdict::Good) {
                // A person who accepted it counts more than a reader of cases.
                left_out.push(case.left_out(Reason::Judged));
            } else {
                case.judged = verdict == Some(CaseVerdict::Good);
                case.accepted = status == ReviewStatus::Accepted;
                if let Some(review) = review.filter(|review| review.changed) {
                    case.edits = review.edits(&review::note(&case, layout)?);
                    case.clean();
                }
                kept.push(case);
            }
        }
        extraction.cases = kept;
        extraction.left_out.extend(left_out);
        extraction.sort();
        Ok(())
    }

    /// Writes the notes of cases; what a person touched or deleted stays as it is.
    pub(in crate::commands) fn write(
        &mut self,
        cases: &[Case],
        layout: &Layout<'_>,
        vault: &Vault,
    ) -> Result<Vec<(Fate, PathBuf)>> {
        let mut fates = Vec::new();
        let mut bulk = files::Bulk::new();
        let mut taken: BTreeSet<PathBuf> = BTreeSet::new();
        let mut fresh = String::new();
        for case in cases {
            let text = review::note(case, layout)?;
            if let Some(review) = self.by_id.get(&case.id).map(|at| &self.notes[*at]) {
                let path = vault.root().join(&review.path);
                let fate = if review.changed || review.status != ReviewStatus::Proposed {
                    Fate::Kept
                } else if without_verdict(&review.text) == text {
                    Fate::Unchanged
                } else {
                    files::replace(&path, review.text.as_bytes(), text.as_bytes())?;
                    Fate::Renewed
                };
                if self.written.insert(case.id.clone()) {
                    fresh.push_str(&case.id);
                    fresh.push('\n');
                }
                fates.push((fate, review.path.clone().into()));
                continue;
            }
            if self.deleted(&case.id) {
                fates.push((Fate::Deleted, PathBuf::new()));
                continue;
            }
            let names = [file_name(case.kind(), &case.id, &case.title), format!("{}.md", case.id)];
            let mut made = None;
            for name in names {
                let relative = PathBuf::from(FOLDER).join(name);
                let path = vault.root().join(&relative);
                if taken.insert(relative.clone()) && !path.exists() && bulk.create(&path, text.as_bytes())? {
                    made = Some(relative);
                    break;
                }
            }
            // What was never written must not be taken for deleted the next time.
            let Some(relative) = made else {
                fates.push((Fate::Taken, PathBuf::new()));
                continue;
            };
            fates.push((Fate::Created, relative));
            if self.written.insert(case.id.clone()) {
                fresh.push_str(&case.id);
                fresh.push('\n');
            }
        }
        bulk.finish()?;
        // Added to, not written anew: two runs at one time lose nothing of each other.
        if !fresh.is_empty() {
            files::append(&vault.root().join(LEDGER), fresh.as_bytes())?;
        }
        Ok(fates)
    }
}
