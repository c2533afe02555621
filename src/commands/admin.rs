//! `cru admin`: upkeep of a vault and of this program.

use super::{Context, Output, completions, doctor, flush, index, man, merge, prune, secrets};
use crate::base::Result;

/// Commands of upkeep.
#[derive(Debug, clap::Subcommand)]
pub enum AdminCommand {
    Index(index::Args),
    Flush(flush::Args),
    Prune(prune::Args),
    Merge(merge::Args),
    Doctor(doctor::Args),
    Secrets(secrets::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl AdminCommand {
    /// Whether it keeps words of its command line.
    pub(super) const fn keeps_words(&self) -> bool {
        matches!(self, Self::Flush(_) | Self::Merge(_))
    }

    pub(super) fn run(&self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Index(args) => index::run(args, cx),
            Self::Flush(args) => flush::run(args, cx),
            Self::Prune(args) => prune::run(args, cx),
            Self::Merge(args) => merge::run(args, cx),
            Self::Doctor(args) => doctor::run(args, cx),
            Self::Secrets(args) => secrets::run(args, cx),
            Self::Completions(args) => Ok(completions::run(args)),
            Self::Man(args) => man::run(args),
        }
    }
}
