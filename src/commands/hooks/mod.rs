//! Connecting a host's hooks to `cru hook`, looking whether they work, and taking that back.
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

#[doc(hidden)]
pub use settings::edited;

pub(super) use plugin::plugin;
pub(super) use status::hosts::last_event;
pub(super) use status::status;

use crate::live::hook::HOSTS;

/// The hosts whose hooks are known.
pub(super) fn known_hosts() -> String {
    HOSTS.iter().map(|host| host.id).collect::<Vec<_>>().join(", ")
}
