//! Paths of the machine a session ran on, as somebody else would write them.

use std::borrow::Cow;
use std::ops::Range;

/// A path with those into the project made relative to it, and `~` for other home folders. `project` is `~/code/api`; the home folder of the machine
/// is not known, so any `/home/name` or `/Users/name` before it counts.
pub(super) fn relative<'a>(text: &'a str, project: Option<&str>) -> Cow<'a, str> {
    match replaced(text, project, "", None) {
        Cow::Borrowed(text) => without_homes(text, "~"),
        Cow::Owned(text) => Cow::Owned(without_homes(&text, "~").into_owned()),
    }
}

/// The name that stands for the folder of the project.
pub(super) const PROJECT: &str = "<project>";

/// A command with `<project>` in the place of the project's folder: it may be run in any other.
pub(super) fn named<'a>(command: &'a str, project: Option<&str>) -> Cow<'a, str> {
    replaced(command, project, "<project>/", Some(PROJECT))
}

/// `text` with `<home>` in the place of every home folder of a machine: `/home/name`, `/Users/name`, `C:\Users\name`.
pub(super) fn homeless(text: &str) -> Cow<'_, str> {
    without_homes(text, "<home>")
}

/// The first home folder that a text names.
pub(super) fn home_in(text: &str) -> Option<Range<usize>> {
    const HEADS: [&str; 3] = ["/home/", "/Users/", "\\Users\\"];
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let find = |head: &str| memchr::memmem::find(rest.as_bytes(), head.as_bytes());
        let (at, head) = HEADS.iter().filter_map(|head| Some((from + find(head)?, *head))).min()?;
        let behind = &text[at + head.len()..];
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
        let len = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
        // A full stop ends a sentence.
        let len = behind[..len].trim_end_matches('.').len();
        let start = drive(&text[..at]).unwrap_or(at);
        let is_within = text[..start].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '>'));
        if len > 0 && !is_within {
            return Some(start..at + head.len() + len);
        }
        from = at + head.len();
    }
}

/// Where the drive of a Windows path begins that ends `before`: `C:`, `/c`.
fn drive(before: &str) -> Option<usize> {
    let bytes = before.as_bytes();
    let (letter, mark) = match bytes {
        [.., letter, b':'] => (*letter, bytes.len() - 2),
        [.., b'/', letter] => (*letter, bytes.len() - 2),
        _ => return None,
    };
    letter.is_ascii_alphabetic().then_some(mark)
}

fn without_homes<'t>(text: &'t str, name: &str) -> Cow<'t, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(home) = home_in(rest) {
        out.push_str(&rest[..home.start]);
        out.push_str(name);
        rest = &rest[home.end..];
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
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
        is("cd /home/me/code/api && ls", "cd ~/code/api && ls");
        is("ls /home/me/code/api/", "ls ~/code/api/");
        is("see /mnt/home/me/code/api/x and /home/me/code/apis/y", "see /mnt/home/me/code/api/x and ~/code/apis/y");
        assert_eq!(relative("/srv/api/x", Some("/srv/api")), "x");
        assert_eq!(relative("~/x", Some("~")), "~/x");
        assert_eq!(relative("x", None), "x");
    }

    #[test]
    fn no_home_folder_is_left() {
        for (text, expected) in [
            ("see /home/me/x, /Users/dain.", "see <home>/x, <home>."),
            ("file:///Users/jo/a", "file://<home>/a"),
            ("C:\\Users\\jo\\a", "<home>\\a"),
            ("cd /c/Users/Jo/a", "cd <home>/a"),
            ("https://example.org/home/jo", "https://example.org/home/jo"),
            ("/home/ and /mnt/home/x", "/home/ and /mnt/home/x"),
            ("no path", "no path"),
        ] {
            assert_eq!(homeless(text), expected, "{text}");
        }
    }
}
