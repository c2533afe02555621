//! What calls `cru`: settings files and the plugin, each with the programs that it names.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::base::Env;
use crate::base::text::{plural, sanitise};
use crate::commands::hooks::handler::Program;
use crate::commands::hooks::install::{disabled_note, plugin_note, same_file};
use crate::commands::hooks::installed_plugin::InstalledPlugin;
use crate::commands::hooks::place::{Level, SettingsPlace};
use crate::commands::hooks::settings::{self, FoundHooks};
use crate::commands::output::style::{self, paint};
use crate::live::hook::{Host, Row};

#[derive(Debug, Serialize)]
pub(super) struct Settings {
    pub(super) level: Level,
    pub(super) path: PathBuf,
    pub(super) exists: bool,
    /// Events that call `cru`, of those that are installed by default.
    pub(super) events: Vec<&'static str>,
    pub(super) missing: Vec<&'static str>,
    /// Other events that call `cru`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) more: Vec<String>,
    pub(super) programs: Vec<ProgramState>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// A plugin that brings the hooks.
#[derive(Debug, Serialize)]
pub(super) struct PluginState {
    pub(super) name: String,
    /// Its file of hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hooks: Option<PathBuf>,
    pub(super) events: usize,
    pub(super) missing: Vec<&'static str>,
    pub(super) programs: Vec<ProgramState>,
}

#[derive(Debug, Serialize)]
pub(super) struct ProgramState {
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vault: Option<String>,
    pub(super) state: Is,
}

/// What a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Is {
    /// The one that is running.
    This,
    /// Another file.
    Other,
    /// No file.
    Gone,
}

impl Settings {
    /// Whether it calls a program that is not started for a test.
    pub(super) fn is_foreign(&self) -> bool {
        self.level != Level::User && self.programs.iter().any(|it| it.state == Is::Other)
    }

    pub(super) fn works(&self) -> bool {
        self.missing.is_empty() && self.error.is_none() && self.programs.iter().all(|it| it.state != Is::Gone)
    }

    pub(super) fn summary(&self) -> String {
        let total = self.events.len() + self.missing.len();
        match (&self.error, self.events.len()) {
            (Some(error), _) => paint(style::BAD, sanitise(error)),
            (None, 0) if !self.exists => paint(style::DIM, "no such file"),
            (None, 0) if self.more.is_empty() => paint(style::DIM, "no hooks of cru"),
            (None, count) if count == total => {
                paint(style::GOOD, format!("installed, {}", plural(count as u64, "event")))
            }
            (None, count) => {
                paint(style::WARN, format!("{count} of {total} events; missing: {}", self.missing.join(", ")))
            }
        }
    }
}

impl PluginState {
    pub(super) fn of(plugin: InstalledPlugin, host: &Host, env: &Env) -> Self {
        let calls =
            |row: &Row| plugin.found.iter().any(|found| found.name == row.name && found.ours.event == row.event.name());
        let (events, missing): (Vec<&Row>, Vec<&Row>) = host.installed.iter().partition(|row| calls(row));
        let missing = missing.into_iter().map(|row| row.name).collect();
        let (name, events, programs) = (plugin.name, events.len(), programs(&plugin.found, env));
        Self { name, hooks: plugin.hooks, events, missing, programs }
    }

    pub(super) fn works(&self) -> bool {
        self.missing.is_empty() && self.programs.iter().all(|it| it.state != Is::Gone)
    }

    pub(super) fn text(&self, text: &mut String) {
        let total = self.events + self.missing.len();
        let state = match (&self.hooks, self.events) {
            (None, _) => paint(style::WARN, "enabled; its files are not found"),
            (Some(_), events) if events == total => {
                paint(style::GOOD, format!("enabled, {}", plural(events as u64, "event")))
            }
            (Some(_), events) => {
                paint(style::WARN, format!("{events} of {total} events; missing: {}", self.missing.join(", ")))
            }
        };
        let _ = writeln!(text, "plugin {}: {state}", paint(style::ID, sanitise(&self.name)));
        for program in &self.programs {
            program.text(text);
        }
    }
}

impl ProgramState {
    pub(super) fn text(&self, text: &mut String) {
        let state = match self.state {
            Is::This => paint(style::GOOD, "this program"),
            Is::Other => paint(style::WARN, "another program than this one"),
            Is::Gone => paint(style::BAD, "there is no such program: `cru connect` renews it"),
        };
        let _ = writeln!(text, "  calls {}: {state}", sanitise(&self.path));
        if let Some(vault) = &self.vault {
            let _ = writeln!(text, "  for the vault {}", sanitise(vault));
        }
    }
}

/// What a settings file says.
pub(super) fn look(place: &SettingsPlace, host: &Host, env: &Env) -> Settings {
    let mut settings = Settings {
        level: place.level,
        exists: false,
        events: Vec::new(),
        missing: Vec::new(),
        more: Vec::new(),
        programs: Vec::new(),
        notes: Vec::new(),
        error: None,
        path: place.path.clone(),
    };
    let text = match place.read() {
        Ok(text) => text,
        Err(error) => {
            settings.error = Some(error.to_string());
            return settings;
        }
    };
    settings.exists = text.is_some();
    let text = text.unwrap_or_default();
    let found = match settings::find(&text, host) {
        Ok(found) => found,
        Err(refused) => {
            settings.error = Some(place.refuse(&refused).to_string());
            return settings;
        }
    };
    let calls = |name: &str, event: &str| found.iter().any(|found| found.name == name && found.ours.event == event);
    for row in &host.installed {
        let list = if calls(row.name, row.event.name()) { &mut settings.events } else { &mut settings.missing };
        list.push(row.name);
    }
    let more = found.iter().map(|found| &found.name).filter(|name| !settings.events.contains(&name.as_str()));
    settings.more = more.cloned().collect();
    settings.programs = programs(&found, env);
    settings.notes.extend(plugin_note(&text).filter(|_| !found.is_empty()));
    settings.notes.extend(disabled_note(&text));
    settings
}

fn programs(found: &[FoundHooks], env: &Env) -> Vec<ProgramState> {
    let mut programs: Vec<Program> = Vec::new();
    for found in found {
        if !programs.contains(&found.ours.program) {
            programs.push(found.ours.program.clone());
        }
    }
    let state = |Program { path, vault }| ProgramState { state: what_is(&path, env), path, vault };
    programs.into_iter().map(state).collect()
}

fn what_is(program: &str, env: &Env) -> Is {
    let file = if program.contains('/') {
        Some(PathBuf::from(program))
    } else {
        let dirs = env.var("PATH").into_iter().flat_map(std::env::split_paths);
        dirs.filter(|dir| dir.is_absolute()).map(|dir| dir.join(program)).find(|path| path.is_file())
    };
    match file.filter(|file| file.is_file()) {
        None => Is::Gone,
        Some(file) if env.program().is_some_and(|this| same_file(&this, &file)) => Is::This,
        Some(_) => Is::Other,
    }
}
