//! Which sessions an import is about: `--since` and `--project`.

use crate::base::{Env, Result};
use crate::commands::session::filter::time;
use crate::sync::{Choice, Project};
use crate::vault::Vault;

/// The options of the command line.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct ImportFilter {
    /// Only sessions that went on at or after: `2026-11-01`, `2026-11-01T09:00Z`, `7d`, `12h`, `today`
    #[arg(long, value_name = "TIME")]
    pub(super) since: Option<String>,
    /// Only sessions of a project: a folder and all below it (`.` is the current one), or the name of one
    #[arg(long, value_name = "PATH|NAME")]
    pub(super) project: Option<String>,
}

impl ImportFilter {
    /// Usage error: a time that cannot be read.
    pub(super) fn read(&self, vault: &Vault, env: &Env) -> Result<Choice> {
        let since = self.since.as_deref().map(|text| time("--since", text, false, &vault.now(env))).transpose()?;
        Ok(Choice::of(since, self.project.as_deref().map(|text| Project::of(text, env))))
    }
}
