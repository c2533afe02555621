//! The server in the settings of an agent's program.
//!
//! The settings belong to the person: they are edited as texts in which all else keeps its bytes, after the change was
//! shown and agreed to, with a copy of what was there; by the same editor as hooks.

mod hosts;
pub(in crate::commands) mod install;
mod status;
pub(in crate::commands) mod uninstall;

use std::path::Path;

use serde_json::Value;

use self::hosts::McpHost;
use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::commands::hooks::change::Consent;
use crate::commands::hooks::place::{Level, SettingsPlace, no_home};
use crate::commands::hooks::record::{self, RecordKind};

pub(in crate::commands) use hosts::NAME;
pub(in crate::commands) use status::status;

/// Which settings of which program.
#[derive(Clone, Debug)]
pub(in crate::commands) struct ServerTarget {
    /// Whose settings.
    pub(in crate::commands) host: String,
    /// The project's settings; else those of all projects.
    pub(in crate::commands) project: bool,
    /// This settings file.
    pub(in crate::commands) settings: Option<std::path::PathBuf>,
    /// The name of the entry.
    pub(in crate::commands) name: String,
    pub(in crate::commands) consent: Consent,
}

/// Whether the settings of a host are known.
pub(in crate::commands) fn is_known(host: &str) -> bool {
    McpHost::find(host).is_some()
}

/// The hosts whose settings are known.
pub(in crate::commands) fn known_hosts() -> String {
    hosts::MCP_HOSTS.iter().map(|host| host.id).collect::<Vec<_>>().join(", ")
}

/// A name that needs no quotes in any settings.
pub(in crate::commands) fn entry_name(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        Ok(name.to_owned())
    } else {
        Err("use up to 64 letters, digits, dashes and underscores".to_owned())
    }
}

impl ServerTarget {
    /// Whether the program has such settings.
    pub(in crate::commands) fn has_place(&self, cx: &Context<'_>) -> bool {
        self.find(cx).is_ok()
    }

    /// The program and the file.
    fn find(&self, cx: &Context<'_>) -> Result<(&'static McpHost, SettingsPlace)> {
        let host = named(&self.host)?;
        if let Some(path) = &self.settings {
            return Ok((host, SettingsPlace { level: Level::File, path: cx.absolute(path) }));
        }
        if self.project {
            let path = host.project(cx.env);
            let path = path.ok_or_else(|| Error::usage(format!("{} has no settings of a project", host.title)))?;
            return Ok((host, SettingsPlace { level: Level::Project, path }));
        }
        let path = host.user(cx.env).ok_or_else(no_home)?;
        Ok((host, SettingsPlace { level: Level::User, path }))
    }
}

/// The program of that name.
fn named(name: &str) -> Result<&'static McpHost> {
    McpHost::find(name)
        .ok_or_else(|| Error::usage(format!("no settings of a host '{name}' are known")).with_hint(known_hosts()))
}

/// Whose an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryOwner {
    /// `cru` wrote these very fields.
    Ours,
    /// It has the form of ours, and nothing tells who wrote it.
    Form,
    /// A person's.
    Theirs,
}

impl EntryOwner {
    fn of(entry: &Value, name: &str, place: &SettingsPlace, cx: &Context<'_>) -> Self {
        match record::written_entry(RecordKind::Server(name), place, cx.env) {
            Some(written) if written == *entry => Self::Ours,
            _ if McpHost::is_our_form(entry) => Self::Form,
            _ => Self::Theirs,
        }
    }
}

/// The refusal to touch an entry that somebody else made.
fn is_theirs(entry: &Value, name: &str, place: &SettingsPlace) -> Error {
    let starts = McpHost::words(entry).map(|words| format!(": it starts `{}`", sanitise(&words.join(" "))));
    Error::usage(format!(
        "{}: the entry `{name}` was not written by cru{}",
        place.path.display(),
        starts.unwrap_or_default()
    ))
}

/// The text of a place and of nothing where there is no file.
fn text_of(place: &SettingsPlace) -> Result<(Option<String>, String)> {
    let old = place.read()?;
    let text = old.clone().unwrap_or_default();
    Ok((old, text))
}

/// Whether two names mean one program.
fn is_same_program(one: &str, other: &Path) -> bool {
    Path::new(one) == other || Path::new(one).canonicalize().ok() == other.canonicalize().ok()
}
