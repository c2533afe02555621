//! Which sessions are learned from, and their cases.
//!
//! Each session is read for itself, and let go again once something was made of its cases, so that many sessions take no
//! more memory than one and what is kept of each. A transcript is opened only where its note has a case.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde_json::Value;

use super::read_cases;
use crate::base::Result;
use crate::commands::read::Shelf;
use crate::commands::{Context, reading};
use crate::index::Query;
use crate::index::search::{Search, SearchOptions};
use crate::learn::{self, Call, Calls, Extraction, Family, Kind};
use crate::note::Note;
use crate::readings::note::ReadingNote;
use crate::session::{self, Session};
use crate::sync::evidence::{Transcripts, Whole};
use crate::vault::{Catalog, Vault, VaultPath};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct WantedCases<'a> {
    /// Names of sessions; all where none is named.
    pub(in crate::commands) sessions: &'a [String],
    /// Kinds of cases.
    pub(in crate::commands) kinds: &'a [Kind],
    /// Only sessions in which this query finds something.
    pub(in crate::commands) filter: Option<&'a str>,
}

/// Sessions that are read before what was made of them is taken.
const BATCH: usize = 64;

/// The cases of the sessions that are asked for.
pub(in crate::commands) fn extract(
    wanted: WantedCases<'_>,
    catalog: &Catalog,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<Extraction> {
    let mut all = Extraction::default();
    each(wanted, catalog, vault, cx, Ok, |extraction| {
        all.cases.extend(extraction.cases);
        all.left_out.extend(extraction.left_out);
        Ok(())
    })?;
    Ok(all)
}

/// Makes something of the cases of each session that is asked for, in any thread, and takes it in the order of session
/// ids.
pub(in crate::commands) fn each<T: Send>(
    wanted: WantedCases<'_>,
    catalog: &Catalog,
    vault: &Vault,
    cx: &Context<'_>,
    make: impl Fn(Extraction) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let named = wanted.sessions.iter().map(|name| Ok(catalog.session(name, vault, cx.env)?.path.clone()));
    let named = named.collect::<Result<BTreeSet<_>>>()?;
    let found = wanted.filter.map(|query| filtered(query, vault, cx)).transpose()?;
    let meant = |path: &VaultPath| {
        (named.is_empty() || named.contains(path))
            && found.as_ref().is_none_or(|found| found.contains(path.text().as_ref()))
    };
    // Two notes of one session id are taken together: only then the ids of their cases are told apart.
    let mut sessions: BTreeMap<String, Vec<&VaultPath>> = BTreeMap::new();
    for head in catalog.sessions().filter(|head| meant(&head.path)) {
        let id = head.meta.session_id.clone().filter(|id| !id.is_empty());
        sessions.entry(id.unwrap_or_else(|| head.path.stem().into_owned())).or_default().push(&head.path);
    }
    let sessions: Vec<Vec<&VaultPath>> = sessions.into_values().collect();
    let names: Vec<_> = catalog.sessions().map(|head| (head.path.stem(), &head.meta)).collect();
    let family = Family::of(names.iter().map(|(name, meta)| (name.as_ref(), &***meta)));
    let transcripts = Transcripts::of(vault, cx.env);
    let shelf = Shelf::read(catalog, vault);
    let progress = cx.ui.progress("learning", sessions.len() as u64);
    for batch in sessions.chunks(BATCH) {
        let gather = |paths: &Vec<&VaultPath>| {
            let mut extraction = Extraction::default();
            let mut unread = Vec::new();
            for path in paths {
                let reading = shelf.counting(&path.stem());
                match of_note(path, wanted.kinds, &family, &transcripts, reading, vault) {
                    Ok(more) => {
                        extraction.cases.extend(more.cases);
                        extraction.left_out.extend(more.left_out);
                    }
                    Err(error) => unread.push(error),
                }
            }
            extraction.sort();
            progress.advance(1);
            (make(extraction), unread)
        };
        for (made, unread) in batch.par_iter().map(gather).collect::<Vec<_>>() {
            for error in unread {
                cx.ui.warn(&error.to_string());
            }
            take(made?)?;
        }
    }
    Ok(())
}

fn of_note(
    path: &VaultPath,
    kinds: &[Kind],
    family: &Family,
    transcripts: &Transcripts,
    reading: Option<&ReadingNote>,
    vault: &Vault,
) -> Result<Extraction> {
    let (note, session) = read(vault, path)?;
    let text = path.text();
    let source = learn::Note { path: &text, text: note.text(), session: &session, calls: None };
    let mut extraction = learn::extract(&[source], kinds, family);
    let reading = reading.filter(|_| kinds.iter().any(|kind| *kind != Kind::Trajectory));
    if extraction.cases.is_empty() && reading.is_none() {
        return Ok(extraction);
    }
    let steps = transcripts.steps(&session);
    if steps.is_empty() {
        if let Some(reading) = reading {
            read_cases::add(&mut extraction, reading, source, family, kinds);
        }
        return Ok(extraction);
    }
    let host = session.meta.host.as_deref().unwrap_or_default();
    let call = |(id, whole): (String, Whole)| {
        let name = own_name(host, &whole).to_owned();
        Some((id, Call::new(&name, whole.input, whole.output.as_deref())?))
    };
    let calls: Calls = steps.into_iter().filter_map(call).collect();
    let source = learn::Note { calls: Some(&calls), ..source };
    let mut extraction = learn::extract(&[source], kinds, family);
    if let Some(reading) = reading {
        read_cases::add(&mut extraction, reading, source, family, kinds);
    }
    Ok(extraction)
}

/// What the host calls the tool of a call: notes name what Codex does by what it is for.
fn own_name<'a>(host: &str, whole: &'a Whole) -> &'a str {
    match &whole.input {
        Value::Object(map) if host == "codex" && map.get("command").is_some_and(Value::is_array) => "shell",
        Value::Object(map) if host == "codex" && map.contains_key("cmd") => "exec_command",
        Value::String(_) if host == "codex" => "apply_patch",
        _ => &whole.tool,
    }
}

/// A note with its text, which says on what line a case stands.
fn read(vault: &Vault, path: &VaultPath) -> Result<(Note, Session)> {
    let note = Note::parse(vault.read(path)?);
    let (session, _) = session::read::session(&note);
    Ok((note, session))
}

/// Paths of the sessions in which a query finds something.
fn filtered(text: &str, vault: &Vault, cx: &Context<'_>) -> Result<BTreeSet<String>> {
    let query = Query::parse(text, &vault.now(cx.env)).map_err(|error| error.into_usage(text))?;
    let snapshot = reading::snapshot(vault, cx)?;
    let options =
        SearchOptions { limit: usize::MAX, per_session: 1, here: Some(cx.env.folder()), ..SearchOptions::default() };
    let hits = Search::new(&snapshot, &query, &options).hits()?;
    Ok(hits.iter().filter_map(|hit| Some(snapshot.session(hit.key)?.path.clone())).collect())
}
