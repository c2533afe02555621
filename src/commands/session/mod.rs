//! `cru session …`.

use super::{Context, Output};
use crate::base::Result;

/// Commands on sessions.
#[derive(Debug, clap::Subcommand)]
pub enum Command {}

impl Command {
    pub(super) fn run(self, _cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {}
    }
}
