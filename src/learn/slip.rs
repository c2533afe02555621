//! Which failures teach something: tables of commands worth a puzzle and of failures that say nothing.
//!
//! A step that failed and whose like succeeded later makes a puzzle only when the record tells what was wrong and that
//! something was done about it. Looking around (`ls`, `grep` without a match) and slips of the host's own protocol (a
//! file not read before an edit, a refused call) do not.

use crate::session::Step;

/// Tools that run a command line, in lower case.
const SHELLS: &[&str] = &[
    "bash",
    "shell",
    "sh",
    "zsh",
    "exec",
    "exec_command",
    "shell_command",
    "local_shell",
    "run_shell_command",
    "run_terminal_cmd",
    "run_command",
    "powershell",
    "pwsh",
    "terminal",
    "execute",
    "container.exec",
    "$",
];

/// Tools that change a file, in lower case.
const EDITORS: &[&str] = &[
    "edit",
    "multiedit",
    "write",
    "notebookedit",
    "apply_patch",
    "create",
    "replace",
    "write_file",
    "edit_file",
    "str_replace",
    "str_replace_editor",
    "search_replace",
    "patch",
    "update",
];

/// Programs that build, check, test, install or publish.
const PROGRAMS: &[&str] = &[
    "actionlint",
    "alembic",
    "ansible-playbook",
    "bazel",
    "biome",
    "black",
    "bun",
    "bundle",
    "cabal",
    "cargo",
    "clang",
    "cmake",
    "composer",
    "ctest",
    "cypress",
    "deno",
    "docker",
    "docker-compose",
    "dotnet",
    "eslint",
    "flake8",
    "g++",
    "gcc",
    "gh",
    "git",
    "go",
    "golangci-lint",
    "gradle",
    "gradlew",
    "helm",
    "jest",
    "just",
    "kubectl",
    "make",
    "mix",
    "mocha",
    "mvn",
    "mvnw",
    "mypy",
    "nextest",
    "ninja",
    "nix",
    "node",
    "npm",
    "php",
    "phpunit",
    "pip",
    "pip3",
    "playwright",
    "pnpm",
    "podman",
    "poetry",
    "pre-commit",
    "prettier",
    "psql",
    "pylint",
    "pyright",
    "pytest",
    "python",
    "python3",
    "rake",
    "rspec",
    "rubocop",
    "ruby",
    "ruff",
    "rustc",
    "shellcheck",
    "sqlx",
    "swift",
    "terraform",
    "tox",
    "tsc",
    "ty",
    "uv",
    "vite",
    "vitest",
    "wasm-pack",
    "xcodebuild",
    "yarn",
    "zig",
];

/// Words before a program that only say how to start it.
const WRAPPERS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pnpm", "exec"],
    &["pnpm", "dlx"],
    &["yarn", "run"],
    &["npm", "run"],
    &["npm", "exec"],
    &["pnpm", "run"],
    &["bun", "run"],
    &["bundle", "exec"],
    &["python", "-m"],
    &["python3", "-m"],
    &["npx"],
    &["bunx"],
    &["sudo"],
    &["time"],
    &["env"],
    &["nice"],
    &["xvfb-run"],
    &["command"],
    &["exec"],
];

/// Commands whose failure only says that something is not there, or that change the place and not the work.
const LOOKERS: &[&str] = &[
    "[", "[[", "awk", "cat", "cd", "cut", "date", "diff", "du", "echo", "env", "export", "fd", "file", "find", "grep",
    "head", "hexdump", "jq", "less", "ls", "printf", "ps", "pwd", "read", "realpath", "rg", "set", "sleep", "sort",
    "source", "stat", "tail", "test", "tree", "true", "type", "uniq", "wc", "wait", "which", "xxd", "yq",
];

/// Sub-commands that only look.
const LOOKING: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "status",
            "log",
            "diff",
            "show",
            "branch",
            "ls-files",
            "ls-tree",
            "blame",
            "grep",
            "rev-parse",
            "remote",
            "fetch",
            "reflog",
            "cat-file",
            "merge-base",
            "for-each-ref",
            "describe",
            "config",
        ],
    ),
    ("gh", &["api", "search", "browse", "auth"]),
    ("docker", &["ps", "images", "logs", "inspect"]),
    ("kubectl", &["get", "describe", "logs"]),
    ("npm", &["ls", "view", "info", "outdated", "search"]),
    ("cargo", &["search", "tree", "metadata", "info"]),
    ("pip", &["show", "list", "index", "search"]),
    ("go", &["env", "doc", "list", "version"]),
    ("python", &["-c", "-"]),
    ("python3", &["-c", "-"]),
    ("node", &["-e", "-"]),
];

/// What a person or the host did to a call, as results say it, in lower case.
const STOPPED: &[&str] = &[
    "interrupted",
    "the user doesn't want",
    "user rejected",
    "rejected by",
    "denied by",
    "denied:",
    "user denied",
    "refused",
    "aborted by",
    "cancelled by",
    "canceled by",
    "declined",
    "request interrupted",
    "user declined",
];

/// Results that tell nothing about the work, in lower case.
const EMPTY: &[&str] = &[
    "no result recorded",
    "file has not been read yet",
    "file has been modified since",
    "string to replace not found",
    "sibling tool call",
    "inputvalidationerror",
    "requires approval",
    "no such tool",
    "permission to use",
    "requested permissions",
    "timed out",
    "timeout",
    "was blocked",
    "operation not permitted by",
    "cancelled",
    "canceled",
    "aborted",
    "killed",
    "permission for this action",
    "context canceled",
];

/// Whether a person stopped or refused the step.
pub(super) fn stopped(step: &Step) -> bool {
    let result = step.result.as_deref().unwrap_or_default().to_lowercase();
    STOPPED.iter().any(|phrase| result.contains(phrase))
}

/// Whether the result of a failed step says what was wrong.
pub(super) fn tells(step: &Step) -> bool {
    let result = step.result.as_deref().unwrap_or_default().to_lowercase();
    if stopped(step) || EMPTY.iter().any(|phrase| result.contains(phrase)) {
        return false;
    }
    // "Exit code 1" and the like is a status, and a line of dashes or a prompt is a banner.
    let rest = result.trim_start_matches("error:").trim().trim_start_matches("exit code").trim();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
    if rest.starts_with(['=', '-', '$', '>', '#', '[', '{', '*', '+', '─', '…']) {
        return false;
    }
    rest.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1).count() >= 2
}

/// What a shell step ran: the significant programs of its command line, each with its sub-command, and all words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// `cargo test`, `git push`, in order.
    pub(super) keys: Vec<String>,
    /// Every word but redirections and what follows a pipe.
    pub(super) words: Vec<String>,
}

/// How much of a command line is looked at, in bytes.
const LOOKED_AT: usize = 2_000;

/// The command of a step that runs a command line of programs in [`PROGRAMS`] alone (besides [`LOOKERS`]).
pub(super) fn command(step: &Step) -> Option<Command> {
    let line = line(step)?;
    let mut found = Command { keys: Vec::new(), words: Vec::new() };
    for simple in simple_commands(&line) {
        let words = significant(&simple);
        let Some(program) = words.first().map(|word| name(word)) else { continue };
        if LOOKERS.contains(&program) {
            continue;
        }
        if !PROGRAMS.contains(&program) {
            return None;
        }
        let sub = words.get(1).copied().unwrap_or_default();
        if LOOKING.iter().any(|(looker, subs)| *looker == program && subs.contains(&sub)) {
            return None;
        }
        let sub = words.iter().skip(1).find(|word| !word.starts_with('-')).copied().unwrap_or_default();
        found.keys.push(if takes_files(program) { program.to_owned() } else { format!("{program} {sub}") });
        found.words.extend(words.iter().map(|word| (*word).to_owned()));
    }
    (!found.keys.is_empty()).then_some(found)
}

/// Whether a step changed something, as far as its line tells.
pub(super) fn acts(step: &Step) -> bool {
    let tool = step.tool.to_lowercase();
    if !step.writes.is_empty() || EDITORS.contains(&tool.as_str()) {
        return true;
    }
    let Some(line) = line(step) else { return false };
    simple_commands(&line).iter().any(|simple| {
        let words = significant(simple);
        let program = words.first().map(|word| name(word)).unwrap_or_default();
        let sub = words.get(1).copied().unwrap_or_default();
        let looks = LOOKING.iter().any(|(looker, subs)| *looker == program && subs.contains(&sub));
        !program.is_empty() && !looks && !LOOKERS.contains(&program)
    })
}

/// Whether two commands are one: the same programs, and one's words within the other's or most of them shared.
pub(super) fn alike(a: &Command, b: &Command) -> Likeness {
    if a.keys != b.keys {
        return Likeness::Other;
    }
    if a.words == b.words {
        return Likeness::Same;
    }
    let within = |small: &Command, big: &Command| small.words.iter().all(|word| big.words.contains(word));
    if within(a, b) || within(b, a) {
        return Likeness::Part;
    }
    let shared = a.words.iter().filter(|word| b.words.contains(word)).count();
    if shared * 2 >= a.words.len().max(b.words.len()) { Likeness::Near } else { Likeness::Other }
}

/// How alike two commands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Word for word.
    Same,
    /// One holds all words of the other: `cargo test` and `cargo test -p auth`.
    Part,
    /// At least half of the words.
    Near,
    /// Not alike.
    Other,
}

/// The command line of a step that has one.
fn line(step: &Step) -> Option<String> {
    let tool = step.tool.to_lowercase();
    let text = step.command.as_deref().unwrap_or(&step.args);
    let cut = &text[..crate::base::lines::floor_char_boundary(text, LOOKED_AT)];
    if SHELLS.contains(&tool.as_str()) {
        return Some(cut.to_owned());
    }
    // A hand-written step may be the command itself.
    PROGRAMS.contains(&name(&step.tool)).then(|| format!("{} {cut}", step.tool))
}

/// The simple commands of a line, without what is piped, redirected or written in a heredoc.
fn simple_commands(line: &str) -> Vec<Vec<&str>> {
    let mut commands = vec![Vec::new()];
    let mut piped = false;
    for row in line.lines() {
        for word in row.split_whitespace() {
            match word {
                "&&" | "||" | ";" | "&" => {
                    commands.push(Vec::new());
                    piped = false;
                }
                "|" | "|&" => piped = true,
                _ if word.starts_with("<<") => return commands,
                _ if piped || is_redirection(word) => {}
                _ => {
                    let ends = word.ends_with(';');
                    if let Some(last) = commands.last_mut() {
                        last.push(word.trim_end_matches(';'));
                    }
                    if ends {
                        commands.push(Vec::new());
                    }
                }
            }
        }
        if !row.ends_with('\\') {
            commands.push(Vec::new());
            piped = false;
        }
    }
    commands
}

fn is_redirection(word: &str) -> bool {
    word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with(['>', '<'])
}

/// The words without assignments, wrappers and time limits before the program.
fn significant<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut rest = words;
    loop {
        let skip = match rest {
            [first, ..] if first.contains('=') && !first.starts_with('-') => 1,
            ["timeout", _, ..] => 2,
            _ => WRAPPERS.iter().find(|wrapper| rest.starts_with(wrapper)).map_or(0, |wrapper| wrapper.len()),
        };
        // A wrapper with nothing behind it is the program.
        match rest.get(skip..) {
            Some(after) if skip > 0 && !after.is_empty() => rest = after,
            _ => return rest.to_vec(),
        }
    }
}

/// The file name of a program: `./gradlew` and `/usr/bin/make` are `gradlew` and `make`.
fn name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word).trim_matches(['"', '\'', '(', ')'])
}

/// Programs whose first word is no sub-command but a file or an option.
fn takes_files(program: &str) -> bool {
    matches!(
        program,
        "pytest"
            | "python"
            | "python3"
            | "node"
            | "ruby"
            | "php"
            | "eslint"
            | "tsc"
            | "mypy"
            | "jest"
            | "vitest"
            | "gcc"
            | "g++"
            | "clang"
            | "rustc"
            | "prettier"
            | "black"
            | "flake8"
            | "shellcheck"
            | "psql"
            | "mocha"
            | "phpunit"
            | "pylint"
            | "pyright"
            | "rspec"
            | "rubocop"
            | "cmake"
            | "ctest"
            | "actionlint"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(args: &str, result: &str) -> Step {
        Step { tool: "Bash".into(), args: args.into(), result: Some(result.into()), ..Step::default() }
    }

    #[test]
    fn commands_by_program_and_subcommand() {
        let table: &[(&str, &[&str])] = &[
            ("cargo test -p auth", &["cargo test"]),
            ("cd api && RUST_LOG=debug cargo test 2>&1 | tail -20", &["cargo test"]),
            ("cargo build && cargo test", &["cargo build", "cargo test"]),
            ("uv run pytest tests/a.py -x", &["pytest"]),
            ("python -m pytest", &["pytest"]),
            ("npx tsc --noEmit", &["tsc"]),
            ("timeout 60 make check; echo $?", &["make check"]),
            ("./gradlew build", &["gradlew build"]),
            ("git push origin main", &["git push"]),
            ("git status", &[]),
            ("ls nowhere", &[]),
            ("grep -r foo src | head", &[]),
            ("frobnicate --all", &[]),
            ("", &[]),
        ];
        for (line, keys) in table {
            let found = command(&bash(line, "")).map(|command| command.keys).unwrap_or_default();
            assert_eq!(found, *keys, "{line:?}");
        }
        let by_hand = Step { tool: "cargo".into(), args: "clippy".into(), ..Step::default() };
        assert_eq!(command(&by_hand).map(|command| command.keys), Some(vec!["cargo clippy".to_owned()]));
    }

    #[test]
    fn likeness() {
        let alike = |a, b| super::alike(&command(&bash(a, "")).unwrap(), &command(&bash(b, "")).unwrap());
        assert_eq!(alike("cargo test | tail -3", "cargo test 2>&1"), Likeness::Same);
        assert_eq!(alike("cargo test -p auth", "cargo test"), Likeness::Part);
        assert_eq!(alike("git push origin main", "git push -u origin main"), Likeness::Part);
        assert_eq!(alike("git push origin main", "git push origin other"), Likeness::Near);
        assert_eq!(alike("pytest a.py", "pytest b.py -x -k name"), Likeness::Other);
        assert_eq!(alike("cargo test", "cargo build"), Likeness::Other);
    }

    #[test]
    fn failures_that_tell() {
        let table = [
            ("error[E0308]: mismatched types", true),
            ("2 of 41 failed", true),
            ("Exit code 1", false),
            ("Exit code 1 error: unknown flag --stat", true),
            ("============ test session starts ============", false),
            ("no result recorded", false),
            ("The user doesn't want to proceed with this tool use.", false),
            ("File has not been read yet. Read it first", false),
            ("", false),
            ("1", false),
        ];
        for (result, tells) in table {
            assert_eq!(super::tells(&bash("make", result)), tells, "{result:?}");
        }
    }

    #[test]
    fn steps_that_act() {
        assert!(acts(&Step { tool: "Edit".into(), args: "src/a.rs".into(), ..Step::default() }));
        assert!(acts(&bash("sed -i s/a/b/ x.txt", "")));
        assert!(acts(&bash("git pull --rebase", "")));
        assert!(!acts(&bash("cat x | head; ls", "")));
        assert!(!acts(&bash("git log -3", "")));
        assert!(!acts(&Step { tool: "Read".into(), args: "src/a.rs".into(), ..Step::default() }));
    }
}
