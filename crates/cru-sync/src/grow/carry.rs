//! What a new account of a session keeps of the last one, though its source does not tell it any more.
//!
//! Hashes that a hook saw, line anchors of a record that was cut since, links to notes of sub-agents whose files are not at
//! hand this time, and the agent and channel that phases were given: what is in the note does not go because less is known
//! now.

use std::collections::HashMap;

use cru_session::{Agent, FileRef, Item, Phase, Session, Step, Subagent};

/// Keeps what `old` knows and `new` does not.
pub(crate) fn carry(old: &Session, new: &mut Session) {
    for (before, after) in old.phases.iter().zip(&mut new.phases) {
        if before.agent.is_some() && !gains_version(before.agent.as_ref(), after.agent.as_ref()) {
            after.agent.clone_from(&before.agent);
        }
        if before.channel.is_some() {
            after.channel.clone_from(&before.channel);
        }
        steps(before, after);
        subagents(before, after);
    }
    if old.meta.channel.is_some() {
        new.meta.channel.clone_from(&old.meta.channel);
    }
    new.meta.parent = new.meta.parent.take().or_else(|| old.meta.parent.clone());
    let missing = old.meta.subagents.iter().enumerate();
    for (at, row) in missing.filter(|(_, row)| !row.session.is_empty()) {
        if !new.meta.subagents.iter().any(|known| known.session == row.session) {
            new.meta.subagents.insert(at.min(new.meta.subagents.len()), row.clone());
        }
    }
}

/// Whether all that is new of an agent is that its version is known.
fn gains_version(before: Option<&Agent>, after: Option<&Agent>) -> bool {
    before.zip(after).is_some_and(|(before, after)| before.name == after.name && before.version.is_none())
}

fn steps(before: &Phase, after: &mut Phase) {
    let known: HashMap<&str, &Step> = before.items.iter().filter_map(of_id).collect();
    for item in &mut after.items {
        let Item::Step(step) = item else { continue };
        let old = step.id.as_deref().and_then(|id| known.get(id));
        if let Some(old) = old.filter(|old| old.tool == step.tool) {
            hashes(&old.reads, &mut step.reads);
            hashes(&old.writes, &mut step.writes);
        }
    }
}

fn of_id(item: &Item) -> Option<(&str, &Step)> {
    match item {
        Item::Step(step) => Some((step.id.as_deref()?, step)),
        _ => None,
    }
}

fn hashes(before: &[FileRef], after: &mut [FileRef]) {
    for file in after {
        if let Some(old) = before.iter().find(|old| old.path == file.path) {
            file.hash = file.hash.take().or_else(|| old.hash.clone());
            file.created |= old.created;
            if file.lines.is_empty() {
                file.lines.clone_from(&old.lines);
            }
        }
    }
}

fn subagents(before: &Phase, after: &mut Phase) {
    let mut linked: Vec<&Subagent> = before
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Subagent(it) if it.link.is_some() => Some(it),
            _ => None,
        })
        .collect();
    for item in &mut after.items {
        let Item::Subagent(it) = item else { continue };
        let name = |of: &Subagent| of.agent.as_ref().map(|agent| agent.name.clone());
        let same = |old: &&Subagent| {
            name(old) == name(it)
                && old.task == it.task
                && it.link.as_ref().is_none_or(|link| Some(link) == old.link.as_ref())
        };
        let Some(at) = linked.iter().position(same) else { continue };
        let old = linked.remove(at);
        if it.link.is_none() {
            it.link.clone_from(&old.link);
            it.mode = old.mode;
            it.model = it.model.take().or_else(|| old.model.clone());
            it.callout.fields.clone_from(&old.callout.fields);
        }
    }
}
