//! `[events]` of the user's configuration: programs that are started when something has happened in a session.
//!
//! They are started by what writes notes: `cru admin flush`, which hooks start, the end of a session and `cru import`. What was
//! told of a session stands in the machine's state, so each thing is told once, whoever wrote the note. What a program
//! says is not read; what goes wrong stands in the log of hooks.

use std::path::Path;

use serde_json::json;

use super::{Context, ProgramCall};
use crate::base::files;
use crate::live::hook::trouble;
use crate::memory::event::{SessionEvent, ToldEvents, events};
use crate::sync::report::{Outcome, SessionReport};
use crate::vault::state::key;
use crate::vault::{State, UserConfig, Vault, VaultPath};

/// Seconds that a program may take.
const SECONDS: u64 = 10;

/// A note that was written. Of two of one path the one that was made comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChangedNote {
    pub(super) path: VaultPath,
    was_there: bool,
}

impl ChangedNote {
    /// One that was there before.
    pub(super) const fn there(path: VaultPath) -> Self {
        Self { path, was_there: true }
    }

    /// That of a session of a host, where it was made or changed.
    pub(super) fn of(row: &SessionReport) -> Option<Self> {
        let was_there = match row.outcome {
            Outcome::Created => false,
            Outcome::Updated => true,
            _ => return None,
        };
        Some(Self { path: VaultPath::new(row.note.as_deref()?)?, was_there })
    }
}

/// Tells what happened in the sessions of these notes. Nothing fails by it.
pub(super) fn tell(notes: &[ChangedNote], vault: &Vault, state: &State, cx: &Context<'_>) {
    let Some(config) = configured(cx) else { return };
    for ChangedNote { path, was_there } in notes {
        let Ok(session) = vault.session(path) else { continue };
        let Some(id) = session.meta.session_id.clone() else { continue };
        let place = state.dir().join("events").join(format!("{}.json", key(&id)));
        let told: ToldEvents = crate::base::files::read(&place)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let (happened, now) = events(&session, &told, !was_there);
        // Said once: who is killed between has it not said again.
        if now != told && save(&place, &now).is_err() {
            continue;
        }
        // Events of one session that are told at once; of more only the last.
        let skipped = happened.len().saturating_sub(20);
        for event in happened.iter().skip(skipped) {
            start(&config, event, &id, path, vault, state, cx);
        }
    }
}

/// Tells that notes were imported, and takes what stands in them as told.
pub(super) fn imported(notes: &[VaultPath], vault: &Vault, state: &State, cx: &Context<'_>) {
    let Some(config) = configured(cx) else { return };
    for path in notes {
        let Ok(session) = vault.session(path) else { continue };
        let Some(id) = session.meta.session_id.clone() else { continue };
        let place = state.dir().join("events").join(format!("{}.json", key(&id)));
        let _ = save(&place, &events(&session, &ToldEvents::default(), false).1);
        let event = SessionEvent { event: "imported", text: session.title().to_owned() };
        start(&config, &event, &id, path, vault, state, cx);
    }
}

/// The configuration, where it names a program for any event.
fn configured(cx: &Context<'_>) -> Option<UserConfig> {
    let (config, _) = UserConfig::read(cx.env).ok()?;
    (!config.events.is_empty()).then_some(config)
}

fn save(place: &Path, told: &ToldEvents) -> crate::base::Result<()> {
    if let Some(folder) = place.parent() {
        files::create_private_dir(folder)?;
    }
    files::put_private(place, &serde_json::to_vec(told).unwrap_or_default())
}

fn start(
    config: &UserConfig,
    event: &SessionEvent,
    session: &str,
    note: &VaultPath,
    vault: &Vault,
    state: &State,
    cx: &Context<'_>,
) {
    let Some(command) = config.events.get(event.event).filter(|command| !command.is_empty()) else { return };
    let file = vault.file(note).to_string_lossy().into_owned();
    // An id is what a note says; none is an option of the program.
    let id = session.trim_start_matches('-');
    let fill = |word: &String| word.replace("{note}", &file).replace("{session}", id);
    let command: Vec<String> = command.iter().map(fill).collect();
    let input =
        json!({ "event": event.event, "session": session, "note": file, "text": event.text, "time": cx.env.now() });
    let call = ProgramCall { command: &command, dir: cx.env.cwd(), vars: &[] };
    let why = match cx.ui.ask_in(&call, &format!("{input}\n"), SECONDS) {
        Ok(answer) if answer.timed_out => format!("ended after {SECONDS} seconds"),
        Ok(answer) if answer.code == Some(0) => return,
        Ok(answer) => {
            let last = answer.errors.lines().last().unwrap_or_default();
            format!("exit status {}: {last}", answer.code.map_or_else(|| "unknown".to_owned(), |code| code.to_string()))
        }
        Err(error) => error.to_string(),
    };
    let _ = trouble::note(&state.hook_log(), cx.env.now(), event.event, &format!("`{}`: {why}", command.join(" ")));
}
