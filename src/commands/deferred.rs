//! Commands that are described only when they are called: to describe all of them takes longer than most of them work.

use std::cell::Cell;
use std::ops::Deref;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

thread_local! {
    static DEFERS: Cell<bool> = const { Cell::new(false) };
}

/// Does something with commands that are described when they are called. Whoever shows help, or what is wrong with a command
/// line, wants all of them.
pub(super) fn deferring<T>(work: impl FnOnce() -> T) -> T {
    DEFERS.set(true);
    let done = work();
    DEFERS.set(false);
    done
}

/// The arguments or the commands below a command.
#[derive(Debug)]
pub struct Deferred<T>(pub(super) T);

fn describe(command: Command, how: fn(Command) -> Command) -> Command {
    if DEFERS.get() { command.defer(how) } else { how(command) }
}

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        describe(command, T::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        describe(command, T::augment_args_for_update)
    }
}

impl<T: Subcommand> Subcommand for Deferred<T> {
    fn augment_subcommands(command: Command) -> Command {
        describe(command, T::augment_subcommands)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        describe(command, T::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    /// All commands with their arguments. Their help differs: it is shown of commands that are not deferred.
    fn described(command: &Command, into: &mut Vec<String>) {
        into.push(command.get_name().to_owned());
        // So does the order.
        let of = |arg: &clap::Arg| {
            let names = (arg.get_id(), arg.get_short(), arg.get_long(), arg.get_index());
            let values = (arg.get_num_args(), arg.get_default_values(), arg.get_action(), arg.is_required_set());
            format!("{names:?} {values:?}")
        };
        let mut arguments: Vec<String> = command.get_arguments().map(of).collect();
        arguments.sort();
        into.extend(arguments);
        command.get_subcommands().for_each(|command| described(command, into));
    }

    #[test]
    fn what_is_deferred_is_all_that_there_is() {
        let all = |mut command: Command| {
            command.build();
            let mut found = Vec::new();
            described(&command, &mut found);
            found
        };
        let (deferred, whole) = (all(deferring(Cli::command)), all(Cli::command()));
        let odd = deferred.iter().zip(&whole).find(|(one, other)| one != other);
        assert!(odd.is_none() && deferred.len() == whole.len(), "{odd:?}");
    }

    #[test]
    fn only_what_is_called_is_described() {
        let arguments = |command: &Command| command.find_subcommand("list").unwrap().get_arguments().count();
        assert_eq!(arguments(&deferring(Cli::command)), 0);
        assert!(arguments(&Cli::command()) > 0);
        let called = Cli::read(&["cru", "list", "steps"].map(Into::into)).unwrap();
        assert!(matches!(called.command, crate::commands::Command::List(_)));
        // What is wrong, and help, is told by one who knows all commands.
        let error = Cli::read(&["cru", "lst"].map(Into::into)).unwrap_err().to_string();
        assert!(error.contains("'list'"), "{error}");
    }
}
