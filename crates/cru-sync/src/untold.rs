//! Sessions whose host told no end: it crashed, it was killed, the machine was switched off, or the host has no event for
//! an end.
//!
//! Such a session would stay active for ever. Nothing proves that a program is gone, so time decides: a session in which
//! nothing happened for a day is over, and one behind which another began in its project is over once it was idle. One that
//! fell silent in the middle of its work, before the agent had answered, broke off: another one in its project shows that
//! soon. The end goes into the session's journal of hooks, as the host would have told it, so that everything that waited
//! reaches the note, and a host that goes on after all takes the session up again.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hooked::journal::{self, HookLine, Hooked, REASON};
use crate::plan::made::MadeNotes;
use cru_base::{Env, Error, Result, files};
use cru_live::entry::{Entry, Status as StatusEntry, Summary};
use cru_live::hook::{Event, FIELDS, HookEntry};
use cru_live::log::{Log, Target};
use cru_live::status::{self, IDLE};
use cru_session::{Item, Meta, Session, Status, time};
use cru_vault::config::expand_home;
use cru_vault::state::key;
use cru_vault::{Catalog, Head, Journal, State, Vault, Writer};

/// How long a session is silent that broke off, where another one began in its project.
const BROKEN_OFF: SignedDuration = SignedDuration::from_mins(10);

/// How long a session is silent that nobody goes on with.
const LEFT: SignedDuration = SignedDuration::from_hours(24);

/// The title of the callout that says it in the note.
pub const TITLE: &str = "Broke off";

/// An end that no host told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntoldEnd {
    /// Which program ran the session.
    host: String,
    /// Its id there.
    session: String,
    /// When something last happened in it.
    last: Timestamp,
    /// Whether it was in the middle of its work.
    broke_off: bool,
}

/// A session that hooks told of and that is not closed.
struct OpenSession<'a> {
    host: String,
    session: String,
    /// Its folder, `~` for home.
    project: Option<String>,
    head: Option<&'a Head>,
    hooked: Option<Hooked>,
}

/// Puts the end into the journals of the sessions that are over though no host told it. Their notes are to be written
/// then, and told of it ([`tell`]).
pub fn end(vault: &Vault, state: &State, env: &Env) -> Result<Vec<UntoldEnd>> {
    let idle = vault.config().session.idle.unwrap_or(IDLE);
    let Some(idle) = i64::try_from(idle).ok().filter(|minutes| *minutes > 0) else { return Ok(Vec::new()) };
    let idle = SignedDuration::from_mins(idle.min(LEFT.as_mins()));
    let catalog = Catalog::read(vault);
    let open = open_sessions(&catalog, vault, state, env)?;
    // What happened where and when, to see which session another one followed.
    let mut signs: Vec<(&str, String, Timestamp)> = Vec::new();
    for head in catalog.sessions().filter(|head| !catalog.is_subagent(head)) {
        if let (Some(project), Some(started)) = (head.meta.project.as_deref(), head.meta.started) {
            signs.push((head.meta.host_session.as_deref().unwrap_or_default(), env.short(project), started));
        }
    }
    for it in &open {
        let told = it.hooked.as_ref().and_then(|hooked| hooked.told.last());
        signs.extend(told.zip(it.project.clone()).map(|(told, project)| (it.session.as_str(), project, told.time)));
    }
    let now = env.now();
    let mut ended = Vec::new();
    for it in open.iter().filter(|it| it.hooked.as_ref().is_none_or(|hooked| !hooked.over)) {
        let Some((last, broke_off)) = it.last(vault, state, now.checked_sub(BROKEN_OFF).unwrap_or(now)) else {
            continue;
        };
        let is_followed = signs
            .iter()
            .any(|(session, project, at)| *session != it.session && Some(project) == it.project.as_ref() && *at > last);
        let silent = now.duration_since(last);
        let limit = if broke_off { BROKEN_OFF.min(idle) } else { idle };
        if silent >= LEFT || is_followed && silent >= limit {
            Journal::at(state.journal(&Hooked::key(&it.host, &it.session))).append(&it.end(env), now)?;
            ended.push(UntoldEnd { host: it.host.clone(), session: it.session.clone(), last, broke_off });
        }
    }
    Ok(ended)
}

/// Says in the notes of sessions that broke off that they did. Those without a note have nothing to tell.
pub fn tell(ended: &[UntoldEnd], log: &Log<'_>) -> Result<()> {
    for it in ended.iter().filter(|it| it.broke_off) {
        let made = MadeNotes::read(log.state, &it.host)?;
        let Some(target) = made.of(&it.session).and_then(|made| Target::by_stem(&made.session, log.vault)) else {
            continue;
        };
        let (host, last) = (&it.host, time::format(it.last));
        let summary = Summary {
            at: Some(it.last),
            title: TITLE.to_owned(),
            text: format!("`{host}` told no end of the session, and nothing after {last}, in the middle of its work."),
            ..Summary::default()
        };
        log.add(&target, &Entry::Summary(summary))?;
        if target.meta.status != Some(Status::Failed) {
            let status = Status::Abandoned.as_str().to_owned();
            log.add(&target, &Entry::Status(StatusEntry { at: Some(it.last), status, ..StatusEntry::default() }))?;
        }
        log.flush(&target, "session abandoned")?;
    }
    Ok(())
}

/// The sessions of hooks that are neither closed nor paused by somebody.
fn open_sessions<'a>(catalog: &'a Catalog, vault: &Vault, state: &State, env: &Env) -> Result<Vec<OpenSession<'a>>> {
    let mut open: Vec<OpenSession<'_>> = Vec::new();
    for name in journal::keys(state, None)? {
        let Some(hooked) = Hooked::of_journal(&Journal::at(state.journal(&name)))? else { continue };
        let cwd = hooked.told.iter().find_map(|told| told.entry.input.get(FIELDS.cwd).and_then(Value::as_str));
        let project = cwd.map(|cwd| env.short(cwd));
        let (host, session) = (hooked.host.clone(), hooked.session.clone());
        open.push(OpenSession { host, session, project, head: None, hooked: Some(hooked) });
    }
    for head in catalog.sessions() {
        let (Some(host), Some(session)) = (&head.meta.host, &head.meta.host_session) else { continue };
        let known = open.iter().position(|it| it.host == *host && it.session == *session);
        if !is_open(head, state) {
            // A journal that is still there tells when its session went on, and no more.
            if let Some(hooked) = known.and_then(|at| open[at].hooked.as_mut()) {
                hooked.over = true;
            }
        } else if let Some(at) = known {
            open[at].head = Some(head);
            let project = head.meta.project.as_deref().map(|project| env.short(project));
            open[at].project = project.or(open[at].project.take());
        } else if is_hooked(head, host, session, vault, state)? {
            let project = head.meta.project.as_deref().map(|project| env.short(project));
            let (host, session) = (host.clone(), session.clone());
            open.push(OpenSession { host, session, project, head: Some(head), hooked: None });
        }
    }
    Ok(open)
}

/// Whether a session goes on as far as its note says: what time paused does, what somebody paused waits for them.
fn is_open(head: &Head, state: &State) -> bool {
    match head.meta.status {
        Some(Status::Active) => true,
        Some(Status::Paused) => status::is_idle(state, &key(&head.id())),
        _ => false,
    }
}

/// Whether the note has what hooks told of the session.
fn is_hooked(head: &Head, host: &str, session: &str, vault: &Vault, state: &State) -> Result<bool> {
    let known = Writer::new(vault, state, Timestamp::default()).peek(&key(&head.id()))?;
    Ok(known.consumed.contains_key(&Hooked::key(host, session)))
}

impl OpenSession<'_> {
    /// When something last happened, and whether that was in the middle of the work; `None` where nothing was done yet, or
    /// it was lately: behind `latest` no note is read.
    fn last(&self, vault: &Vault, state: &State, latest: Timestamp) -> Option<(Timestamp, bool)> {
        let told = self.hooked.as_ref().map(|hooked| hooked.told.as_slice()).unwrap_or_default();
        let heard = told.last().map(|told| told.time);
        if heard.max(self.head.and_then(|head| head.meta.started)).is_some_and(|last| last > latest) {
            return None;
        }
        let remembered =
            if told.is_empty() { LastTold::of(state, &Hooked::key(&self.host, &self.session)) } else { None };
        let heard = heard.max(remembered.as_ref().map(|it| it.at));
        let bytes = self.head.and_then(|head| files::read_note(&vault.file(&head.path)).ok());
        let note = bytes.map(cru_session::read::content_of);
        let last = heard.max(note.as_ref().and_then(status::newest))?;
        let known = breaks_off(told).or(remembered.and_then(|it| it.broke_off));
        let broke_off = known.or_else(|| note.as_ref().map(is_unanswered))?;
        Some((last, broke_off))
    }

    /// The event that the host did not tell.
    fn end(&self, env: &Env) -> HookEntry {
        let told = |name: &str| {
            let hooked = self.hooked.as_ref()?;
            hooked.told.iter().rev().find_map(|told| told.entry.input.get(name).cloned())
        };
        let meta = |of: fn(&Meta) -> Option<&str>| {
            let text = self.head.and_then(|head| of(&head.meta))?;
            Some(Value::from(expand_home(text, env)?.to_string_lossy().into_owned()))
        };
        let transcript = told(FIELDS.transcript).or_else(|| meta(|meta| meta.transcript.as_deref()));
        let cwd = told(FIELDS.cwd).or_else(|| meta(|meta| meta.project.as_deref()));
        let mut input = json!({ FIELDS.session: self.session, "reason": REASON });
        for (name, value) in [(FIELDS.transcript, transcript), (FIELDS.cwd, cwd)] {
            if let Some(value) = value {
                input[name] = value;
            }
        }
        HookEntry {
            host: self.host.clone(),
            event: Event::SessionEnd.name().to_owned(),
            input,
            files: Vec::new(),
            head: None,
            continues: None,
        }
    }
}

/// What the journal of a session told last, known also when the journal is gone because all of it is in the note.
#[derive(Debug, Serialize, Deserialize)]
struct LastTold {
    at: Timestamp,
    /// Whether that was in the middle of the work, where it tells.
    broke_off: Option<bool>,
}

impl LastTold {
    fn of(state: &State, key: &str) -> Option<Self> {
        let bytes = files::read_regular(&Self::place(state, key), 4096).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    fn place(state: &State, key: &str) -> PathBuf {
        state.dir().join("last").join(key)
    }
}

/// Remembers what the journal of a session told last, before it is emptied; nothing where the session is over.
pub(crate) fn remember(state: &State, key: &str, hooked: &Hooked) -> Result<()> {
    let place = LastTold::place(state, key);
    let Some(last) = hooked.told.last().filter(|_| !hooked.over) else { return files::remove(&place).map(drop) };
    let told = LastTold { at: last.time, broke_off: breaks_off(&hooked.told) };
    let json = serde_json::to_vec(&told).map_err(|error| Error::internal("encode what was told last", error))?;
    files::put_private(&place, &json)
}

/// Whether the events end in the middle of the work; `None` where they tell of none.
fn breaks_off(told: &[HookLine]) -> Option<bool> {
    told.iter().rev().find_map(|told| match told.entry.event()? {
        Event::Stop | Event::StopFailure => Some(false),
        Event::Prompt
        | Event::PreTool
        | Event::PostTool
        | Event::PostToolFailure
        | Event::PermissionRequest
        | Event::PermissionDenied => Some(true),
        _ => None,
    })
}

/// Whether a note ends before the agent has answered.
fn is_unanswered(note: &Session) -> bool {
    let told = note
        .items()
        .map(|(_, item)| item)
        .filter(|item| matches!(item, Item::Step(_) | Item::Prose(_) | Item::User(_) | Item::Subagent(_)));
    !matches!(told.last(), Some(Item::Prose(_)))
}
