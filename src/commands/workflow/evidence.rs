//! A workflow with what its lines cite below each: for a person who decides about it.

use std::fmt::Write as _;

use crate::base::Result;
use crate::base::text::sanitise;
use crate::commands::output::style::{self, paint};
use crate::commands::read::recorded;
use crate::commands::{Context, reading};
use crate::readings::Record;
use crate::workflow::Workflow;
use crate::workflow::recipe::ids;

/// Characters of a line of the record.
const LONGEST: usize = 200;

/// The text of a note with the cited steps and words below each line.
pub(super) fn beside(text: &str, workflow: &Workflow, cx: &Context<'_>) -> Result<String> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let mut records: Vec<Record> = Vec::new();
    for source in &workflow.sources {
        let head = catalog.session(&source.target, &vault, cx.env)?;
        cx.global.reach.check(&head.meta)?;
        records.push(recorded(&vault.load(&head.path)?.session, false, None, cx).1);
    }
    let mut out = String::new();
    for line in text.lines() {
        let _ = writeln!(out, "{}", sanitise(line));
        let mut told: Vec<&str> = Vec::new();
        for id in ids(line) {
            if told.contains(&id) {
                continue;
            }
            told.push(id);
            for said in records.iter().map(|record| record.line_of(id, LONGEST)).filter(|said| !said.is_empty()) {
                let _ = writeln!(out, "    {} {}", paint(style::ID, id), paint(style::DIM, said));
            }
        }
    }
    Ok(out)
}
