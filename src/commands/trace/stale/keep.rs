//! What somebody keeps beside sessions, and steps that were run again since.

use std::collections::{HashMap, HashSet};

use super::super::TraceWorld;
use super::super::refs::{References, find};
use super::super::work::LoadedWork;
use super::KeptSteps;
use crate::base::Result;
use crate::base::text::one_line;
use crate::commands::read::Shelf;
use crate::graph::Place;
use crate::graph::place::{Blocks, items};
use crate::note::Note;
use crate::readings::note::ReviewStatus;
use crate::session::{Item, Link, StepStatus, read};
use crate::trace::has_equal_output;
use crate::vault::{Catalog, Head, VaultPath};

/// Steps that are kept, by note.
type KeptByNote = HashMap<VaultPath, KeptSteps>;

/// What bookmarks, accepted lessons and workflows name. What leads nowhere is told in `dangling`.
pub(super) fn named(
    references: &References<'_, '_>,
    world: &TraceWorld,
    dangling: &mut Vec<String>,
) -> Result<KeptByNote> {
    let mut kept = KeptByNote::new();
    let mut keep = |path: VaultPath, place: Place, why: String| {
        kept.entry(path).or_default().entry(place).or_insert(why);
    };
    for bookmark in references.bookmarks()? {
        match references.follow(&bookmark) {
            Ok(block) => keep(block.path, block.place, format!("bookmark {}", bookmark.name)),
            Err(error) => {
                dangling.push(format!("the bookmark \"{}\" leads nowhere: {error}", one_line(&bookmark.name)));
            }
        }
    }
    let mut links: Vec<(Link, VaultPath, String)> = Vec::new();
    let has_lessons = world.catalog.heads.iter().any(|head| head.meta.kind.as_deref() == Some("lesson"));
    if has_lessons {
        let accepted = Shelf::read(&world.catalog, &world.vault).lessons.into_iter();
        for note in accepted.filter(|note| note.lesson.status == ReviewStatus::Accepted) {
            let Some(path) = VaultPath::new(&note.path) else { continue };
            let why = format!("lesson {}", note.lesson.id);
            let text = note.lesson.evidence.join("\n");
            links.extend(links_of(text.as_bytes()).into_iter().map(|link| (link, path.clone(), why.clone())));
        }
    }
    for head in world.catalog.heads.iter().filter(|head| head.meta.kind.as_deref() == Some("workflow")) {
        let bytes = world.vault.read(&head.path).unwrap_or_default();
        let why = format!("workflow {}", head.path.stem());
        links.extend(links_of(&bytes).into_iter().map(|link| (link, head.path.clone(), why.clone())));
    }
    let mut sessions = HashMap::new();
    for (link, from, why) in links {
        let Some(id) = link.block.as_deref() else { continue };
        let Some(head) = world.catalog.note(&link.target, &from).filter(|head| head.is_session()) else { continue };
        let session = sessions
            .entry(head.path.clone())
            .or_insert_with(|| world.vault.load(&head.path).ok().map(|loaded| loaded.session));
        let place =
            session.as_ref().and_then(|session| find(session, id).filter(|place| place.step_in(session).is_some()));
        if let Some(place) = place {
            keep(head.path.clone(), place, why);
        }
    }
    Ok(kept)
}

/// The links of a text that name blocks.
fn links_of(bytes: &[u8]) -> Vec<Link> {
    let mut links = read::links(&Note::parse(bytes));
    links.retain(|link| link.block.is_some());
    links
}

/// Runs of one step after another that are followed.
const LONGEST_CHAIN: usize = 1_000;

/// Steps that were run again.
#[derive(Debug, Default)]
pub(super) struct Replays {
    /// The newest run of each.
    newest: HashMap<(VaultPath, Place), (VaultPath, Place)>,
    /// Those of which a run came to the same.
    equal: HashSet<(VaultPath, Place)>,
}

impl Replays {
    /// What steps say of it in `replays:`; one that failed replaces nothing.
    pub(super) fn of(loaded: &[(&Head, LoadedWork)], catalog: &Catalog) -> Self {
        let sessions: HashMap<&VaultPath, &LoadedWork> = loaded.iter().map(|(head, work)| (&head.path, work)).collect();
        let mut runs = Vec::new();
        for (head, work) in loaded {
            let mut latest = work.session.meta.started;
            for (place, item) in items(&work.session) {
                let Item::Step(step) = item else { continue };
                latest = latest.max(step.time);
                let Some(link) = step.replays.as_ref().filter(|_| step.status == StepStatus::Complete) else {
                    continue;
                };
                let own = Blocks::of(&work.session).follow(&work.session, link).map(|old| (head.path.clone(), old));
                let other = || {
                    let other = catalog.note(&link.target, &head.path)?;
                    let session = &sessions.get(&other.path)?.session;
                    Some((other.path.clone(), find(session, link.block.as_deref()?)?))
                };
                let Some(old) = own.or_else(other).filter(|old| *old != (head.path.clone(), place)) else { continue };
                runs.push((latest, old, (head.path.clone(), place), step));
            }
        }
        runs.sort_by(|a, b| (a.0, &a.2).cmp(&(b.0, &b.2)));
        let mut replays = Self::default();
        for (_, old, new, step) in runs {
            let before = sessions.get(&old.0).and_then(|work| old.1.step_in(&work.session));
            if before.is_some_and(|before| has_equal_output(before, step)) {
                replays.equal.insert(old.clone());
            }
            replays.newest.insert(old, new);
        }
        replays
    }

    /// Whether a step was run again.
    pub(super) fn is_replaced(&self, path: &VaultPath, place: Place) -> bool {
        self.newest.contains_key(&(path.clone(), place))
    }

    /// Steps of a note of which a run came to the same.
    pub(super) fn cleared(&self, path: &VaultPath) -> Vec<Place> {
        self.equal.iter().filter(|(own, _)| own == path).map(|(_, place)| *place).collect()
    }

    /// What is kept of a step is kept of its newest run.
    pub(super) fn move_kept(&self, kept: &mut KeptByNote) {
        let mut moved = Vec::new();
        for (path, places) in kept.iter() {
            for (place, why) in places {
                let mut at = (path.clone(), *place);
                // A chain that leads back to itself ends somewhere.
                for _ in 0..LONGEST_CHAIN {
                    match self.newest.get(&at) {
                        Some(next) => at = next.clone(),
                        None => break,
                    }
                }
                if at != (path.clone(), *place) {
                    moved.push((at, why.clone()));
                }
            }
        }
        for ((path, place), why) in moved {
            kept.entry(path).or_default().entry(place).or_insert(why);
        }
    }
}
