//! Closed sessions go to `archive/YYYY/` below the folder of sessions, and back.
//!
//! The file keeps its name, so links by name lead on; a note that somebody links by its path stays where it is. The move
//! is noted as `archived` in the frontmatter, a write like any other: `cru undo` takes it back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use memchr::memmem;
use rayon::prelude::*;
use serde_json::Value as Json;

use crate::rename::RenameGround;
use cru_base::{Error, Result, files};
use cru_note::frontmatter;
use cru_session::op::Op;
use cru_vault::state::key;
use cru_vault::writer::Plan;
use cru_vault::{Head, VaultPath, Writer};

/// What the operation log calls the write that notes the move.
pub const LABEL: &str = "archive";

/// The folder below that of sessions.
const FOLDER: &str = "archive";

/// A move of a note, done or to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMove {
    /// Id of the session.
    pub session: String,
    /// The note before.
    pub from: VaultPath,
    /// The note after.
    pub to: VaultPath,
}

/// What is to be archived, and what stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivePlan {
    /// In the order of their paths.
    pub moves: Vec<ArchiveMove>,
    /// Notes that stay, and why.
    pub stays: Vec<(VaultPath, String)>,
}

impl RenameGround<'_> {
    /// What archiving these sessions with the sessions of their sub-agents moves. `chosen` are paths of notes; `before`, where
    /// nobody chose, takes all closed sessions that ended before it.
    pub fn plan_archive(&self, chosen: &[VaultPath], before: Option<Timestamp>) -> ArchivePlan {
        let mut plan = ArchivePlan::default();
        let mut wanted: HashSet<&VaultPath> = HashSet::new();
        for head in self.catalog.sessions().filter(|head| !self.is_archived(head)) {
            let named = chosen.contains(&head.path);
            let is_closed = head.meta.status.as_ref().is_some_and(cru_session::Status::is_closed);
            let ended = head.meta.ended.or(head.meta.started);
            let is_due = before.zip(ended).is_some_and(|(before, ended)| ended < before);
            match (named, is_closed) {
                (true, false) => plan.stays.push((head.path.clone(), "it is not closed".to_owned())),
                (_, true) if named || is_due => drop(wanted.insert(&head.path)),
                _ => {}
            }
        }
        // Sub-agents go where the session goes that they worked for, however deep.
        let mut children: HashMap<&VaultPath, Vec<&VaultPath>> = HashMap::new();
        for head in self.catalog.sessions().filter(|head| self.catalog.is_subagent(head)) {
            if let Some(parent) = self.catalog.parent(head) {
                children.entry(&parent.path).or_default().push(&head.path);
            }
        }
        let tops = |path: &&VaultPath| {
            let head = self.catalog.at(path);
            // One alone would leave its parent behind.
            head.is_some_and(|head| chosen.contains(&head.path) || !self.catalog.is_subagent(head))
        };
        let mut rest: Vec<&VaultPath> = wanted.iter().copied().filter(tops).collect();
        let mut all: HashSet<&VaultPath> = HashSet::new();
        while let Some(path) = rest.pop() {
            if all.insert(path) {
                rest.extend(children.get(path).into_iter().flatten());
            }
        }
        let linked = self.linked_by_path(&all);
        let mut moves: BTreeMap<&VaultPath, ArchiveMove> = BTreeMap::new();
        for path in all {
            let Some(head) = self.catalog.at(path).filter(|head| !self.is_archived(head)) else { continue };
            if let Some(by) = linked.get(path) {
                plan.stays.push((path.clone(), format!("{by} links it by its path")));
                continue;
            }
            let Some(to) = self.archived_path(head) else { continue };
            if self.vault.file(&to).symlink_metadata().is_ok() {
                plan.stays.push((path.clone(), format!("{to} exists")));
                continue;
            }
            moves.insert(path, ArchiveMove { session: head.id(), from: path.clone(), to });
        }
        plan.moves = moves.into_values().collect();
        plan.stays.sort();
        plan
    }

    /// What brings archived sessions back; `chosen` are paths of notes, and none means all.
    pub fn plan_back(&self, chosen: &[VaultPath]) -> ArchivePlan {
        let mut plan = ArchivePlan::default();
        for head in self.catalog.sessions().filter(|head| chosen.is_empty() || chosen.contains(&head.path)) {
            let name = head.path.as_path().file_name().unwrap_or_default();
            let to = VaultPath::new(self.vault.config().sessions.as_path().join(name));
            let Some(to) = to.filter(|_| self.is_archived(head)) else { continue };
            if self.vault.file(&to).symlink_metadata().is_ok() {
                plan.stays.push((head.path.clone(), format!("{to} exists")));
            } else {
                plan.moves.push(ArchiveMove { session: head.id(), from: head.path.clone(), to });
            }
        }
        plan
    }

    /// Carries out one move. Errors leave the note where it was: another process writes it; a note has the name.
    pub fn archive(&self, it: &ArchiveMove) -> Result<()> {
        let head = self.catalog.at(&it.from).ok_or_else(|| Error::usage(format!("{} is no note", it.from)))?;
        let _turn = self.turn(head)?;
        let today = self.now.to_zoned(self.vault.config().zone.clone()).date().to_string();
        let goes = self.is_in_archive(&it.to);
        let writer = Writer::new(self.vault, self.state, self.now);
        writer.write(&key(&head.id()), &head.path, &mut |note, _| {
            let old = archived_at(note.text()).map(Json::String);
            let new = goes.then(|| Json::String(today.clone()));
            let ops = if old == new { Vec::new() } else { vec![Op::Set { key: "archived".to_owned(), old, new }] };
            Ok(Plan { ops, label: LABEL.to_owned(), ..Plan::default() })
        })?;
        self.put_back(head, &it.to)
    }

    /// Moves the file alone, under the session's lock.
    pub fn put_back(&self, head: &Head, to: &VaultPath) -> Result<()> {
        let file = self.vault.file(to);
        if let Some(folder) = file.parent() {
            files::create_dir(folder)?;
        }
        let _lock = files::lock(&self.state.lock(&key(&head.id())))?;
        self.move_note(head, to)
    }

    fn is_archived(&self, head: &Head) -> bool {
        self.is_in_archive(&head.path)
    }

    fn is_in_archive(&self, path: &VaultPath) -> bool {
        path.as_path().starts_with(self.vault.config().sessions.as_path().join(FOLDER))
    }

    /// `sessions/archive/2026/NAME.md`, by the year in which the session began where the vault is.
    fn archived_path(&self, head: &Head) -> Option<VaultPath> {
        let config = self.vault.config();
        let year = head.meta.started.map(|at| at.to_zoned(config.zone.clone()).year());
        let year = year.map_or_else(|| "undated".to_owned(), |year| year.to_string());
        VaultPath::new(config.sessions.as_path().join(FOLDER).join(year).join(head.path.as_path().file_name()?))
    }

    /// Which of these notes somebody links by a path, and who.
    fn linked_by_path(&self, notes: &HashSet<&VaultPath>) -> HashMap<VaultPath, VaultPath> {
        let by_stem: HashMap<String, &VaultPath> =
            notes.iter().map(|path| (path.stem().to_lowercase(), *path)).collect();
        let others = self.catalog.heads.iter().map(|head| &head.path).chain(self.catalog.others.iter());
        let others: Vec<&VaultPath> = others.filter(|path| is_text(path.as_path())).collect();
        let found = others.into_par_iter().flat_map_iter(|path| {
            let bytes = self.vault.read(path).map(std::borrow::Cow::into_owned).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let own: Vec<VaultPath> = path_targets(&text)
                .filter_map(|stem| by_stem.get(&stem).map(|note| (*note).clone()))
                .filter(|note| note != path)
                .collect();
            own.into_iter().map(move |note| (note, path.clone()))
        });
        let mut all: Vec<(VaultPath, VaultPath)> = found.collect();
        all.sort();
        all.reverse();
        all.into_iter().collect()
    }
}

/// The day that a note says it was archived on.
fn archived_at(text: &str) -> Option<String> {
    let (values, _) = frontmatter::read(text, &frontmatter::split(text).block?);
    values.string("archived").map(str::to_owned)
}

fn is_text(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    ["md", "canvas", "base"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// The last parts, in small letters and without `.md`, of what links and strings of a text name by a path. More than links
/// may be among them: then a note stays that could have gone.
fn path_targets(text: &str) -> impl Iterator<Item = String> + '_ {
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, b"/").filter_map(move |at| {
        let rest = &text[at + 1..];
        let end = rest.find(['/', ']', ')', '|', '#', '"', '>', '\n']).unwrap_or(rest.len());
        // What goes on is a folder.
        if rest[end..].starts_with('/') {
            return None;
        }
        let name = rest[..end].trim_end().replace("%20", " ").to_lowercase();
        let name = name.strip_suffix(".md").unwrap_or(&name);
        (!name.is_empty() && name.len() < 260).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_by_a_path_are_seen() {
        let text = "[[a]] [[sessions/B|b]] [c](../sessions/c%20d.md#x) ![[x/y/e#^n-001]] {\"file\":\"sessions/f.md\"} https://x.org/g";
        let found: Vec<String> = path_targets(text).collect();
        for name in ["b", "c d", "e", "f"] {
            assert!(found.iter().any(|it| it == name), "{name} {found:?}");
        }
        assert!(!found.iter().any(|it| it == "a" || it == "y" || it == "sessions"), "{found:?}");
    }
}
