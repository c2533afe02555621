//! What a note points to and a pack cannot have: the parent, sub-agents' notes, the transcript, unreadable parts.

use cru_base::{Env, Severity, text};
use cru_session::{Item, Session};
use cru_vault::{Catalog, Loaded, Vault};

use super::host;

/// How many of a kind are named.
const NAMED: usize = 3;

/// What is missing for a whole picture, for people and for the pack.
pub fn missing(loaded: &Loaded, catalog: &Catalog, vault: &Vault, env: &Env) -> Vec<String> {
    let meta = &loaded.session.meta;
    let mut found = Vec::new();
    let errors: Vec<&str> = loaded
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| diagnostic.message.as_ref())
        .collect();
    if !errors.is_empty() {
        found.push(format!("parts of the note could not be read: {}", listed(&errors)));
    }
    if let Some(parent) = &meta.parent {
        found.extend(lost("parent session", &[parent.target.as_str()], loaded, catalog, vault));
    }
    let agents = subagents(&loaded.session);
    let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
    found.extend(lost("sub-agent's session", &agents, loaded, catalog, vault));
    if let Some(transcript) = meta.transcript.as_deref()
        && host::transcript(meta, env).is_none()
    {
        found.push(format!("the transcript {transcript} is gone: what the note does not hold is not in this pack"));
    }
    found
}

/// Names of the sessions of sub-agents, each once.
fn subagents(session: &Session) -> Vec<String> {
    let linked = session.items().filter_map(|(_, item)| match item {
        Item::Subagent(it) => it.link.as_ref().map(|link| link.target.clone()),
        _ => None,
    });
    let mut names: Vec<String> = session.meta.subagents.iter().map(|row| row.session.clone()).chain(linked).collect();
    names.retain(|name| !name.trim().is_empty());
    names.sort();
    names.dedup();
    names
}

/// Those of `names` that have no note, or one that cannot be read.
fn lost(what: &str, names: &[&str], from: &Loaded, catalog: &Catalog, vault: &Vault) -> Option<String> {
    let is_there = |name: &str| {
        let by_id = || catalog.sessions().find(|head| head.meta.session_id.as_deref() == Some(name));
        let head = catalog.note(name, &from.path).or_else(by_id);
        head.is_some_and(|head| cru_base::files::open_regular(&vault.file(&head.path)).is_ok())
    };
    let lost: Vec<&str> = names.iter().copied().filter(|name| !is_there(name)).collect();
    let verb = if lost.len() == 1 { "note is" } else { "notes are" };
    (!lost.is_empty()).then(|| format!("the {what} {verb} missing: {}", listed(&lost)))
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(NAMED).map(|name| text::truncate(name, 100)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
