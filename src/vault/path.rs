//! A path inside a vault.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Serialize, Serializer};

/// A path relative to the vault's folder; shown and sorted with `/` on every system.
///
/// It never leaves the vault: the only ways to make one refuse `..`, roots and prefixes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VaultPath(PathBuf);

impl VaultPath {
    /// A relative path of plain names; `None` where it could lead out of the vault or names nothing.
    pub fn new(relative: impl AsRef<Path>) -> Option<Self> {
        let mut clean = PathBuf::new();
        for component in relative.as_ref().components() {
            match component {
                Component::Normal(name) => clean.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        (!clean.as_os_str().is_empty()).then_some(Self(clean))
    }

    /// For joining to the vault's folder.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// With `/` between names; a name that is not Unicode is shown with replacement characters.
    pub fn text(&self) -> Cow<'_, str> {
        let text = self.0.to_string_lossy();
        if std::path::MAIN_SEPARATOR == '/' { text } else { Cow::Owned(text.replace(std::path::MAIN_SEPARATOR, "/")) }
    }

    /// The file name without its last extension: what a link names.
    pub fn stem(&self) -> Cow<'_, str> {
        self.0.file_stem().unwrap_or_default().to_string_lossy()
    }

    /// Whether it names a markdown note.
    pub fn is_note(&self) -> bool {
        self.0.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
    }
}

impl fmt::Display for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Serialize for VaultPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_inside() {
        assert!(VaultPath::new("../x.md").is_none());
        assert!(VaultPath::new("/etc/passwd").is_none());
        assert!(VaultPath::new("a/../../x").is_none());
        assert!(VaultPath::new(".").is_none());
        assert_eq!(VaultPath::new("./a/b.md").unwrap().to_string(), "a/b.md");
    }

    #[test]
    fn names() {
        let path = VaultPath::new("sessions/v1.2 plan.MD").unwrap();
        assert_eq!(path.stem(), "v1.2 plan");
        assert!(path.is_note());
        assert!(!VaultPath::new("picture.png").unwrap().is_note());
    }
}
