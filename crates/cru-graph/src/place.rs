//! Places in a session: which phase, and which item of it.

use std::collections::HashMap;

use cru_session::{Item, Link, Phase, Session, Step};

use super::index::key;
use super::path::is_own;

/// Where something stands in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Index of the phase; `None` before the first one.
    pub phase: Option<usize>,
    /// Index of the item in it; `None` for the phase as a whole.
    pub item: Option<usize>,
}

impl Place {
    /// The item that stands there.
    pub fn item_in(self, session: &Session) -> Option<&Item> {
        let items = match self.phase {
            Some(phase) => &session.phases.get(phase)?.items,
            None => &session.preface,
        };
        items.get(self.item?)
    }

    /// The step that stands there.
    pub fn step_in(self, session: &Session) -> Option<&Step> {
        match self.item_in(session) {
            Some(Item::Step(step)) => Some(step),
            _ => None,
        }
    }

    /// The block id of what stands there, without `^`.
    pub fn id_in(self, session: &Session) -> Option<&str> {
        match (self.phase, self.item) {
            (Some(phase), None) => session.phases.get(phase).map(|phase| phase.id.as_str()),
            _ => self.item_in(session).and_then(Item::id),
        }
    }
}

/// Every item of a session with its place, in the order of the page. What stands in an inline sub-agent is its own.
pub fn items(session: &Session) -> impl Iterator<Item = (Place, &Item)> {
    let preface = session.preface.iter().enumerate().map(|(at, item)| (Place { phase: None, item: Some(at) }, item));
    preface.chain(session.phases.iter().enumerate().flat_map(|(index, phase)| of_phase(index, phase)))
}

fn of_phase(index: usize, phase: &Phase) -> impl Iterator<Item = (Place, &Item)> {
    phase.items.iter().enumerate().map(move |(at, item)| (Place { phase: Some(index), item: Some(at) }, item))
}

/// Whether two ids name one block. Case does not count, and `_` is read as `-`: importers take ids such as `n_005` and
/// `cell_7` over from records in which `_` may stand.
pub fn is_same_id(a: &str, b: &str) -> bool {
    key(a) == key(b)
}

/// The blocks of a session by id. Case does not count, and `_` is read as `-`.
#[derive(Debug, Default)]
pub struct Blocks<'a> {
    places: HashMap<std::borrow::Cow<'a, str>, Place>,
}

impl<'a> Blocks<'a> {
    /// Those of a session; of two with one id the first.
    pub fn of(session: &'a Session) -> Self {
        let mut places = HashMap::new();
        for (index, phase) in session.phases.iter().enumerate() {
            places.entry(key(&phase.id)).or_insert(Place { phase: Some(index), item: None });
        }
        for (place, item) in items(session) {
            if let Some(id) = item.id() {
                places.entry(key(id)).or_insert(place);
            }
        }
        Self { places }
    }

    /// Where the block with that id stands.
    pub fn find(&self, id: &str) -> Option<Place> {
        self.places.get(&key(id)).copied()
    }

    /// Where a link leads; `None` for one to another note, and for one that leads nowhere.
    pub fn follow(&self, session: &Session, link: &Link) -> Option<Place> {
        let own = link.target.trim().is_empty() || is_own(session, link.target.trim());
        link.block.as_deref().filter(|_| own).and_then(|id| self.find(id))
    }
}
