//! `cru session …`.

mod archive;
mod closing;
pub(in crate::commands) mod codify;
pub(in crate::commands) mod filter;
pub(in crate::commands) mod learn;
mod rename;
pub(in crate::commands) mod resume;
pub(in crate::commands) mod show;
mod start;
mod status;

pub(in crate::commands) use codify::recipe_as;

use super::{Context, Output};
use crate::base::{Error, Result};
use crate::vault::{Catalog, Head, Vault};

/// Commands on sessions.
#[derive(Debug, clap::Subcommand)]
#[expect(missing_docs, reason = "a variant's help is the doc comment of its arguments")]
pub enum SessionCommand {
    Start(start::Args),
    Mark(status::Args),
    Rename(rename::Args),
    Archive(archive::Args),
}

impl SessionCommand {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Start(args) => start::run(&args, cx),
            Self::Mark(args) => status::run(&args, cx),
            Self::Rename(args) => rename::run(&args, cx),
            Self::Archive(args) => archive::run(&args, cx),
        }
    }
}

/// The current session, else the newest one that is not a sub-agent's.
pub(in crate::commands) fn current_or_newest<'a>(
    catalog: &'a Catalog,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<&'a Head> {
    if let Some(head) = catalog.current(vault, cx.env)? {
        return Ok(head);
    }
    catalog.newest().ok_or_else(|| {
        if catalog.sessions().next().is_some() {
            return Error::no("the vault holds no session but those of sub-agents")
                .with_hint("name one; `cru session list --all` shows them");
        }
        Error::no("the vault holds no session").with_hint("`cru import claude` brings some in")
    })
}
