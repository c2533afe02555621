//! `cru session …`.

mod codify;
mod filter;
mod learn;
mod list;
mod resume;
mod show;

use super::{Context, Output};
use crate::base::{Error, Result};
use crate::vault::{Catalog, Head, Vault};

/// Commands on sessions.
#[derive(Debug, clap::Subcommand)]
#[expect(missing_docs, reason = "a variant's help is the doc comment of its arguments")]
pub enum Command {
    Codify(codify::Args),
    List(list::Args),
    Resume(resume::Args),
    Show(show::Args),
    Learn(learn::Args),
}

impl Command {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Codify(args) => codify::run(&args, cx),
            Self::List(args) => list::run(&args, cx),
            Self::Resume(args) => resume::run(&args, cx),
            Self::Show(args) => show::run(&args, cx),
            Self::Learn(args) => learn::run(&args, cx),
        }
    }
}

/// The current session, else the newest one.
fn current_or_newest<'a>(catalog: &'a Catalog, vault: &Vault, cx: &Context<'_>) -> Result<&'a Head> {
    if let Some(head) = catalog.current(vault, cx.env)? {
        return Ok(head);
    }
    let newest = catalog.sessions().max_by(|a, b| (a.meta.started, &a.path).cmp(&(b.meta.started, &b.path)));
    newest.ok_or_else(|| Error::no("the vault holds no session").with_hint("`cru import claude` brings some in"))
}
