//! What waits for a note, written into it: first what its host did, then what was logged beside it.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::hooked::journal::last_told;
use crate::hooked::{Synced, flush_hooked};
use crate::plan::made::MadeNotes;
use crate::read::Heard;
use cru_base::{Env, Error, Result};
use cru_live::hook::HOSTS;
use cru_live::log::{Log, Target};
use cru_live::status;
use cru_session::{Meta, Status};
use cru_vault::state::key;
use cru_vault::{State, Vault, VaultPath, Writer};

/// What was written of what waited for one note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlushRow {
    /// `session_id` of the note.
    pub session: String,
    /// Logged entries that were written.
    pub entries: usize,
    /// Records of its transcript that were brought in.
    pub records: u64,
    /// Whether the note's bytes changed.
    pub changed: bool,
    /// Whether the session was paused, because nothing happened in it for long.
    pub paused: bool,
}

/// The session of that name (or the one that `CRU_SESSION` names, or the current one), after what its hooks told was
/// brought into its note; `heard` keeps what its calls say for the index. No session where a host has one that has no
/// note yet.
#[expect(clippy::type_complexity, reason = "a session, and what `flush_hooked` gives")]
pub fn flush_and_find(
    name: Option<&str>,
    vault: &Vault,
    state: &State,
    env: &Env,
    heard: Option<&Heard>,
) -> Result<(Option<Target>, Vec<(String, Result<Option<Synced>>)>)> {
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
    let (target, flushed) = flush_and_find(name, vault, state, env, None)?;
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

/// The session that entries are logged to.
#[derive(Debug)]
pub struct Logging {
    /// It.
    pub target: Target,
    /// Why its note cannot be written now, where the machine state alone knows it: entries only reach its journal.
    pub away: Option<Error>,
}

/// The pauses in milliseconds after which a note is looked for again that is away for a moment: an editor renames it, or
/// deletes it and makes it anew.
const AWAY: [u64; 7] = [5, 10, 20, 40, 80, 160, 320];

/// [`up_to_date`] for who logs: a session that the machine state knows is found while its note is away, and no other
/// session is taken for it.
pub fn to_log(name: Option<&str>, vault: &Vault, state: &State, env: &Env, warn: &dyn Fn(&str)) -> Result<Logging> {
    let named = name.or_else(|| env.var("CRU_SESSION"));
    let known = named.and_then(|named| known(named, state));
    let mut pauses = AWAY.iter();
    loop {
        let found = up_to_date(name, vault, state, env, warn);
        let Some(known) = &known else { return found.map(|target| Logging { target, away: None }) };
        let is_it = |target: &Target| target.id == known.id || Some(&*target.path.stem()) == named;
        let error = match found {
            Ok(target) if is_it(&target) => return Ok(Logging { target, away: None }),
            // Another session whose name begins like this one's.
            Ok(_) => Error::usage(format!("no session '{}' in this vault", known.id)),
            Err(error) => error,
        };
        match pauses.next() {
            Some(pause) => std::thread::sleep(std::time::Duration::from_millis(*pause)),
            None => return Ok(Logging { target: known.clone(), away: Some(error) }),
        }
    }
}

/// The session that the machine state knows by this name: its own, or that of its host.
pub fn known(name: &str, state: &State) -> Option<Target> {
    Target::known(name, state).or_else(|| {
        HOSTS.iter().find_map(|host| {
            let made = MadeNotes::read(state, host.id).ok()?;
            let host_session = made.host_session(name).unwrap_or(name);
            let made = made.of(host_session)?;
            let meta = Meta {
                session_id: Some(made.session.clone()),
                host: Some(made.host.clone()),
                host_session: Some(made.host_session.clone()),
                ..Meta::default()
            };
            Some(Target { path: VaultPath::new(&made.note)?, id: made.session.clone(), meta })
        })
    })
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
pub fn logged(log: &Log<'_>, target: &Target) -> Result<Option<FlushRow>> {
    let waited = is_waiting(log, target);
    let mut row = FlushRow { session: target.id.clone(), ..FlushRow::default() };
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
