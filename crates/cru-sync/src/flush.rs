//! What waits for a note, written into it: first what its host did, then what was logged beside it.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::evidence::Heard;
use crate::hooked::{Flushed, flush_hooked, last_told};
use cru_base::{Env, Error, Result};
use cru_live::log::{Log, Target};
use cru_live::status;
use cru_session::Status;
use cru_vault::state::key;
use cru_vault::{State, Vault, Writer};

/// What was written of one session's logged entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// `session_id` of the note.
    pub session: String,
    /// Entries that were written.
    pub entries: usize,
    /// Whether the note's bytes changed.
    pub changed: bool,
    /// Whether the session was paused, because nothing happened in it for long.
    pub paused: bool,
}

/// The session of that name (or the one that `CRU_SESSION` names, or the current one), after what its hooks told was
/// brought into its note; `heard` keeps what its calls say for the index. No session where a host has one that has no note yet.
pub fn find(
    name: Option<&str>,
    vault: &Vault,
    state: &State,
    env: &Env,
    heard: Option<&Heard>,
) -> Result<(Option<Target>, Vec<Flushed>)> {
    let found = Target::find(name, vault, env);
    // A note that no host wrote to has no hooks either.
    let named = match &found {
        Ok(target) => target.meta.host_session.as_deref(),
        Err(_) => name.or_else(|| env.var("CRU_SESSION")),
    };
    let flushed = flush_hooked(vault, state, env, Some(named.as_slice()), heard)?;
    if flushed.is_empty() {
        return Ok((Some(found?), flushed));
    }
    // The note may have been made just now.
    let target = found.or_else(|_| Target::find(name, vault, env)).ok();
    Ok((target, flushed))
}

/// The session of that name with all that its host did before: what comes now stands behind it. `warn` is told what could
/// not be written.
pub fn up_to_date(name: Option<&str>, vault: &Vault, state: &State, env: &Env, warn: &dyn Fn(&str)) -> Result<Target> {
    let (target, flushed) = find(name, vault, state, env, None)?;
    for (session, synced) in flushed {
        if let Err(error) = synced {
            warn(&format!("what the host of {session} told could not be written: {error}"));
        }
    }
    target.ok_or_else(|| {
        Error::usage("the host's session has no note yet")
            .with_hint("it gets one with the first prompt that the agent answers")
    })
}

/// Writes what waits for one host session, for a hook that does not leave that to another process.
pub fn inline(vault: &Vault, state: &State, session: &str, env: &Env) -> Result<()> {
    let (target, flushed) = find(Some(session), vault, state, env, None)?;
    for (_, synced) in flushed {
        synced?;
    }
    if let Some(target) = target {
        logged(&Log::new(vault, state, env.now())?, &target)?;
    }
    Ok(())
}

/// Whether a session may have something to write: a journal, or time that ran out.
pub fn is_live(log: &Log<'_>, target: &Target) -> bool {
    target.meta.status == Some(Status::Active) || is_waiting(log, target)
}

/// Whether the next write has something to bring in.
fn is_waiting(log: &Log<'_>, target: &Target) -> bool {
    log.journal(target).path().exists() || Writer::new(log.vault, log.state, log.now).has_displaced(&target.key())
}

/// Writes the entries that were logged by hand. Nothing where none waited and the session goes on.
pub fn logged(log: &Log<'_>, target: &Target) -> Result<Option<Logged>> {
    let waited = is_waiting(log, target);
    let mut row = Logged { session: target.id.clone(), entries: 0, changed: false, paused: false };
    if waited {
        let flushed = log.flush(target, "flush")?;
        row.entries = flushed.entries;
        row.changed = flushed.changed;
    }
    if let Some(paused) = status::pause_if_due(log, target, &|| last_told(log.state, &target.meta))? {
        paused.written?;
        row.paused = true;
        row.changed = true;
    }
    Ok((row.entries > 0 || row.paused).then_some(row))
}

/// Journals of logged entries whose note is not among `targets`: the name of each, and where it is.
pub fn orphans(log: &Log<'_>, targets: &[Target]) -> Vec<(String, PathBuf)> {
    let known: HashSet<String> = targets.iter().map(Target::key).collect();
    let Ok(folder) = std::fs::read_dir(log.state.dir().join("journal")) else { return Vec::new() };
    let names = folder.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let stems = names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned));
    // Those of hooks are named after the host, and are not of this list.
    let mut stems: Vec<String> = stems.filter(|stem| !stem.contains("--") && !known.contains(&key(stem))).collect();
    stems.sort();
    stems.into_iter().map(|stem| (stem.clone(), log.state.journal(&stem))).collect()
}
