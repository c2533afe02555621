//! The outside world as one value: time, folders, variables.
//!
//! Everything that is not a file comes through here, so that a test can hold all of it still.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

/// What a command may know of the process and machine it runs on.
#[derive(Clone, Debug)]
pub struct Env {
    now: Option<Timestamp>,
    cwd: PathBuf,
    home: Option<PathBuf>,
    vars: BTreeMap<String, String>,
}

impl Env {
    /// The real one. `CRU_NOW` (RFC 3339) stops the clock, for reproducible documents and tests.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn real() -> Self {
        let vars: BTreeMap<String, String> =
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
        let home = vars.get("HOME").or_else(|| vars.get("USERPROFILE")).filter(|h| !h.is_empty()).map(PathBuf::from);
        let now = vars.get("CRU_NOW").and_then(|text| text.parse().ok());
        Self { now, cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")), home, vars }
    }

    /// One for tests: fixed time, folder and variables.
    pub fn fixed(now: Timestamp, cwd: impl Into<PathBuf>, vars: &[(&str, &str)]) -> Self {
        let vars: BTreeMap<_, _> = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let home = vars.get("HOME").map(PathBuf::from);
        Self { now: Some(now), cwd: cwd.into(), home, vars }
    }

    /// The time now, in UTC.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    pub fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }

    /// The folder the command was called in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// That folder as notes write it, `~` for home.
    pub fn folder(&self) -> String {
        self.short(&self.cwd.to_string_lossy())
    }

    /// A folder as notes write it: a note that was made where the home folder was not known names it whole.
    pub fn short(&self, path: &str) -> String {
        let home = self.home().map(Path::to_string_lossy);
        let rest = home.as_deref().and_then(|home| path.strip_prefix(home));
        match rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => format!("~{rest}"),
            None => path.to_owned(),
        }
    }

    /// The same world, as seen from another folder.
    #[must_use]
    pub fn at(&self, cwd: impl Into<PathBuf>) -> Self {
        Self { cwd: cwd.into(), ..self.clone() }
    }

    /// The file of the running program.
    pub fn program(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    /// `PATH` of this process, for who starts programs.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn search_path() -> Option<OsString> {
        std::env::var_os("PATH")
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// `$XDG_CONFIG_HOME/cru`, or `~/.config/cru`.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    /// `$XDG_STATE_HOME/cru`, or `~/.local/state/cru`.
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// `$XDG_CACHE_HOME/cru`, or `~/.cache/cru`.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.xdg("XDG_CACHE_HOME", ".cache")
    }

    fn xdg(&self, var: &str, fallback: &str) -> Option<PathBuf> {
        let base = self.var(var).map(PathBuf::from).filter(|path| path.is_absolute());
        Some(base.or_else(|| Some(self.home()?.join(fallback)))?.join("cru"))
    }
}
