//! `cru session …`.

mod codify;

use super::{Context, Output};
use crate::base::Result;

/// Commands on sessions.
#[derive(Debug, clap::Subcommand)]
#[expect(missing_docs, reason = "a variant's help is the doc comment of its arguments")]
pub enum Command {
    Codify(codify::Args),
}

impl Command {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Codify(args) => codify::run(&args, cx),
        }
    }
}
