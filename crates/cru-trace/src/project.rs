//! Where the project of a session lies on this machine, and which of its files a note may ask for.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cru_base::Env;

use crate::verdict::UnknownReason;

/// Folders in which hosts keep the worktrees of sub-agents, below the repository.
const WORKTREES: &[&str] = &["/.claude/worktrees/", "/.worktrees/", "/.codex/worktrees/", "/.cursor/worktrees/"];

/// The folder that commands of a project run in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFolder {
    /// It, on this machine.
    pub path: PathBuf,
    /// What it is called there: whole, and with `~` for home.
    pub names: Vec<String>,
    /// What notes call it, where `[projects]` of the user's configuration says that this is meant.
    pub alias: Option<String>,
    /// Whether more than a note says that commands may run there.
    pub is_known: bool,
    /// Whether it is the home folder or one above it, which no note makes a project.
    pub is_too_wide: bool,
}

/// The folders of projects: as notes name them, and where they are.
#[derive(Clone, Debug, Default)]
pub struct ProjectRoots {
    /// `[projects]` of the user's configuration, the longest name first.
    mapped: Vec<(String, PathBuf)>,
    home: Option<PathBuf>,
}

impl ProjectRoots {
    /// With what the user's configuration says. A vault's configuration has no say: it may come from anyone.
    pub fn new(mapped: &BTreeMap<String, PathBuf>, env: &Env) -> Self {
        let mut mapped: Vec<(String, PathBuf)> =
            mapped.iter().map(|(name, path)| (clean(name).to_owned(), path.clone())).collect();
        mapped.sort_by(|a, b| (b.0.len(), &a.0).cmp(&(a.0.len(), &b.0)));
        Self { mapped, home: env.home().map(Path::to_owned) }
    }

    /// The folder of a project; `None` where it is not on this machine. A worktree that is gone is looked for in its
    /// repository.
    pub fn root(&self, project: &str) -> Option<PathBuf> {
        let project = clean(project);
        if project.is_empty() {
            return None;
        }
        self.folder(project).or_else(|| repository(project).and_then(|(repository, _)| self.folder(repository)))
    }

    /// The folder, as it is mapped or as it stands.
    fn folder(&self, project: &str) -> Option<PathBuf> {
        for (name, to) in &self.mapped {
            let rest = project.strip_prefix(name.as_str());
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                let folder = to.join(plain(rest.trim_start_matches('/'))?);
                return folder.is_dir().then_some(folder);
            }
        }
        let folder = self.expand(project)?;
        (folder.is_absolute() && folder.is_dir()).then_some(folder)
    }

    fn expand(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) => Some(self.home.as_ref()?.join(rest.strip_prefix('/')?)),
            None => Some(PathBuf::from(path)),
        }
    }

    /// The folder that commands of a project run in; `None` where it is not on this machine.
    ///
    /// A note that names a folder makes it no project. It is known where `[projects]` of the user's configuration has this
    /// very name, or where it is one of `stood`, the folders that the person who runs them stands in. A project without a
    /// name is the first of these. Never known are the home folder, those above it, and `foreign` with all that is in it.
    pub fn run_folder(&self, project: &str, stood: &[PathBuf], foreign: &Path) -> Option<RunFolder> {
        let project = clean(project);
        let real = |path: &Path| path.canonicalize().ok();
        let mapped = self.mapped.iter().find(|(name, _)| name == project).map(|(_, folder)| folder);
        let path = match mapped {
            Some(folder) => folder.is_dir().then(|| folder.clone())?,
            None if project.is_empty() => stood.first()?.clone(),
            None => self.root(project)?,
        };
        let whole = real(&path)?;
        let is_too_wide = self.home.as_deref().and_then(real).is_some_and(|home| home.starts_with(&whole))
            || whole.parent().is_none();
        let is_too_wide = is_too_wide && mapped.is_none();
        let is_foreign = real(foreign).is_some_and(|foreign| whole.starts_with(foreign));
        let is_stood_in = stood.iter().any(|stood| real(stood).as_ref() == Some(&whole));
        let is_known = mapped.is_some() || is_stood_in && !is_too_wide && !is_foreign;
        let mut names = vec![path.to_string_lossy().into_owned(), whole.to_string_lossy().into_owned()];
        let below_home = |path: &Path| {
            let rest = path.strip_prefix(self.home.as_ref()?).ok().filter(|rest| !rest.as_os_str().is_empty())?;
            Some(format!("~/{}", rest.display()))
        };
        names.extend(below_home(&path));
        names.dedup();
        let alias = mapped.filter(|_| !names.iter().any(|name| name == project)).map(|_| project.to_owned());
        Some(RunFolder { path, names, alias, is_known, is_too_wide })
    }

    /// A file of a session in `project`: its folder on this machine, and its path in it with `/` between names.
    ///
    /// Errors: the project is not here, or the file is not in it.
    pub fn file(&self, project: &str, path: &str) -> Result<(PathBuf, String), UnknownReason> {
        let root = self.root(project).ok_or(UnknownReason::NoProject)?;
        let inside = inside(project, path).ok_or(UnknownReason::Outside)?;
        Ok((root, inside))
    }
}

/// The path of a file below its project, as a session names it; `None` where it lies outside.
pub fn inside(project: &str, path: &str) -> Option<String> {
    let path = path.trim().replace('\\', "/");
    let project = clean(project);
    let bytes = path.as_bytes();
    let absolute =
        path.starts_with(['/', '~']) || bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if !absolute {
        return normal(&path);
    }
    let below = |folder: &str| {
        let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
        rest.strip_prefix('/').and_then(normal)
    };
    if project.is_empty() {
        return None;
    }
    // A worktree's file stands for that of the repository, whether the session names one or the other.
    if let Some((repository, _)) = repository(&path).filter(|(repository, _)| clean(repository) == main(project)) {
        let rest = path.strip_prefix(repository)?;
        let folder = WORKTREES.iter().find_map(|mark| rest.strip_prefix(mark))?;
        return folder.split_once('/').and_then(|(_, rest)| normal(rest));
    }
    below(project).or_else(|| below(main(project)))
}

/// The repository of a worktree's folder, else the folder itself.
fn main(project: &str) -> &str {
    repository(project).map_or(project, |(repository, _)| repository)
}

/// The repository and the rest, where a path lies in a host's folder of worktrees.
fn repository(path: &str) -> Option<(&str, &str)> {
    WORKTREES.iter().find_map(|mark| path.find(mark).map(|at| (&path[..at], &path[at + mark.len()..])))
}

fn clean(project: &str) -> &str {
    let project = project.trim();
    let short = project.trim_end_matches('/');
    if short.is_empty() { project } else { short }
}

/// Names joined by `/`, without `.` and `..`; `None` where the path leads out or is empty.
fn normal(path: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

/// A relative path of plain names; the empty one is the folder itself.
fn plain(path: &str) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_inside_and_outside() {
        for (project, path, wanted) in [
            ("~/api", "src/a.rs", Some("src/a.rs")),
            ("~/api", "./src//b/../a.rs", Some("src/a.rs")),
            ("~/api/", "~/api/src/a.rs", Some("src/a.rs")),
            ("~/api", "../web/a.rs", None),
            ("~/api", "~/web/a.rs", None),
            ("~/api", "/etc/passwd", None),
            ("~/api", "~/api2/a.rs", None),
            ("~/api", "~/api/.claude/worktrees/x/src/a.rs", Some("src/a.rs")),
            ("~/api/.worktrees/x", "~/api/.worktrees/x/src/a.rs", Some("src/a.rs")),
            ("~/api/.worktrees/x", "~/api/src/a.rs", Some("src/a.rs")),
            ("~/api/.worktrees/x", "src/a.rs", Some("src/a.rs")),
            ("", "src/a.rs", Some("src/a.rs")),
            ("", "/src/a.rs", None),
            ("/w", "", None),
        ] {
            assert_eq!(inside(project, path).as_deref(), wanted, "{path} in {project}");
        }
    }

    #[test]
    fn where_commands_run() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home");
        let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, &home, &[("HOME", home.to_str().unwrap())]);
        for folder in ["home/api/vendor", "home/src/web", "home/src/web/app", "vault/code", "evil"] {
            std::fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        let mapped = BTreeMap::from([("/Users/ann/web".to_owned(), home.join("src/web"))]);
        let roots = ProjectRoots::new(&mapped, &env);
        let stood = [home.join("api"), home.join("api/vendor/..")];
        let known = |project: &str, stood: &[PathBuf]| {
            let folder = roots.run_folder(project, stood, &temp.path().join("vault"))?;
            Some((folder.path.strip_prefix(temp.path()).unwrap().to_str().unwrap().to_owned(), folder.is_known))
        };
        let is = |path: &str, is_known: bool| Some((path.to_owned(), is_known));
        assert_eq!(known("~/api", &stood), is("home/api", true));
        assert_eq!(known("~/api/", &stood), is("home/api", true));
        assert_eq!(known("", &stood), is("home/api", true));
        assert_eq!(known("", &[]), None);
        assert_eq!(known("/Users/ann/web", &stood), is("home/src/web", true));
        assert_eq!(known("/Users/ann/web/app", &stood), is("home/src/web/app", false), "the note names `app`");
        assert_eq!(known("~/api/vendor", &stood), is("home/api/vendor", false));
        assert_eq!(known("~/api", &[home.join("src/web")]), is("home/api", false), "the person stands elsewhere");
        let evil = temp.path().join("evil").to_string_lossy().into_owned();
        assert_eq!(known(&evil, &stood), is("evil", false));
        assert_eq!(known("~", std::slice::from_ref(&home)), is("home", false), "a home folder is no project");
        let all = roots.run_folder("/", &[PathBuf::from("/")], Path::new("/no")).unwrap();
        assert!(!all.is_known, "{all:?}");
        let of_vault = temp.path().join("vault/code");
        assert_eq!(known(of_vault.to_str().unwrap(), std::slice::from_ref(&of_vault)), is("vault/code", false));
        let web = roots.run_folder("/Users/ann/web", &stood, Path::new("/no")).unwrap();
        assert_eq!(web.alias.as_deref(), Some("/Users/ann/web"));
        assert!(web.names.contains(&"~/src/web".to_owned()), "{web:?}");
    }

    #[test]
    fn where_projects_are() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().to_str().unwrap();
        let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, temp.path(), &[("HOME", home)]);
        for folder in ["api", "elsewhere/web/app"] {
            std::fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        let mapped = BTreeMap::from([("/Users/ann/web/".to_owned(), temp.path().join("elsewhere/web"))]);
        let roots = ProjectRoots::new(&mapped, &env);
        let root = |project: &str| roots.root(project).map(|it| it.strip_prefix(temp.path()).unwrap().to_owned());
        assert_eq!(root("~/api"), Some("api".into()));
        assert_eq!(root("~/api/.claude/worktrees/x1"), Some("api".into()));
        assert_eq!(root("/Users/ann/web"), Some("elsewhere/web/".into()));
        assert_eq!(root("/Users/ann/web/app"), Some("elsewhere/web/app".into()));
        assert_eq!(root("/Users/ann/web/../api"), None);
        assert_eq!(root("/Users/ann/website"), None);
        assert_eq!(root("~/gone"), None);
        assert_eq!(root(""), None);
    }
}
