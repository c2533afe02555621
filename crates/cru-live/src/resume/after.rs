//! What depends on what, as somebody wrote it: shown beside the phase or step that comes after the other.

use std::collections::HashMap;

use super::point::ItemPlace;
use super::text;
use cru_graph::{Reason, dependencies};
use cru_session::Session;

/// The ids behind which things come, by place; a phase's own place is by its index alone.
#[derive(Debug, Default)]
pub(super) struct After {
    phases: HashMap<usize, String>,
    items: HashMap<ItemPlace, String>,
}

impl After {
    /// Those of a session. What follows from files alone is left out: it would stand at nearly every step.
    pub(super) fn of(session: &Session) -> Self {
        let mut after = Self::default();
        for it in dependencies(session).into_iter().filter(|it| it.reason == Reason::Written) {
            let Some(id) = it.on.id_in(session) else { continue };
            let ids = match (it.of.phase, it.of.item) {
                (Some(phase), None) => after.phases.entry(phase).or_default(),
                (phase, Some(item)) => after.items.entry((phase, item)).or_default(),
                (None, None) => continue,
            };
            ids.push_str(if ids.is_empty() { "after " } else { ", " });
            ids.push_str(&text::short(id, 20));
        }
        after
    }

    /// `after p-01`, where somebody wrote so of the phase at `index`.
    pub(super) fn phase(&self, index: usize) -> Option<&str> {
        self.phases.get(&index).map(String::as_str)
    }

    /// `after n-001, n-004`, where somebody wrote so of the step there.
    pub(super) fn step(&self, place: ItemPlace) -> Option<&str> {
        self.items.get(&place).map(String::as_str)
    }
}
