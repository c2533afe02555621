//! Paths that a call of a shell names as what it changes.

use super::{Loss, operands, table, target_option};
use crate::action::{Action, Command, MAX_FILES, joined};
use crate::class::Class;
use crate::program::{self, Parts};

impl Action<'_> {
    /// Paths that its commands name as what they change, whether or not each of them runs: targets of redirections and of `tee`,
    /// what is lost, operands of commands that change files. They are whole, seen from `start`, the folder in which the call
    /// begins; one that ends in `/` means all that lies below it, too.
    pub fn named_changes(&self, start: &str) -> Vec<String> {
        let mut named = Vec::new();
        let mut add = |folder: Option<&str>, word: &str, below: bool| {
            let path = folder.and_then(|folder| joined(&joined(&joined("", start)?, folder)?, word));
            named.extend(path.filter(|_| !word.is_empty()).map(|path| if below { path + "/" } else { path }));
        };
        for write in self.writes() {
            let command = self.commands.get(write.command);
            add(command.and_then(|it| self.shell_folder(it)).as_deref(), &write.path, false);
        }
        for (command, loss) in self.losses().into_iter().take(MAX_FILES) {
            let (words, below) = match loss {
                Loss::Removed(words) => (words, true),
                Loss::Worktree(lost) => (lost.paths, true),
                Loss::Mirrored(folder) => (vec![folder], true),
                Loss::Overwritten(words) => (words, false),
                Loss::Onto(_) | Loss::Found(_) | Loss::Refs | Loss::Anything | Loss::Elsewhere => continue,
            };
            let folder = self.folder(command);
            // Targets of redirections are not relative to a folder that the command was given.
            let words = words.iter().filter(|word| !command.truncates.iter().any(|target| target == *word));
            words.for_each(|word| add(folder.as_deref(), word, below));
        }
        // What is kept of the output of a look makes it a change, but not of what it looks at.
        let changes = |command: &&Command<'_>| {
            command.class == Class::Change && program::classify(&command.words).effect.class == Class::Change
        };
        for command in self.commands.iter().filter(changes).take(MAX_FILES) {
            let folder = self.folder(command);
            for (word, below) in of_operands(command) {
                add(folder.as_deref(), &word, below);
            }
        }
        named.truncate(MAX_FILES);
        named
    }

    /// Paths that its commands remove with all below them, seen from the folder in which the call begins.
    pub fn removed_paths(&self) -> Vec<String> {
        let mut removed = Vec::new();
        for (command, loss) in self.losses().into_iter().take(MAX_FILES) {
            if let (Loss::Removed(words), Some(folder)) = (loss, self.folder(command)) {
                removed.extend(words.iter().filter_map(|word| joined(&folder, word)));
            }
        }
        removed
    }
}

/// The operands of a command that changes files: of one that puts files somewhere, that place.
fn of_operands(command: &Command<'_>) -> Vec<(String, bool)> {
    let Some((first, args)) = command.words.split_first() else { return Vec::new() };
    let row = table::find(&command.words);
    let takes = row.map_or("", |row| row.takes.as_str()).split_ascii_whitespace();
    let takes: Vec<&str> = takes.chain(program::takes(first).iter().copied()).collect();
    let script = row.is_some_and(|row| row.has_script(&Parts::read(args, &takes, &[])));
    let mut words: Vec<&str> =
        operands(args, &takes).filter(|word| !word.is_empty()).skip(usize::from(script)).collect();
    let Some(row) = row.filter(|row| row.onto.is_some()) else {
        return words.into_iter().map(|word| (word.to_owned(), false)).collect();
    };
    let Some(place) = target_option(args).or_else(|| words.pop().map(str::to_owned)) else { return Vec::new() };
    let mut named = vec![(place.clone(), false)];
    for word in words {
        let name = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let inside = !matches!(name, "" | "." | "..");
        named.extend(inside.then(|| (format!("{}/{name}", place.trim_end_matches('/')), true)));
        named.extend(row.moves.then(|| (word.to_owned(), true)));
    }
    named
}
