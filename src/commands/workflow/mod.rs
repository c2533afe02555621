//! `cru workflow …`.

mod check;
mod diff;
mod evidence;
mod export;
mod find;
mod graph;
mod history;
mod list;
mod listing;
mod mine;
mod recipe;
mod sessions;
mod show;
mod validate;

pub(in crate::commands) use recipe::{decide, proposed};
pub(in crate::commands) use show::DialectArg;

use super::{Context, Format, Output};
use crate::base::Result;

/// Commands on workflows.
#[derive(Debug, clap::Subcommand)]
pub enum WorkflowCommand {
    List(list::Args),
    Show(show::Args),
    Validate(validate::Args),
    Graph(graph::Args),
    Check(check::Args),
    Diff(diff::Args),
    History(history::Args),
    Sessions(sessions::Args),
    Export(export::Args),
    Mine(mine::Args),
}

impl WorkflowCommand {
    /// The formats it has beside those that every command has.
    pub(super) const fn formats(&self) -> &'static [Format] {
        match self {
            Self::Graph(_) => &[Format::Mermaid, Format::Dot],
            Self::History(_) | Self::Sessions(_) => &[Format::Jsonl, Format::Csv],
            _ => &[],
        }
    }

    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::List(args) => list::run(&args, cx),
            Self::Show(args) => show::run(&args, cx),
            Self::Validate(args) => validate::run(&args, cx),
            Self::Graph(args) => graph::run(&args, cx),
            Self::Check(args) => check::run(&args, cx),
            Self::Diff(args) => diff::run(&args, cx),
            Self::History(args) => history::run(&args, cx),
            Self::Sessions(args) => sessions::run(&args, cx),
            Self::Export(args) => export::run(&args, cx),
            Self::Mine(args) => mine::run(&args, cx),
        }
    }
}
