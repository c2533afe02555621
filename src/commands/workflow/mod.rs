//! `cru workflow …`.

mod check;
mod diff;
mod evidence;
mod export;
mod find;
mod graph;
pub(super) mod history;
mod list;
mod mine;
mod recipe;
mod show;
mod validate;

pub(in crate::commands) use diff::diff;
pub(in crate::commands) use find::{FoundWorkflow, meant};
pub(in crate::commands) use graph::draw;
pub(in crate::commands) use list::row;
pub(in crate::commands) use mine::kinds;
pub(in crate::commands) use recipe::{decide, proposed};
pub(in crate::commands) use show::{DIALECTS, WorkflowOptions, show};
pub(in crate::commands) use validate::checked;

use super::{Context, Output};
use crate::base::Result;

/// Commands on workflows.
#[derive(Debug, clap::Subcommand)]
pub enum WorkflowCommand {
    Check(check::Args),
    Export(export::Args),
}

impl WorkflowCommand {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Check(args) => check::run(&args, cx),
            Self::Export(args) => export::run(&args, cx),
        }
    }
}
