//! Transcripts into notes: find the files, read them in parallel, fold, name, link, write, account for all of it.
//!
//! What is written depends on the transcripts and the vault alone, not on the order in which threads finish. Existing
//! notes are never touched here: a session whose note already represents its records is unchanged, one whose
//! transcript differs is reported. Knows no agent; the importer is handed in.

use std::path::PathBuf;

use rayon::prelude::*;

use super::collect::{self, Bundled};
use super::plan::Plan;
use super::report::{Outcome, Report, SessionReport};
use crate::base::Result;
use crate::base::files::Bulk;
use crate::import;
use crate::session::fold::{self, Draft};
use crate::session::render;
use crate::session::source::Importer;
use crate::vault::template::{Kind, Template};
use crate::vault::{Catalog, Vault, VaultPath};

/// What a person may choose.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Write nothing, only say what would be done.
    pub dry_run: bool,
    /// How events become notes.
    pub fold: fold::Options,
}

/// Is told how far the work is.
pub trait Watch: Sync {
    /// `total` steps of `what` begin.
    fn begin(&self, what: &str, total: u64);
    /// One of them is done.
    fn step(&self);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _: &str, _: u64) {}
    fn step(&self) {}
}

/// Notes that are rendered before they are written, so that memory stays bounded.
const BATCH: usize = 64;

/// Brings the transcripts below `paths` into the vault.
///
/// A file that cannot be read is told in the report and the rest goes on. Errors: a path that does not exist, or a note
/// that could not be written.
pub fn ingest(
    vault: &Vault,
    importer: &Importer,
    paths: &[PathBuf],
    options: &Options,
    watch: &dyn Watch,
) -> Result<Report> {
    let import::Found { bundles, strangers } = import::search(importer, paths)?;
    watch.begin("Reading", bundles.len() as u64);
    let bundled: Vec<Bundled> = bundles
        .par_iter()
        .map(|bundle| {
            let read = collect::read(importer, bundle, options.fold);
            watch.step();
            read
        })
        .collect();
    let mut drafts = Vec::new();
    let mut accounts = Vec::new();
    for bundle in bundled {
        drafts.extend(bundle.drafts);
        accounts.extend(bundle.accounts);
    }
    let Plan { drafts, mut sessions } = Plan::make(vault, importer, &Catalog::read(vault), drafts);
    if !options.dry_run {
        write(vault, &drafts, &mut sessions, watch)?;
    }
    Ok(Report::new(importer, options.dry_run, sessions, accounts, strangers))
}

/// Renders the named drafts in parallel and makes their files in order.
fn write(vault: &Vault, drafts: &[(usize, Draft)], sessions: &mut [SessionReport], watch: &dyn Watch) -> Result<()> {
    watch.begin("Writing", drafts.len() as u64);
    let (session, subagent) = (Template::of(vault, Kind::Session)?, Template::of(vault, Kind::Subagent)?);
    let framed = |draft: &Draft| {
        let template = if draft.key.agent.is_some() { &subagent } else { &session };
        template.frame(&render::note(&draft.session), draft.session.meta.session_id.as_deref().unwrap_or_default())
    };
    let mut bulk = Bulk::new();
    for batch in drafts.chunks(BATCH) {
        let notes: Vec<String> = batch.par_iter().map(|(_, draft)| framed(draft)).collect::<Result<_>>()?;
        for ((row, _), note) in batch.iter().zip(notes) {
            // Rows of the plan are those of the report.
            let Some(session) = sessions.get_mut(*row) else { continue };
            let path = session.note.as_ref().and_then(VaultPath::new).map(|path| vault.file(&path));
            // The name was free when the vault was walked; whoever took it since keeps it.
            if !path.as_deref().map_or(Ok(false), |path| bulk.create(path, note.as_bytes()))? {
                session.outcome = Outcome::Grown;
                session.detail = Some("somebody else made a note of this name; run it again".to_owned());
            }
            watch.step();
        }
    }
    bulk.finish()
}
