//! Paths as a note writes them: relative to the project, `~` for home.
//!
//! Home is recognised in the transcript's own paths, never taken from the environment, so that the same transcript
//! gives the same note on every machine.

use std::borrow::Cow;

use cru_session::fold::{drive, home_of};

/// The project and home of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    project: String,
    current: String,
    home: Option<String>,
}

impl Place {
    /// Takes the working directory of a record; the first is the project. Whether it is another than before.
    pub(crate) fn see(&mut self, cwd: &str) -> bool {
        if cwd.is_empty() || cwd == self.current {
            return false;
        }
        cwd.clone_into(&mut self.current);
        if self.project.is_empty() {
            trim_end(cwd).clone_into(&mut self.project);
        }
        if self.home.is_none() {
            self.home = home_of(cwd).map(str::to_owned);
        }
        true
    }

    /// The folder that the stream began in; `""` where no record says it.
    pub(crate) fn start(&self) -> &str {
        &self.project
    }

    /// The whole of a path of a shell command, as far as the working directory is known.
    pub(crate) fn whole(&self, path: &str) -> String {
        let is_whole = self.current.is_empty() || path.starts_with(['/', '~', '\\']) || is_windows(path);
        if is_whole { path.to_owned() } else { format!("{}/{path}", trim_end(&self.current)) }
    }

    /// A path of a shell command as a note writes it: a relative one starts at the current working directory.
    pub(crate) fn show_shell(&self, path: &str) -> String {
        if let (Some(home), Some(inside)) = (&self.home, path.strip_prefix("~/")) {
            return self.show(&format!("{home}/{inside}")).into_owned();
        }
        if self.current == self.project {
            return self.show(path).into_owned();
        }
        self.show(&self.whole(path.trim_start_matches("./"))).into_owned()
    }

    /// Whether paths are of the kind `C:\…`.
    pub(crate) fn is_windows(&self) -> bool {
        is_windows(&self.project)
    }

    /// A path as a note writes it.
    pub(crate) fn show<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if let Some(inside) = inside(path, &self.project) {
            return match inside {
                "" => Cow::Borrowed("."),
                inside => slashes(inside, is_windows(path)),
            };
        }
        self.tilde(path)
    }

    /// A path with `~` for home.
    pub(crate) fn tilde<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let home = self.home.as_deref().or_else(|| home_of(path));
        match home.and_then(|home| inside(path, home)) {
            Some("") => Cow::Borrowed("~"),
            Some(inside) => Cow::Owned(format!("~/{}", slashes(inside, is_windows(path)))),
            None => Cow::Borrowed(path),
        }
    }
}

/// What is left of `path` below `folder`: `""` for the folder itself.
fn inside<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let (folder, path, windows) = match (drive(folder), drive(path)) {
        (Some((on, f)), Some((of, p))) if on == of && (is_windows(folder) || is_windows(path)) => (f, p, true),
        _ if folder.is_empty() => return None,
        _ => (folder, path, false),
    };
    let head = path.get(..folder.len())?;
    let same = if windows { same_slashes(head, folder) } else { head == folder };
    let rest = path.get(folder.len()..).filter(|_| same)?;
    match rest.strip_prefix(['/', '\\']) {
        Some(inside) => Some(inside.trim_end_matches(['/', '\\'])),
        None => rest.is_empty().then_some(""),
    }
}

fn same_slashes(one: &str, other: &str) -> bool {
    let plain = |c: char| if c == '\\' { '/' } else { c.to_ascii_lowercase() };
    one.chars().map(plain).eq(other.chars().map(plain))
}

fn slashes(path: &str, windows: bool) -> Cow<'_, str> {
    if windows && path.contains('\\') { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) }
}

fn is_windows(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}

fn trim_end(path: &str) -> &str {
    let short = path.trim_end_matches(['/', '\\']);
    if short.is_empty() { path } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(cwd: &str) -> Place {
        let mut place = Place::default();
        place.see(cwd);
        place
    }

    #[test]
    fn relative_home_and_elsewhere() {
        let place = place("/home/mia/code/api");
        assert_eq!(place.show("/home/mia/code/api/src/a.rs"), "src/a.rs");
        assert_eq!(place.show("/home/mia/code/api"), ".");
        assert_eq!(place.show("/home/mia/code/api-two/x"), "~/code/api-two/x");
        assert_eq!(place.show("/home/mia"), "~");
        assert_eq!(place.show("/home/other/x"), "/home/other/x");
        assert_eq!(place.show("/etc/hosts"), "/etc/hosts");
        assert_eq!(place.show("src/a.rs"), "src/a.rs");
    }

    #[test]
    fn shell_paths_start_where_the_shell_is() {
        let mut place = place("/home/mia/api");
        assert_eq!(place.show_shell("a.txt"), "a.txt");
        assert!(place.see("/home/mia/api/sub") && !place.see("/home/mia/api/sub"));
        assert_eq!(place.show_shell("./a.txt"), "sub/a.txt");
        assert_eq!(place.show_shell("/tmp/a.txt"), "/tmp/a.txt");
        assert_eq!([place.show_shell("~/api/a.txt"), place.show_shell("~/a.txt")], ["a.txt", "~/a.txt"]);
        assert_eq!(
            [place.whole("a"), place.whole("~/a"), Place::default().whole("a")],
            ["/home/mia/api/sub/a", "~/a", "a"]
        );
    }

    #[test]
    fn windows() {
        let place = place(r"C:\Users\mia\git\api");
        assert_eq!(place.show(r"c:\Users\mia\git\api\src\a.rs"), "src/a.rs");
        assert_eq!(place.show("C:/Users/mia/git/api/src/a.rs"), "src/a.rs");
        assert_eq!(place.tilde(r"C:\Users\mia\git\api"), "~/git/api");
        assert_eq!(place.show(r"D:\data\x.csv"), r"D:\data\x.csv");
        // As shells write it.
        assert_eq!(place.show_shell("/c/Users/mia/git/api/src/a.rs"), "src/a.rs");
        assert_eq!(place.show_shell("/mnt/c/Users/mia/x"), "~/x");
        assert_eq!(place.show_shell("/d/data/x.csv"), "/d/data/x.csv");
        let unix = self::place("/u/proj");
        assert_eq!([unix.show("/u/Proj/a.rs"), unix.show("/mnt/u/proj/a.rs")], ["/u/Proj/a.rs", "/mnt/u/proj/a.rs"]);
        assert!(place.is_windows());
    }

    #[test]
    fn home_without_project() {
        assert_eq!(place("/srv/app").show("/Users/mia/notes.md"), "~/notes.md");
        assert_eq!(Place::default().show("/home/mia"), "~");
        assert_eq!(Place::default().show("/home/"), "/home/");
    }
}
