//! Which session was started from which: cases of a session and of its sub-agents belong on one side of any split.

use std::collections::HashMap;

use cru_session::Meta;

/// Parents of sessions, by id.
#[derive(Clone, Debug, Default)]
pub struct Family(HashMap<String, String>);

impl Family {
    /// Reads the parents of notes, each with its file name without `.md`.
    pub fn of<'a>(notes: impl IntoIterator<Item = (&'a str, &'a Meta)>) -> Self {
        let mut ids = HashMap::new();
        let mut parents = Vec::new();
        for (name, meta) in notes {
            let id = meta.session_id.as_deref().filter(|id| !id.is_empty()).unwrap_or(name);
            ids.insert(name, id);
            if let Some(parent) = &meta.parent {
                parents.push((id, parent.target.rsplit('/').next().unwrap_or_default()));
            }
        }
        let parent = |(id, name): (&str, &str)| (id.to_owned(), ids.get(name).copied().unwrap_or(name).to_owned());
        Self(parents.into_iter().map(parent).collect())
    }

    /// The session at the top; itself for one without parent, and where parents go round in a circle the first by name.
    pub fn root<'s>(&'s self, id: &'s str) -> &'s str {
        let mut at = id;
        let mut first = id;
        for _ in 0..=self.0.len() {
            match self.0.get(at) {
                Some(parent) => at = parent,
                None => return at,
            }
            first = first.min(at);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::Link;

    fn meta(parent: &str) -> Meta {
        Meta { parent: (!parent.is_empty()).then(|| Link::to_note(parent)), ..Meta::default() }
    }

    #[test]
    fn roots() {
        let notes =
            [("top", ""), ("child", "top"), ("grandchild", "sessions/child"), ("x", "y"), ("y", "x"), ("z", "gone")];
        let metas: Vec<(&str, Meta)> = notes.iter().map(|(name, parent)| (*name, meta(parent))).collect();
        let family = Family::of(metas.iter().map(|(name, meta)| (*name, meta)));
        let roots = ["top", "child", "grandchild", "x", "y", "z", "other"].map(|id| family.root(id));
        assert_eq!(roots, ["top", "top", "top", "x", "x", "gone", "other"]);
    }
}
