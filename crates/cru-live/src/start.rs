//! New session notes: a session's own, and that of a sub-agent.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::hook::trouble;
use super::log::Target;
use cru_base::text::{fold_whitespace, sanitise};
use cru_base::{Error, Result, files};
use cru_note::Note;
use cru_session::cursor::Cursor;
use cru_session::mask;
use cru_session::seal::Seals;
use cru_session::source::Consumed;
use cru_session::words::title;
use cru_session::{Agent, Link, Meta, Session, Status, render};
use cru_vault::naming::{Names, child_name, session_name};
use cru_vault::project::ProjectNotes;
use cru_vault::state::key;
use cru_vault::template::{Kind, Template};
use cru_vault::{Catalog, State, Vault, VaultPath, seals};

/// A session that begins.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// What it is about.
    pub title: Option<String>,
    /// When.
    pub started: Timestamp,
    /// Who works.
    pub agent: Option<Agent>,
    /// Channel, without `#`.
    pub channel: Option<String>,
    /// Primary model.
    pub model: Option<String>,
    /// Working directory, `~` for home.
    pub project: Option<String>,
    /// Branch of it.
    pub branch: Option<String>,
    /// Commit of it.
    pub commit: Option<String>,
    /// The program that runs it.
    pub host: Option<String>,
    /// That program's own id for it.
    pub host_session: Option<String>,
    /// Its transcript, `~` for home.
    pub transcript: Option<String>,
    /// The note of the session it was started from, as a link names it.
    pub parent: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
}

/// A session's note that is there now.
#[derive(Clone, Debug)]
pub struct Started {
    /// The session.
    pub target: Target,
    /// Whether it was made now.
    pub created: bool,
    /// Why the vault's own template was not used.
    pub fault: Option<String>,
}

/// Makes the note of a session; that of the same host session where there is one.
pub fn start(vault: &Vault, state: &State, start: &Start) -> Result<Started> {
    // Of many that begin the same host session at once, one makes the note and the others find it.
    let _lock = match &start.host_session {
        Some(id) => {
            let host = start.host.as_deref().unwrap_or("host");
            Some(files::lock(&state.lock(&key(&format!("start--{host}--{id}"))))?)
        }
        None => None,
    };
    let catalog = Catalog::read(vault);
    if let Some(id) = start.host_session.as_deref() {
        let same_host = |host: Option<&str>| host.is_none() || start.host.is_none() || host == start.host.as_deref();
        let known = catalog
            .sessions()
            .find(|head| head.meta.host_session.as_deref() == Some(id) && same_host(head.meta.host.as_deref()));
        if let Some(head) = known {
            return Ok(Started { target: Target::of(head), created: false, fault: None });
        }
    }
    let line = |title: &str| mask::mask(&fold_whitespace(&sanitise(title))).into_owned();
    let title = start.title.as_deref().map(line).filter(|title| !title.is_empty());
    let folder = start.project.as_deref().and_then(|path| path.rsplit(['/', '\\']).next()).filter(|name| *name != "~");
    let title = title.unwrap_or_else(|| match folder {
        Some(folder) if !folder.is_empty() => format!("Session in {folder}"),
        _ => "Session".to_owned(),
    });
    let zone = &vault.config().zone;
    let name = session_name(Some(start.started), &title::name_part(&title), zone);
    let started = create(vault, &catalog, Kind::Session, &name, &meta(start, title, zone))?;
    remember(state, &started.target);
    Ok(started)
}

/// Notes where a session's note is, so that entries find the session while its note is away for a moment.
fn remember(state: &State, target: &Target) {
    // Where that cannot be noted, the first write notes it.
    let _ = files::put_private(&state.known(&target.key()), target.path.text().as_bytes());
}

/// Makes the note of a sub-agent that `parent` starts.
pub fn child(
    vault: &Vault,
    state: &State,
    parent: &Target,
    agent: &Agent,
    model: Option<&str>,
    task: Option<&str>,
    now: Timestamp,
) -> Result<Started> {
    let catalog = Catalog::read(vault);
    let stem = parent.path.stem().into_owned();
    let title = task.map(|task| fold_whitespace(&sanitise(task))).filter(|task| !task.is_empty());
    let title = title.unwrap_or_else(|| {
        format!("{} for {}", agent.name, parent.meta.title.as_deref().unwrap_or(parent.id.as_str()))
    });
    let zone = &vault.config().zone;
    let name = child_name(&stem, &agent.name).unwrap_or_else(|| session_name(Some(now), &agent.name, zone));
    let start = Start {
        started: now,
        agent: Some(agent.clone()),
        channel: parent.meta.channel.clone(),
        model: model.map(str::to_owned),
        project: parent.meta.project.clone(),
        branch: parent.meta.branch.clone(),
        commit: parent.meta.commit.clone(),
        host: parent.meta.host.clone(),
        parent: Some(stem),
        ..Start::default()
    };
    let started = create(vault, &catalog, Kind::Subagent, &name, &meta(&start, title, zone))?;
    remember(state, &started.target);
    if let Some(fault) = &started.fault {
        let _ = trouble::note(&state.hook_log(), now, "template", fault);
    }
    Ok(started)
}

fn meta(start: &Start, title: String, zone: &TimeZone) -> Meta {
    let line = |text: &Option<String>| {
        text.as_deref().map(|text| fold_whitespace(&sanitise(text))).filter(|text| !text.is_empty())
    };
    Meta {
        kind: Some("session".to_owned()),
        aliases: vec![title.clone()],
        title: Some(title),
        date: Some(start.started.to_zoned(zone.clone()).date().to_string()),
        started: Some(start.started),
        status: Some(Status::Active),
        channel: line(&start.channel),
        participants: start.agent.clone().into_iter().collect(),
        model: line(&start.model),
        project: line(&start.project),
        branch: line(&start.branch),
        commit: line(&start.commit),
        host: line(&start.host),
        host_session: line(&start.host_session),
        transcript: line(&start.transcript),
        parent: start.parent.clone().map(Link::to_note),
        tags: start.tags.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned()).collect(),
        cursor: Some(Cursor::first(&Consumed::default()).to_string()),
        ..Meta::default()
    }
}

/// The note under the first free name. Somebody else may take one between our look and our hand; then it is the next.
fn create(vault: &Vault, catalog: &Catalog, kind: Kind, wanted: &str, meta: &Meta) -> Result<Started> {
    let (template, mut fault) = Template::of_or_built_in(vault, kind);
    let mut names = Names::of(catalog);
    let mut meta = meta.clone();
    if let Some(folder) = meta.project.as_deref().filter(|_| meta.parent.is_none()) {
        let mut projects = ProjectNotes::of(vault, catalog);
        meta.project_note = projects.link(vault, folder, &mut names);
        for note in projects.into_new() {
            files::create(&vault.file(&note.path), note.text.as_bytes())?;
        }
    }
    for _ in 0..10_000 {
        let id = names.claim(wanted);
        let Some(path) = VaultPath::new(vault.config().sessions.as_path().join(format!("{id}.md"))) else { break };
        // The seals of a note come first, so none are written for a name that a file has.
        if vault.file(&path).symlink_metadata().is_ok() {
            continue;
        }
        let meta = Meta { session_id: Some(id.clone()), ..meta.clone() };
        let session = Session { heading: meta.title.clone(), meta, ..Session::default() };
        let (text, refused) = template.frame_or_note(render::note(&session), &id);
        fault = fault.or(refused);
        // A title is somebody's words.
        let meta = Meta { title: None, aliases: Vec::new(), ..session.meta.clone() };
        let generated = render::note(&Session { meta, heading: None, ..Session::default() });
        seals::add(vault, &key(&id), &Seals::first(&Note::parse(generated), &Note::parse(text.as_str())))?;
        if files::create(&vault.file(&path), text.as_bytes())? {
            let fault = fault.map(|error| format!("{error}; the built-in template was used"));
            return Ok(Started { target: Target { path, id, meta: session.meta }, created: true, fault });
        }
    }
    Err(Error::usage(format!("no free name for the session '{wanted}'")).with_hint("give it another title"))
}
