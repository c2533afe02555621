//! Other hosts that are installed: whether their settings call `cru`, and whether events arrive.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::callers::{Is, ProgramState, look};
use crate::base::text::{plural, sanitise};
use crate::commands::Context;
use crate::commands::hooks::place::SettingsPlace;
use crate::commands::output::style::{self, paint};
use crate::live::hook::{HOSTS, Host, Row, called};
use crate::vault::{Journal, State};

/// A host whose folder is in the home folder.
#[derive(Debug, Serialize)]
pub(super) struct HostState {
    host: &'static str,
    title: &'static str,
    /// Its settings files that call `cru`; else the first where hooks would stand.
    files: Vec<PathBuf>,
    /// Events that call `cru`.
    events: Vec<&'static str>,
    missing: Vec<&'static str>,
    programs: Vec<ProgramState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<Timestamp>,
    /// Sessions whose hooks left a journal.
    journals: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl HostState {
    pub(super) fn of(host: &'static Host, state: Option<&State>, cx: &Context<'_>) -> Self {
        let places = SettingsPlace::all(host, cx.env);
        let mut seen: Vec<_> = places.iter().map(|place| look(place, host, cx.env)).collect();
        let error = seen.iter().find_map(|settings| settings.error.clone());
        if seen.iter().any(|settings| !settings.events.is_empty()) {
            seen.retain(|settings| !settings.events.is_empty());
        }
        seen.truncate(if seen.iter().all(|settings| settings.events.is_empty()) { 1 } else { usize::MAX });
        let calls = |row: &&Row| seen.iter().any(|settings| settings.events.contains(&row.name));
        let (events, missing): (Vec<&Row>, Vec<&Row>) = host.installed.iter().partition(calls);
        let (journals, last_event) = state.map_or((0, None), |state| last_event(state, host));
        Self {
            host: host.id,
            title: host.title(),
            files: seen.iter().map(|settings| settings.path.clone()).collect(),
            events: events.into_iter().map(|row| row.name).collect(),
            missing: missing.into_iter().map(|row| row.name).collect(),
            programs: seen.into_iter().flat_map(|settings| settings.programs).collect(),
            last_event,
            journals,
            error,
        }
    }

    pub(super) fn text(&self, text: &mut String) {
        let files: Vec<_> = self.files.iter().map(|path| sanitise(&path.to_string_lossy()).into_owned()).collect();
        let total = self.events.len() + self.missing.len();
        let state = match (&self.error, self.events.len()) {
            (Some(error), _) => paint(style::BAD, sanitise(error)),
            (None, 0) => paint(style::DIM, format!("no hooks of cru; `cru connect {}`", self.host)),
            (None, count) if count == total => {
                paint(style::GOOD, format!("installed, {}", plural(count as u64, "event")))
            }
            (None, count) => {
                paint(style::WARN, format!("{count} of {total} events; missing: {}", self.missing.join(", ")))
            }
        };
        let _ = writeln!(text, "{} ({}): {state}", paint(style::ID, self.title), files.join(", "));
        for program in self.programs.iter().filter(|program| program.state != Is::This) {
            program.text(text);
        }
        if !self.events.is_empty() {
            let _ = match self.last_event {
                Some(at) => writeln!(text, "  last event for this vault: {at:.0}"),
                None => writeln!(text, "  no event arrived in this vault yet"),
            };
        }
    }
}

/// Names of the journals in a state.
fn journals(state: &State) -> Vec<(String, PathBuf)> {
    let journal = state.journal("x");
    let entries = journal.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    journals.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path.clone()))).collect()
}

/// Journals of hooked sessions of a host, and when one was last written.
pub(in crate::commands) fn last_event(state: &State, host: &Host) -> (u64, Option<Timestamp>) {
    let prefix = format!("{}--", host.id);
    let own = journals(state).into_iter().filter(|(name, _)| name.starts_with(&prefix));
    let known = called::last(state, host.id);
    own.fold((0, known), |(count, last), (_, path)| (count + 1, last.max(written(&path))))
}

fn written(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()
}

/// Journals of hosts that this version does not know: how many events, and of whom.
pub(super) fn unknown(state: &State) -> Vec<(u64, String)> {
    let of_nobody = |name: &str| {
        let (host, _) = name.split_once("--")?;
        (!HOSTS.iter().any(|known| known.id == host)).then(|| host.to_owned())
    };
    let found = journals(state).into_iter().filter_map(|(name, path)| {
        let host = of_nobody(&name)?;
        let events = Journal::at(path.clone()).read(None).ok()?.entries.len() as u64;
        Some((events, format!("journal of the host '{host}': {}", path.display())))
    });
    found.collect()
}
