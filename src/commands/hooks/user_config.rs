//! The vault in the user's own configuration: where events from folders outside of any vault go.

use std::path::{Path, PathBuf};

use cru_settings::{Refused, SettingsFormat, entry};
use serde_json::{Map, Value};

use super::change::FileChange;
use super::place::settings_text;
use crate::base::{Env, Error, Result};
use crate::vault::folder::MARK;
use crate::vault::{UserConfig, Vault};

/// What the user's configuration says of the vault.
#[derive(Debug)]
pub(super) enum UserVault {
    /// It names none: it is to name this one.
    Named(PathBuf, Box<FileChange>),
    /// It names one already.
    There(PathBuf),
    /// No vault is known, or there is no folder for the configuration.
    Unknown,
}

/// What is to be done so that the user's configuration names a vault: that of `explicit`, of `CRU_VAULT`, or the one that
/// the working folder lies in.
pub(super) fn user_vault(explicit: Option<&Path>, env: &Env) -> Result<UserVault> {
    let named = UserConfig::read(env)?.0.vault;
    if let Some(vault) = named.as_ref().filter(|vault| vault.join(MARK).is_dir()) {
        return Ok(UserVault::There(vault.clone()));
    }
    let found = Vault::find_to_read(explicit, env).ok().map(|vault| vault.root().to_owned());
    if let (Some(gone), None) = (&named, &found) {
        return Ok(UserVault::There(gone.clone()));
    }
    let (Some(root), Some(folder)) = (found, env.config_dir()) else { return Ok(UserVault::Unknown) };
    let root = root.canonicalize().unwrap_or(root);
    // A name that no TOML text can hold stays unsaid.
    let Some(name) = root.to_str().filter(|name| !name.chars().any(char::is_control)) else {
        return Ok(UserVault::Unknown);
    };
    let path = folder.join("config.toml");
    let old = settings_text(&path)?;
    // One that is not there any more was moved: the name of its new place takes that of the old.
    let new = with_vault(old.as_deref().unwrap_or_default(), name).map_err(|refused| {
        let place = refused.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        Error::usage(format!("{}{place}: {}", path.display(), refused.message))
    })?;
    Ok(UserVault::Named(root.clone(), Box::new(FileChange { path, old, new: Some(new) })))
}

/// `text` with the vault that it names, everything else as it is.
fn with_vault(text: &str, vault: &str) -> std::result::Result<String, Refused> {
    let fields = Map::from_iter([("vault".to_owned(), Value::from(vault))]);
    entry::put(text, SettingsFormat::Toml, &[], &fields)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::base::files;

    #[test]
    fn the_vault_is_named_and_nothing_else_changes() {
        for (text, wanted) in [
            ("", "vault = \"/new\"\n"),
            ("[agent]\ntimeout = 3\n", "vault = \"/new\"\n[agent]\ntimeout = 3\n"),
            ("vault = \"/old\"\n[agent]\n", "vault = \"/new\"\n[agent]\n"),
            (
                "# vault = \"/old\" #\r\n  vault=\"/old\" # here\r\n\r\n",
                "# vault = \"/old\" #\r\n  vault=\"/new\" # here\r\n\r\n",
            ),
            ("vaults = 1\nvault = '/old'\n", "vaults = 1\nvault = \"/new\"\n"),
        ] {
            assert_eq!(with_vault(text, "/new").unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("my \"notes\" é");
        files::create(&root.join(".cru/config.toml"), b"").unwrap();
        let home = temp.path().join("home");
        let home = home.to_str().unwrap();
        let env = |cwd: &Path| Env::fixed(Timestamp::UNIX_EPOCH, cwd, &[("HOME", home)]);
        assert!(matches!(user_vault(None, &env(temp.path())).unwrap(), UserVault::Unknown));
        for text in [None, Some("[agent]\ntimeout = 3\n")] {
            let path = temp.path().join("home/.config/cru/config.toml");
            let _ = files::remove(&path);
            if let Some(text) = text {
                files::put(&path, text.as_bytes()).unwrap();
            }
            let UserVault::Named(named, change) = user_vault(None, &env(&root)).unwrap() else { panic!("{text:?}") };
            assert!(named == root && change.path == path && change.old.as_deref() == text);
            files::put(&path, change.new.unwrap().as_bytes()).unwrap();
            assert_eq!(Vault::find(None, &env(temp.path())).unwrap().root(), root);
            assert!(matches!(user_vault(None, &env(temp.path())).unwrap(), UserVault::There(there) if there == root));
        }
    }
}
