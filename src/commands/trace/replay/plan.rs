//! Which steps run again, in which order, and which only a person or an agent can redo.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::TraceWorld;
use super::super::agree::Consenting;
use super::super::refs::{NamedThing, References};
use super::super::stale::{StaleQuestion, gather};
use crate::action::ToolKind;
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::graph::{Place, dependencies};
use crate::session::{Session, Step};
use crate::trace::RunFolder;
use crate::trace::consent::Consent;
use crate::vault::VaultPath;

/// What can be done about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Redo {
    /// Its command runs again.
    Command(Consent),
    /// No command: an agent or a person has to do it anew.
    Agent,
}

/// A step of a plan.
#[derive(Clone, Debug)]
pub(super) struct PlannedStep {
    pub(super) path: VaultPath,
    pub(super) session_id: String,
    pub(super) place: Place,
    pub(super) step: Step,
    /// The folder of its project on this machine.
    pub(super) folder: RunFolder,
    /// The project as its note has it.
    pub(super) project: String,
    /// Why it is stale by itself; empty for one that rests on another, and for one that was named.
    pub(super) reasons: Vec<String>,
    /// Steps of the plan that it depends on, as indices.
    pub(super) on: Vec<usize>,
    pub(super) redo: Redo,
}

impl PlannedStep {
    /// `session#n-003`
    pub(super) fn key(&self) -> String {
        format!("{}#{}", self.session_id, self.step.id.as_deref().unwrap_or("–"))
    }

    /// Why it cannot run again; `None` where it may.
    pub(super) fn refusal(&self) -> Option<String> {
        match &self.redo {
            Redo::Command(Consent::ByHand(why)) => Some(format!("by hand: {why}")),
            Redo::Command(_) => None,
            Redo::Agent => Some("only an agent can redo it".to_owned()),
        }
    }
}

/// Steps in the order in which they run.
#[derive(Debug, Default)]
pub(super) struct ReplayPlan {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) sessions: HashMap<VaultPath, Session>,
}

/// The plan of steps that somebody names.
///
/// Errors: there is no such step, or it is a file.
pub(super) fn named(
    texts: &[String],
    references: &References<'_, '_>,
    world: &TraceWorld,
    consenting: &Consenting<'_>,
) -> Result<ReplayPlan> {
    let mut chosen: BTreeMap<(VaultPath, Place), Vec<String>> = BTreeMap::new();
    for text in texts {
        for thing in references.all(text)? {
            match thing {
                NamedThing::Block(block) if block.step().is_some() => {
                    chosen.insert((block.path, block.place), Vec::new());
                }
                NamedThing::Block(_) | NamedThing::File(_) => {
                    return Err(Error::usage(format!("`{text}` is no step")).with_hint("`cru history` shows steps"));
                }
            }
        }
    }
    plan(chosen, world, consenting)
}

/// The plan of what is stale: what is kept and stale, and the stale steps that it rests on.
pub(super) fn stale(
    project: Option<&str>,
    world: &TraceWorld,
    consenting: &Consenting<'_>,
    cx: &Context<'_>,
) -> Result<ReplayPlan> {
    let report = gather(&StaleQuestion { project, ..StaleQuestion::default() }, world, cx)?;
    let mut chosen: BTreeMap<(VaultPath, Place), Vec<String>> = BTreeMap::new();
    let mut by_note: BTreeMap<VaultPath, BTreeSet<Place>> = BTreeMap::new();
    for row in &report.rows {
        by_note.entry(row.path.clone()).or_default().insert(row.place);
    }
    for (path, places) in by_note {
        let session = world.vault.load(&path)?.session;
        let mut on: HashMap<Place, Vec<Place>> = HashMap::new();
        for dependency in dependencies(&session) {
            on.entry(dependency.of).or_default().push(dependency.on);
        }
        let mut open: Vec<Place> = places.into_iter().collect();
        let mut seen: HashSet<Place> = HashSet::new();
        while let Some(place) = open.pop() {
            if !seen.insert(place) {
                continue;
            }
            if let Some(reasons) = report.steps.get(&(path.clone(), place)) {
                chosen.insert((path.clone(), place), reasons.clone());
                open.extend(on.get(&place).into_iter().flatten());
            }
        }
    }
    plan(chosen, world, consenting)
}

/// Puts steps in order: sessions by their beginning, and in each a step behind those that it depends on.
fn plan(
    chosen: BTreeMap<(VaultPath, Place), Vec<String>>,
    world: &TraceWorld,
    consenting: &Consenting<'_>,
) -> Result<ReplayPlan> {
    let mut plan = ReplayPlan::default();
    let mut by_note: BTreeMap<VaultPath, Vec<(Place, Vec<String>)>> = BTreeMap::new();
    for ((path, place), reasons) in chosen {
        by_note.entry(path).or_default().push((place, reasons));
    }
    for path in by_note.keys() {
        plan.sessions.insert(path.clone(), world.vault.load(path)?.session);
    }
    let mut notes: Vec<_> = by_note.into_iter().collect();
    notes.sort_by_key(|(path, _)| plan.sessions.get(path).and_then(|session| session.meta.started));
    for (path, places) in notes {
        let Some(session) = plan.sessions.get(&path) else { continue };
        let project = session.meta.project.clone().unwrap_or_default();
        let folder = consenting.folder(Some(&project));
        let session_id = session.meta.session_id.clone().unwrap_or_else(|| path.stem().into_owned());
        let mut waits: HashMap<Place, BTreeSet<Place>> = HashMap::new();
        let own: HashSet<Place> = places.iter().map(|(place, _)| *place).collect();
        for dependency in dependencies(session) {
            if own.contains(&dependency.of) && own.contains(&dependency.on) {
                waits.entry(dependency.of).or_default().insert(dependency.on);
            }
        }
        let mut left = places;
        let mut done: HashMap<Place, usize> = HashMap::new();
        while !left.is_empty() {
            // The first of the page whose dependencies are done; in a cycle the first of the page.
            let ready = |place: &Place| waits.get(place).is_none_or(|on| on.iter().all(|on| done.contains_key(on)));
            let next = left.iter().position(|(place, _)| ready(place)).unwrap_or(0);
            let (place, reasons) = left.remove(next);
            let Some(step) = place.step_in(session).cloned() else { continue };
            let on = waits.get(&place).into_iter().flatten().filter_map(|on| done.get(on).copied()).collect();
            done.insert(place, plan.steps.len());
            let redo = redo(&step, folder.as_ref(), consenting);
            let (path, session_id, project) = (path.clone(), session_id.clone(), project.clone());
            let folder = folder.clone().unwrap_or_default();
            plan.steps.push(PlannedStep { path, session_id, place, step, folder, project, reasons, on, redo });
        }
    }
    Ok(plan)
}

/// What can be done about a step.
fn redo(step: &Step, folder: Option<&RunFolder>, consenting: &Consenting<'_>) -> Redo {
    if step.action().kind != ToolKind::Shell {
        return Redo::Agent;
    }
    let text = step.full_args();
    let by_hand = |why: &str| Redo::Command(Consent::ByHand(why.to_owned()));
    if step.command.is_none() && text.ends_with('…') {
        return by_hand("the note has only a part of the command");
    }
    if text.contains("[secret:") {
        return by_hand("a secret was taken out of the command");
    }
    match folder {
        Some(folder) => Redo::Command(consenting.decide(text, folder)),
        None => by_hand("its project is not on this machine"),
    }
}
