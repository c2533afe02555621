//! Names that commands had before: they still mean what they meant, and a person at a terminal is told the new one.

use std::ffi::OsString;

/// Names of commands before, and now.
const RENAMED: &[(&[&str], &[&str])] = &[
    (&["hooks", "install"], &["connect", "--only", "hooks"]),
    (&["hooks", "uninstall"], &["disconnect", "--only", "hooks"]),
    (&["mcp", "install"], &["connect", "--only", "mcp"]),
    (&["mcp", "uninstall"], &["disconnect", "--only", "mcp"]),
    (&["cases", "accept"], &["review", "accept"]),
    (&["cases", "reject"], &["review", "reject"]),
    (&["read", "accept"], &["review", "accept"]),
    (&["read", "reject"], &["review", "reject"]),
];

/// Options that stand before a command and take the next argument as their value.
const VALUED: &[&str] = &["--vault", "--format", "-f", "--color"];

/// A command line in today's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// The arguments, with the name of the program first.
    pub(super) args: Vec<OsString>,
    /// The name that was used and the one of today, where they differ.
    pub(super) renamed: Option<(String, String)>,
}

impl CommandLine {
    /// Of arguments as they were given.
    pub(super) fn of(args: &[OsString]) -> Self {
        let words = words(args);
        for (before, now) in RENAMED {
            let used: Vec<usize> = words.iter().copied().take(before.len()).collect();
            if used.len() < before.len() || !used.iter().zip(*before).all(|(at, name)| args[*at] == **name) {
                continue;
            }
            let mut renamed: Vec<OsString> = Vec::with_capacity(args.len() + now.len());
            for (at, arg) in args.iter().enumerate() {
                if Some(&at) == used.first() {
                    renamed.extend(now.iter().map(OsString::from));
                } else if !used.contains(&at) {
                    renamed.push(arg.clone());
                }
            }
            return Self { args: renamed, renamed: Some((before.join(" "), now.join(" "))) };
        }
        Self { args: args.to_vec(), renamed: None }
    }
}

/// The places of the first two arguments that are neither options nor values of options.
fn words(args: &[OsString]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 1;
    while at < args.len() && places.len() < 2 {
        let arg = args[at].to_string_lossy();
        if arg == "--" {
            break;
        }
        if !arg.starts_with('-') {
            places.push(at);
        }
        at += if VALUED.contains(&arg.as_ref()) { 2 } else { 1 };
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_mean_the_new_ones() {
        for (given, meant) in [
            ("cru cases accept puzzle-1", "cru review accept puzzle-1"),
            ("cru --vault V cases -q accept x --format json", "cru --vault V review accept -q x --format json"),
            ("cru hooks install --host codex", "cru connect --only hooks --host codex"),
            ("cru hooks status", "cru hooks status"),
            ("cru search cases accept", "cru search cases accept"),
            ("cru -- cases accept", "cru -- cases accept"),
            ("cru cases", "cru cases"),
            ("cru", "cru"),
        ] {
            let args: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            let line = CommandLine::of(&args);
            let now: Vec<_> = line.args.iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(now.join(" "), meant);
            assert_eq!(line.renamed.is_some(), given != meant, "{given}");
        }
    }
}
