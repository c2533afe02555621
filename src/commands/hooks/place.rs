//! The settings files of a host.

use std::path::{Path, PathBuf};

use cru_settings::Refused;
use serde::Serialize;

use crate::base::{Env, Error, Result, files};
use crate::commands::Context;
use crate::live::hook::{HOSTS, Host};

/// Which settings.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(multiple = false)]
pub(in crate::commands) struct Which {
    /// The settings of all your projects (the default)
    #[arg(long)]
    user: bool,
    /// The project's settings, which it shares with others
    #[arg(long)]
    project: bool,
    /// The project's settings for you alone
    #[arg(long)]
    local: bool,
    /// This settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// A level of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::commands) enum Level {
    User,
    Project,
    Local,
    File,
}

/// A settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct SettingsPlace {
    pub(in crate::commands) level: Level,
    pub(in crate::commands) path: PathBuf,
}

impl Which {
    /// The file that is meant.
    pub(in crate::commands) fn place(&self, host: &Host, cx: &Context<'_>) -> Result<SettingsPlace> {
        if let Some(path) = &self.settings {
            return Ok(SettingsPlace { level: Level::File, path: cx.absolute(path) });
        }
        let level = self.level();
        if level != Level::User && SettingsPlace::of(host, level, cx.env).is_none() {
            return Err(Error::usage(format!("{} has no such settings for hooks", host.title())));
        }
        SettingsPlace::of(host, level, cx.env).ok_or_else(no_home)
    }

    /// The file that is named.
    pub(in crate::commands) fn file(&self) -> Option<&Path> {
        self.settings.as_deref()
    }

    /// The level that is meant.
    pub(in crate::commands) const fn level(&self) -> Level {
        match self {
            Self { project: true, .. } => Level::Project,
            Self { local: true, .. } => Level::Local,
            _ => Level::User,
        }
    }
}

/// There is no place for settings of a user.
pub(in crate::commands) fn no_home() -> Error {
    Error::usage("there is no home folder to look for the settings in").with_hint("name the file with --settings")
}

/// `~/…` in the user's home folder.
pub(in crate::commands) fn below_home(path: &str, env: &Env) -> Option<PathBuf> {
    Some(env.home()?.join(path.strip_prefix("~/").unwrap_or(path)))
}

/// The text of a file of settings; `None` where there is none.
///
/// Errors: it cannot be read, is no regular file, is longer than settings are, or no UTF-8 text.
pub(super) fn settings_text(path: &Path) -> Result<Option<String>> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    // Bytes of the longest settings that are edited.
    let bytes = files::read_regular(path, 16 << 20)?;
    let bytes = bytes.ok_or_else(|| Error::usage(format!("{} is no file of settings", path.display())))?;
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Error::usage(format!("{} is no UTF-8 text", path.display())))
}

impl SettingsPlace {
    /// Those of all levels.
    pub(in crate::commands) fn all(host: &Host, env: &Env) -> Vec<Self> {
        let levels = [Level::User, Level::Project, Level::Local];
        let mut places: Vec<Self> = levels.into_iter().filter_map(|level| Self::of(host, level, env)).collect();
        places.dedup_by(|one, other| one.path == other.path);
        places
    }

    /// The settings of Claude Code for all projects of the user.
    pub(in crate::commands) fn user(env: &Env) -> Option<Self> {
        Self::of(&HOSTS[0], Level::User, env)
    }

    fn of(host: &Host, level: Level, env: &Env) -> Option<Self> {
        let settings = &host.settings;
        let path = match level {
            Level::User => {
                let moved = settings.moved.and_then(|(name, file)| Some(env.cwd().join(env.var(name)?).join(file)));
                moved.or_else(|| below_home(settings.user, env))?
            }
            Level::Project => project(env).join(settings.project?),
            Level::Local => project(env).join(settings.local?),
            Level::File => return None,
        };
        Some(Self { level, path })
    }

    /// Its text; `None` where there is no file.
    pub(in crate::commands) fn read(&self) -> Result<Option<String>> {
        settings_text(&self.path)
    }

    /// An error about its text.
    pub(in crate::commands) fn refuse(&self, refused: &Refused) -> Error {
        let path = self.path.display();
        let at = refused.place.map_or_else(|| path.to_string(), |(line, column)| format!("{path}:{line}:{column}"));
        Error::usage(format!("{at}: {}", refused.message)).with_hint("correct the file by hand; nothing was written")
    }
}

/// The folder of the project: the nearest above with settings or a repository, below the home folder.
pub(in crate::commands) fn project(env: &Env) -> &Path {
    let below_home = env.cwd().ancestors().take_while(|folder| Some(*folder) != env.home());
    let mut marked = below_home.filter(|folder| folder.join(".claude").is_dir() || folder.join(".git").exists());
    marked.next().unwrap_or(env.cwd())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn where_settings_are() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let deep = home.join("work/app/src");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(home.join(".claude")).unwrap();
        let env = |vars: &[(&str, &str)]| Env::fixed(Timestamp::UNIX_EPOCH, &deep, vars);
        let path = |level, env: &Env| SettingsPlace::of(&HOSTS[0], level, env).unwrap().path;
        let plain = env(&[("HOME", home.to_str().unwrap())]);
        assert_eq!(path(Level::User, &plain), home.join(".claude/settings.json"));
        assert_eq!(path(Level::Project, &plain), deep.join(".claude/settings.json"), "never the home folder's");
        std::fs::create_dir_all(home.join("work/app/.git")).unwrap();
        assert_eq!(path(Level::Local, &plain), home.join("work/app/.claude/settings.local.json"));
        assert_eq!(path(Level::User, &env(&[("CLAUDE_CONFIG_DIR", "/c")])), Path::new("/c/settings.json"));
        assert_eq!(SettingsPlace::of(&HOSTS[0], Level::User, &env(&[])), None);
    }
}
