//! Every command that writes, and what can happen to it: it is killed or torn at any point, the disk fills or forbids
//! writing from any point on, and a person saves a file in the moment in which it is replaced.
//!
//! Nothing of a person is ever lost, no temporary file is left, and the next run ends where an undisturbed one ends. By
//! default some points of each command are tried, evenly spread; `CRU_KILLS=n` tries up to `n` of each kind.

mod driver;
mod table;
mod world;

use std::collections::BTreeSet;

use clap::CommandFactory as _;
#[cfg(unix)]
use cru::base::files::fault::{self, Fault};

/// Commands that write nothing of a person's: they read, or they run what was asked of them.
const READ_ONLY: &[&str] = &[
    "list",
    "show",
    "diff",
    // As the commands on sessions, which the table has.
    "codify",
    "learn",
    "resume",
    "workflow check",
    "context",
    "search",
    "graph",
    "history",
    "files",
    "why",
    "deps",
    "stale",
    "replay",
    "resolve",
    "status",
    "mcp",
    "view",
    "export",
    "rows",
    "admin doctor",
    "admin secrets",
    "admin completions",
    "admin man",
];

#[test]
fn every_command_is_in_the_table_or_reads_only() {
    let mut named: BTreeSet<String> = BTreeSet::new();
    leaves(&cru::commands::Cli::command(), "", &mut named);
    let begins = |name: &str, with: &str| name == with || name.starts_with(&format!("{with} "));
    let is_verb = |arg: &&str| !matches!(*arg, "--session" | world::LIVE);
    let verbs = |row: &table::Row| row.args.iter().copied().filter(is_verb).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = table::ROWS.iter().map(verbs).collect();
    let unknown: Vec<_> = named
        .iter()
        .filter(|name| !READ_ONLY.iter().any(|known| begins(name, known)))
        .filter(|name| !rows.iter().any(|row| begins(row, name)))
        .collect();
    assert!(unknown.is_empty(), "neither in the table of writers nor known to read only: {unknown:?}");
    let gone: Vec<_> = READ_ONLY.iter().filter(|known| !named.iter().any(|name| begins(name, known))).collect();
    let gone: Vec<_> = gone.into_iter().filter(|known| !["export", "rows"].contains(*known)).collect();
    assert!(gone.is_empty(), "no such command: {gone:?}");
}

fn leaves(command: &clap::Command, path: &str, into: &mut BTreeSet<String>) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let path = format!("{path} {}", inner.get_name()).trim_start().to_owned();
        if !inner.is_subcommand_required_set() {
            into.insert(path.clone());
        }
        leaves(inner, &path, into);
    }
}

#[cfg(unix)]
#[test]
fn nothing_of_a_person_is_lost_in_any_command_that_writes() {
    // A release build has no such points.
    if !fault::arm(u64::MAX, Fault::Kill) {
        return;
    }
    driver::run(table::ROWS);
}
