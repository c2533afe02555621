//! The lines of `cru check hooks` about programs, the plugin, test events and events that wait.

use std::fmt::Write as _;

use super::{Arrival, HooksReport, Is, Probe, ProgramState};
use crate::base::text::{plural, sanitise};
use crate::commands::output::style::{self, paint};

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

/// What became of a test event.
pub(super) fn test_text(test: &Probe, text: &mut String) {
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
    pub(super) fn plugin_text(&self, text: &mut String) {
        let Some(plugin) = &self.plugin else { return };
        let total = plugin.events + plugin.missing.len();
        let state = match (&plugin.hooks, plugin.events) {
            (None, _) => paint(style::WARN, "enabled; its files are not found"),
            (Some(_), events) if events == total => {
                paint(style::GOOD, format!("enabled, {}", plural(events as u64, "event")))
            }
            (Some(_), events) => {
                paint(style::WARN, format!("{events} of {total} events; missing: {}", plugin.missing.join(", ")))
            }
        };
        let _ = writeln!(text, "plugin {}: {state}", paint(style::ID, sanitise(&plugin.name)));
        for program in &plugin.programs {
            program.text(text);
        }
    }

    pub(super) fn unfiled_text(&self, text: &mut String) {
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
