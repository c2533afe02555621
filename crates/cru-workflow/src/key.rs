//! What commands have in common: program and verb.

use cru_action::{Action, Class, Command, program_name};

/// What makes two commands the same kind: program and verb of what it checks, else of its last command, `cargo test`.
pub(crate) fn command_key(command: &str) -> String {
    let action = Action::of("Bash", command);
    let telling = action.checks().last().map(|check| check.command()).or(action.commands.last());
    telling.map(Command::key).unwrap_or_default()
}

/// Program and verb of every command of a line that says what it does, and whether it only looks. What prints and filters
/// says nothing.
pub(crate) fn command_keys(command: &str) -> Vec<(String, bool)> {
    let action = Action::of("Bash", command);
    let tells = |it: &&Command<'_>| {
        let local = it.class == Class::Look && it.verb.is_empty();
        !it.program.is_empty() && !local
    };
    let keys = action.commands.iter().filter(tells);
    keys.map(|it| (it.key(), matches!(it.class, Class::Look | Class::GitLook))).collect()
}

/// The programs that a command line starts.
pub(crate) fn programs(command: &str) -> Vec<String> {
    let action = Action::of("Bash", command);
    let named = action.commands.iter().filter_map(|it| it.words.first());
    named.map(|word| program_name(word).to_owned()).filter(|word| !word.is_empty()).collect()
}
