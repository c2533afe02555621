//! Steps as somebody named them who read the session: which calls belong together, and what that is called.
//!
//! Commands, files and checks still come from the record. A chapter of which no call is in a group stays as it is. In the others
//! calls of no group stay with the group before them, words of a person go with what was done next, the agent's with what was
//! done before.

use std::collections::HashMap;

use super::chapter::Chapter;
use super::draft::{self, Cut, Draft};
use super::unit::Entry;
use cru_graph::Plan;
use cru_reading::answer::WorkGroup;
use cru_session::Session;

/// What becomes steps.
enum Named<'a> {
    /// A group, by its place, with what was said and done.
    Group(usize, Vec<Entry<'a>>),
    /// A chapter of no group.
    Chapter(Chapter<'a>),
}

/// The drafts, in the order in which they were begun.
pub(super) fn drafts<'a>(
    session: &'a Session,
    chapters: Vec<Chapter<'a>>,
    plan: &Plan<'a>,
    groups: &[WorkGroup],
    cut: Cut,
) -> Vec<Draft<'a>> {
    let mut group_of: HashMap<&str, usize> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        for id in &group.steps {
            group_of.entry(id.as_str()).or_insert(at);
        }
    }
    let of = |entry: &Entry<'_>| group_of.get(entry.call()?.step.id.as_deref()?).copied();
    let is_grouped =
        |chapter: &Chapter<'a>| chapter.units.iter().flat_map(super::unit::Unit::all).any(|it| of(it).is_some());
    if !chapters.iter().any(is_grouped) {
        return draft::drafts(session, chapters, plan, cut);
    }
    let lead = chapters.iter().flat_map(|chapter| &chapter.units).find_map(|unit| Some(unit.phase?.1));
    let mut found: Vec<Named<'a>> = Vec::new();
    // Where each group stands in `found`.
    let mut places: HashMap<usize, usize> = HashMap::new();
    for chapter in chapters {
        if !is_grouped(&chapter) {
            found.push(Named::Chapter(chapter));
            continue;
        }
        let units = chapter.units.into_iter();
        let entries = units.flat_map(|unit| unit.entries.into_iter().chain(unit.parts.into_values().flatten()));
        let mut current: Option<usize> = None;
        let mut waiting: Vec<Entry<'a>> = Vec::new();
        for entry in entries {
            if let Some(group) = of(&entry) {
                let at = *places.entry(group).or_insert_with(|| {
                    found.push(Named::Group(group, Vec::new()));
                    found.len() - 1
                });
                add(&mut found, at, &mut waiting);
                current = Some(at);
            }
            waiting.push(entry);
            let asks = waiting.iter().any(|entry| matches!(entry, Entry::Request { .. }));
            if let Some(at) = current.filter(|_| !asks) {
                add(&mut found, at, &mut waiting);
            }
        }
        if let Some(at) = current {
            add(&mut found, at, &mut waiting);
        }
    }
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    for named in found {
        match named {
            Named::Group(at, entries) => {
                if let Some(group) = groups.get(at) {
                    draft::push_named(session, &mut drafts, group, lead, entries, cut);
                }
            }
            Named::Chapter(chapter) => {
                draft::extend(&mut drafts, draft::drafts(session, vec![chapter], plan, cut));
            }
        }
    }
    drafts
}

/// Adds what waits to the group that stands at `at`.
fn add<'a>(found: &mut [Named<'a>], at: usize, waiting: &mut Vec<Entry<'a>>) {
    if let Some(Named::Group(_, entries)) = found.get_mut(at) {
        entries.append(waiting);
    }
}
