//! `cru hooks`: connecting a host's hooks to `cru hook`, and taking that back.
//!
//! The host's settings belong to the person: they are edited as a text in which all that is not ours keeps its bytes,
//! after the change was shown and agreed to, with a copy of what was there.

pub(super) mod change;
mod handler;
pub(super) mod install;
mod installed_plugin;
mod manifest;
pub(super) mod place;
mod plugin;
mod probe;
pub(super) mod record;
mod settings;
mod status;
pub(super) mod uninstall;
mod user_config;

use clap::Subcommand;

#[doc(hidden)]
pub use settings::edited;

use super::{Context, Output};
use crate::base::Result;
use crate::live::hook::HOSTS;

/// All of them.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    Status(status::Args),
    Plugin(plugin::Args),
}

pub(super) use status::hosts::last_event;

/// The hosts whose hooks are known.
pub(super) fn known_hosts() -> String {
    HOSTS.iter().map(|host| host.id).collect::<Vec<_>>().join(", ")
}

/// What `cru hooks status` tells, as a value.
pub(super) fn status_json(cx: &Context<'_>) -> Result<serde_json::Value> {
    let told = status::run(&status::Args::default(), cx)?;
    told.json().map_err(|error| crate::base::Error::internal("encode the state of hooks", error))
}

impl HooksCommand {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Status(args) => status::run(&args, cx),
            Self::Plugin(args) => plugin::run(&args, cx),
        }
    }
}
