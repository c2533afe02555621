//! The rows of `cru list runs`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rayon::prelude::*;
use serde::Serialize;

use super::find::FoundWorkflow;
use crate::commands::Context;
use crate::vault::{Catalog, Vault};
use crate::workflow::history::{Run, runs};

/// A run with the workflow that records it.
#[derive(Clone, Debug, Serialize)]
pub(in crate::commands) struct RunRow {
    pub(super) workflow: String,
    path: String,
    #[serde(flatten)]
    pub(in crate::commands) run: Run,
}

/// What workflows record of their runs, the newest first. Where a run has no time, that of its phase in the vault is taken, else of
/// its session.
pub(in crate::commands) fn gather(found: &[FoundWorkflow], cx: &Context<'_>) -> Vec<RunRow> {
    let starts = Starts::of(found, cx);
    let mut rows = Vec::new();
    for FoundWorkflow { stem, path, workflow, .. } in found {
        for mut run in runs(workflow) {
            run.started = run.started.or_else(|| starts.of_run(&run));
            rows.push(RunRow { workflow: stem.clone(), path: path.clone(), run });
        }
    }
    rows
}

/// When phases and sessions of the vault began.
#[derive(Default)]
struct Starts(BTreeMap<String, (Option<Timestamp>, BTreeMap<String, Timestamp>)>);

impl Starts {
    /// Of the sessions that these workflows name, where a run has no time of its own.
    fn of(found: &[FoundWorkflow], cx: &Context<'_>) -> Self {
        let runs = found.iter().flat_map(|found| runs(&found.workflow)).filter(|run| run.started.is_none());
        let names: BTreeSet<String> = runs.filter_map(|run| run.session().map(str::to_owned)).collect();
        let Some(vault) = Vault::find_to_read(cx.vault_arg(), cx.env).ok().filter(|_| !names.is_empty()) else {
            return Self::default();
        };
        let catalog = Catalog::read(&vault);
        let heads: Vec<_> = catalog.sessions().filter(|head| names.contains(&head.id())).collect();
        let read = heads.par_iter().map(|head| {
            let phases = vault.session(&head.path).map(|session| session.phases).unwrap_or_default();
            let phases = phases.into_iter().filter_map(|phase| Some((phase.id, phase.started?))).collect();
            (head.id(), (head.meta.started, phases))
        });
        Self(read.collect())
    }

    fn of_run(&self, run: &Run) -> Option<Timestamp> {
        let (session, phases) = self.0.get(run.session()?)?;
        let block =
            run.source.as_deref().and_then(|source| source.split_once("#^")).map(|(_, id)| id.trim_end_matches(']'));
        block.and_then(|id| phases.get(id).copied()).or(*session)
    }
}
