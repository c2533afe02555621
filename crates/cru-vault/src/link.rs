//! Which file of the vault a link means.
//!
//! One table, built once: a link costs one or two look-ups whatever the size of the vault. The rule is the editor's:
//! by name without extension, upper and lower case alike, as much of the path as is written; then by `session_id`,
//! which stays valid when a note is renamed.

use std::collections::HashMap;
use std::path::Path;

use super::{Head, VaultPath};

/// What a link's target resolved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A note, by its index in the catalogue.
    Note(u32),
    /// Another file, by its index in the list of others.
    Other(u32),
}

/// Names and ids of all files of a vault.
#[derive(Clone, Debug, Default)]
pub struct LinkTable {
    /// Every ending of every path (`note`, `folder/note`), in lower case, notes without their extension; the value is
    /// the file nearest to the vault's root.
    names: HashMap<String, Target>,
    /// The same as written, for vaults where two names differ only in case.
    exact: HashMap<String, Target>,
    /// `session_id`, in lower case.
    ids: HashMap<String, Target>,
}

impl LinkTable {
    /// Builds the table. Both lists are sorted by path.
    pub fn of(heads: &[Head], others: &[VaultPath]) -> Self {
        let mut table = Self::default();
        let notes = heads.iter().enumerate().map(|(index, head)| (Target::Note(number(index)), &head.path));
        let others = others.iter().enumerate().map(|(index, path)| (Target::Other(number(index)), path));
        let mut files: Vec<(Target, &VaultPath)> = notes.chain(others).collect();
        // The file nearest to the root takes a name first; a note before an attachment of the same name.
        files.sort_by_cached_key(|&(target, path)| (path.as_path().components().count(), target));
        for (target, path) in files {
            table.add(target, path);
        }
        for (index, head) in heads.iter().enumerate() {
            if let Some(id) = &head.meta.session_id {
                table.ids.entry(id.to_lowercase()).or_insert(Target::Note(number(index)));
            }
        }
        table
    }

    fn add(&mut self, target: Target, path: &VaultPath) {
        let text = path.text();
        let name = if path.is_note() { without_extension(&text) } else { &text };
        let mut ending = name;
        loop {
            self.exact.entry(ending.to_owned()).or_insert(target);
            self.names.entry(ending.to_lowercase()).or_insert(target);
            match ending.split_once('/') {
                Some((_, rest)) => ending = rest,
                None => return,
            }
        }
    }

    /// The file that `target` (what stands before `#` in a link) means in a note at `from`; an empty target is for the
    /// caller, who knows the note itself.
    pub fn resolve(&self, target: &str, from: &VaultPath) -> Option<Target> {
        let target = target.trim().trim_start_matches('/');
        let name = if has_extension(target, "md") { without_extension(target) } else { target };
        if name.is_empty() {
            return None;
        }
        if name.starts_with("./") || name.starts_with("../") {
            return self.name(&relative(name, from)?);
        }
        // A file in the note's own folder goes before one of the same name elsewhere.
        let beside = from.as_path().parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = beside.and_then(|folder| self.exact.get(&format!("{}/{name}", slashes(folder))));
        beside.copied().or_else(|| self.name(name)).or_else(|| self.ids.get(&name.to_lowercase()).copied())
    }

    fn name(&self, name: &str) -> Option<Target> {
        self.exact.get(name).or_else(|| self.names.get(&name.to_lowercase())).copied()
    }

    /// The session note with this `session_id`.
    pub fn session(&self, id: &str) -> Option<Target> {
        self.ids.get(&id.to_lowercase()).copied()
    }
}

/// A vault holds fewer than 2³² files: each needs more than a byte of memory here.
pub fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

fn without_extension(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// `../x` seen from the folder of `from`, as a path from the vault's root.
fn relative(name: &str, from: &VaultPath) -> Option<String> {
    let folder = from.as_path().parent().map(slashes).unwrap_or_default();
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(names.pop()?),
            part => names.push(part),
        }
    }
    Some(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::Meta;

    fn table(notes: &[(&str, Option<&str>)], others: &[&str]) -> (LinkTable, Vec<Head>) {
        let head = |(path, id): &(&str, Option<&str>)| Head {
            path: VaultPath::new(path).unwrap(),
            meta: Box::new(Meta { session_id: id.map(str::to_owned), ..Meta::default() }),
            findings: Vec::new(),
        };
        let heads: Vec<Head> = notes.iter().map(head).collect();
        let others: Vec<VaultPath> = others.iter().map(|path| VaultPath::new(path).unwrap()).collect();
        (LinkTable::of(&heads, &others), heads)
    }

    #[test]
    fn resolves_like_the_editor() {
        let notes = [
            ("archive/plan.md", None),
            ("b/deep/plan.md", None),
            ("b/other.md", None),
            ("plan.md", Some("2026-01-01-plan")),
            ("renamed.md", Some("2026-02-02-first")),
            ("v1.2 notes.md", None),
        ];
        let (table, heads) = table(&notes, &["b/deep/picture.png", "plan.pdf"]);
        let from = |path: &str| VaultPath::new(path).unwrap();
        let show = |target: &str, note: &str| match table.resolve(target, &from(note)) {
            Some(Target::Note(index)) => heads[index as usize].path.to_string(),
            Some(Target::Other(index)) => format!("other {index}"),
            None => "none".to_owned(),
        };
        assert_eq!(show("plan", "b/other.md"), "plan.md");
        assert_eq!(show("PLAN.md", "b/other.md"), "plan.md");
        assert_eq!(show("deep/plan", "b/other.md"), "b/deep/plan.md");
        assert_eq!(show("./deep/plan", "b/other.md"), "b/deep/plan.md");
        assert_eq!(show("../plan", "b/other.md"), "plan.md");
        assert_eq!(show("../../plan", "b/other.md"), "none");
        assert_eq!(show("plan", "archive/x.md"), "archive/plan.md", "the note's own folder first");
        assert_eq!(show("2026-02-02-first", "x.md"), "renamed.md");
        assert_eq!(show("v1.2 notes", "x.md"), "v1.2 notes.md");
        assert_eq!(show("picture.png", "x.md"), "other 0");
        assert_eq!(show("plan.pdf", "x.md"), "other 1");
        assert_eq!(show("/plan", "archive/x.md"), "archive/plan.md");
        assert_eq!(show("lan", "x.md"), "none");
        assert_eq!(show("", "x.md"), "none");
    }
}
