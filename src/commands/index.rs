//! `cru admin index`: what every reading command does by itself, asked for.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::output::{View, byte_size, style};
use super::watching::Watching;
use super::{Context, Output, PlainOutput, reading};
use crate::base::text::{plural, thousands};
use crate::base::{Error, Result};
use crate::index::{self, Snapshot};
use crate::vault::Vault;

/// Update the search index
///
/// Every command that reads does this by itself; nobody has to run it. The index lies with the machine, in
/// `~/.cache/cru`, and may be deleted at any time.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Rebuild the whole index
    #[arg(long, conflicts_with = "check")]
    rebuild: bool,
    /// Compare it with the notes; exit code 1 if they differ
    #[arg(long, conflicts_with = "watch")]
    check: bool,
    /// Keep it up to date until stopped
    #[arg(long)]
    watch: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find_to_read(cx.vault_arg(), cx.env)?;
    let snapshot = reading::snapshot_with(&vault, cx, true, args.rebuild)?;
    if args.watch {
        watch(&vault, &snapshot, cx)?;
    }
    let differences = if args.check { Some(index::check::differences(&vault, &snapshot)?) } else { None };
    Ok(Box::new(IndexReport::of(&snapshot, differences)))
}

/// Brings the index up to date whenever notes have changed, until the program is stopped.
fn watch(vault: &Vault, first: &Snapshot, cx: &Context<'_>) -> Result<()> {
    let root = vault.root().to_owned();
    let hidden = move |path: &Path| {
        let inside = path.strip_prefix(&root).unwrap_or(path);
        inside.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
    };
    let failed = |error: notify::Error| {
        Error::internal("watch the vault", error)
            .with_hint("every command brings the index up to date by itself, so nothing is lost without this one")
    };
    // What happens in the index's own folder is no change of a note.
    let watching = Watching::begin(&[vault.root().to_owned()], move |path: &Path| !hidden(path)).map_err(failed)?;
    cx.ui.note(&format!("watching {} in {}", plural(first.len() as u64, "session"), vault.root().display()));
    while watching.next(None).is_some() {
        let done = reading::snapshot(vault, cx)?.refreshed.clone();
        if done.read + done.gone > 0 {
            cx.ui.note(&format!("{} read, {} gone", plural(done.read as u64, "note"), done.gone));
        }
    }
    Ok(())
}

#[derive(Debug, Serialize)]
struct IndexReport {
    schema: u32,
    sessions: usize,
    entries: u64,
    bytes: u64,
    read: usize,
    gone: usize,
    rebuilt: Option<String>,
    kinds: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<index::check::Difference>>,
}

impl IndexReport {
    fn of(snapshot: &Snapshot, differences: Option<Vec<index::check::Difference>>) -> Self {
        let kinds = snapshot.kinds();
        Self {
            schema: 1,
            sessions: snapshot.len(),
            entries: kinds.values().sum(),
            bytes: snapshot.size(),
            read: snapshot.refreshed.read,
            gone: snapshot.refreshed.gone,
            rebuilt: snapshot.refreshed.rebuilt.clone(),
            kinds,
            differences,
        }
    }
}

impl PlainOutput for IndexReport {
    fn shown(&self, _: &View) -> String {
        let mut text = format!(
            "{} with {}, {}\n",
            plural(self.sessions as u64, "session"),
            entries(self.entries),
            byte_size(self.bytes)
        );
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        if !kinds.is_empty() {
            text.push_str(&style::paint(style::DIM, format!("  {}", kinds.join(", "))));
            text.push('\n');
        }
        text.push_str(&match (self.read, self.gone) {
            (0, 0) => "up to date\n".to_owned(),
            (read, 0) => format!("{} read\n", plural(read as u64, "note")),
            (read, gone) => format!("{} read, {gone} gone\n", plural(read as u64, "note")),
        });
        match self.differences.as_deref() {
            None => {}
            Some([]) => text.push_str("checked: it says what the notes say\n"),
            Some(differences) => {
                for difference in differences {
                    text.push_str(&format!("{}: {}\n", difference.path, difference.what));
                }
                text.push_str("`cru admin index --rebuild` rebuilds it\n");
            }
        }
        text
    }

    fn is_no(&self) -> bool {
        self.differences.as_ref().is_some_and(|found| !found.is_empty())
    }
}

fn entries(count: u64) -> String {
    format!("{} {}", thousands(count), if count == 1 { "entry" } else { "entries" })
}
