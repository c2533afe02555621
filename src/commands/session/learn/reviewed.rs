//! What became of the case notes of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::list::{self, left_out};
use super::notes::{Fate, Reviews};
use crate::base::text::plural;
use crate::commands::output::style::{self, paint};
use crate::commands::{PlainOutput, View};
use crate::learn::{Extraction, Grade, LeftOut};

/// Notes that were written, and those that were left alone.
#[derive(Debug, Serialize)]
pub(super) struct Reviewed {
    schema: u32,
    cases: usize,
    /// Cases by what an export makes of them.
    standing: BTreeMap<Grade, usize>,
    fates: BTreeMap<Fate, usize>,
    written: Vec<PathBuf>,
    statuses: BTreeMap<&'static str, usize>,
    left_out: Vec<LeftOut>,
}

impl Reviewed {
    pub(super) fn of(extraction: &Extraction, fates: Vec<(Fate, PathBuf)>, reviews: &Reviews) -> Self {
        let mut counts = BTreeMap::new();
        let mut statuses = BTreeMap::new();
        let mut written = Vec::new();
        for case in &extraction.cases {
            let status = reviews.of(&case.id).map(|review| review.status).unwrap_or_default();
            *statuses.entry(status.as_str()).or_default() += 1;
        }
        for (fate, path) in fates {
            *counts.entry(fate).or_default() += 1;
            if matches!(fate, Fate::Created | Fate::Renewed) {
                written.push(path);
            }
        }
        let mut left_out = extraction.left_out.clone();
        left_out.extend(extraction.cases.iter().filter_map(|case| Some(case.left_out(case.gap()?))));
        Self {
            schema: 1,
            cases: extraction.cases.len(),
            standing: list::standing(&extraction.cases),
            fates: counts,
            written,
            statuses,
            left_out,
        }
    }
}

impl PlainOutput for Reviewed {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        if self.cases == 0 {
            text.push_str("No cases: no failure that was overcome, no correction and no work that was checked in these sessions.\n");
            left_out(&mut text, &self.left_out);
            return text;
        }
        let cases = paint(style::TITLE, plural(self.cases as u64, "case"));
        let _ = writeln!(text, "{cases}: {}", list::told(&self.standing));
        for (fate, words) in [
            (Fate::Created, "written to cases/"),
            (Fate::Renewed, "rewritten: the session has more now, and nobody had edited the note"),
            (Fate::Unchanged, "unchanged"),
            (Fate::Kept, "kept as they are: edited, accepted or rejected"),
            (Fate::Deleted, "not made again: somebody deleted the note"),
            (Fate::Taken, "not written: other files have their names"),
        ] {
            if let Some(count) = self.fates.get(&fate) {
                let _ = writeln!(text, "{count:>6} {words}");
            }
        }
        left_out(&mut text, &self.left_out);
        text.push_str(
            "\nNext: read them in the editor or with `cru list cases`; `cru review accept ID`, `cru review reject ID`.\n",
        );
        text
    }

    /// Nothing found is the answer "no".
    fn is_no(&self) -> bool {
        self.cases == 0
    }
}
