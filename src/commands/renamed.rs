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
    (&["cases", "list"], &["list", "cases"]),
    (&["read", "accept"], &["review", "accept"]),
    (&["read", "reject"], &["review", "reject"]),
    (&["refresh"], &["replay", "--stale"]),
    (&["query"], &["list"]),
    (&["decisions"], &["list", "decisions"]),
    (&["lessons", "list"], &["list", "lessons"]),
    (&["checkpoint", "list"], &["list", "checkpoints"]),
    (&["bookmark", "--list"], &["list", "bookmarks"]),
    (&["workflow", "list"], &["list", "workflows"]),
    (&["workflow", "history"], &["list", "runs"]),
    (&["workflow", "sessions"], &["list", "runs", "--by", "workflow,session"]),
    (&["workflow", "mine"], &["list", "groups"]),
    (&["workflow", "diff"], &["diff", "w:"]),
    (&["workflow", "graph"], &["graph", "w:"]),
    (&["workflow", "validate"], &["check", "w:"]),
    (&["read", "diff"], &["diff"]),
    (&["checkpoint", "diff"], &["diff", "cp:"]),
    (&["step", "show"], &["show", "--step"]),
    (&["cases", "show"], &["show", "c:"]),
    (&["lessons", "show"], &["show", "l:"]),
    (&["lessons", "from"], &["lessons", "add", "--from"]),
    (&["lessons", "supersede"], &["lessons", "retire"]),
    (&["workflow", "show"], &["show", "w:"]),
    (&["checkpoint", "show"], &["show", "cp:"]),
    (&["log", "json"], &["log", "--json"]),
    (&["session", "pause"], &["session", "mark", "paused"]),
    (&["session", "complete"], &["session", "mark", "completed"]),
    (&["session", "fail"], &["session", "mark", "failed"]),
    (&["session", "abandon"], &["session", "mark", "abandoned"]),
    (&["hooks", "status"], &["check", "hooks"]),
    (&["hooks", "plugin", "--out"], &["connect", "--plugin"]),
    (&["mcp", "status"], &["check", "mcp"]),
    (&["read", "review"], &["review"]),
    (&["read", "show"], &["show", "r:"]),
    (&["read", "check"], &["check", "r:"]),
    (&["cases", "check"], &["check", "c:"]),
    (&["cases", "judge"], &["read", "c:"]),
    (&["lessons", "check"], &["verify", "l:"]),
    (&["segment"], &["list", "segments"]),
    (&["index"], &["admin", "index"]),
    (&["flush"], &["admin", "flush"]),
    (&["prune"], &["admin", "prune"]),
    (&["merge"], &["admin", "merge"]),
    (&["doctor"], &["admin", "doctor"]),
    (&["secrets", "scan"], &["admin", "secrets"]),
    (&["secrets"], &["admin", "secrets"]),
    (&["completions"], &["admin", "completions"]),
    (&["man"], &["admin", "man"]),
];

/// Commands that have a second name, which stays: `cru session list` is `cru list`.
const OF_SESSIONS: &[&str] = &["list", "show", "resume", "codify", "learn"];

/// Options that take the next argument as their value.
const VALUED: &[&str] =
    &["--vault", "--format", "-f", "--color", "--dialect", "--session", "--from", "--reader", "--budget"];

/// A command line in today's names, the name of the program first; and the name that was used with the one of today, where they differ.
pub(super) fn in_todays_names(args: &[OsString]) -> (Vec<OsString>, Option<(String, String)>) {
    let words = words(args);
    if let [session, verb, ..] = words[..]
        && args[session] == *"session"
        && OF_SESSIONS.iter().any(|name| args[verb] == **name)
    {
        let mut args = args.to_vec();
        args.remove(session);
        return (args, None);
    }
    if let [session, start, ..] = words[..]
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
        let (before_words, option) = match before {
            [words @ .., option] if option.starts_with("--") => (words, Some(option)),
            words => (*words, None),
        };
        let mut used: Vec<usize> = words.iter().copied().take(before_words.len()).collect();
        if used.len() < before_words.len() || !used.iter().zip(before_words).all(|(at, name)| args[*at] == **name) {
            continue;
        }
        if let Some(option) = option {
            let Some(at) = args.iter().position(|arg| arg == *option) else { continue };
            used.push(at);
        }
        // `c:` stands right before the word that was named.
        let (now_words, mark) = match now {
            [words @ .., mark] if mark.ends_with(':') => (words, Some(mark)),
            words => (*words, None),
        };
        let named = mark.and_then(|mark| Some((words.get(before_words.len())?, mark)));
        let mut renamed: Vec<OsString> = Vec::with_capacity(args.len() + now.len());
        for (at, arg) in args.iter().enumerate() {
            if Some(&at) == used.first() {
                renamed.extend(now_words.iter().map(OsString::from));
                renamed.extend(mark.filter(|_| named.is_none()).map(OsString::from));
            } else if let Some((_, mark)) = named.filter(|(named, _)| **named == at) {
                renamed.push({
                    let mut whole = OsString::from(mark);
                    whole.push(arg);
                    whole
                });
            } else if !used.contains(&at) {
                renamed.push(arg.clone());
            }
        }
        return (renamed, Some((before.join(" "), now.join(" "))));
    }
    (args.to_vec(), None)
}

/// The places of the first three arguments that are neither options nor values of options.
fn words(args: &[OsString]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 1;
    while at < args.len() && places.len() < 3 {
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
            ("cru hooks status", "cru check hooks"),
            ("cru cases judge --from f --reader me", "cru read c: --from f --reader me"),
            ("cru session pause s1 --reason tea", "cru session mark paused s1 --reason tea"),
            ("cru session start --title pump --agent a@1", "cru session start pump --agent a@1"),
            ("cru session start --agent a --title=pump", "cru session start --agent a pump"),
            ("cru query steps --agg count", "cru list steps --agg count"),
            ("cru -q workflow sessions NAME", "cru -q list runs --by workflow,session NAME"),
            ("cru cases show -q puzzle-1", "cru show -q c:puzzle-1"),
            ("cru bookmark -q --list", "cru list bookmarks -q"),
            ("cru bookmark slow ^", "cru bookmark slow ^"),
            ("cru cases show --help", "cru show c: --help"),
            ("cru checkpoint show --session pump latest", "cru show --session pump cp:latest"),
            ("cru workflow validate", "cru check w:"),
            ("cru step show n-003 pump", "cru show --step n-003 pump"),
            ("cru secrets scan notes", "cru admin secrets notes"),
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
        let (args, renamed) = in_todays_names(&["cru", "-q", "session", "list", "steps"].map(OsString::from));
        assert_eq!((args.join(" ".as_ref()), renamed), ("cru -q list steps".into(), None));
    }
}
