//! Which files a vault holds.
//!
//! Notes are read; every other file is only listed, because a link may point to it. Hidden folders (`.cru`, `.git`,
//! `.obsidian`, `.trash`) are not entered. Symbolic links are not followed: one that leads out of the vault must not
//! bring foreign files in, and one that stays inside would show its note twice. A link to a folder that the user's
//! configuration trusts is that folder.
//!
//! Every question walks all of the vault, so this is plain `read_dir`, one level of folders after the other on all
//! threads, and a path is made by adding a name to its folder's.

use std::fs::DirEntry;
use std::io;

use rayon::prelude::*;

use super::{Finding, Vault, VaultPath};
use cru_base::files::Fingerprint;
use cru_base::{Diagnostic, Span};

/// The files of a vault, sorted by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// Notes that are read, with what the file system says of each: nothing of one that it says nothing of.
    pub notes: Vec<(VaultPath, Fingerprint)>,
    /// Files that are not: attachments, templates, notes that the configuration leaves out.
    pub others: Vec<VaultPath>,
    /// Folders that could not be read.
    pub findings: Vec<Finding>,
}

impl Walk {
    /// Walks the whole vault, in parallel; nothing is opened but folders.
    pub fn of(vault: &Vault) -> Self {
        let (mut files, mut findings) = (Vec::new(), Vec::new());
        let mut folders = vec![Folder { path: None, templates: false }];
        while !folders.is_empty() {
            let inside: Vec<_> = folders.par_iter().map(|folder| look(vault, folder)).collect();
            folders.clear();
            for mut inside in inside {
                files.append(&mut inside.files);
                folders.append(&mut inside.folders);
                findings.append(&mut inside.findings);
            }
        }
        // Each folder is in order: these are runs that a stable sort finds.
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        findings.sort_by(|a: &Finding, b| a.path.cmp(&b.path));
        let (mut notes, mut others) = (Vec::with_capacity(files.len()), Vec::new());
        for (path, seen) in files {
            match seen {
                Some(seen) => notes.push((path, seen)),
                None => others.push(path),
            }
        }
        Self { notes, others, findings }
    }

    /// The paths of its notes.
    pub fn paths(&self) -> impl Iterator<Item = &VaultPath> {
        self.notes.iter().map(|(path, _)| path)
    }
}

/// A folder that is to be read; that of the vault has no path in it.
struct Folder {
    path: Option<VaultPath>,
    /// Whether it is one for templates, or inside of one: no note there is read.
    templates: bool,
}

/// What a folder holds.
struct Inside {
    /// With what the file system says of a note that is read.
    files: Vec<(VaultPath, Option<Fingerprint>)>,
    folders: Vec<Folder>,
    findings: Vec<Finding>,
}

/// What the file system says of a note; `None` of one that is gone since it was listed.
fn seen(entry: &DirEntry) -> Option<Fingerprint> {
    match entry.metadata() {
        Ok(metadata) => Some(Fingerprint::of(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(Fingerprint::default()),
    }
}

fn look(vault: &Vault, folder: &Folder) -> Inside {
    let mut inside = Inside { files: Vec::new(), folders: Vec::new(), findings: Vec::new() };
    let place = folder.path.as_ref().map_or_else(|| vault.root().to_owned(), |path| vault.file(path));
    let entries = match std::fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) => {
            inside.findings.extend(finding(folder, &error));
            return inside;
        }
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                inside.findings.extend(finding(folder, &error));
                continue;
            }
        };
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = VaultPath::inside(folder.path.as_ref(), &name);
        if !(kind.is_file() || kind.is_dir() || vault.trusts(&path)) {
            continue;
        }
        if kind.is_file() {
            files.push((path, entry));
        } else if name != "node_modules" && !vault.config().exclude.matches(path.as_path()) {
            let templates = folder.templates
                || name.eq_ignore_ascii_case("templates")
                || vault.template_folder().is_some_and(|templates| *templates == path);
            inside.folders.push(Folder { path: Some(path), templates });
        }
    }
    files.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    // Files of one folder that one thread looks at before another helps.
    let taken = files.into_par_iter().with_min_len(256).filter_map(|(path, entry)| {
        if folder.templates || !reads(vault, &path) {
            return Some((path, None));
        }
        seen(&entry).map(|seen| (path, Some(seen)))
    });
    inside.files = taken.collect();
    inside
}

/// Whether a file outside of folders for templates is a note that this vault reads.
fn reads(vault: &Vault, path: &VaultPath) -> bool {
    let config = vault.config();
    path.is_note()
        && (config.include.is_empty() || config.include.matches(path.as_path()))
        && (config.exclude.is_empty() || !config.exclude.matches(path.as_path()))
}

/// A folder that could not be read; one that is gone since it was listed is none.
fn finding(folder: &Folder, error: &io::Error) -> Option<Finding> {
    if error.kind() == io::ErrorKind::NotFound {
        return None;
    }
    let path = folder.path.clone().or_else(|| VaultPath::new("vault"))?;
    let diagnostic = Diagnostic::error("unreadable", Span::default(), format!("could not read this: {error}"));
    Some(Finding::new(&path, diagnostic))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn vault(files: &[&str], config: &str) -> (tempfile::TempDir, Vault) {
        let temp = tempfile::tempdir().unwrap();
        cru_base::files::create(&temp.path().join(".cru/config.toml"), config.as_bytes()).unwrap();
        for file in files {
            cru_base::files::create(&temp.path().join(file), b"").unwrap();
        }
        let vault = Vault::open(temp.path()).unwrap();
        (temp, vault)
    }

    fn shown<'a>(paths: impl IntoIterator<Item = &'a VaultPath>) -> String {
        paths.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn finds_notes_and_lists_the_rest() {
        let files = [
            "b.md",
            "a/x.MD",
            "a/picture.png",
            "a/Templates/session.md",
            "drafts/c.md",
            "private/d.md",
            "private/deep/e.png",
            ".obsidian/x.md",
            ".trash/old.md",
            "a/.hidden.md",
            "node_modules/readme.md",
            "a/f.tmp.md",
            ".gitignore",
        ];
        let (_temp, vault) = vault(&files, "[vault]\nexclude = [\"private\", \"*.tmp.md\"]\n");
        let walk = Walk::of(&vault);
        assert_eq!(shown(walk.paths()), "a/x.MD b.md drafts/c.md");
        assert_eq!(shown(&walk.others), "a/Templates/session.md a/f.tmp.md a/picture.png");
        assert_eq!(walk.findings, []);
    }

    #[test]
    fn include_narrows_notes_only() {
        let (_temp, vault) = vault(&["log/a.md", "b.md", "log/x.png"], "[vault]\ninclude = [\"log/**\"]\n");
        let walk = Walk::of(&vault);
        assert_eq!((shown(walk.paths()).as_str(), shown(&walk.others).as_str()), ("log/a.md", "b.md log/x.png"));
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_vault_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        cru_base::files::create(&outside.path().join("secret.md"), b"").unwrap();
        let (temp, vault) = vault(&["a.md"], "");
        std::os::unix::fs::symlink(outside.path(), temp.path().join("folder")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.md"), temp.path().join("note.md")).unwrap();
        std::os::unix::fs::symlink(temp.path(), temp.path().join("loop")).unwrap();
        assert_eq!(shown(Walk::of(&vault).paths()), "a.md");
    }

    #[cfg(unix)]
    #[test]
    fn an_unreadable_folder_is_told_and_the_rest_is_found() {
        use std::os::unix::fs::PermissionsExt as _;
        let (temp, vault) = vault(&["a.md", "locked/b.md"], "");
        let locked = temp.path().join("locked");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
        let open = fs::read_dir(&locked).is_ok();
        let walk = Walk::of(&vault);
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
        if open {
            // Whoever may read everything cannot see this case.
            return;
        }
        assert_eq!(shown(walk.paths()), "a.md");
        assert_eq!(walk.findings[0].path.to_string(), "locked");
    }
}
