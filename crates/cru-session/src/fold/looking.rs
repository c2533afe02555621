//! Whether a shell command only looks.
//!
//! Errs on one side: what is not known to change nothing counts as a change. So anything that is written by a redirect,
//! run by another command, or made of a substitution does.

/// Programs that print and change nothing, whatever they are given but for [`HANDS`].
const PROGRAMS: &[&str] = &[
    ":", "[", "ag", "basename", "cat", "cd", "cmp", "column", "cut", "df", "diff", "dirname", "du", "echo", "egrep",
    "false", "fd", "fgrep", "file", "find", "grep", "head", "id", "jq", "less", "ls", "lsof", "more", "nl", "od",
    "pgrep", "printenv", "printf", "ps", "pwd", "readlink", "realpath", "rg", "sed", "sleep", "sort", "stat",
    "strings", "tail", "test", "tr", "tree", "true", "type", "uname", "uniq", "wc", "which", "whoami", "xxd",
];

/// Arguments by which some of them change something after all: how those begin.
const HANDS: &[(&str, &[&str])] = &[
    ("fd", &["-x", "-X", "--exec"]),
    ("find", &["-delete", "-exec", "-ok", "-fprint", "-fls"]),
    ("rg", &["--pre"]),
    ("less", &["-o", "-O"]),
    ("sort", &["-o", "--output"]),
    ("tree", &["-o"]),
    ("xxd", &["-r"]),
];

/// Subcommands that only look; a second word where only that one does.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("cargo", &["metadata", "tree"]),
    ("docker", &["images", "inspect", "logs", "ps"]),
    (
        "gh",
        &[
            "issue list",
            "issue view",
            "pr checks",
            "pr diff",
            "pr list",
            "pr status",
            "pr view",
            "release list",
            "release view",
            "repo view",
            "run list",
            "run view",
            "search",
        ],
    ),
    (
        "git",
        &[
            "blame",
            "branch --list",
            "branch --show-current",
            "branch -a",
            "branch -r",
            "branch -v",
            "branch -vv",
            "cat-file",
            "config --get",
            "describe",
            "diff",
            "grep",
            "log",
            "ls-files",
            "ls-tree",
            "merge-base",
            "remote -v",
            "remote get-url",
            "rev-list",
            "rev-parse",
            "shortlog",
            "show",
            "stash list",
            "status",
            "worktree list",
        ],
    ),
    ("kubectl", &["describe", "get", "logs"]),
    ("npm", &["list", "ls", "outdated", "view"]),
    ("pip", &["freeze", "list", "show"]),
];

/// Redirects that write nothing.
const HARMLESS: &[&str] = &["2>&1", "1>&2", ">&2", "2>/dev/null", "1>/dev/null", "&>/dev/null", ">/dev/null"];

/// Whether `command` only looks.
pub(super) fn only_looks(command: &str) -> bool {
    let Some(commands) = simple(command) else { return false };
    !commands.is_empty() && commands.iter().all(|words| looks(words))
}

/// The simple commands in words, quotes taken off; `None` where something in it cannot be told.
fn simple(command: &str) -> Option<Vec<Vec<String>>> {
    let mut commands: Vec<Vec<String>> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.trim();
    let mut quote: Option<char> = None;
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        match (quote, c) {
            (None | Some('"'), '`') => return None,
            (None | Some('"'), '$') if rest.starts_with("$(") => return None,
            (None | Some('"'), '\\') => {
                let next = rest[len..].chars().next()?;
                word.get_or_insert_default().push(next);
                len += next.len_utf8();
            }
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '{' | '}') => {
                if let Some(known) = HARMLESS.iter().find(|known| at_redirect(rest, known)) {
                    words.extend(word.take());
                    len = known.len();
                } else if matches!(c, '<' | '>' | '(' | ')') {
                    return None;
                } else if matches!(c, '{' | '}') {
                    word.get_or_insert_default().push(c);
                } else {
                    // One that goes on in the background is not waited for: nothing is known of it.
                    let doubled = rest.starts_with("&&") || rest.starts_with("||");
                    if c == '&' && !doubled {
                        return None;
                    }
                    len = if doubled { 2 } else { 1 };
                    words.extend(word.take());
                    if !words.is_empty() {
                        commands.push(std::mem::take(&mut words));
                    }
                }
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) if c.is_ascii_digit() && word.is_none() => {
                match HARMLESS.iter().find(|known| at_redirect(rest, known)) {
                    Some(known) => len = known.len(),
                    None => word.get_or_insert_default().push(c),
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
        rest = &rest[len..];
    }
    words.extend(word);
    if !words.is_empty() {
        commands.push(words);
    }
    quote.is_none().then_some(commands)
}

/// Whether the redirect `known` stands at the start of `rest`, and is not the beginning of another.
fn at_redirect(rest: &str, known: &str) -> bool {
    rest.strip_prefix(known)
        .is_some_and(|behind| behind.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '/'))
}

fn looks(words: &[String]) -> bool {
    let Some((program, args)) = words.split_first() else { return true };
    if program.starts_with('#') {
        return true;
    }
    let program = program.rsplit('/').next().unwrap_or(program);
    if let Some((_, subcommands)) = SUBCOMMANDS.iter().find(|(name, _)| *name == program) {
        let mut args = args;
        // `git -C path`: where, and not what.
        while let [flag, _, rest @ ..] = args
            && flag == "-C"
        {
            args = rest;
        }
        let known = subcommands
            .iter()
            .any(|known| known.split(' ').enumerate().all(|(at, word)| args.get(at).is_some_and(|arg| arg == word)));
        return known && !args.iter().any(|arg| arg.starts_with("--output"));
    }
    if !PROGRAMS.contains(&program) {
        return false;
    }
    let hands = HANDS.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, hands)| hands);
    if args.iter().any(|arg| hands.iter().any(|hand| arg.starts_with(hand))) {
        return false;
    }
    // A second file would be written.
    if program == "uniq" {
        return args.iter().all(|arg| arg.starts_with('-'));
    }
    // An editor that prints: `sed -n 10,25p`.
    program != "sed" || (args.first().is_some_and(|arg| arg == "-n") && args.get(1).is_some_and(|it| prints(it)))
}

/// Whether a script of sed's does nothing but print lines by their numbers.
fn prints(script: &str) -> bool {
    script.ends_with('p') && script.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | ';' | 'p' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks() {
        for command in [
            "ls",
            "ls -la src 2>/dev/null | head -20",
            "cd /srv/api && git status",
            "git -C ../api log --oneline -5",
            "grep -rn 'a > b; rm x' src || true",
            "cat a.txt; wc -l b.txt",
            "sed -n '10,25p' src/main.rs",
            "find . -name '*.rs' -type f 2>&1 | sort | uniq -c | head",
            "echo \"done\"",
            "git branch --show-current",
            "rg foo\\ bar src",
            "git diff HEAD@{1} --stat",
        ] {
            assert!(only_looks(command), "{command}");
        }
    }

    #[test]
    fn what_may_change_something() {
        for command in [
            "",
            "rm x",
            "cargo test",
            "ls > files.txt",
            "ls >> files.txt",
            "cat <<EOF\nx\nEOF",
            "echo $(rm x)",
            "echo \"$(rm x)\"",
            "echo `rm x`",
            "find . -delete",
            "find . -exec rm {} +",
            "sed -i s/a/b/ x",
            "sed -n 's/a/b/w out' x",
            "git checkout main",
            "git branch new",
            "git diff --output=x",
            "ls | xargs rm",
            "ls & rm x",
            "ls 2>/dev/nullx",
            "echo 'open",
            "sort -o a a",
            "ls && ./run",
            "(rm x)",
            "ls\nrm x",
            "ls &>log",
            "tee x",
            "uniq a b",
        ] {
            assert!(!only_looks(command), "{command}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(command in "[ a-z>|&;$(){}'\"\\\\<\\n`#~*=0-9é-]{0,60}") {
            only_looks(&command);
        }
    }
}
