//! The vault itself: its folder and configuration, and how it is found.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::config::expand_home;
use super::{Config, Finding, UserConfig, VaultPath};
use cru_base::{Env, Error, Result, files};
use jiff::Zoned;

/// The folder that makes a folder of notes a vault.
pub const MARK: &str = ".cru";

/// The newest form of notes that this program writes.
const SCHEMA: u32 = 1;

/// A folder of notes with its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Vault {
    root: PathBuf,
    config: Config,
    warnings: Vec<Finding>,
    overlay: BTreeMap<VaultPath, Vec<u8>>,
    broken: bool,
    templates: Option<VaultPath>,
    cache: Option<PathBuf>,
    links: BTreeMap<VaultPath, PathBuf>,
}

/// What errors call the configuration of the user.
const USERS: &str = "the user configuration";

impl Vault {
    /// The time as it is, in the zone whose days the vault's notes are named by.
    pub fn now(&self, env: &Env) -> Zoned {
        env.now().to_zoned(self.config().zone.clone())
    }

    /// Finds it: `explicit` (`--vault`), `CRU_VAULT`, the nearest folder from the working directory upwards that holds
    /// `.cru/`, then `vault` in the user's configuration. Otherwise a usage error whose hint names `cru init`.
    ///
    /// For who may write: a vault that a newer program made is refused ([`Vault::writable`]).
    pub fn find(explicit: Option<&Path>, env: &Env) -> Result<Self> {
        let vault = Self::find_to_read(explicit, env)?;
        vault.writable()?;
        Ok(vault)
    }

    /// [`Vault::find`] for who only reads.
    pub fn find_to_read(explicit: Option<&Path>, env: &Env) -> Result<Self> {
        Self::find_root(explicit, env).and_then(|root| Self::open(&root)).map(|vault| vault.on_machine(env))
    }

    /// Refuses a vault whose notes have a newer form than this program writes: reading works, writing could lose what it
    /// does not know.
    pub fn writable(&self) -> Result<()> {
        let schema = self.config.schema;
        if schema <= SCHEMA {
            return Ok(());
        }
        let place = self.root.join(MARK).join("config.toml");
        Err(Error::usage(format!("this vault has schema {schema}, and this program writes schema {SCHEMA}"))
            .with_hint(format!("a newer cru writes it; `[vault] schema` stands in {}; reading works", place.display())))
    }

    /// [`Vault::find`] for who must not lose what it was given: where the vault's configuration cannot be read, the vault
    /// has the default one with what can still be told of it, and the error is given beside it.
    pub fn find_even_broken(explicit: Option<&Path>, env: &Env) -> Result<(Self, Option<Error>)> {
        let root = Self::find_root(explicit, env)?;
        match Self::open(&root) {
            Ok(vault) => {
                let vault = vault.on_machine(env);
                match vault.writable() {
                    Ok(()) => Ok((vault, None)),
                    // Only the journals may be written.
                    Err(error) => Ok((Self { broken: true, ..vault }, Some(error))),
                }
            }
            Err(error) => {
                let text = files::read(&root.join(MARK).join("config.toml")).unwrap_or_default();
                let config = Config::salvage(&String::from_utf8_lossy(&text));
                let templates = super::obsidian::template_folder(&root);
                let vault = Self { broken: true, ..Self::new(root, config, Vec::new(), templates) };
                Ok((vault.on_machine(env), Some(error)))
            }
        }
    }

    /// Whether its configuration could not be read: then only the journals may be written.
    pub const fn is_broken(&self) -> bool {
        self.broken
    }

    fn find_root(explicit: Option<&Path>, env: &Env) -> Result<PathBuf> {
        if let Some(path) = explicit {
            return Self::named(path, "--vault", env);
        }
        if let Some(path) = env.var("CRU_VAULT") {
            return Self::named(Path::new(path), "CRU_VAULT", env);
        }
        if let Some(root) = env.cwd().ancestors().find(|folder| folder.join(MARK).is_dir()) {
            return Ok(root.to_owned());
        }
        if let (UserConfig { vault: Some(path), .. }, _) = UserConfig::read(env)? {
            return Self::named(&path, USERS, env);
        }
        Err(Error::usage(format!("no vault here: neither {} nor a folder above it holds .cru/", env.cwd().display()))
            .with_hint("`cru init` makes this folder a vault; --vault or CRU_VAULT name another"))
    }

    fn named(path: &Path, origin: &str, env: &Env) -> Result<PathBuf> {
        let home = path.to_str().and_then(|text| expand_home(text, env));
        let root = env.cwd().join(home.as_deref().unwrap_or(path));
        // One that a configuration names was there once: it was moved more likely than it never was.
        let hint = |new: &str| match origin {
            USERS => format!(
                "where it was moved, `cru connect` in its new folder names that one; `cru init {}` {new}",
                path.display()
            ),
            "CRU_VAULT" => {
                format!("set CRU_VAULT to the folder where it is; `cru init {}` {new}", path.display())
            }
            _ => format!("`cru init {}` {new}", path.display()),
        };
        if !root.is_dir() {
            return Err(Error::usage(format!("no folder {} (from {origin})", root.display()))
                .with_hint(hint("makes a vault there")));
        }
        if !root.join(MARK).is_dir() {
            return Err(Error::usage(format!("{} is not a vault: it holds no .cru/ (from {origin})", root.display()))
                .with_hint(hint("makes it one")));
        }
        Ok(root)
    }

    /// Opens the vault at `root`; a missing `.cru/config.toml` is an empty one.
    ///
    /// From then on nothing below it is written through a link that leads out ([`files::confine`]).
    pub fn open(root: &Path) -> Result<Self> {
        let path = root.join(MARK).join("config.toml");
        let (config, warnings) = match files::read_if_there(&path)? {
            Some(bytes) => Config::parse(&String::from_utf8_lossy(&bytes), &path)?,
            None => Default::default(),
        };
        let place = VaultPath::new(".cru/config.toml");
        let warnings = warnings.into_iter().filter_map(|it| Some(Finding::new(place.as_ref()?, it))).collect();
        let templates = super::obsidian::template_folder(root);
        Ok(Self::new(root.to_owned(), config, warnings, templates))
    }

    fn new(root: PathBuf, config: Config, warnings: Vec<Finding>, templates: Option<VaultPath>) -> Self {
        files::confine(&root);
        let (overlay, links) = (BTreeMap::new(), BTreeMap::new());
        Self { root, config, warnings, overlay, broken: false, templates, cache: None, links }
    }

    /// The same vault as this machine knows it: with the folder of its caches, and with the links that the user's
    /// configuration trusts.
    fn on_machine(self, env: &Env) -> Self {
        let links = super::links::trusted(&self.root, env);
        let folder = env.cache_dir().map(|dir| {
            files::confine(&dir);
            dir.join(super::state::folder_name(&self))
        });
        Self { links, cache: folder, ..self }
    }

    /// The same vault, whose caches lie in this folder of the machine.
    #[must_use]
    pub fn cached_in(self, folder: impl Into<PathBuf>) -> Self {
        Self { cache: Some(folder.into()), ..self }
    }

    /// The folder of its caches, which belongs to the machine and may be deleted at any time; what stands in a vault's own
    /// `.cru/cache` came with it and is never looked at. `None`: nothing can be kept.
    pub fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// All symbolic links below it.
    pub fn links(&self) -> Vec<super::Link> {
        super::links::all(self)
    }

    /// Whether the user's configuration trusts a link that leads out of it.
    pub fn trusts(&self, path: &VaultPath) -> bool {
        self.links.contains_key(path)
    }

    /// The same vault, whose notes at these paths read as these bytes: what is logged and not yet written.
    #[must_use]
    pub fn overlaid(mut self, overlay: BTreeMap<VaultPath, Vec<u8>>) -> Self {
        self.overlay = overlay;
        self
    }

    /// The notes that read other than they stand on disk.
    pub fn overlaid_paths(&self) -> impl Iterator<Item = &VaultPath> {
        self.overlay.keys()
    }

    /// The bytes that a note reads as, where they are not those on disk.
    pub(super) fn overlay(&self, path: &VaultPath) -> Option<&[u8]> {
        self.overlay.get(path).map(Vec::as_slice)
    }

    /// A note's bytes.
    pub fn read(&self, path: &VaultPath) -> Result<Cow<'_, [u8]>> {
        self.overlay(path).map_or_else(|| files::read_note(&self.file(path)).map(Cow::Owned), |bytes| Ok(bytes.into()))
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder of templates that Obsidian's settings name: no note in it is read.
    pub fn template_folder(&self) -> Option<&VaultPath> {
        self.templates.as_ref()
    }

    /// What is odd in its configuration.
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// The folder for new sessions, which need not exist yet.
    pub fn sessions_dir(&self) -> PathBuf {
        self.root.join(self.config.sessions.as_path())
    }

    /// Where a file of the vault is on this machine.
    pub fn file(&self, path: &VaultPath) -> PathBuf {
        self.root.join(path.as_path())
    }

    /// A path of this machine as one of the vault; `None` when it lies outside. Looks at no file.
    pub fn relative(&self, path: &Path) -> Option<VaultPath> {
        VaultPath::new(path.strip_prefix(&self.root).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::Timestamp;

    use super::*;

    fn env(cwd: &Path, vars: &[(&str, &str)]) -> Env {
        Env::fixed(Timestamp::UNIX_EPOCH, cwd, vars)
    }

    #[test]
    fn a_configuration_that_is_no_file_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let place = temp.path().join(MARK).join("config.toml");
        fs::create_dir_all(&place).unwrap();
        let told = |error: Error| assert!(error.with_causes().contains("config.toml"), "{}", error.with_causes());
        told(Vault::open(temp.path()).unwrap_err());
        let user = temp.path().join("user/cru/config.toml");
        fs::create_dir_all(user).unwrap();
        let home = temp.path().join("user");
        told(UserConfig::read(&env(temp.path(), &[("XDG_CONFIG_HOME", home.to_str().unwrap())])).unwrap_err());
        fs::remove_dir(&place).unwrap();
        assert!(Vault::open(temp.path()).is_ok(), "a missing one is an empty one");
    }

    #[test]
    fn order_of_search() {
        let temp = tempfile::tempdir().unwrap();
        let dir = |name: &str| {
            fs::create_dir_all(temp.path().join(name).join(MARK)).unwrap();
            temp.path().join(name)
        };
        let (given, var, here, user) = (dir("given"), dir("var"), dir("here"), dir("user"));
        let deep = here.join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let config = temp.path().join("config");
        fs::create_dir_all(config.join("cru")).unwrap();
        let user_toml = format!("vault = {:?}\n", user.to_str().unwrap());
        cru_base::files::create(&config.join("cru/config.toml"), user_toml.as_bytes()).unwrap();
        let config = config.to_str().unwrap();

        let both = [("CRU_VAULT", var.to_str().unwrap()), ("XDG_CONFIG_HOME", config)];
        assert_eq!(Vault::find(Some(&given), &env(&deep, &both)).unwrap().root(), given);
        assert_eq!(Vault::find(Some(Path::new("../../../given")), &env(&deep, &both)).unwrap().sessions_dir(), {
            deep.join("../../../given/sessions")
        });
        assert_eq!(Vault::find(None, &env(&deep, &both)).unwrap().root(), var);
        assert_eq!(Vault::find(None, &env(&deep, &both[1..])).unwrap().root(), here);
        assert_eq!(Vault::find(None, &env(temp.path(), &both[1..])).unwrap().root(), user);
        let error = Vault::find(None, &env(temp.path(), &[])).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.hint().unwrap().contains("cru init"));
    }

    #[test]
    fn a_folder_without_mark_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let error = Vault::find(Some(temp.path()), &env(temp.path(), &[])).unwrap_err();
        assert!(error.to_string().contains("is not a vault"), "{error}");
        let error = Vault::find(None, &env(temp.path(), &[("CRU_VAULT", "gone")])).unwrap_err();
        assert!(error.to_string().contains("(from CRU_VAULT)"), "{error}");
    }
}
