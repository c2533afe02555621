//! A session with its sub-agents, ready to be judged, and the repository of its project.

use std::collections::HashMap;
use std::path::PathBuf;

use super::git::Repository;
use super::{TraceWorld, project};
use crate::action::ToolKind;
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::graph::Place;
use crate::graph::place::Blocks;
use crate::session::{Decision, Session};
use crate::trace::{ClaimVerdict, JudgedStep, UnknownReason, Work, WorkMember};
use crate::vault::Head;

/// A session and its sub-agents: what one of them wrote over is superseded.
pub(super) struct LoadedWork {
    pub(super) session: Session,
    /// Sub-agents with their `session_id`.
    pub(super) children: Vec<(String, Session)>,
    patches: Vec<String>,
    /// The folder of the project; `None` where it is not on this machine.
    pub(super) root: Option<PathBuf>,
    /// Steps of the session that were run again elsewhere with equal output.
    pub(super) cleared: Vec<Place>,
}

impl LoadedWork {
    pub(super) fn read(head: &Head, world: &TraceWorld) -> Result<Self> {
        let session = world.vault.load(&head.path)?.session;
        let children: Vec<(String, Session)> = session
            .meta
            .subagents
            .iter()
            .filter_map(|row| world.catalog.note(&row.session, &head.path))
            .filter(|child| child.path != head.path)
            .filter_map(|child| Some((child.id(), world.vault.load(&child.path).ok()?.session)))
            .collect();
        let ids = std::iter::once(head.id()).chain(children.iter().map(|(id, _)| id.clone()));
        let patches = ids.map(|id| world.patch(&id)).collect();
        let root = world.roots.root(project(&session));
        Ok(Self { session, children, patches, root, cleared: Vec::new() })
    }

    /// Its members; `other_branch` where it began at a commit that is no ancestor of what is looked at.
    pub(super) fn work(&self, other_branch: bool) -> Work<'_> {
        let all = std::iter::once(&self.session).chain(self.children.iter().map(|(_, child)| child));
        let members = all.zip(&self.patches).enumerate().map(|(at, (session, patch))| {
            let cleared = if at == 0 { self.cleared.as_slice() } else { &[] };
            WorkMember { session, patch, other_branch, cleared }
        });
        Work { members: members.collect() }
    }

    /// Whether any of its steps claims something that can be compared.
    pub(super) fn has_hashes(&self) -> bool {
        let all = std::iter::once(&self.session).chain(self.children.iter().map(|(_, child)| child));
        let mut files = all.flat_map(Session::steps).flat_map(|(_, step)| step.reads.iter().chain(&step.writes));
        files.any(|file| file.hash.is_some() || !file.lines.is_empty())
    }
}

/// The repository of a project and the commit that is looked at: `at`, else what is checked out.
///
/// Errors: `at` is named and there is no such commit or no repository.
pub(super) fn repository<'a, 'c>(
    work: &LoadedWork,
    at: Option<&str>,
    cx: &'a Context<'c>,
) -> Result<Option<(Repository<'a, 'c>, String)>> {
    let Some(repository) = work.root.as_deref().and_then(|root| Repository::of(root, cx)) else {
        return match at {
            None => Ok(None),
            Some(_) => Err(Error::usage(format!("the project {} is in no repository here", project(&work.session)))
                .with_hint("`[projects]` in the user's configuration names its folder on this machine")),
        };
    };
    match (repository.commit(at.unwrap_or("HEAD")), at) {
        (Some(commit), _) => Ok(Some((repository, commit))),
        (None, None) => Ok(None),
        (None, Some(rev)) => Err(Error::usage(format!("no commit `{rev}` in {}", repository.top().display()))),
    }
}

/// Whether a session began at a commit that is no ancestor of the one that is looked at.
pub(super) fn is_other_branch(session: &Session, at: Option<&(Repository<'_, '_>, String)>) -> bool {
    match (at, &session.meta.commit) {
        (Some((repository, now)), Some(base)) => repository.is_ancestor(base, now) == Some(false),
        _ => false,
    }
}

/// The judged steps of a session by their place.
pub(super) fn by_place(steps: &[JudgedStep]) -> HashMap<Place, &JudgedStep> {
    steps.iter().filter(|step| step.member == 0).map(|step| (step.place, step)).collect()
}

/// The verdict of a decision: the worst of the steps that it rests on. A question that was asked is nothing that a
/// decision rests on; `None` where nothing else is named.
pub(super) fn decision_verdict(
    session: &Session,
    blocks: &Blocks<'_>,
    decision: &Decision,
    steps: &HashMap<Place, &JudgedStep>,
) -> Option<ClaimVerdict> {
    let places: Vec<Place> = decision
        .rests_on
        .iter()
        .filter_map(|link| blocks.follow(session, link))
        .filter(|place| place.step_in(session).is_some_and(|step| step.action().kind != ToolKind::Ask))
        .collect();
    if places.is_empty() {
        return None;
    }
    let on = |place: &Place| {
        let step = steps.get(place)?;
        let rests = step.rests_on.map(|_| ClaimVerdict::Drifted { left: None, of: 0 });
        ClaimVerdict::worst(step.own.clone().into_iter().chain(rests))
    };
    Some(ClaimVerdict::worst(places.iter().filter_map(on)).unwrap_or(ClaimVerdict::unknown(UnknownReason::NoHash)))
}
