//! Files that a step read or wrote, as notes name them: relative to the project, with the hash of what is there now.

use std::path::{Path, PathBuf};

use cru_base::files;
use cru_base::path::without_dots;
use cru_session::{FileRef, file_ref};

/// Where paths are seen from.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// What a relative path starts from.
    pub cwd: &'a Path,
    /// The project's folder; paths in it are relative to it.
    pub project: Option<&'a Path>,
    /// The home folder, `~`.
    pub home: Option<&'a Path>,
}

/// `src/a.rs@9f2c11ab`; a path that has a hash already keeps it, and one that cannot be read has none.
pub fn named(text: &str, place: Place<'_>) -> String {
    name(text, place, true)
}

/// The same, with a hash only where it has one already.
pub fn as_told(text: &str, place: Place<'_>) -> String {
    name(text, place, false)
}

/// The path alone: `src/a.rs`.
pub fn plain_name(text: &str, place: Place<'_>) -> String {
    file_ref::parse(&as_told(text, place)).path
}

fn name(text: &str, place: Place<'_>, looks: bool) -> String {
    let given = file_ref::parse(text.trim());
    let expanded = match (given.path.strip_prefix("~/"), place.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(&given.path),
    };
    let whole = without_dots(&place.cwd.join(expanded));
    // Lines that are told with their hash say what is meant of the file.
    let is_asked = looks && given.lines.is_empty();
    let hash = given.hash.or_else(|| is_asked.then(|| hash(&whole)).flatten());
    let relative = place.project.and_then(|project| whole.strip_prefix(project).ok());
    let path = match (relative, place.home.and_then(|home| whole.strip_prefix(home).ok())) {
        (Some(path), _) if path.as_os_str().is_empty() => ".".to_owned(),
        (Some(path), _) => path.to_string_lossy().into_owned(),
        (None, Some(path)) => format!("~/{}", path.to_string_lossy()),
        (None, None) => whole.to_string_lossy().into_owned(),
    };
    let file = FileRef { path, hash, lines: given.lines, ..FileRef::default() };
    file_ref::spans(&file).swap_remove(0)
}

/// The first digits of the hash of a file's whole content.
pub fn hash(path: &Path) -> Option<String> {
    // Larger files are named without a hash.
    let small = path.metadata().is_ok_and(|it| it.is_file() && it.len() <= 8 * 1024 * 1024);
    let bytes = small.then(|| files::read(path).ok()).flatten()?;
    Some(blake3::hash(&bytes).to_hex()[..8].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_hashes() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let project = home.join("code/api");
        files::put(&project.join("src/a.rs"), b"fn main() {}\n").unwrap();
        let deep = project.join("src");
        let place = Place { cwd: &deep, project: Some(&project), home: Some(home) };
        let digits = &blake3::hash(b"fn main() {}\n").to_hex()[..8];
        assert_eq!(named("a.rs", place), format!("src/a.rs@{digits}"));
        assert_eq!(named("../src/./a.rs", place), format!("src/a.rs@{digits}"));
        assert_eq!(named("~/code/api/src/a.rs", place), format!("src/a.rs@{digits}"));
        assert_eq!(named("gone.rs", place), "src/gone.rs");
        assert_eq!(as_told("a.rs", place), "src/a.rs");
        assert_eq!(
            (as_told("a.rs@0123abcd", place), plain_name("a.rs@0123abcd", place)),
            ("src/a.rs@0123abcd".into(), "src/a.rs".into())
        );
        assert_eq!(named("a.rs@0123abcd", place), "src/a.rs@0123abcd", "what was said is not looked up");
        assert_eq!(named("../../notes.md", place), "~/code/notes.md");
        assert_eq!(named("/etc/no-such-file", place), "/etc/no-such-file");
    }
}
