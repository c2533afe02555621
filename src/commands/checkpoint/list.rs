//! `cru checkpoint list`.

use serde::Serialize;

use super::shelf::SessionCopies;
use crate::base::Result;
use crate::base::text::plural;
use crate::commands::output::style;
use crate::commands::output::{Align, Cell, Table, minute};
use crate::commands::session::current_or_newest;
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::live::log::Target;
use crate::memory::checkpoint::listing;
use crate::vault::{Catalog, State};

/// List the checkpoints of a session
///
/// Those that stand in the note, with the copies on this machine; and those that are computed and written nowhere:
/// completed tasks, each 30 minutes of active work, recovered errors, and commits.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which session; else the current one
    session: Option<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let head = match &args.session {
        Some(name) => catalog.session(name, &vault, cx.env)?,
        None => current_or_newest(&catalog, &vault, cx)?,
    };
    let target = Target::of(head);
    let (copies, odd) =
        State::existing(&vault, cx.env).map(|state| SessionCopies::of(&target, &state).all()).unwrap_or_default();
    for id in &odd {
        cx.ui.warn(&format!("checkpoint-unreadable: the copy of {id} cannot be read"));
    }
    let session = vault.session(&head.path)?;
    let checkpoints = listing::list(Some(&session), &copies);
    Ok(Box::new(CheckpointList { schema: 1, session: head.id(), checkpoints }))
}

#[derive(Debug, Serialize)]
struct CheckpointList {
    schema: u32,
    session: String,
    checkpoints: Vec<listing::ListedCheckpoint>,
}

impl PlainOutput for CheckpointList {
    fn shown(&self, view: &View) -> String {
        if self.checkpoints.is_empty() {
            return format!("{} has no checkpoints\n", self.session);
        }
        let heads = ["TIME", "KIND", "ID", "COPY", "TITLE"];
        let columns: Vec<(&str, Align)> = heads.into_iter().map(|name| (name, Align::Left)).collect();
        let mut table = Table::new(&columns);
        for row in &self.checkpoints {
            let time = row.time.map(minute);
            let copy = match (row.files, row.elsewhere) {
                (Some(files), _) => plural(files as u64, "file"),
                (None, true) => "elsewhere".to_owned(),
                (None, false) => "–".to_owned(),
            };
            let id = row.id.as_deref().or(row.block.as_deref()).unwrap_or_default();
            table.row([
                Cell::new(time.unwrap_or_else(|| "–".to_owned())),
                Cell::new(&row.kind),
                Cell::new(id).style(style::ID),
                Cell::new(copy),
                Cell::new(&row.title),
            ]);
        }
        table.render(view)
    }

    fn is_no(&self) -> bool {
        self.checkpoints.is_empty()
    }
}
