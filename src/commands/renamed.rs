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
    (&["refresh"], &["replay", "--stale"]),
];

/// Options that stand before a command and take the next argument as their value.
const VALUED: &[&str] = &["--vault", "--format", "-f", "--color"];

/// A command line in today's names, the name of the program first; and the name that was used with the one of today, where they differ.
pub(super) fn in_todays_names(args: &[OsString]) -> (Vec<OsString>, Option<(String, String)>) {
    let words = words(args);
    if let [session, start] = words[..]
        && (args[session] == *"session" && args[start] == *"start")
        && let Some(title) =
            args.iter().position(|arg| arg == "--title" || arg.to_string_lossy().starts_with("--title="))
    {
        let mut args = args.to_vec();
        match args[title].to_string_lossy().strip_prefix("--title=").map(OsString::from) {
            Some(words) => args[title] = words,
            None => drop(args.remove(title)),
        }
        return (args, Some(("session start --title".to_owned(), "session start WORDS".to_owned())));
    }
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
        return (renamed, Some((before.join(" "), now.join(" "))));
    }
    (args.to_vec(), None)
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
            ("cru session start --title pump --agent a@1", "cru session start pump --agent a@1"),
            ("cru session start --agent a --title=pump", "cru session start --agent a pump"),
            ("cru refresh --run", "cru replay --stale --run"),
            ("cru search refresh", "cru search refresh"),
            ("cru search cases accept", "cru search cases accept"),
            ("cru -- cases accept", "cru -- cases accept"),
            ("cru cases", "cru cases"),
            ("cru", "cru"),
        ] {
            let args: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            let (args, renamed) = in_todays_names(&args);
            let now: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(now.join(" "), meant);
            assert_eq!(renamed.is_some(), given != meant, "{given}");
        }
    }
}
