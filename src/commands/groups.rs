//! The first page of help: the commands by what a person wants.

use clap::Command;

/// The commands of each group, in their order.
const GROUPS: &[(&str, &[&str])] = &[
    ("Set up", &["init", "import", "connect", "disconnect", "status"]),
    ("Find", &["list", "show", "search", "stats", "view"]),
    ("Continue", &["review", "resume", "log", "checkpoint"]),
    ("Reuse", &["codify", "learn", "read"]),
    ("Verify", &["why", "verify", "replay"]),
    ("Repair", &["check", "undo"]),
];

/// The page with the groups; every other command is named below them.
pub(super) fn with_groups(command: Command) -> Command {
    let mut page = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, names) in GROUPS {
        page.push_str(&format!("\n{group}:\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            page.push_str(&format!("  {name:<12}{}\n", about.unwrap_or_default()));
        }
    }
    let grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others: Vec<&str> = command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
    let others: Vec<&str> = others.into_iter().filter(|name| !grouped(name)).collect();
    let more =
        textwrap::fill(&others.join(" "), textwrap::Options::new(96).initial_indent("  ").subsequent_indent("  "));
    page.push_str(&format!("\nMore (`cru COMMAND --help` says what each does):\n{more}\n"));
    page.push_str("\nOptions of every command (`-h` and `--help`: print help; `-V`: print the version):\n");
    for arg in command.get_arguments() {
        let (short, long) = (arg.get_short(), arg.get_long().unwrap_or_default());
        let short = short.map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
        let value = arg.get_value_names().filter(|_| arg.get_action().takes_values()).and_then(|names| names.first());
        let value = value.map(|name| format!(" <{name}>")).unwrap_or_default();
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let about = textwrap::fill(
            &about,
            textwrap::Options::new(100).subsequent_indent(&" ".repeat(30)).initial_indent(&" ".repeat(30)),
        );
        page.push_str(&format!("  {:<28}{}\n", format!("{short}--{long}{value}"), about.trim_start()));
    }
    page.truncate(page.trim_end().len());
    command.help_template(page + "{after-help}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn every_command_of_a_group_is_one() {
        let command = Cli::command();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_page_fits_a_screen() {
        let page = with_groups(Cli::command()).render_help().to_string();
        assert!(page.lines().count() <= 52 && page.lines().all(|line| line.chars().count() <= 100), "{page}");
    }
}
