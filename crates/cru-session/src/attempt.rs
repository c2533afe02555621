//! What a step tried, so that a later success can be known as the same thing tried again.
//!
//! A view of [`cru_action::Action`]: no list of tools or programs stands here.

use cru_action::{Action, Class, Command, ToolKind};
use cru_base::text::fold_whitespace;

use crate::Step;

/// The title of the plan that stands there unapproved after `step`: one that was handed over and not agreed to stays so until
/// something is done. `before` is the one that stood so before the step; the title may be empty.
pub fn unapproved_plan(step: &Step, action: &Action<'_>, before: Option<String>) -> Option<String> {
    if action.kind == ToolKind::Plan && step.status.is_crossed() {
        return Some(fold_whitespace(&step.args));
    }
    before.filter(|_| action.kind.is_look())
}

/// What a step tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// A check or build, by what is checked: `cargo test`.
    Check(String),
    /// Any other command or tool, by its text; `git commit` by its verb alone.
    Command(String),
    /// A change of a file by a tool.
    Edit,
    /// Only looks: its failure is a miss, and its success mends nothing.
    Look,
}

impl Attempt {
    /// What `tool args` tries.
    pub fn of(tool: &str, args: &str) -> Self {
        Self::of_action(&Action::of(tool, args), tool)
    }

    /// What a call tries: its first check, else the first command that does something.
    pub fn of_action(action: &Action<'_>, tool: &str) -> Self {
        match action.kind {
            ToolKind::Shell => {}
            kind if kind.writes_files() => return Self::Edit,
            kind if kind.is_look() || action.is_read_only() => return Self::Look,
            _ => return Self::Command(fold_whitespace(&format!("{tool} {}", action.args))),
        }
        if let Some(check) = action.checks().next() {
            return Self::Check(check.key());
        }
        action.commands.iter().find_map(|command| key_of(action, command)).map_or(Self::Look, Self::Command)
    }

    /// The names by which all that a call tries is known again: one for each of its commands that does something.
    pub fn keys(action: &Action<'_>, tool: &str) -> Vec<String> {
        if action.kind != ToolKind::Shell {
            return Self::of_action(action, tool).key().map(str::to_owned).into_iter().collect();
        }
        let others = action.commands.iter().filter_map(|command| key_of(action, command));
        action.checks().map(|check| check.key()).chain(others).collect()
    }

    /// The name by which the same thing is known again.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Check(key) | Self::Command(key) => Some(key),
            Self::Edit | Self::Look => None,
        }
    }
}

/// The name by which a command is known again; `None` where it only looks, or stages what a commit tells.
fn key_of(action: &Action<'_>, command: &Command<'_>) -> Option<String> {
    let stages = command.program == "git" && command.verb == "add";
    if command.reads_only || command.class == Class::Look || stages {
        return None;
    }
    let is_told_by_verb = command.publishes || command.class == Class::GitChange;
    Some(if is_told_by_verb { command.key() } else { text_of(action, command) })
}

/// A command from its program on, as it was written where it has no redirections; of the program only the name.
fn text_of(action: &Action<'_>, command: &Command<'_>) -> String {
    let Some((program, rest)) = command.words.split_first() else { return String::new() };
    let name = cru_action::program_name(program);
    let written = action.text(command);
    let behind = written.split_once(program.as_ref()).map(|(_, behind)| behind);
    match behind.filter(|behind| !behind.contains(['<', '>'])) {
        Some(behind) => fold_whitespace(&format!("{name}{behind}")),
        None => rest.iter().fold(name.to_owned(), |text, word| text + " " + word),
    }
}

/// Whether two steps ran literally the same command ([`Action::identity`]).
pub fn is_same_command(one: &Step, other: &Step) -> bool {
    let (one, other) = (one.action(), other.action());
    one.kind == other.kind && one.identity().is_some_and(|identity| other.identity() == Some(identity))
}

/// Whether the argument of `tool` is a shell command.
pub fn is_shell(tool: &str) -> bool {
    ToolKind::of(tool) == ToolKind::Shell
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
            ("mcp__db__query", "select 1", Attempt::Look),
            ("mcp__db__load", "rows.csv", command("mcp__db__load rows.csv")),
            ("Bash", "", Attempt::Look),
        ];
        for (tool, args, expected) in rows {
            assert_eq!(Attempt::of(tool, args), *expected, "{tool} {args}");
        }
    }
}
