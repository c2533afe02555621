//! The sessions that are meant, and the workflow that they give.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{Args, evidence};
use crate::base::text::one_line;
use crate::base::{Diagnostic, Error, Result, files};
use crate::commands::read::Shelf;
use crate::commands::{Context, Reach, reading};
use crate::session::{Session, read};
use crate::sync::evidence::Transcripts;
use crate::vault::template::{Kind, Template};
use crate::vault::{Catalog, Vault, VaultPath};
use crate::workflow::mine::{COMMON, Fate, Source};
use crate::workflow::{self, Dialect, Evidence, Mining, Workflow};

/// What the sessions give by themselves.
pub(super) struct Extract {
    pub(super) workflow: Workflow,
    pub(super) markdown: String,
    pub(super) remarks: Vec<Diagnostic>,
    pub(super) mining: Option<Mining>,
    /// The sessions, where an agent is to read them.
    pub(super) sessions: Vec<Session>,
    /// What an accepted or proven reading says of the session, where an agent is to write a recipe.
    pub(super) brief: String,
    /// Name of the first session's file.
    pub(super) stem: String,
    pub(super) vault: Option<Vault>,
}

/// Sessions that a hint names at most.
const MAX_NAMED: usize = 8;

/// A note of a session.
enum Place {
    File(PathBuf),
    Note(VaultPath),
}

pub(super) fn extract(args: &Args, cx: &Context<'_>) -> Result<Extract> {
    let Found { places, vault, shelf } = find(&args.session, cx)?;
    let one = |place: &Place| -> Result<(String, Session)> {
        let (stem, bytes) = bytes_of(place, vault.as_ref())?;
        let mut session = read::content_of(bytes);
        // A link resolves by the name of the file, which a person may have changed since.
        session.meta.session_id = Some(stem.clone());
        Ok((stem, session))
    };
    let notes: Vec<(String, Session)> = places.par_iter().map(one).collect::<Result<_>>()?;
    let options = args.options();
    let (workflow, remarks, mining) = match notes.as_slice() {
        [(stem, session)] => {
            let evidence = beyond_note(stem, session, vault.as_ref(), &shelf, cx);
            let (workflow, remarks) = workflow::codify_with(session, &options, &evidence);
            check_repeatable(&remarks)?;
            (workflow, remarks, None)
        }
        several => {
            let sources: Vec<Source<'_>> = several
                .iter()
                .map(|(stem, session)| Source { id: session.meta.session_id.as_deref().unwrap_or(stem), session })
                .collect();
            let (workflow, remarks, mining) = workflow::mine(&sources, &options);
            if mining.sessions.is_empty() {
                return Err(Error::no("all of these sessions failed or were abandoned")
                    .with_hint("name one that succeeded, or codify one of them alone"));
            }
            if mining.columns.iter().all(|row| row.fate != Fate::Common) {
                return Err(nothing_in_common(&mining));
            }
            (workflow, remarks, Some(mining))
        }
    };
    let dialect = args.dialect;
    let mut markdown = workflow::render_as(&workflow, dialect);
    let stem = notes.first().map_or(String::new(), |(stem, ..)| stem.clone());
    if let Some(vault) = vault.as_ref().filter(|_| dialect == Dialect::A) {
        markdown = Template::of(vault, Kind::Workflow)?.frame(markdown, &stem)?;
    }
    let brief = match notes.as_slice() {
        [(stem, session)] if args.is_refined() => brief(stem, session, &shelf),
        _ => String::new(),
    };
    let sessions = if args.is_refined() { notes.into_iter().map(|(_, session)| session).collect() } else { Vec::new() };
    Ok(Extract { workflow, markdown, remarks, mining, sessions, brief, stem, vault })
}

/// The name and the bytes of a note.
fn bytes_of(place: &Place, vault: Option<&Vault>) -> Result<(String, Vec<u8>)> {
    Ok(match (place, vault) {
        (Place::Note(path), Some(vault)) => (path.stem().into_owned(), vault.read(path)?.to_vec()),
        (Place::File(path), _) => {
            (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), files::read_given(path)?)
        }
        (Place::Note(path), None) => return Err(Error::no(format!("{path} stands in no vault"))),
    })
}

/// A workflow of each job of the session.
pub(super) fn jobs(args: &Args, cx: &Context<'_>) -> Result<Vec<(Workflow, Vec<Diagnostic>)>> {
    let Found { places, vault, shelf } = find(&args.session, cx)?;
    let [place] = places.as_slice() else {
        return Err(
            Error::usage("--split takes one session").with_hint("name one: `cru session codify --split SESSION`")
        );
    };
    let (stem, bytes) = bytes_of(place, vault.as_ref())?;
    let session = read::content_of(bytes);
    let evidence = beyond_note(&stem, &session, vault.as_ref(), &shelf, cx);
    let jobs = workflow::codify_jobs(&session, &args.options(), &evidence);
    for (_, remarks) in &jobs {
        check_repeatable(remarks)?;
    }
    Ok(jobs)
}

/// What the transcript of a session and an accepted reading of it say beyond its note; nothing outside a vault.
fn beyond_note(stem: &str, session: &Session, vault: Option<&Vault>, shelf: &Shelf, cx: &Context<'_>) -> Evidence {
    let Some(vault) = vault else { return Evidence::default() };
    let mut evidence = evidence::evidence(session, &Transcripts::of(vault, cx.env));
    if let Some(reading) = shelf.accepted(stem).filter(|it| it.is_of(session)) {
        evidence.set_groups(reading.workflow);
        evidence.set_open(reading.open);
    }
    evidence
}

/// What the reading that counts says of a session.
fn brief(stem: &str, session: &Session, shelf: &Shelf) -> String {
    let Some(answer) = shelf.accepted(stem).filter(|it| it.is_of(session)) else { return String::new() };
    let goal = answer.goal.iter().map(|it| format!("asked: {it}"));
    let outcome = answer.outcome.iter().map(|it| format!("outcome, {}: {}", it.state.as_str(), it.text));
    let not_verified = answer.not_verified.iter().map(|it| format!("not verified: {it}"));
    let open = answer.open.iter().map(|it| format!("open: {it}"));
    let refuted = answer.contradicted.iter().map(|it| format!("claimed and refuted: {it}"));
    goal.chain(outcome).chain(not_verified).chain(open).chain(refuted).collect::<Vec<_>>().join("\n")
}

/// Error where there is nothing to repeat.
fn check_repeatable(remarks: &[Diagnostic]) -> Result<()> {
    match remarks.iter().find(|remark| remark.code == workflow::NOTHING_TO_REPEAT) {
        Some(remark) => Err(Error::no(remark.message.clone())),
        None => Ok(()),
    }
}

/// No step is in enough of the sessions. Says which of them are of one kind, as far as one step tells.
fn nothing_in_common(mining: &Mining) -> Error {
    let count = mining.sessions.len();
    let error = Error::no(format!(
        "these {count} sessions have no step in common; {:.0} % of them, and two at least, would have to share one",
        COMMON * 100.0
    ));
    let alike = mining.columns.iter().enumerate().filter(|(_, row)| row.sessions > 1);
    let Some((_, row)) = alike.max_by_key(|(at, row)| (row.sessions, Reverse(*at))) else {
        return error.with_hint("no two of them did the same; make a workflow of each: `cru session codify SESSION`");
    };
    let sharing = row.cells.iter().zip(&mining.sessions).filter(|(cell, _)| cell.is_some());
    let names: Vec<String> = sharing.map(|(_, id)| one_line(id)).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    error.with_hint(format!(
        "name sessions of one kind; “{}” is in {} of them: `cru session codify {}`{more}",
        one_line(&row.title),
        row.sessions,
        names[..names.len().min(MAX_NAMED)].join(" ")
    ))
}

/// The notes of the sessions, and their vault with its readings.
struct Found {
    places: Vec<Place>,
    vault: Option<Vault>,
    shelf: Shelf,
}

/// The notes that are meant: paths that are there, vault or not, else whatever the vault knows by a name.
fn find(names: &[String], cx: &Context<'_>) -> Result<Found> {
    // Who reads for somebody else is given sessions of the vault alone, and no other file.
    let file = |name: &String| {
        Some(cx.absolute(Path::new(name))).filter(|path| cx.global.reach == Reach::All && path.is_file())
    };
    if !names.is_empty() && names.iter().all(|name| file(name).is_some()) {
        let places = names.iter().filter_map(file).map(Place::File).collect();
        let vault = Vault::find_to_read(cx.vault_arg(), cx.env).ok();
        let read = |vault: &Vault| Shelf::within(&Catalog::read(vault), vault, cx.global.reach);
        return Ok(Found { places, shelf: vault.as_ref().map(read).unwrap_or_default(), vault });
    }
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let mut places: Vec<Place> = Vec::new();
    for name in names {
        if let Some(path) = file(name) {
            places.push(Place::File(path));
        } else {
            let head = catalog.session(name, &vault, cx.env)?;
            cx.global.reach.check(&head.meta)?;
            places.push(Place::Note(head.path.clone()));
        }
    }
    if names.is_empty() {
        let head = match catalog.current(&vault, cx.env)? {
            Some(head) => head,
            None => catalog.newest_completed().ok_or_else(|| {
                Error::usage("no session of this vault is completed")
                    .with_hint("name the session: `cru session codify <session>`")
            })?,
        };
        cx.global.reach.check(&head.meta)?;
        cx.ui.note(&format!("made from {}: name another session to take that", head.id()));
        places.push(Place::Note(head.path.clone()));
    }
    Ok(Found { places, shelf: Shelf::within(&catalog, &vault, cx.global.reach), vault: Some(vault) })
}
