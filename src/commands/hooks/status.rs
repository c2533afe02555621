//! `cru check hooks`.
//!
//! Runs nothing but commands of the user's own settings, and this program itself: a project's settings come from
//! whoever wrote the project.

mod callers;
pub(super) mod hosts;

use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use self::callers::{Is, PluginState, ProgramState, Settings, look};
use self::hosts::HostState;
use super::handler::Program;
use super::place::{Level, SettingsPlace};
use super::probe::{Arrival, Probe, probe};
use super::{install, installed_plugin};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View};
use crate::live::hook::{HOSTS, Host, trouble, unfiled};
use crate::vault::{State, Vault};

/// Where hooks are installed, and whether they work: of one host, else of claude-code and of those that are found.
///
/// For each settings file and for the plugin: which events call `cru`, which program that is, and whether it exists. Then
/// a test event is sent through the installed command from an empty folder, with machine state of its own, and the vault
/// it arrives in is named; no note and no journal gets it. Then when a hook was last called for this vault, and what went
/// wrong. Exits with 1 when nowhere all events call a program that exists, or when the test event is lost.
///
/// Other hosts whose folder is in the home folder are named with their files, the events that call `cru`, and when the last
/// one arrived. Events of hosts that are not known are refused, and told here.
pub(in crate::commands) fn status(name: Option<&String>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let host = match name {
        None => &HOSTS[0],
        Some(name) => Host::find(name).ok_or_else(|| {
            Error::usage(format!("no hooks of a host '{name}' are known")).with_hint(super::known_hosts())
        })?,
    };
    let is_first = host.id == HOSTS[0].id;
    let places = SettingsPlace::all(host, cx.env);
    let settings: Vec<Settings> = places.iter().map(|place| look(place, host, cx.env)).collect();
    let plugin = installed_plugin::find(&places, cx.env).filter(|_| is_first);
    let plugin = plugin.map(|plugin| PluginState::of(plugin, host, cx.env));
    let tests = tests(&settings, plugin.as_ref(), host, cx);
    let vault = Vault::find_to_read(cx.vault_arg(), cx.env).ok();
    let state = vault.as_ref().and_then(|vault| State::of(vault, cx.env).ok());
    let (journals, last_event) = state.as_ref().map_or((0, None), |state| hosts::last_event(state, host));
    let others = if name.is_some() { Vec::new() } else { install::found_hosts(cx.env) };
    let others = others.into_iter().filter(|other| other.id != host.id);
    let hosts = others.map(|other| HostState::of(other, state.as_ref(), cx)).collect();
    let unknown = state.as_ref().map(hosts::unknown).unwrap_or_default();
    let logs: Vec<PathBuf> =
        [state.map(|state| state.hook_log()), trouble::without_vault(cx.env)].into_iter().flatten().collect();
    let refused = logs.iter().filter_map(|log| trouble::refused(log));
    let refused = refused.chain(unknown).map(|(events, last)| RefusedEvents { events, last }).collect();
    let trouble = logs.into_iter().map(|log| Trouble { lines: trouble::count(&log), last: trouble::last(&log), log });
    Ok(Box::new(HooksReport {
        schema: 1,
        host: host.id,
        settings,
        plugin,
        tests,
        unfiled: unfiled::all(cx.env).into_iter().map(|it| UnfiledRow { session: it.key, events: it.events }).collect(),
        vault: vault.map(|vault| vault.root().to_owned()),
        last_event,
        journals,
        trouble: trouble.filter(|trouble| trouble.lines > 0).collect(),
        hosts,
        refused,
    }))
}

/// What is installed where, and what came of it.
#[derive(Debug, Serialize)]
struct HooksReport {
    schema: u32,
    host: &'static str,
    settings: Vec<Settings>,
    /// The plugin that brings the hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<PluginState>,
    /// Test events that were sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tests: Vec<Probe>,
    /// Sessions whose events wait for a vault, and how many events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfiled: Vec<UnfiledRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vault: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<Timestamp>,
    /// Sessions whose hooks left a journal.
    journals: u64,
    trouble: Vec<Trouble>,
    /// Other hosts that are found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<HostState>,
    /// Events of hosts that are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedEvents>,
}

/// Events that were not kept.
#[derive(Debug, Serialize)]
struct RefusedEvents {
    events: u64,
    /// The last, in words.
    last: String,
}

#[derive(Debug, Serialize)]
struct UnfiledRow {
    session: String,
    events: usize,
}

#[derive(Debug, Serialize)]
struct Trouble {
    log: PathBuf,
    lines: u64,
    last: Option<String>,
}

/// Sends a test event through each program that may be called.
fn tests(settings: &[Settings], plugin: Option<&PluginState>, host: &Host, cx: &Context<'_>) -> Vec<Probe> {
    let may_call = |level: Level, it: &ProgramState| match it.state {
        Is::This => true,
        Is::Other => level == Level::User,
        Is::Gone => false,
    };
    let of_settings = settings.iter().flat_map(|at| at.programs.iter().filter(move |it| may_call(at.level, it)));
    let of_plugin = plugin.into_iter().flat_map(|at| at.programs.iter().filter(|it| may_call(Level::User, it)));
    let mut programs: Vec<Program> = Vec::new();
    for it in of_settings.chain(of_plugin) {
        let program = Program { path: it.path.clone(), vault: it.vault.clone() };
        crate::base::list::push_new(&mut programs, program);
    }
    programs.iter().map(|program| probe(program, host, cx)).collect()
}

/// What became of a test event.
fn test_text(test: &Probe, text: &mut String) {
    let program = sanitise(&test.program);
    let reason = test.reason.as_deref().unwrap_or("the program wrote nothing");
    let _ = match (test.result, &test.vault) {
        (Arrival::Arrived, Some(vault)) => writeln!(
            text,
            "{} an event from another folder, sent through {program}, arrives in {}.",
            paint(style::GOOD, "Test:"),
            sanitise(&vault.to_string_lossy())
        ),
        (Arrival::Arrived, None) => {
            writeln!(
                text,
                "{} an event from another folder, sent through {program}, arrives.",
                paint(style::GOOD, "Test:")
            )
        }
        (Arrival::Kept, _) => writeln!(
            text,
            "{} an event from another folder, sent through {program}, finds no vault and is kept. \
             Run `cru connect` in the vault to name it.",
            paint(style::WARN, "Test:")
        ),
        (Arrival::Lost, _) => writeln!(
            text,
            "{} an event from another folder, sent through {program}, is lost: {reason}",
            paint(style::BAD, "Test:")
        ),
    };
}

impl HooksReport {
    fn works(&self) -> bool {
        self.settings.iter().any(Settings::works) || self.plugin.as_ref().is_some_and(PluginState::works)
    }

    fn unfiled_text(&self, text: &mut String) {
        if self.unfiled.is_empty() {
            return;
        }
        let events: usize = self.unfiled.iter().map(|it| it.events).sum();
        let sessions = plural(self.unfiled.len() as u64, "session");
        let _ = writeln!(
            text,
            "{} {} of {sessions} found no vault and are kept. `cru connect` moves them to the vault that the hooks use.",
            paint(style::WARN, "Waiting:"),
            plural(events as u64, "event"),
        );
    }
}

impl PlainOutput for HooksReport {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        for settings in &self.settings {
            let path = settings.path.to_string_lossy();
            let _ = writeln!(text, "{}: {}", paint(style::ID, sanitise(&path)), settings.summary());
            for program in &settings.programs {
                program.text(&mut text);
            }
            if !settings.more.is_empty() {
                let _ = writeln!(text, "  also on {}", sanitise(&settings.more.join(", ")));
            }
            for note in &settings.notes {
                let _ = writeln!(text, "  {} {}", paint(style::WARN, "note:"), sanitise(note));
            }
        }
        if let Some(plugin) = &self.plugin {
            plugin.text(&mut text);
        }
        for host in &self.hosts {
            host.text(&mut text);
        }
        text.push('\n');
        for test in &self.tests {
            test_text(test, &mut text);
        }
        if self.settings.iter().any(Settings::is_foreign) {
            text.push_str("Not tested: commands of project settings that call another program.\n");
        }
        self.unfiled_text(&mut text);
        match (&self.vault, self.last_event) {
            (None, _) => text.push_str("No vault here.\n"),
            (Some(_), None) => text.push_str("No host has called a hook for this vault yet.\n"),
            (Some(_), Some(at)) => {
                let journals = match self.journals {
                    0 => String::new(),
                    count => format!("; journals of {}", plural(count, "session")),
                };
                let _ = writeln!(text, "Last hook for this vault: {at:.0}{journals}.");
            }
        }
        for refused in &self.refused {
            let events = plural(refused.events, "event");
            let _ = writeln!(text, "{} {events} of hosts that are not known.", paint(style::BAD, "Refused:"));
            let _ = writeln!(text, "  {}", paint(style::DIM, sanitise(&refused.last)));
        }
        for trouble in &self.trouble {
            let lines = plural(trouble.lines, "line");
            let _ = writeln!(text, "{} {lines} in {}", paint(style::WARN, "Trouble:"), trouble.log.display());
            if let Some(last) = &trouble.last {
                let _ = writeln!(text, "  {}", paint(style::DIM, last));
            }
        }
        if !self.works() {
            let host = if self.host == HOSTS[0].id { String::new() } else { format!(" {}", self.host) };
            let _ = writeln!(text, "Next: `cru connect{host}`.");
        }
        text
    }

    fn code(&self) -> u8 {
        let is_lost = self.tests.iter().any(|test| test.result == Arrival::Lost);
        u8::from(is_lost || !self.works())
    }
}
