//! `cru admin prune`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::output::byte_size;
use super::words::explained;
use super::{Context, Output, PlainOutput, View};
use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::memory::prune::{Prunable, PrunedFile, candidates, remove};
use crate::session::time;
use crate::vault::{State, Vault};

/// Remove old copies from this machine's state
///
/// Only what this machine keeps beside the vault, never a note and never evidence. Asks first and says how many bytes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is removed
    #[arg(value_name = "WHAT", default_value = "copies", value_parser = explained(KINDS))]
    what: Vec<Prunable>,
    /// Only what is older: `90d`, `2026-11-01`
    #[arg(long, value_name = "TIME", default_value = "90d")]
    older: String,
    /// Remove without a question
    #[arg(short, long)]
    yes: bool,
    /// Show what would be removed
    #[arg(long)]
    dry_run: bool,
}

/// What may be removed.
const KINDS: &[(Prunable, &str)] = &[
    (Prunable::Copies, "Copies of files that checkpoints made"),
    (
        Prunable::Base,
        "What was generated last of each session, the base of its next merge; the next growth of its note keeps more",
    ),
    (Prunable::Recovery, "Copies of notes that were made before risky writes"),
];

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find_to_read(cx.vault_arg(), cx.env)?;
    let now = cx.env.now();
    let before = time::moment(&args.older, false, &vault.now(cx.env)).ok_or_else(|| {
        Error::usage(format!("--older: `{}` is not a time", crate::base::text::sanitise(&args.older)))
            .with_hint("write it as 90d, 12h or 2026-11-01")
    })?;
    let found = State::existing(&vault, cx.env)
        .map(|state| candidates(state.dir(), &args.what, before, now))
        .unwrap_or_default();
    let mut report = PruneReport { schema: 1, found: rows(&args.what, &found), removed: 0, bytes: 0 };
    if found.is_empty() || args.dry_run {
        return Ok(Box::new(report));
    }
    if !args.yes {
        for line in report.lines() {
            cx.ui.note(&line);
        }
        match cx.ui.confirm("remove them?") {
            Some(true) => {}
            Some(false) => return Ok(Box::new(report)),
            None => return Err(Error::usage("not a terminal; pass --yes").with_hint("`--dry-run` shows what would go")),
        }
    }
    (report.removed, report.bytes) = remove(&found)?;
    Ok(Box::new(report))
}

fn rows(wanted: &[Prunable], found: &[PrunedFile]) -> Vec<PruneRow> {
    let mut sums: BTreeMap<Prunable, (u64, u64)> = wanted.iter().map(|what| (*what, (0, 0))).collect();
    for file in found {
        let sum = sums.entry(file.what).or_default();
        sum.0 += 1;
        sum.1 += file.bytes;
    }
    sums.into_iter().map(|(what, (files, bytes))| PruneRow { what, files, bytes }).collect()
}

#[derive(Debug, Serialize)]
struct PruneRow {
    what: Prunable,
    files: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct PruneReport {
    schema: u32,
    found: Vec<PruneRow>,
    /// Files that were removed, and their bytes.
    removed: u64,
    bytes: u64,
}

impl PruneReport {
    fn lines(&self) -> Vec<String> {
        let line = |row: &PruneRow| {
            format!("{:<8}  {}, {}", row.what.as_str(), plural(row.files, "file"), byte_size(row.bytes))
        };
        self.found.iter().map(line).collect()
    }
}

impl PlainOutput for PruneReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for line in self.lines() {
            let _ = writeln!(out, "{line}");
        }
        let _ = match self.removed {
            0 => writeln!(out, "nothing was removed"),
            some => writeln!(out, "removed {}, {}", plural(some, "file"), byte_size(self.bytes)),
        };
        out
    }
}
