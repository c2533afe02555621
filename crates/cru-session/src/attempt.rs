//! What a step tried, so that a later success can be known as the same thing tried again.

/// Tools whose argument is a shell command.
const SHELLS: &[&str] = &[
    "Bash",
    "Execute",
    "PowerShell",
    "Shell",
    "bash",
    "container.exec",
    "exec",
    "exec_command",
    "execute_bash",
    "execute_command",
    "local_shell",
    "run_shell_command",
    "run_terminal_cmd",
    "shell",
    "shell_command",
    "terminal",
];

/// Tools that only look: a failure of theirs is a miss, and a success of theirs mends nothing.
const LOOKING: &[&str] = &[
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "Read",
    "ReadMcpResourceTool",
    "SemanticSearch",
    "Skill",
    "TaskOutput",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "codebase_search",
    "fetch",
    "file_search",
    "find",
    "glob",
    "glob_file_search",
    "grep",
    "grep_search",
    "list",
    "list_dir",
    "ls",
    "read",
    "read_file",
    "rg",
    "view",
    "web_fetch",
    "web_search",
    "webfetch",
    "websearch",
];

/// Tools that edit files: an edit that did not match is tried again at once and matters to nobody.
const EDITING: &[&str] = &[
    "ApplyPatch",
    "Create",
    "Delete",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "StrReplace",
    "Write",
    "apply_patch",
    "create",
    "delete_file",
    "edit",
    "edit_file",
    "multiedit",
    "patch",
    "replace",
    "search_replace",
    "str_replace_editor",
    "write",
    "write_file",
];

/// Programs that check or build, with the words after them that belong to the name of the check.
const CHECKERS: &[(&str, usize)] = &[
    ("biome", 1),
    ("bun", 2),
    ("bundle", 2),
    ("cargo", 1),
    ("clippy-driver", 0),
    ("cmake", 1),
    ("composer", 1),
    ("ctest", 0),
    ("dart", 1),
    ("deno", 1),
    ("docker", 1),
    ("dotnet", 1),
    ("eslint", 0),
    ("flake8", 0),
    ("flutter", 1),
    ("gcc", 0),
    ("go", 1),
    ("golangci-lint", 1),
    ("gradle", 1),
    ("gradlew", 1),
    ("jest", 0),
    ("just", 1),
    ("make", 1),
    ("mise", 2),
    ("mix", 1),
    ("mocha", 0),
    ("mvn", 1),
    ("mypy", 0),
    ("next", 1),
    ("npm", 2),
    ("phpunit", 0),
    ("playwright", 1),
    ("pnpm", 2),
    ("prettier", 0),
    ("pyright", 0),
    ("pytest", 0),
    ("rspec", 0),
    ("ruff", 1),
    ("swift", 1),
    ("task", 1),
    ("terraform", 1),
    ("tox", 0),
    ("tsc", 0),
    ("turbo", 2),
    ("ty", 1),
    ("vite", 1),
    ("vitest", 0),
    ("xcodebuild", 1),
    ("yarn", 2),
];

/// Programs whose subcommand names what was tried, whatever stands after it.
const PUBLISHERS: &[(&str, &[&str])] = &[
    ("gh", &["pr", "release", "workflow"]),
    ("git", &["am", "cherry-pick", "clone", "commit", "merge", "pull", "push", "rebase"]),
];

/// Programs that ask or probe: exit 1 is their "no".
const PROBES: &[&str] = &[
    "[", "awk", "cat", "cd", "command", "curl", "diff", "du", "echo", "file", "find", "gh", "git", "grep", "head",
    "jq", "kill", "ls", "lsof", "nc", "pgrep", "pkill", "printf", "ps", "pwd", "rg", "rm", "sed", "sleep", "sort",
    "stat", "tail", "test", "timeout", "tree", "true", "type", "wc", "which", "xargs",
];

/// Words that stand before the program that matters.
const WRAPPERS: &[&str] = &["bunx", "env", "exec", "nice", "nohup", "npx", "sudo", "time", "uvx"];

/// Two words that stand before it.
const RUNNERS: &[(&str, &str)] = &[
    ("bundle", "exec"),
    ("hatch", "run"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("python", "-m"),
    ("python3", "-m"),
    ("uv", "run"),
    ("yarn", "exec"),
];

/// How a step counts when something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// A check or build: its failure matters until it passes.
    Check(String),
    /// Another command or tool: its failure matters when the same thing worked later.
    Command(String),
    /// It changes files; its own failure is noise.
    Edit,
    /// It looks at something; its own failure is noise.
    Look,
}

impl Attempt {
    /// What `tool args` tries.
    pub fn of(tool: &str, args: &str) -> Self {
        if SHELLS.contains(&tool) {
            shell(args)
        } else if LOOKING.contains(&tool) {
            Self::Look
        } else if EDITING.contains(&tool) {
            Self::Edit
        } else {
            Self::Command(cru_base::text::fold_whitespace(&format!("{tool} {args}")))
        }
    }

    /// The name by which the same thing is known again.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Check(key) | Self::Command(key) => Some(key),
            Self::Edit | Self::Look => None,
        }
    }
}

/// Whether the argument of `tool` is a shell command.
pub fn is_shell(tool: &str) -> bool {
    SHELLS.contains(&tool)
}

/// The first part of a command line that checks something, else the first that does something.
fn shell(command: &str) -> Attempt {
    /// A command line with more parts than this is a script.
    const PARTS: usize = 32;
    let mut found = Attempt::Look;
    for part in parts(command).filter(|part| !part.trim().is_empty()).take(PARTS) {
        match simple(part) {
            check @ Attempt::Check(_) => return check,
            other if found == Attempt::Look => found = other,
            _ => {}
        }
    }
    found
}

/// A command line cut at `;`, `|`, `&` and line ends outside quotes, up to a text that is fed in (`<<EOF`).
pub fn parts(command: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let mut escaped = false;
    let command = command.split_once("<<").map_or(command, |(before, _)| before);
    command.split(move |c: char| {
        let was_escaped = std::mem::take(&mut escaped);
        match (quote, c) {
            _ if was_escaped => {}
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '\n' | ';' | '|' | '&') => return true,
            _ => {}
        }
        false
    })
}

/// One simple command.
fn simple(part: &str) -> Attempt {
    let mut words = part.split_whitespace().filter(|word| !is_redirection(word)).peekable();
    while let Some(word) = words.peek() {
        if word.contains('=') && !word.starts_with('-') || WRAPPERS.contains(word) {
            words.next();
        } else if *word == "timeout" {
            words.next();
            words.next_if(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        } else {
            break;
        }
    }
    let words: Vec<&str> = words.take(64).collect();
    let words = match words.as_slice() {
        [first, second, rest @ ..] if RUNNERS.contains(&(first, second)) && !rest.is_empty() => rest,
        all => all,
    };
    let Some((program, rest)) = words.split_first() else { return Attempt::Look };
    let program = program.rsplit('/').next().unwrap_or(program);
    let mut plain = rest.iter().filter(|word| !word.starts_with('-'));
    if let Some((_, count)) = CHECKERS.iter().find(|(name, _)| *name == program) {
        return Attempt::Check(named(program, plain.by_ref().take(*count)));
    }
    if let Some((_, verbs)) = PUBLISHERS.iter().find(|(name, _)| *name == program)
        && let Some(verb) = plain.next().filter(|verb| verbs.contains(verb))
    {
        return Attempt::Command(format!("{program} {verb}"));
    }
    if PROBES.contains(&program) {
        return Attempt::Look;
    }
    Attempt::Command(named(program, rest.iter()))
}

fn named<'a>(program: &str, rest: impl Iterator<Item = &'a &'a str>) -> String {
    let mut name = program.to_owned();
    for word in rest {
        name.push(' ');
        name.push_str(word);
    }
    name
}

fn is_redirection(word: &str) -> bool {
    word.starts_with(['>', '<']) || word.starts_with("2>") || word.starts_with("1>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_attempts() {
        let check = |key: &str| Attempt::Check(key.to_owned());
        let command = |key: &str| Attempt::Command(key.to_owned());
        let rows: &[(&str, &str, Attempt)] = &[
            ("Bash", "cd api && RUST_LOG=info cargo test -p auth 2>&1 | tail -20", check("cargo test")),
            ("Bash", "npm run build", check("npm run build")),
            ("Bash", "npx tsc --noEmit", check("tsc")),
            ("Bash", "timeout 60 uv run pytest -x", check("pytest")),
            ("Bash", "python -m pytest tests", check("pytest")),
            ("Bash", "git add . && git commit -m 'x'", command("git commit")),
            ("Bash", "git status --short", Attempt::Look),
            ("Bash", "grep -rn foo src | head", Attempt::Look),
            ("Bash", "./deploy.sh prod", command("deploy.sh prod")),
            ("Bash", "python -c \"a = 1; b = 2\"", command("python -c \"a = 1; b = 2\"")),
            ("Bash", "git commit -m \"$(cat <<'EOF'\ncargo test; x\nEOF\n)\"", command("git commit")),
            ("Read", "src/a.rs", Attempt::Look),
            ("Edit", "src/a.rs", Attempt::Edit),
            ("mcp__db__query", "select 1", command("mcp__db__query select 1")),
            ("Bash", "", Attempt::Look),
        ];
        for (tool, args, expected) in rows {
            assert_eq!(Attempt::of(tool, args), *expected, "{tool} {args}");
        }
    }
}
