//! Symbolic links below a vault, and which of them a person trusts.
//!
//! A link that came with a vault may lead anywhere, so none that leads out is followed unless the user's own configuration
//! says where it leads: `[links]`, the place of the link and the folder behind it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{UserConfig, Vault, VaultPath};
use cru_base::{Env, files};

/// Folders whose names begin with a dot and that are written to.
const HIDDEN: [&str; 4] = [".cru", ".git", ".obsidian", ".trash"];

/// A symbolic link below a vault.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Link {
    /// Where it is.
    pub path: VaultPath,
    /// Where it leads.
    pub target: PathBuf,
    /// What may be written through it.
    pub trust: LinkTrust,
}

/// What may be written through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkTrust {
    /// It leads to another place of the vault.
    Inside,
    /// It leads out, and the user's configuration names it.
    Trusted,
    /// It leads out: nothing is read or written through it.
    Refused,
}

/// The links of the vault at `root` that the user's configuration trusts and that lead where it says; from now on they
/// are followed.
pub(super) fn trusted(root: &Path, env: &Env) -> BTreeMap<VaultPath, PathBuf> {
    let Ok((config, _)) = UserConfig::read(env) else { return BTreeMap::new() };
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut found = BTreeMap::new();
    for (link, target) in config.links {
        let below = link.strip_prefix(root).or_else(|_| link.strip_prefix(&real)).ok().and_then(VaultPath::new);
        let (Some(path), Ok(target)) = (below, target.canonicalize()) else { continue };
        // A link that was changed since leads to what nobody has agreed to.
        if target.is_dir() && root.join(path.as_path()).canonicalize().is_ok_and(|now| now == target) {
            files::trust_link(&root.join(path.as_path()), &target);
            files::trust_link(&real.join(path.as_path()), &target);
            found.insert(path, target);
        }
    }
    found
}

/// All links below a vault, in the folders that are walked and those that are written to.
pub(super) fn all(vault: &Vault) -> Vec<Link> {
    let mut found = Vec::new();
    let mut folders = vec![None];
    while let Some(folder) = folders.pop() {
        let place = folder.as_ref().map_or_else(|| vault.root().to_owned(), |path| vault.file(path));
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let path = VaultPath::inside(folder.as_ref(), &name);
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap_or_default();
                found.push(Link { trust: trust(vault, &path), target, path });
            } else if kind.is_dir() && is_looked_at(&name) && folder.as_ref().is_none_or(|it| !is_hidden(it)) {
                folders.push(Some(path));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn is_looked_at(name: &std::ffi::OsStr) -> bool {
    let is_hidden = name.as_encoded_bytes().starts_with(b".");
    name != "node_modules" && (!is_hidden || HIDDEN.iter().any(|hidden| name == *hidden && name != ".git"))
}

/// Of a hidden folder only what lies in it directly is looked at.
fn is_hidden(path: &VaultPath) -> bool {
    path.as_path().as_os_str().as_encoded_bytes().starts_with(b".")
}

fn trust(vault: &Vault, path: &VaultPath) -> LinkTrust {
    if vault.trusts(path) {
        return LinkTrust::Trusted;
    }
    let real = |path: &Path| path.canonicalize().ok();
    match (real(&vault.file(path)), real(vault.root())) {
        (Some(target), Some(root)) if target.starts_with(&root) => LinkTrust::Inside,
        _ => LinkTrust::Refused,
    }
}
