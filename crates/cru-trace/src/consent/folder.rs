//! The folder that a command works in, followed through its `cd`s, and whether what it names lies in the project.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::project::RunFolder;

/// A folder in a project.
#[derive(Clone, Debug)]
pub(super) struct CommandFolder<'p> {
    project: &'p RunFolder,
    /// Names of folders below it.
    pub(super) below: Vec<String>,
}

impl<'p> CommandFolder<'p> {
    pub(super) const fn new(project: &'p RunFolder) -> Self {
        Self { project, below: Vec::new() }
    }

    /// The name that the project's folder has elsewhere.
    pub(super) const fn alias(&self) -> Option<&'p String> {
        self.project.alias.as_ref()
    }

    /// Goes to another folder; `false` where that is not in the project.
    pub(super) fn enter(&mut self, to: &str) -> bool {
        match self.resolve(to).filter(|_| self.leads_inside(&self.place(to))) {
            Some(below) => {
                self.below = below;
                true
            }
            None => false,
        }
    }

    /// Whether a path lies in the project, by its name and by where its links lead.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.resolve(path).is_some() && self.leads_inside(&self.place(path))
    }

    /// Whether a text that may be a path names something that is there and lies outside of the project.
    pub(super) fn leads_out(&self, text: &str) -> bool {
        let place = self.place(text);
        !text.is_empty() && place.symlink_metadata().is_ok() && !self.leads_inside(&place)
    }

    /// Where a path leads, `..` and links as they are.
    fn place(&self, path: &str) -> PathBuf {
        match self.named(path) {
            Some(rest) => self.project.path.join(rest.trim_start_matches('/')),
            None => self.below.iter().fold(self.project.path.clone(), |path, name| path.join(name)).join(path),
        }
    }

    /// What stands behind a name of the project's folder.
    fn named<'t>(&self, path: &'t str) -> Option<&'t str> {
        let names = self.project.names.iter().chain(&self.project.alias);
        names.filter(|_| path.starts_with(['/', '~'])).find_map(|name| below(name, path))
    }

    /// Whether a path, or what is there of it, lies in the project once all links are followed. A link that leads nowhere
    /// leads out: what is written to it may be made anywhere.
    fn leads_inside(&self, path: &Path) -> bool {
        let Ok(root) = self.project.path.canonicalize() else { return true };
        for path in path.ancestors() {
            match path.canonicalize() {
                Ok(real) => return real.starts_with(&root),
                Err(_) if path.symlink_metadata().is_ok() => return false,
                Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return false,
                Err(_) => {}
            }
        }
        false
    }

    /// The names below the project that a path means; `None` where it means something else.
    fn resolve(&self, path: &str) -> Option<Vec<String>> {
        if path.is_empty() || path == "-" {
            return None;
        }
        let (mut names, rest) =
            if path.starts_with(['/', '~']) { (Vec::new(), self.named(path)?) } else { (self.below.clone(), path) };
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()?),
                name => names.push(name.to_owned()),
            }
        }
        Some(names)
    }
}

/// What of a path stands behind the name of a folder: empty, or with a `/` before it.
fn below<'t>(name: &str, path: &'t str) -> Option<&'t str> {
    let name = name.trim_end_matches('/');
    let rest = path.strip_prefix(name).filter(|_| !name.is_empty())?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// A word, or the value of an option, that begins with a name of the project's folder, with the name of another folder in
/// its place.
pub(super) fn moved<'t>(word: &'t str, names: &[String], to: &Path) -> Cow<'t, str> {
    let value = if word.starts_with('-') { word.split_once('=').map_or("", |(_, value)| value) } else { word };
    // `~` is a name to a shell alone.
    let rest = names.iter().filter(|_| value.starts_with('/')).find_map(|name| below(name, value));
    match rest {
        Some(rest) => Cow::Owned(format!("{}{}{rest}", &word[..word.len() - value.len()], to.display())),
        None => Cow::Borrowed(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(path: &Path) -> RunFolder {
        let names = vec![path.to_string_lossy().into_owned(), "~/code".to_owned()];
        RunFolder {
            path: path.to_owned(),
            names,
            alias: Some("/Users/ann/code".to_owned()),
            is_known: true,
            is_too_wide: false,
        }
    }

    #[test]
    fn by_name() {
        let project = project(Path::new("/no/such/code"));
        let mut folder = CommandFolder::new(&project);
        assert!(
            folder.holds("/Users/ann/code/a")
                && folder.holds("a/../b")
                && folder.holds("~/code/a")
                && folder.holds("/no/such/code")
        );
        assert!(!folder.holds("../b") && !folder.holds("~/codex") && !folder.holds("/etc") && !folder.holds(""));
        assert!(folder.enter("a") && folder.holds("../b") && !folder.holds("../../b") && !folder.enter("-"));
        for (word, wanted) in [
            ("~/code/a", "~/code/a"),
            ("/no/such/code", "/s"),
            ("--out=/no/such/code/x", "--out=/s/x"),
            ("/no/such/codex", "/no/such/codex"),
            ("a=/no/such/code", "a=/no/such/code"),
            ("src", "src"),
        ] {
            assert_eq!(moved(word, &project.names, Path::new("/s")), wanted, "{word}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn by_where_links_lead() {
        let temp = tempfile::tempdir().unwrap();
        let code = temp.path().join("code");
        std::fs::create_dir_all(code.join("src")).unwrap();
        std::fs::create_dir_all(code.join("deep")).unwrap();
        for (link, to) in [
            ("key", "../key"),
            ("up", ".."),
            ("none", "../nothing"),
            ("loop", "loop"),
            ("src/in", "../src"),
            ("deep/top", ".."),
            ("abs", "/etc"),
        ] {
            std::os::unix::fs::symlink(to, code.join(link)).unwrap();
        }
        let project = project(&code);
        let folder = CommandFolder::new(&project);
        for inside in ["src", "src/in", "src/in/new.txt", "new/dir/file"] {
            assert!(folder.holds(inside) && !folder.leads_out(inside), "{inside}");
        }
        for outside in [
            "key",
            "up",
            "up/x",
            "none",
            "loop",
            "abs/passwd",
            "src/in/../../up",
            "deep/top/../../key",
            "deep/top/../new",
        ] {
            assert!(!folder.holds(outside), "{outside}");
        }
        for outside in ["up", "loop", "none", "abs/passwd", "/etc/passwd", ".."] {
            assert!(folder.leads_out(outside), "{outside}");
        }
        assert!(!folder.clone().enter("up") && folder.clone().enter("src/in"));
        assert!(!folder.leads_out("/no/such/file") && !folder.leads_out("s/a/b/"));
    }
}
