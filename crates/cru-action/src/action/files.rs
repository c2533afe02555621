//! Files that a shell call certainly writes and prints.

use std::borrow::Cow;

use super::Command;
use crate::class::Class;
use crate::shell::{Hidden, Nesting, Operator, Script, SimpleCommand};

/// A file that a redirection or `tee` writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWrite {
    /// The path as the shell has it: relative to the folder in which the call began.
    pub path: String,
    /// Index of the command in [`super::Action::commands`].
    pub command: usize,
    /// Whether the success of the call proves that it was written, at this path. Not so in loops, conditions and after
    /// `||`, in a part that a later `;` makes unsure, and for relative paths after `cd`.
    pub certain: bool,
}

/// A file whose lines a command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// The path as written.
    pub path: String,
    /// Which lines.
    pub lines: Lines,
    /// Index of the command in [`super::Action::commands`].
    pub command: usize,
    /// Whether a relative path is relative to the folder in which the call began.
    pub certain: bool,
    /// Whether each line stands behind its number and a tab.
    pub numbered: bool,
    /// Whether the lines are printed as they are, apart from their numbers.
    pub verbatim: bool,
    /// How many commands the pipeline has.
    pub stages: usize,
}

/// Lines of a file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// From the first to the last number, both printed; without the last up to the end.
    From(u64, Option<u64>),
    /// The last ones.
    Last(u64),
}

/// Files that one call is said to write.
pub const MAX_FILES: usize = 256;

/// What the commands before say of the next one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// Whether relative paths no longer mean the folder in which the call began.
    moved: bool,
    /// Whether the pipeline runs only if something before failed, or if something succeeded whose failure the call does
    /// not tell.
    may_not_run: bool,
    /// Why the status of the command before says nothing.
    hidden: Option<Hidden>,
}

impl Before {
    fn next(&mut self, command: &SimpleCommand<'_>) {
        if command.nesting == Nesting::Substitution {
            return;
        }
        self.may_not_run = match command.operator {
            Operator::Pipe => self.may_not_run,
            Operator::Or => true,
            // `a && b > x; c`, `a && b > x || c`: nobody knows whether b ran.
            Operator::And => self.hidden.is_some_and(|hidden| hidden != Hidden::Pipe),
            _ => false,
        };
        self.hidden = command.hidden;
    }
}

/// Adds the writes of the command `at` of a text.
pub(super) fn writes(script: &Script<'_>, at: usize, command: usize, before: &mut Before, writes: &mut Vec<FileWrite>) {
    let Some(simple) = script.commands.get(at) else { return };
    before.next(simple);
    let sure = simple.nesting == Nesting::Top
        && script.complete
        && !before.may_not_run
        && !matches!(simple.hidden, Some(Hidden::Background));
    let mut add = |path: &str, literal: bool| {
        let known = literal && !path.is_empty() && writes.len() < MAX_FILES;
        let absolute = path.starts_with('/') || path.starts_with("~/");
        let certain = known && sure && (absolute || !before.moved);
        if known && !writes.iter().any(|write| write.path == path && write.certain >= certain) {
            writes.push(FileWrite { path: path.to_owned(), command, certain });
        }
    };
    for redirection in simple.redirections.iter().filter(|it| it.is_write()) {
        add(&redirection.target.text, redirection.target.is_literal());
    }
    let mut words = simple.words.iter().skip_while(|word| matches!(word.text.as_ref(), "sudo" | "time" | "command"));
    match words.next().map(|word| word.text.as_ref()) {
        Some("tee") => {
            for word in words.filter(|word| !word.text.starts_with('-')) {
                add(&word.text, word.is_literal());
            }
        }
        Some("cd" | "pushd" | "popd" | "eval" | "exec" | "source" | ".") => before.moved = true,
        _ => {}
    }
}

/// Files that pipelines of `cat`, `nl`, `head`, `tail`, `sed -n` print.
pub(super) fn reads(commands: &[Command<'_>]) -> Vec<FileRead> {
    let mut reads = Vec::new();
    let mut moved = false;
    let mut at = 0;
    while let Some(command) = commands.get(at) {
        let mut end = at + 1;
        while commands.get(end).is_some_and(|next| next.operator == Operator::Pipe) {
            end += 1;
        }
        let stages = commands.get(at..end).unwrap_or_default();
        moved |= matches!(command.program.as_ref(), "cd" | "pushd" | "popd");
        let plain = stages.iter().all(|it| it.nesting == Nesting::Top && it.class == Class::Look && it.reads_only);
        if plain && let Some((path, lines)) = printed(stages) {
            let absolute = path.starts_with(['/', '~']);
            let (numbered, verbatim) = form(stages);
            let certain = absolute || !moved;
            reads.push(FileRead { path, lines, command: at, certain, numbered, verbatim, stages: stages.len() });
        }
        at = end;
    }
    reads
}

/// Whether lines are numbered, and whether they are printed as they are otherwise.
fn form(stages: &[Command<'_>]) -> (bool, bool) {
    let (mut numbered, mut verbatim) = (0, true);
    for (at, command) in stages.iter().enumerate() {
        let before = numbered;
        let program = command.words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        let has = |flags: &[&str]| command.words.iter().skip(1).any(|word| flags.contains(&word.as_ref()));
        match program {
            // Without `-ba`, `nl` counts the lines that are not empty, as `cat -b` does.
            "nl" => {
                numbered += 1;
                verbatim &= has(&["-ba"]);
            }
            "cat" => {
                numbered += u32::from(has(&["-n", "--number", "-b"]));
                verbatim &= !has(&["-A", "-e", "-v", "-b"]);
            }
            _ => {}
        }
        // Numbers of what is left of a file are not those of its lines.
        verbatim &= at == 0 || numbered == before;
    }
    (numbered > 0, verbatim && numbered < 2)
}

/// What a pipeline prints of one file.
fn printed(stages: &[Command<'_>]) -> Option<(String, Lines)> {
    let (first, rest) = stages.split_first()?;
    let (path, mut lines) = stage(first)?;
    let path = path?;
    for next in rest {
        let (None, part) = stage(next)? else { return None };
        lines = within(lines, part)?;
    }
    Some((path, lines))
}

/// The lines `part` of the lines `lines`.
fn within(lines: Lines, part: Lines) -> Option<Lines> {
    match (lines, part) {
        (lines, Lines::From(1, None)) => Some(lines),
        (Lines::From(from, to), Lines::From(first, last)) => {
            let start = from.checked_add(first)?.checked_sub(1)?;
            let end = last.and_then(|last| from.checked_add(last)?.checked_sub(1));
            Some(Lines::From(
                start,
                match (to, end) {
                    (Some(to), Some(end)) => Some(to.min(end)),
                    (to, end) => to.or(end),
                },
            ))
        }
        (Lines::From(1, None), last @ Lines::Last(_)) => Some(last),
        _ => None,
    }
}

/// The file that one command names, if it does, and the lines that it prints of it or of its input.
fn stage(command: &Command<'_>) -> Option<(Option<String>, Lines)> {
    let (program, args) = command.words.split_first()?;
    let mut files: Vec<&str> = Vec::new();
    let mut lines = None;
    let mut args = args.iter().map(Cow::as_ref).peekable();
    let mut quiet = false;
    match program.rsplit('/').next()? {
        "cat" | "nl" => {
            for arg in args {
                match arg {
                    "-n" | "-ba" | "-b" | "-A" | "-e" | "--number" | "-v" | "-w1" => {}
                    arg if arg.starts_with('-') => return None,
                    file => files.push(file),
                }
            }
            lines = Some(Lines::From(1, None));
        }
        name @ ("head" | "tail") => {
            let mut count = "10".to_owned();
            while let Some(arg) = args.next() {
                match arg {
                    "-n" | "--lines" => args.next()?.clone_into(&mut count),
                    _ if arg.starts_with("-n") => arg.get(2..)?.clone_into(&mut count),
                    _ if arg.starts_with("--lines=") => arg.get(8..)?.clone_into(&mut count),
                    _ if arg.len() > 1 && arg.starts_with('-') => arg.get(1..)?.clone_into(&mut count),
                    file => files.push(file),
                }
            }
            let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|it| it.is_ascii_digit()));
            lines = match (name, count.strip_prefix('+')) {
                ("head", None) => number(&count).map(|count| Lines::From(1, Some(count))),
                ("tail", None) => number(&count).map(Lines::Last),
                ("tail", Some(from)) => number(from).map(|from| Lines::From(from.max(1), None)),
                _ => None,
            };
        }
        "sed" => {
            for arg in args {
                match arg {
                    "-n" | "--quiet" | "--silent" => quiet = true,
                    arg if arg.starts_with('-') => return None,
                    script if lines.is_none() => lines = Some(sed_lines(script)?),
                    file => files.push(file),
                }
            }
            if !quiet {
                return None;
            }
        }
        _ => return None,
    }
    let lines = lines?;
    match files[..] {
        [] | ["-"] => Some((None, lines)),
        [file] if !file.contains(['*', '?', '$', '`', '{']) => Some((Some(file.to_owned()), lines)),
        _ => None,
    }
}

/// `10,25p`, `10p`, `10,$p`.
fn sed_lines(script: &str) -> Option<Lines> {
    let (from, to) = match script.trim().strip_suffix('p')?.split_once(',') {
        Some((from, to)) => (from.trim(), to.trim()),
        None => (script.trim().strip_suffix('p')?, script.trim().strip_suffix('p')?),
    };
    let from: u64 = from.parse().ok()?;
    let to = if to == "$" { None } else { Some(to.parse().ok()?) };
    Some(Lines::From(from, to))
}
