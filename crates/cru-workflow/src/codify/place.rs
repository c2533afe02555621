//! Paths of the machine a session ran on, as somebody else would write them.

use std::borrow::Cow;

/// `text` with absolute paths into the project made relative to it. `project` is `~/code/api`; the home folder of the machine
/// is not known, so any `/home/name` or `/Users/name` before it counts.
pub(super) fn relative<'a>(text: &'a str, project: Option<&str>) -> Cow<'a, str> {
    replaced(text, project, "", None)
}

/// The name that stands for the folder of the project.
pub(super) const PROJECT: &str = "<project>";

/// A command with `<project>` in the place of the project's folder: it may be run in any other.
pub(super) fn named<'a>(command: &'a str, project: Option<&str>) -> Cow<'a, str> {
    replaced(command, project, "<project>/", Some(PROJECT))
}

/// `inside` stands for the folder with the `/` behind it, `whole` for the folder alone.
fn replaced<'a>(text: &'a str, project: Option<&str>, inside: &str, whole: Option<&str>) -> Cow<'a, str> {
    let Some(tail) = project.map(|project| project.trim_end_matches('/')) else { return Cow::Borrowed(text) };
    let (tail, home) = match tail.strip_prefix('~') {
        Some(tail) => (tail, true),
        None => (tail, false),
    };
    // A project that is the home folder, or the root, is no place of its own.
    if tail.len() < 2 || !text.contains(tail) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(tail) {
        let (before, after) = (&rest[..at], &rest[at + tail.len()..]);
        let start = if home { home_start(before) } else { is_edge(before).then_some(at) };
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | ';' | '&' | '|' | '`');
        match (start, after.strip_prefix('/')) {
            (Some(start), Some(behind)) if !behind.is_empty() && !behind.starts_with(is_end) => {
                out.push_str(&rest[..start]);
                out.push_str(inside);
                rest = behind;
            }
            (Some(start), behind) if whole.is_some() && behind.unwrap_or(after).chars().next().is_none_or(is_end) => {
                out.push_str(&rest[..start]);
                out.push_str(whole.unwrap_or(""));
                rest = behind.unwrap_or(after);
            }
            _ => {
                out.push_str(&rest[..at + tail.len()]);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where a home folder begins that ends `before`.
fn home_start(before: &str) -> Option<usize> {
    if let Some(start) = before.strip_suffix('~') {
        return is_edge(start).then_some(start.len());
    }
    for (head, named) in [("/home/", true), ("/Users/", true), ("/root", false)] {
        let Some(start) = before.rfind(head) else { continue };
        let name = &before[start + head.len()..];
        let fits =
            if named { !name.is_empty() && !name.contains(['/', ' ', '\n', '"', '\'']) } else { name.is_empty() };
        if fits && is_edge(&before[..start]) {
            return Some(start);
        }
    }
    None
}

/// Whether a path may begin after this.
fn is_edge(before: &str) -> bool {
    before.is_empty() || before.ends_with([' ', '\n', '\t', '"', '\'', '=', '(', ':', '>', '<', '`', '[', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_machine_become_relative() {
        let is = |text: &str, expected: &str| assert_eq!(relative(text, Some("~/code/api")), expected, "{text}");
        is("cp /Users/dain/code/api/a.rs /home/me/code/api/b/", "cp a.rs b/");
        is("cat \"/root/code/api/a b.rs\" ~/code/api/c", "cat \"a b.rs\" c");
        is("cd /home/me/code/api && ls", "cd /home/me/code/api && ls");
        is("ls /home/me/code/api/", "ls /home/me/code/api/");
        is(
            "see /mnt/home/me/code/api/x and /home/me/code/apis/y",
            "see /mnt/home/me/code/api/x and /home/me/code/apis/y",
        );
        assert_eq!(relative("/srv/api/x", Some("/srv/api")), "x");
        assert_eq!(relative("~/x", Some("~")), "~/x");
        assert_eq!(relative("x", None), "x");
    }
}
