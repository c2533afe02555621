//! Which folders are confined: nothing below one of them is written through a link that leads out.
//!
//! A vault may come from somebody else, and so may every link in it. What a person names (a vault, the folder of the
//! machine's state) is followed as it is; what lies below is opened name by name. One set for the whole process, so that
//! no writer can forget to ask.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use crate::Error;

/// Each confined folder as it was named, and the folder that stands for it.
static ROOTS: RwLock<BTreeMap<PathBuf, PathBuf>> = RwLock::new(BTreeMap::new());

/// A confined folder.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// How the paths of who asks begin.
    pub(super) named: PathBuf,
    /// What is opened.
    pub(super) folder: PathBuf,
}

/// Confines a folder, in this process from now on: a write below it follows no link that leads out of it, nor into a
/// `.cru` or `.git` folder. Links above it, and the folder itself where it is one, are a person's own and followed.
pub fn confine(root: &Path) {
    let named = absolute(root);
    let real = named.canonicalize().unwrap_or_else(|_| named.clone());
    insert([(named.clone(), named), (real.clone(), real)]);
}

/// Trusts a link below a confined folder, in this process from now on: what lies behind it is a confined folder of its
/// own. It is `target` that is opened, wherever the link leads by now.
pub fn trust_link(link: &Path, target: &Path) {
    let target = absolute(target);
    insert([(absolute(link), target.clone()), (target.clone(), target)]);
}

fn insert(roots: [(PathBuf, PathBuf); 2]) {
    let mut all = ROOTS.write().unwrap_or_else(PoisonError::into_inner);
    all.extend(roots);
}

/// The innermost confined folder that `path` is, or lies below; the path is absolute.
pub(super) fn root_of(path: &Path) -> Option<Root> {
    let all = ROOTS.read().unwrap_or_else(PoisonError::into_inner);
    let (named, folder) = path.ancestors().find_map(|folder| all.get_key_value(folder))?;
    Some(Root { named: named.clone(), folder: folder.clone() })
}

/// A path from the root of the file system on; no file is looked at.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A folder whose name no link may lead past: it holds what programs do by themselves.
pub(super) fn is_closed(name: &std::ffi::OsStr) -> bool {
    [".cru", ".git"].iter().any(|closed| name.eq_ignore_ascii_case(closed))
}

/// A write that would follow a link out of a confined folder.
pub(super) fn leads_out(link: &Path, root: &Root) -> Error {
    let to = std::fs::read_link(link).map_or_else(|_| String::new(), |to| format!(", to {}", to.display()));
    let message = format!("{} leads out of {}{to}; nothing was written there", link.display(), root.named.display());
    Error::usage(message).with_hint(
        "if you made this link, `cru init --trust-links` in the vault allows it; if the vault came from somebody else, remove the link",
    )
}
