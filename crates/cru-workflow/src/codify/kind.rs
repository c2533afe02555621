//! What kind of deed a command is: a view of its [`cru_action::Class`] for workflows.

use cru_action::{Action, Class, Command, ToolKind};
use memchr::memmem;

/// What a deed is, least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeedKind {
    /// Only looks, or prepares: `ls`, `git status`, `cd`.
    Look,
    /// Does something the table does not know.
    Run,
    /// Changes something that lasts: `git commit`, `npm install`.
    Change,
    /// Proves something: tests, builds, linters.
    Check,
    /// Changes a file through an editing tool.
    Edit,
}

impl DeedKind {
    /// The kind of a call of a tool other than a shell.
    pub(super) fn of_tool(tool: &str, args: &str) -> Self {
        let action = Action::of(tool, args);
        match action.kind {
            kind if kind.writes_files() => Self::Edit,
            ToolKind::Subagent => Self::Look,
            kind if kind.is_look() => Self::Look,
            _ if matches!(action.class(), Class::Look | Class::GitLook) => Self::Look,
            _ => Self::Run,
        }
    }

    fn of_command(command: &Command<'_>) -> Self {
        let rest = || command.words.iter().skip(1).filter(|word| !word.starts_with('-'));
        match (command.program.as_ref(), command.verb.as_str()) {
            // What is staged is told by the commit.
            ("git", "add") => return Self::Look,
            ("rm", _) if rest().all(|path| is_scratch(path)) => return Self::Look,
            _ => {}
        }
        match command.class {
            Class::Look | Class::GitLook => Self::Look,
            Class::Check => Self::Check,
            Class::Change | Class::Install | Class::GitChange | Class::Destroy => Self::Change,
            Class::Network if command.reads_only => Self::Look,
            Class::Network if command.publishes => Self::Change,
            Class::Unknown if command.is_named_look() => Self::Look,
            Class::Network | Class::Run | Class::Unknown => Self::Run,
        }
    }
}

/// What a simple command does: the most telling kind of what it runs.
pub(super) fn kind(simple: &str) -> DeedKind {
    let action = Action::of("Bash", simple);
    action.commands.iter().map(DeedKind::of_command).max().unwrap_or(DeedKind::Look)
}

/// What makes two checks the same kind: program and verb, `cargo test`, `npm run lint`.
pub(super) fn check_key(core: &str) -> String {
    let action = Action::of("Bash", core);
    let telling = action.checks().last().map(|check| check.command()).or(action.commands.last());
    telling.map(Command::key).unwrap_or_default()
}

/// Whether a simple command only sets a variable: `x=$(…)`, `x="a b"`.
pub(super) fn is_assignment(simple: &str) -> bool {
    let Some((name, value)) = simple.split_once('=') else { return false };
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let whole = |open: &str, close: char| value.starts_with(open) && value.ends_with(close);
    named
        && (value.starts_with('{')
            || whole("$(", ')')
            || whole("\"", '"')
            || whole("'", '\'')
            || !value.contains(char::is_whitespace))
}

/// Whether a path lies where nothing is kept.
pub(super) fn is_scratch(path: &str) -> bool {
    const PLACES: &[&str] = &["/tmp/", "/dev/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/proc/"];
    const PARTS: &[&str] = &["/scratchpad/", "\\AppData\\Local\\Temp\\", "/AppData/Local/Temp/"];
    PLACES.iter().any(|place| path.starts_with(place))
        || PARTS.iter().any(|part| memmem::find(path.as_bytes(), part.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn knows_what_commands_do() {
        for (command, expected) in [
            ("ls -la", DeedKind::Look),
            ("git -C dir log", DeedKind::Look),
            ("sudo timeout 60 cargo +nightly test -p auth", DeedKind::Check),
            ("RUST_LOG=debug cargo run", DeedKind::Run),
            ("cargo fmt", DeedKind::Change),
            ("cargo fmt --check", DeedKind::Check),
            ("npm run test:unit", DeedKind::Check),
            ("npm run dev", DeedKind::Run),
            ("sed -n 1,5p x", DeedKind::Look),
            ("sed -i s/a/b/ x", DeedKind::Change),
            ("uv run pytest -q", DeedKind::Check),
            ("./gradlew build", DeedKind::Check),
            ("echo hi > out.txt", DeedKind::Change),
            ("grep '=>' x 2>/dev/null", DeedKind::Look),
            ("grep -o 'a\">[^<]*' x", DeedKind::Look),
            ("cat > /tmp/notes.md", DeedKind::Look),
            ("rm -rf /tmp/x", DeedKind::Look),
            ("rm -rf build", DeedKind::Change),
            ("gh api repos/a/b/pulls/1/merge -X PUT -f merge_method=squash", DeedKind::Change),
            ("gh api repos/a/b/pulls --jq .", DeedKind::Look),
            ("gh api graphql -f query='{ viewer }'", DeedKind::Look),
            ("go version", DeedKind::Look),
            ("command -v tool", DeedKind::Look),
            ("tool status", DeedKind::Look),
            ("tool push --help", DeedKind::Look),
            ("tool push", DeedKind::Run),
            ("./target/debug/tool", DeedKind::Run),
            ("", DeedKind::Look),
        ] {
            assert_eq!(kind(command), expected, "{command}");
        }
    }
}
