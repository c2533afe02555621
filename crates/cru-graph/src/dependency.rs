//! What in a session depends on what: written in `after:`, or because a step reads what another one wrote.
//!
//! The rule for files is that of the whole graph ([`super::flow`]), seen within one session.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use cru_session::{FileRef, Item, Session};

use super::draft::Access;
use super::node::NodeId;
use super::place::{Blocks, Place, items};
use super::{file, flow};

/// How a dependency is known. Of two that say the same, the written one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Somebody wrote `after:`.
    Written,
    /// It reads a file that the other one wrote last.
    Data,
}

/// Something that depends on something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The step or phase that depends.
    pub of: Place,
    /// The block that it comes after.
    pub on: Place,
    /// How that is known.
    pub reason: Reason,
}

/// The dependencies of a session's steps and phases, sorted by place, each pair once. Links to other notes and links
/// that lead nowhere are left out; nothing depends on itself. Sorting is the most it costs.
pub fn dependencies(session: &Session) -> Vec<Dependency> {
    let mut found: BTreeMap<(Place, Place), Reason> = BTreeMap::new();
    let mut add = |of: Place, on: Place, reason: Reason| {
        if of != on {
            let known = found.entry((of, on)).or_insert(reason);
            *known = (*known).min(reason);
        }
    };
    for (of, on) in written(session) {
        add(of, on, Reason::Written);
    }
    for (of, on) in data(session) {
        add(of, on, Reason::Data);
    }
    found.into_iter().map(|((of, on), reason)| Dependency { of, on, reason }).collect()
}

/// What `after:` of phases and steps says, in the order of the page: what depends, and on what.
pub fn written(session: &Session) -> Vec<(Place, Place)> {
    let any_step = || items(session).any(|(_, item)| matches!(item, Item::Step(step) if !step.after.is_empty()));
    if session.phases.iter().all(|phase| phase.after.is_empty()) && !any_step() {
        return Vec::new();
    }
    let blocks = Blocks::of(session);
    let mut found = Vec::new();
    for (index, phase) in session.phases.iter().enumerate() {
        let of = Place { phase: Some(index), item: None };
        found.extend(phase.after.iter().filter_map(|link| Some((of, blocks.follow(session, link)?))));
    }
    for (of, item) in items(session) {
        if let Item::Step(step) = item {
            found.extend(step.after.iter().filter_map(|link| Some((of, blocks.follow(session, link)?))));
        }
    }
    found
}

/// What follows from the files that steps read and wrote.
fn data(session: &Session) -> Vec<(Place, Place)> {
    let project = session.meta.project.as_deref().unwrap_or_default();
    let mut files: HashMap<Cow<'_, str>, NodeId> = HashMap::new();
    // Steps and files by number, as the graph has them.
    let mut steps: Vec<Place> = Vec::new();
    let (mut accesses, mut times) = (Vec::new(), Vec::new());
    let mut latest = session.meta.started;
    for (place, item) in items(session) {
        let Item::Step(step) = item else { continue };
        latest = latest.max(step.time);
        let Ok(number) = u32::try_from(steps.len()) else { break };
        steps.push(place);
        // Read before written: an edit reads the file it changes.
        for (refs, write) in [(&step.reads, false), (&step.writes, true)] {
            for FileRef { path, hash, .. } in refs {
                let next = u32::try_from(files.len()).unwrap_or(u32::MAX);
                let file = *files.entry(file::full_name(path, project)).or_insert(NodeId(next));
                let step = NodeId(number);
                accesses.push(Access { file, step, session: 0, hash: hash.as_deref(), write });
                times.push(latest);
            }
        }
    }
    let place = |node: NodeId| steps.get(node.index()).copied();
    flow::pairs(&accesses, &times).into_iter().filter_map(|(of, on)| Some((place(of)?, place(on)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    fn told(body: &str) -> Vec<String> {
        let text = format!("---\ntype: session\nsession_id: s\nproject: ~/p\n---\n# T\n\n{body}");
        let (session, _) = cru_session::read::session(&Note::parse(text));
        let id = |place: Place| place.id_in(&session).unwrap_or("?").to_owned();
        dependencies(&session).iter().map(|it| format!("{} {:?} {}", id(it.of), it.reason, id(it.on))).collect()
    }

    #[test]
    fn written_and_by_files() {
        let body = "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
                    - `Write a.rs` → ok ^n-001\n    - writes: `a.rs`\n\
                    - `Bash plan` → ok ^n-002\n\n\
                    ## Two @a #dev\n\n*2026-11-20T10:00:00Z* after: [[#^p-01]], [[other#^p-01]], [[#^gone]] ^p-02\n\n\
                    - `Read a.rs` → ok ^n-003\n    - reads: `~/p/a.rs`\n    - after: [[#^n-001]], [[s#^N_002]], [[#^n-003]]\n\
                    - `Edit a.rs` → ok ^n-004\n    - reads: `a.rs`\n    - writes: `a.rs`\n\
                    - `Read a.rs` → ok ^n-005\n    - reads: `a.rs`\n";
        assert_eq!(
            told(body),
            ["p-02 Written p-01", "n-003 Written n-001", "n-003 Written n-002", "n-004 Data n-001", "n-005 Data n-004",]
        );
    }

    #[test]
    fn nothing_depends_on_nothing() {
        assert_eq!(told("Only words.\n"), Vec::<String>::new());
    }
}
