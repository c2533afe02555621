//! `cru check mcp`.

use std::fmt::Write as _;
use std::path::PathBuf;

use cru_settings::entry;
use serde::Serialize;
use serde_json::Value;

use super::hosts::{MCP_HOSTS, McpHost, NAME};
use super::is_same_program;
use crate::base::text::sanitise;
use crate::base::{Env, Result};
use crate::commands::hooks::place::{Level, SettingsPlace};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View};

/// Which agents' settings start the server: of one program, else of those that are found.
///
/// For each program whose settings folder is in the home folder, and for the project: whether its settings have the entry
/// `cru`, what it starts, and whether that program exists. Starts nothing. Exits with 1 where none has it.
pub(in crate::commands) fn status(name: Option<&String>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let named = name.map(|name| super::named(name)).transpose()?;
    let is_meant = |host: &&McpHost| named.map_or_else(|| host.is_found(cx.env), |named| std::ptr::eq(named, *host));
    let mut settings = Vec::new();
    for host in MCP_HOSTS.iter().filter(is_meant) {
        settings.extend(host.user(cx.env).map(|path| look(host, Level::User, path, cx.env)));
        let project = host.project(cx.env).filter(|path| path.is_file());
        settings.extend(project.map(|path| look(host, Level::Project, path, cx.env)));
    }
    Ok(Box::new(ServerReport { schema: 1, settings }))
}

/// The settings of one program.
#[derive(Debug, Serialize)]
struct ServerSettings {
    host: &'static str,
    title: &'static str,
    level: Level,
    path: PathBuf,
    /// `installed`, `missing`, `gone` (the program does not exist), `unread`.
    state: &'static str,
    /// What is started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct ServerReport {
    schema: u32,
    settings: Vec<ServerSettings>,
}

fn look(host: &McpHost, level: Level, path: PathBuf, env: &Env) -> ServerSettings {
    let place = SettingsPlace { level, path };
    let mut seen = ServerSettings {
        host: host.id,
        title: host.title,
        level,
        path: place.path.clone(),
        state: "missing",
        command: Vec::new(),
        error: None,
    };
    if host.is_by_hand() {
        seen.state = "unread";
        seen.error = Some("YAML is not read: `cru connect goose` prints what to add".to_owned());
        return seen;
    }
    let entry = place.read().and_then(|text| {
        let servers = entry::find(&text.unwrap_or_default(), host.format, &host.keys(NAME)[..1]);
        servers.map(|it| it.and_then(|servers| ours_among(&servers))).map_err(|refused| place.refuse(&refused))
    });
    match entry {
        Ok(None) => {}
        Ok(Some(entry)) => {
            seen.command = McpHost::words(&entry).unwrap_or_default();
            let is_there = seen.command.first().is_some_and(|program| exists(program, env));
            seen.state = if is_there { "installed" } else { "gone" };
        }
        Err(error) => {
            seen.state = "unread";
            seen.error = Some(error.to_string());
        }
    }
    seen
}

/// The entry that starts our server, whatever its name; else the one that has our name.
fn ours_among(servers: &Value) -> Option<Value> {
    let named = servers.get(NAME).filter(|entry| McpHost::is_our_form(entry));
    let other = || servers.as_object()?.values().find(|entry| McpHost::is_our_form(entry));
    named.or_else(other).or_else(|| servers.get(NAME)).cloned()
}

/// Whether a program is there: this one, a file, or a name on `PATH`.
fn exists(program: &str, env: &Env) -> bool {
    if env.program().is_some_and(|this| is_same_program(program, &this)) {
        return true;
    }
    crate::live::resume::host::find(program, env).is_some()
}

impl PlainOutput for ServerReport {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        for it in &self.settings {
            let command = sanitise(&it.command.join(" ")).into_owned();
            let state = match (it.state, &it.error) {
                (_, Some(error)) => paint(style::WARN, sanitise(error)),
                ("installed", _) => paint(style::GOOD, format!("starts {command}")),
                ("gone", _) => paint(style::BAD, format!("starts {command}: there is no such program")),
                _ => paint(style::DIM, format!("no server of cru; `cru connect {}`", it.host)),
            };
            let path = sanitise(&it.path.to_string_lossy()).into_owned();
            let _ = writeln!(text, "{} ({path}): {state}", paint(style::ID, it.title));
        }
        if self.settings.is_empty() {
            text.push_str("No program with settings for servers is found.\n");
        }
        text
    }

    fn is_no(&self) -> bool {
        !self.settings.iter().any(|it| it.state == "installed")
    }
}
