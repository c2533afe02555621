//! `cru workflow mine`.

use serde::Serialize;

use super::listing::{self, Listing};
use crate::base::Result;
use crate::base::text::truncate;
use crate::commands::output::{Align, Cell, style};
use crate::commands::session::filter::SessionFilter;
use crate::commands::{Context, Output, reading};
use crate::session::read;
use crate::vault::VaultPath;
use crate::workflow::mine::groups;
use crate::workflow::{Profile, profile};
use rayon::prelude::*;

/// List sessions that did the same kind of work
///
/// Sessions with the same request are of one kind, and those that did the same things: files by their type, commands by
/// program and verb. Nothing is written; `cru session codify SESSION SESSION …` makes one workflow of a group.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    filter: SessionFilter,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let asked = reading::asked(&args.filter, cx)?;
    let rows: Vec<_> = asked.snapshot.sessions().iter().filter(|row| asked.chosen.matches_row(row)).collect();
    let read = |row: &&_| -> Option<(String, Profile)> {
        let row: &crate::index::SessionRow = row;
        let path = VaultPath::new(&row.path)?;
        let bytes = asked.vault.read(&path).ok()?.to_vec();
        Some((path.stem().into_owned(), profile(&read::content_of(bytes))?))
    };
    let read: Vec<(String, Profile)> = rows.par_iter().filter_map(read).collect();
    let (names, profiles): (Vec<String>, Vec<Profile>) = read.into_iter().unzip();
    let found = groups(&profiles).into_iter().map(|group| MinedKind {
        size: group.members.len(),
        same_request: group.same_request,
        shared: group.shared,
        sessions: group.members.iter().filter_map(|at| names.get(*at).cloned()).collect(),
    });
    Ok(Box::new(Listing(found.collect())))
}

/// A group of sessions.
#[derive(Clone, Debug, Serialize)]
struct MinedKind {
    size: usize,
    same_request: bool,
    shared: Vec<String>,
    sessions: Vec<String>,
}

/// Characters of a cell.
const WIDTH: usize = 60;

impl listing::Row for MinedKind {
    const NAME: &'static str = "groups";
    const HEADS: &'static [(&'static str, Align)] =
        &[("sessions", Align::Right), ("request", Align::Left), ("all of them", Align::Left), ("first", Align::Left)];
    const COLUMNS: &'static [&'static str] = &["size", "same_request", "shared", "sessions"];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::new(self.size.to_string()),
            Cell::new(if self.same_request { "the same" } else { "" }).style(style::DIM),
            Cell::new(truncate(&self.shared.join(", "), WIDTH)),
            Cell::new(self.sessions.first().cloned().unwrap_or_default()).style(style::ID),
        ]
    }
}
