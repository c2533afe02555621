//! Which file a path of a note is, and which file a person means.

use std::path::{Component, Path};

use crate::base::Env;

/// A path from the root, `~` for home, without `.`, `..` and doubled slashes.
///
/// Nothing is looked up on disk: sessions tell of files that are long gone, and of other machines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::commands) struct FilePlace(String);

impl FilePlace {
    /// A file that a session in `project` names.
    pub(in crate::commands) fn of(path: &str, project: Option<&str>, env: &Env) -> Self {
        let path = path.trim();
        let whole = match project {
            Some(project) if !is_absolute(path) => format!("{}/{path}", project.trim_end_matches('/')),
            _ => path.to_owned(),
        };
        Self(names(&whole, env))
    }

    /// The whole path.
    pub(in crate::commands) fn text(&self) -> &str {
        &self.0
    }

    /// Its last name.
    pub(in crate::commands) fn name(&self) -> &str {
        last(&self.0)
    }

    /// Whether it begins at the root or at home.
    pub(in crate::commands) fn is_absolute(&self) -> bool {
        self.0.split('/').next().is_some_and(|first| first.is_empty() || first == "~")
    }

    /// Whether its last names are these.
    fn ends_with(&self, end: &str) -> bool {
        self.0.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What a person asks for.
#[derive(Clone, Debug)]
pub(in crate::commands) struct WantedFile {
    /// The path from the root: an absolute path, or one below the working directory.
    exact: FilePlace,
    /// Names at the end of a path, where it was given without `./`, `../` or root.
    end: Option<String>,
}

impl WantedFile {
    /// Reads `src/a.rs`, `./a.rs`, `~/x/a.rs`, `/x/a.rs`.
    pub(in crate::commands) fn read(path: &str, env: &Env) -> Self {
        let path = path.trim().trim_start_matches('@');
        let dotted = Path::new(path).components().any(|part| matches!(part, Component::CurDir | Component::ParentDir));
        let end = (!is_absolute(path) && !dotted).then(|| names(path, env)).filter(|names| !names.is_empty());
        let exact = if is_absolute(path) { path.to_owned() } else { format!("{}/{path}", env.cwd().to_string_lossy()) };
        Self { exact: FilePlace(names(&exact, env)), end }
    }

    /// The last name of the path.
    pub(in crate::commands) fn name(&self) -> &str {
        self.end.as_deref().map_or_else(|| self.exact.name(), last)
    }

    /// Whether a place may be meant, unless another is the very file.
    pub(in crate::commands) fn may_be(&self, place: &FilePlace) -> bool {
        let ends_alike = match &self.end {
            Some(end) => place.ends_with(end),
            // A session that tells no project names files from a folder that nobody knows.
            None => !place.is_absolute() && self.exact.ends_with(&place.0),
        };
        ends_alike || *place == self.exact
    }

    /// Which of some places are meant: the very file if it is among them, else all that end alike.
    pub(in crate::commands) fn choose<'a>(
        &self,
        places: impl Iterator<Item = &'a FilePlace> + Clone,
    ) -> Vec<&'a FilePlace> {
        let exact: Vec<&FilePlace> = places.clone().filter(|place| **place == self.exact).collect();
        if !exact.is_empty() {
            return exact;
        }
        places.filter(|place| self.may_be(place)).collect()
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path == "~" || path.starts_with("~/") || path.as_bytes().get(1) == Some(&b':')
}

/// The names of a path, joined; home is `~`.
fn names(path: &str, env: &Env) -> String {
    let path = path.replace('\\', "/");
    let home = env.home().map(|home| home.to_string_lossy().into_owned()).filter(|home| home.len() > 1);
    let short = home.and_then(|home| {
        let rest = path.strip_prefix(home.trim_end_matches('/'))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("~{rest}"))
    });
    let path = short.unwrap_or(path);
    let mut names: Vec<&str> = Vec::new();
    for (at, name) in path.split('/').enumerate() {
        match name {
            "" if at > 0 => {}
            "." => {}
            ".." if names.last().is_some_and(|last| !["", "~", ".."].contains(last)) => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        Env::fixed(jiff::Timestamp::UNIX_EPOCH, "/home/me/api/src", &[("HOME", "/home/me")])
    }

    fn chosen(wanted: &str) -> Vec<String> {
        let env = env();
        let places = [
            FilePlace::of("src/a.rs", Some("~/api"), &env),
            FilePlace::of("src/a.rs", Some("/srv/web/"), &env),
            FilePlace::of("/home/me/api/b.rs", None, &env),
            FilePlace::of("docs/../src/xa.rs", Some("/home/me/api"), &env),
            FilePlace::of("lib/c.rs", None, &env),
        ];
        WantedFile::read(wanted, &env).choose(places.iter()).into_iter().map(|it| it.text().to_owned()).collect()
    }

    #[test]
    fn a_path_is_matched_by_whole_names_from_its_end() {
        assert_eq!(chosen("src/a.rs"), ["~/api/src/a.rs", "/srv/web/src/a.rs"]);
        assert_eq!(chosen("web/src/a.rs"), ["/srv/web/src/a.rs"]);
        assert_eq!(chosen("xa.rs"), ["~/api/src/xa.rs"]);
        assert_eq!(chosen("rc/a.rs"), Vec::<String>::new());
        assert_eq!(chosen(""), Vec::<String>::new());
    }

    #[test]
    fn the_very_file_goes_before_others() {
        assert_eq!(chosen("a.rs"), ["~/api/src/a.rs"], "it is below the working directory");
        assert_eq!(chosen("./a.rs"), ["~/api/src/a.rs"]);
        assert_eq!(chosen("../b.rs"), ["~/api/b.rs"]);
        assert_eq!(chosen("~/api/src/a.rs"), ["~/api/src/a.rs"]);
        assert_eq!(chosen("/home/me/api/src/a.rs"), ["~/api/src/a.rs"]);
        assert_eq!(chosen("/srv/web/src/a.rs"), ["/srv/web/src/a.rs"]);
        assert_eq!(chosen("/srv/src/a.rs"), Vec::<String>::new());
        assert_eq!(chosen("../../x/lib/c.rs"), ["lib/c.rs"], "its project is not known");
    }
}
