//! A test event through an installed command: whether an event from a folder outside of the vault arrives.
//!
//! The command is called as the host calls it, in an empty folder, with machine state of its own that is removed
//! afterwards. Nothing reaches a note, and the journals of the vault are not touched.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::handler::Program;
use crate::base::files;
use crate::base::text::sanitise;
use crate::commands::hook::TEST;
use crate::commands::{Context, ProgramCall};
use crate::live::hook::{Event, HookEntry, Host, trouble};
use crate::vault::Journal;

/// Seconds that a hook may take.
const LONGEST: u64 = 10;

/// What became of a test event.
#[derive(Debug, Serialize)]
pub(super) struct Probe {
    /// The command that was called.
    pub(super) program: String,
    pub(super) result: Arrival,
    /// The vault whose journal got the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vault: Option<PathBuf>,
    /// Why it did not arrive, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// Where a test event was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Arrival {
    /// In the journal of a vault.
    Arrived,
    /// Among the events that wait for a vault.
    Kept,
    /// Nowhere.
    Lost,
}

/// Sends an event through the command of a program.
pub(super) fn probe(program: &Program, host: &Host, cx: &Context<'_>) -> Probe {
    let report = |result, vault, reason: Option<String>| {
        let reason = reason.map(|reason| sanitise(reason.trim()).into_owned());
        Probe { program: program.path.clone(), result, vault, reason }
    };
    match send(program, host, cx) {
        Ok((found, told)) => match found {
            Some(ProbeResult::Vault(vault)) => report(Arrival::Arrived, vault, None),
            Some(ProbeResult::Unfiled) => report(Arrival::Kept, None, told),
            None => report(Arrival::Lost, None, told),
        },
        Err(error) => report(Arrival::Lost, None, Some(error.to_string())),
    }
}

enum ProbeResult {
    Vault(Option<PathBuf>),
    Unfiled,
}

/// Where the event was found, and what the program told of it.
fn send(program: &Program, host: &Host, cx: &Context<'_>) -> std::io::Result<(Option<ProbeResult>, Option<String>)> {
    let scratch = tempfile::tempdir()?;
    let elsewhere = scratch.path().join("project");
    files::create_dir(&elsewhere).map_err(std::io::Error::other)?;
    let state = scratch.path().join("state");
    let session = format!("cru-test-{}", cx.env.now().as_nanosecond());
    let mut command = vec![program.path.clone(), "hook".to_owned(), Event::PreTool.name().to_owned()];
    command.extend(["--host".to_owned(), host.id.to_owned()]);
    if let Some(vault) = &program.vault {
        command.extend(["--vault".to_owned(), vault.clone()]);
    }
    let vars = [
        (TEST, Some(OsStr::new("1"))),
        ("XDG_STATE_HOME", Some(state.as_os_str())),
        // Those of this terminal are not those of the host.
        ("CRU_VAULT", None),
        ("CRU_SESSION", None),
    ];
    let call = ProgramCall { command: &command, dir: &elsewhere, vars: &vars };
    let answer = cx.ui.ask_in(&call, &event(host, &session, &elsewhere).to_string(), LONGEST)?;
    let state = state.join("cru");
    let told = || match (answer.timed_out, answer.code) {
        (true, _) => Some(format!("the program did not end within {LONGEST} seconds")),
        (_, Some(0)) => trouble::last(&state.join("hook.log")),
        (_, code) => {
            let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
            Some(format!("the program ended with {code}: {}", answer.errors.lines().next().unwrap_or_default()))
        }
    };
    let folders = std::fs::read_dir(&state).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders.filter(|path| path.is_dir()) {
        if holds(&folder, &session) {
            return Ok((Some(ProbeResult::Unfiled), told()));
        }
        if holds(&folder.join("journal"), &session) {
            let place = crate::base::files::read_text(&folder.join("vault")).map(PathBuf::from);
            return Ok((Some(ProbeResult::Vault(place)), told()));
        }
    }
    Ok((None, told()))
}

/// What the host would say before a command that does nothing.
fn event(host: &Host, session: &str, dir: &Path) -> Value {
    let fields = &host.fields;
    let mut input = Map::new();
    input.insert(fields.session.to_owned(), json!(session));
    input.insert(fields.cwd.to_owned(), json!(dir));
    input.insert(fields.event.to_owned(), json!(host.row(Event::PreTool).map(|row| row.name)));
    input.insert(fields.tool.to_owned(), json!("Bash"));
    input.insert(fields.tool_input.to_owned(), json!({ "command": "true" }));
    Value::Object(input)
}

/// Whether a journal in a folder holds an event of the session.
fn holds(folder: &Path, session: &str) -> bool {
    let journals = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    journals.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).any(|path| {
        let entries = Journal::at(path).read(None).map(|read| read.entries).unwrap_or_default();
        let of = |entry: HookEntry| entry.input.as_object().is_some_and(|map| map.values().any(|it| it == session));
        entries.iter().any(|entry| serde_json::from_str(entry.event.get()).is_ok_and(of))
    })
}
