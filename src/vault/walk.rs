//! Which files a vault holds.
//!
//! Notes are read; every other file is only listed, because a link may point to it. Hidden folders (`.cru`, `.git`,
//! `.obsidian`, `.trash`) are not entered. Symbolic links are not followed: one that leads out of the vault must not
//! bring foreign files in, and one that stays inside would show its note twice.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::{Finding, Vault, VaultPath};
use crate::base::files::Fingerprint;
use crate::base::{Diagnostic, Span};

/// The files of a vault, sorted by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// Notes that are read.
    pub notes: Vec<VaultPath>,
    /// Files that are not: attachments, templates, notes that the configuration leaves out.
    pub others: Vec<VaultPath>,
    /// Folders that could not be read.
    pub findings: Vec<Finding>,
}

impl Walk {
    /// Walks the whole vault, in parallel.
    pub fn of(vault: &Vault) -> Self {
        let found = Mutex::new(Self::default());
        let (root, exclude) = (vault.root().to_owned(), vault.config().exclude.clone());
        WalkBuilder::new(vault.root())
            .standard_filters(false)
            .follow_links(false)
            .filter_entry(move |entry| enters(entry, &root, &exclude))
            .build_parallel()
            .run(|| {
                Box::new(|entry| {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    match entry {
                        Ok(entry) => found.add(vault, &entry),
                        Err(error) => found.fail(vault, &error),
                    }
                    WalkState::Continue
                })
            });
        let mut walk = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        walk.notes.sort_unstable();
        walk.others.sort_unstable();
        walk.findings.sort_by(|a, b| a.path.cmp(&b.path));
        walk
    }

    fn add(&mut self, vault: &Vault, entry: &DirEntry) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return;
        }
        let Some(path) = vault.relative(entry.path()) else { return };
        if reads(vault, &path) { self.notes.push(path) } else { self.others.push(path) }
    }

    fn fail(&mut self, vault: &Vault, error: &ignore::Error) {
        let (path, reason) = describe(error);
        let path = path.and_then(|path| vault.relative(path)).or_else(|| VaultPath::new("unknown"));
        let Some(path) = path else { return };
        let diagnostic = Diagnostic::error("unreadable", Span::default(), format!("could not read this: {reason}"));
        self.findings.push(Finding::new(&path, diagnostic));
    }
}

/// The notes of a vault, sorted by path, with what the file system says of each; and folders that could not be read.
/// In parallel, and nothing is opened but folders.
pub fn fingerprints(vault: &Vault) -> (Vec<(VaultPath, Fingerprint)>, Vec<Finding>) {
    let collected = Mutex::new((Vec::new(), Walk::default()));
    let all = &collected;
    let (root, exclude) = (vault.root().to_owned(), vault.config().exclude.clone());
    WalkBuilder::new(vault.root())
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(move |entry| enters(entry, &root, &exclude))
        .build_parallel()
        .run(|| {
            let mut seen = Seen { all, notes: Vec::new() };
            Box::new(move |entry| {
                match entry {
                    Ok(entry) => seen.notes.extend(seen_note(vault, &entry)),
                    Err(error) => {
                        all.lock().unwrap_or_else(PoisonError::into_inner).1.fail(vault, &error);
                    }
                }
                WalkState::Continue
            })
        });
    let (mut notes, mut walk) = collected.into_inner().unwrap_or_else(PoisonError::into_inner);
    notes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    walk.findings.sort_by(|a, b| a.path.cmp(&b.path));
    (notes, walk.findings)
}

type Noted = Vec<(VaultPath, Fingerprint)>;

/// What one thread has seen; handed over when the thread is done, so that threads do not wait for one another.
struct Seen<'a> {
    all: &'a Mutex<(Noted, Walk)>,
    notes: Noted,
}

impl Drop for Seen<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).0.append(&mut self.notes);
    }
}

fn seen_note(vault: &Vault, entry: &DirEntry) -> Option<(VaultPath, Fingerprint)> {
    if !entry.file_type().is_some_and(|kind| kind.is_file()) {
        return None;
    }
    let path = vault.relative(entry.path())?;
    if !reads(vault, &path) {
        return None;
    }
    // Gone since it was listed: then it is no note.
    let metadata = entry.metadata().ok()?;
    Some((path, Fingerprint::of(&metadata)))
}

/// Whether the walk goes into a folder or looks at a file.
fn enters(entry: &DirEntry, root: &Path, exclude: &super::config::Globs) -> bool {
    if entry.depth() == 0 {
        return true;
    }
    let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
    let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    let left_out = || entry.path().strip_prefix(root).is_ok_and(|path| exclude.matches(path));
    !hidden && !(folder && (entry.file_name() == "node_modules" || left_out()))
}

/// Whether a file is a note that this vault reads.
fn reads(vault: &Vault, path: &VaultPath) -> bool {
    let config = vault.config();
    let folders = path.as_path().parent().into_iter().flat_map(Path::components);
    path.is_note()
        && !folders.into_iter().any(|name| name.as_os_str().eq_ignore_ascii_case("templates"))
        && (config.include.is_empty() || config.include.matches(path.as_path()))
        && !config.exclude.matches(path.as_path())
}

/// The path inside a walk's error, and its cause.
fn describe(error: &ignore::Error) -> (Option<&Path>, String) {
    let mut error = error;
    let mut path = None;
    loop {
        match error {
            ignore::Error::WithPath { path: at, err } => {
                path = Some(at.as_path());
                error = err;
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error = err,
            other => return (path, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn vault(files: &[&str], config: &str) -> (tempfile::TempDir, Vault) {
        let temp = tempfile::tempdir().unwrap();
        crate::base::files::create(&temp.path().join(".cru/config.toml"), config.as_bytes()).unwrap();
        for file in files {
            crate::base::files::create(&temp.path().join(file), b"").unwrap();
        }
        let vault = Vault::open(temp.path()).unwrap();
        (temp, vault)
    }

    fn shown(paths: &[VaultPath]) -> String {
        paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
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
        assert_eq!(shown(&walk.notes), "a/x.MD b.md drafts/c.md");
        assert_eq!(shown(&walk.others), "a/Templates/session.md a/f.tmp.md a/picture.png");
        assert_eq!(walk.findings, []);
    }

    #[test]
    fn include_narrows_notes_only() {
        let (_temp, vault) = vault(&["log/a.md", "b.md", "log/x.png"], "[vault]\ninclude = [\"log/**\"]\n");
        let walk = Walk::of(&vault);
        assert_eq!((shown(&walk.notes).as_str(), shown(&walk.others).as_str()), ("log/a.md", "b.md log/x.png"));
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_vault_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        crate::base::files::create(&outside.path().join("secret.md"), b"").unwrap();
        let (temp, vault) = vault(&["a.md"], "");
        std::os::unix::fs::symlink(outside.path(), temp.path().join("folder")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.md"), temp.path().join("note.md")).unwrap();
        std::os::unix::fs::symlink(temp.path(), temp.path().join("loop")).unwrap();
        assert_eq!(shown(&Walk::of(&vault).notes), "a.md");
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
        assert_eq!(shown(&walk.notes), "a.md");
        assert_eq!(walk.findings[0].path.to_string(), "locked");
    }
}
