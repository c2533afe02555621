//! Which file a path of a step means.
//!
//! Two sessions of one project mean the same file by the same path, sessions of different projects do not. No file is
//! looked at: the paths are those of the machine the work was done on.

use std::borrow::Cow;

/// The full name of the file that `path`, as a step writes it, means in `project` (both may start with `~`): the one
/// name of that file in the graph. Without a project a relative path stays relative.
pub fn full_name<'a>(path: &'a str, project: &str) -> Cow<'a, str> {
    let path = path.trim();
    if project.is_empty() || is_absolute(path) {
        return if is_plain(path) { Cow::Borrowed(path) } else { Cow::Owned(clean(path)) };
    }
    let joined = format!("{}/{path}", project.trim_end_matches('/'));
    Cow::Owned(if is_plain(&joined) { joined } else { clean(&joined) })
}

/// A full name as people of `project` write it: without the project's folder where it lies inside.
pub fn short_name<'a>(full: &'a str, project: &str) -> &'a str {
    let inside = full.strip_prefix(project.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    if project.is_empty() { full } else { inside.unwrap_or(full) }
}

fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with(['/', '\\', '~']) || (bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':')
}

/// Whether nothing in a path needs cleaning.
fn is_plain(path: &str) -> bool {
    !path.contains("//")
        && !path.contains("/./")
        && !path.contains("/../")
        && !path.starts_with('.')
        && !path.ends_with("/.")
}

/// Without `.`, `..` and empty names, as far as the text alone can tell.
fn clean(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != ".." && *last != "~") => drop(names.pop()),
            ".." if !root.is_empty() && names.is_empty() => {}
            name => names.push(name),
        }
    }
    format!("{root}{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_for_each_file() {
        for (path, project, full) in [
            ("src/a.rs", "~/code/api", "~/code/api/src/a.rs"),
            ("./src//a.rs", "~/code/api/", "~/code/api/src/a.rs"),
            ("~/code/api/src/a.rs", "~/code/api", "~/code/api/src/a.rs"),
            ("../web/b.ts", "~/code/api", "~/code/web/b.ts"),
            ("/tmp/../etc/x", "/w", "/etc/x"),
            ("/../../x", "", "/x"),
            ("a/../../b", "", "../b"),
            ("src/a.rs", "", "src/a.rs"),
            (".env", "/w", "/w/.env"),
            (".env", "", ".env"),
        ] {
            assert_eq!(full_name(path, project), full, "{path} in {project}");
        }
    }

    #[test]
    fn short_names() {
        assert_eq!(short_name("~/code/api/src/a.rs", "~/code/api/"), "src/a.rs");
        assert_eq!(short_name("~/code/api2/a.rs", "~/code/api"), "~/code/api2/a.rs");
        assert_eq!(short_name("/etc/x", ""), "/etc/x");
    }
}
