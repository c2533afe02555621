//! A path inside a vault.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Component, Path, PathBuf};

use serde::{Serialize, Serializer};

/// A path relative to the vault's folder; shown and sorted with `/` on every system.
///
/// It never leaves the vault: the only ways to make one refuse `..`, roots and prefixes.
///
/// Names stand in it with one separator between them and nothing else, so its bytes can be compared: that is many times
/// faster than to take paths apart, and the order is the same.
#[derive(Clone, Debug)]
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

    /// What is called `name` in a folder; `None` is the vault's own. The name is one that the file system gave.
    pub(super) fn inside(folder: Option<&Self>, name: &OsStr) -> Self {
        let Some(Self(folder)) = folder else { return Self(name.into()) };
        let mut path = std::ffi::OsString::with_capacity(folder.as_os_str().len() + 1 + name.len());
        path.push(folder);
        path.push(std::path::MAIN_SEPARATOR_STR);
        path.push(name);
        Self(path.into())
    }

    /// Where it stands beside another that is given as text.
    pub fn order(&self, other: &str) -> Ordering {
        order(self.bytes(), other.as_bytes())
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_os_str().as_encoded_bytes()
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

/// The order of paths in a vault: by their names, one after the other. Both are relative and have no empty names.
pub fn order(a: &[u8], b: &[u8]) -> Ordering {
    // A name ends before any other that goes on.
    let place = |byte: &u8| if *byte == b'/' || *byte == std::path::MAIN_SEPARATOR as u8 { 0 } else { *byte };
    // Paths of one folder begin alike: equal words are skipped at once.
    let words = a.chunks_exact(16).zip(b.chunks_exact(16)).take_while(|(a, b)| a == b).count() * 16;
    match a[words..].iter().zip(&b[words..]).position(|(a, b)| a != b) {
        Some(at) => place(&a[words + at]).cmp(&place(&b[words + at])),
        None => a.len().cmp(&b.len()),
    }
}

impl PartialEq for VaultPath {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for VaultPath {}

impl Hash for VaultPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl Ord for VaultPath {
    fn cmp(&self, other: &Self) -> Ordering {
        order(self.bytes(), other.bytes())
    }
}

impl PartialOrd for VaultPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
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

    proptest::proptest! {
        #[test]
        fn sorted_like_their_names(
            before in "(sessions/2026-11/)?[a-c/]{0,3}", a in "[a-c. /-]{1,6}", b in "[a-c. /-]{1,6}"
        ) {
            let path = |end: &str| VaultPath::new(format!("{before}{end}").replace("..", "x").trim_matches('/'));
            let (Some(a), Some(b)) = (path(&a), path(&b)) else { return Ok(()) };
            proptest::prop_assert_eq!(a.cmp(&b), a.as_path().cmp(b.as_path()));
            proptest::prop_assert_eq!(a == b, a.as_path() == b.as_path());
        }
    }

    #[test]
    fn what_a_folder_holds() {
        let folder = VaultPath::inside(None, "sessions".as_ref());
        assert_eq!(Some(VaultPath::inside(Some(&folder), "a.md".as_ref())), VaultPath::new("sessions/a.md"));
    }

    #[test]
    fn names() {
        let path = VaultPath::new("sessions/v1.2 plan.MD").unwrap();
        assert_eq!(path.stem(), "v1.2 plan");
        assert!(path.is_note());
        assert!(!VaultPath::new("picture.png").unwrap().is_note());
    }
}
