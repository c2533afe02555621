//! Where the project of a session lies on this machine, and which of its files a note may ask for.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cru_base::Env;

use crate::verdict::UnknownReason;

/// Folders in which hosts keep the worktrees of sub-agents, below the repository.
const WORKTREES: &[&str] = &["/.claude/worktrees/", "/.worktrees/", "/.codex/worktrees/", "/.cursor/worktrees/"];

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
