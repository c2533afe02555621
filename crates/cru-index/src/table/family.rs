//! Which sessions worked for which: the one place that knows a sub-agent's session from another.

use std::collections::{HashMap, HashSet};

use crate::record::SessionRow;
use cru_base::text::note_name;

/// The sessions of a vault with what they worked for.
#[derive(Debug)]
pub struct Families<'a> {
    rows: &'a [SessionRow],
    paths: HashMap<&'a str, usize>,
    /// Ids that sessions list as their sub-agents'.
    listed: HashSet<&'a str>,
    /// The session that each one worked for.
    parents: Vec<Option<usize>>,
    children: HashMap<usize, Vec<usize>>,
    orphans: Vec<u64>,
}

impl<'a> Families<'a> {
    /// Of all sessions of a vault, whichever of them are asked for. Linear in the rows.
    pub fn of(rows: &'a [SessionRow]) -> Self {
        let mut names: HashMap<&str, usize> = HashMap::with_capacity(rows.len() * 2);
        for (index, row) in rows.iter().enumerate() {
            names.entry(row.id.as_str()).or_insert(index);
            names.entry(stem(&row.path)).or_insert(index);
        }
        let mut listed = HashSet::new();
        let mut parents: Vec<Option<usize>> = vec![None; rows.len()];
        let mut orphans: Vec<u64> = rows.iter().map(|row| row.inline_tokens).collect();
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| !row.subagent_sessions.is_empty()) {
            let tokens = row.subagent_tokens.split(", ").map(Some).chain(std::iter::repeat(None));
            for (name, tokens) in row.subagent_sessions.split(", ").filter(|name| !name.is_empty()).zip(tokens) {
                listed.insert(stem(name));
                match names.get(stem(name)) {
                    Some(child) if *child != index => {
                        parents[*child].get_or_insert(index);
                    }
                    Some(_) => {}
                    None => {
                        let tokens = tokens.and_then(|tokens| tokens.parse().ok()).unwrap_or(0);
                        orphans[index] = orphans[index].saturating_add(tokens);
                    }
                }
            }
        }
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.subagent) {
            let named = row.parent.as_deref().and_then(|link| names.get(stem(link)));
            if let (None, Some(parent)) = (parents[index], named.filter(|parent| **parent != index)) {
                parents[index] = Some(*parent);
            }
        }
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for (child, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children.entry(*parent).or_default().push(child);
            }
        }
        let paths = rows.iter().enumerate().map(|(index, row)| (row.path.as_str(), index)).collect();
        Self { rows, paths, listed, parents, children, orphans }
    }

    /// Whether a session is a sub-agent's, as its own note or another tells.
    pub fn is_subagent(&self, session: &SessionRow) -> bool {
        session.subagent || self.listed.contains(session.id.as_str()) || self.listed.contains(stem(&session.path))
    }

    /// Whether a session is a sub-agent's of a session that is there, which shows it. One whose session is gone stands for
    /// itself.
    pub fn is_shown_by_another(&self, session: &SessionRow) -> bool {
        self.paths.get(session.path.as_str()).is_some_and(|index| self.parents[*index].is_some())
    }

    /// Tokens of a session's own sub-agents that have no note.
    pub fn tokens_without_note(&self, session: &SessionRow) -> u64 {
        self.paths.get(session.path.as_str()).map_or(0, |index| self.orphans[*index])
    }

    /// A session and those it worked for, from the inside out. A circle is gone through once.
    pub fn ancestry(&self, session: &SessionRow) -> Vec<&'a SessionRow> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut at = self.paths.get(session.path.as_str()).copied();
        while let Some(index) = at.filter(|index| seen.insert(*index)) {
            found.push(&self.rows[index]);
            at = self.parents[index];
        }
        found
    }

    /// A session and all that worked for it, at every depth, each once.
    pub fn members(&self, session: &SessionRow) -> Vec<&'a SessionRow> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut open: Vec<usize> = self.paths.get(session.path.as_str()).copied().into_iter().collect();
        while let Some(index) = open.pop() {
            if seen.insert(index) {
                found.push(&self.rows[index]);
                open.extend(self.children.get(&index).into_iter().flatten().rev());
            }
        }
        found
    }
}

/// The name of a note in a path or a link.
fn stem(path: &str) -> &str {
    let path = path.trim_start_matches("[[").trim_end_matches("]]");
    note_name(path.split(['|', '#']).next().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, subagent: bool, parent: Option<&str>, children: &str) -> SessionRow {
        SessionRow {
            id: id.to_owned(),
            path: format!("sessions/{id}.md"),
            subagent,
            parent: parent.map(str::to_owned),
            subagent_sessions: children.to_owned(),
            ..SessionRow::default()
        }
    }

    #[test]
    fn a_sub_agent_whose_session_is_gone_stands_for_itself() {
        let rows = [
            row("main", false, None, "listed"),
            row("listed", false, None, ""),
            row("linked", true, Some("[[sessions/main]]"), ""),
            row("orphan", true, Some("[[gone]]"), ""),
            row("alone", true, None, ""),
        ];
        let families = Families::of(&rows);
        let shown: Vec<&str> =
            rows.iter().filter(|row| !families.is_shown_by_another(row)).map(|row| row.id.as_str()).collect();
        assert_eq!(shown, ["main", "orphan", "alone"]);
        assert!(rows[1..].iter().all(|row| families.is_subagent(row)));
        let members: Vec<&str> = families.members(&rows[0]).iter().map(|row| row.id.as_str()).collect();
        assert_eq!(members, ["main", "listed", "linked"]);
    }

    #[test]
    fn sessions_that_name_each_other_are_counted_once() {
        let rows = [row("a", true, None, "b"), row("b", true, None, "a")];
        let families = Families::of(&rows);
        assert_eq!((families.members(&rows[0]).len(), families.ancestry(&rows[0]).len()), (2, 2));
    }
}
