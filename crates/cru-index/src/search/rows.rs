//! What a query asks of whole sessions, answered by their rows.

use std::collections::HashSet;

use crate::query::{Field, Node, Restriction, Value};
use crate::record::SessionRow;
use crate::snapshot::{NoteKey, Snapshot};

/// The keys of the notes whose session is wanted.
pub(super) fn keys(snapshot: &Snapshot, wanted: impl Fn(&SessionRow) -> bool) -> HashSet<u64> {
    let rows = snapshot.sessions().iter().filter(|row| wanted(row));
    rows.map(|row| NoteKey::of_text(&row.path).0).collect()
}

/// Whether a part of a query holds for a session. Words hold for none: they are asked of entries.
pub(super) fn holds(node: &Node, row: &SessionRow, here: Option<&str>) -> bool {
    match node {
        Node::All(parts) => parts.iter().all(|part| holds(part, row, here)),
        Node::Any(parts) => parts.iter().any(|part| holds(part, row, here)),
        Node::Not(node) => !holds(node, row, here),
        Node::Words(_) => false,
        Node::Field(restriction) => fits(restriction, row, here),
    }
}

/// Whether one of the values holds.
pub(super) fn fits(restriction: &Restriction, row: &SessionRow, here: Option<&str>) -> bool {
    restriction.values.iter().any(|value| fits_one(restriction.field, value, row, here))
}

fn fits_one(field: Field, value: &Value, row: &SessionRow, here: Option<&str>) -> bool {
    let is = |own: Option<&str>| own.is_some_and(|own| value.is(own));
    let holds = |own: Option<&str>| own.is_some_and(|own| own.to_lowercase().contains(&value.folded()));
    match field {
        Field::Status => is(row.status.as_deref()),
        Field::Is => is(row.status.as_deref()),
        Field::Agent => row.participants.split(", ").any(|agent| {
            let name = agent.split_once('@').map_or(agent, |(name, _)| name);
            value.is(agent) || value.is(name)
        }),
        Field::Channel => is(row.channel.as_deref().map(|channel| channel.trim_start_matches('#'))),
        Field::Model => holds(row.model.as_deref()),
        Field::Project => match here.filter(|_| value.text == ".") {
            Some(here) => row.project.as_deref().is_some_and(|own| own.to_lowercase().contains(&here.to_lowercase())),
            None => holds(row.project.as_deref()),
        },
        Field::Branch => is(row.branch.as_deref()),
        Field::Tag => row.tags.split(", ").any(|tag| {
            let (tag, wanted) = (tag.trim_start_matches('#').to_lowercase(), value.folded());
            // `#area/import` is an `#area` as well.
            value.is(&tag) || tag.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('/'))
        }),
        Field::Session => holds(Some(&row.id)) || holds(Some(&row.path)),
        Field::After => row.started.zip(value.time).is_some_and(|(own, wanted)| own >= wanted),
        Field::Before => row.started.zip(value.time).is_some_and(|(own, wanted)| own < wanted),
        Field::Kind | Field::Tool | Field::File => false,
    }
}

impl Value {
    /// In lower case, for comparing.
    pub(super) fn folded(&self) -> String {
        self.text.to_lowercase()
    }

    fn is(&self, own: &str) -> bool {
        let own = own.to_lowercase();
        if self.prefix { own.starts_with(&self.folded()) } else { own == self.folded() }
    }
}
