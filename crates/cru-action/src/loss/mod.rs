//! What a command takes away that nothing else has, told from its words: the table `data/losses.toml`.
//!
//! Nothing is looked at on the disk: whether what is named is there, and whether git has it, is for the caller.

use std::borrow::Cow;

use crate::action::{Action, Command};
use crate::class::Class;
use crate::program::{self, Parts};

mod code;
mod find;
mod named;
mod table;

#[cfg(test)]
mod tests;

pub use find::FoundFiles;
use table::LossRow;

/// What is lost, with the words that name it as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Files and folders, with all that is in them.
    Removed(Vec<String>),
    /// Files that are written anew.
    Overwritten(Vec<String>),
    /// What stands where files are put: the last word is the place, the others are what is put there.
    Onto(Vec<String>),
    /// Whatever a folder has.
    Mirrored(String),
    /// What `find` finds.
    Found(FoundFiles),
    /// What differs from git in a working copy.
    Worktree(WorktreeLoss),
    /// Names of git, and what only they lead to.
    Refs,
    /// Whatever lies in the folder that the command works in: the names come from elsewhere.
    Anything,
    /// Something that is no file here, or one of which nothing is known.
    Elsewhere,
}

/// What a command of git takes from a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct WorktreeLoss {
    /// Below these words alone; the whole working copy where there are none.
    pub paths: Vec<String>,
    /// Whether nothing is lost where no path is on the disk: `git checkout NAME` means a branch then.
    pub only_paths: bool,
    /// Whether changes of files that git knows go.
    pub changed: bool,
    /// Whether files that git does not know go.
    pub untracked: bool,
    /// Whether files that git ignores go.
    pub ignored: bool,
}

/// Shells that read a text from their input.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Programs that run their words on another machine, or in a container.
const ELSEWHERE: &[&str] = &[
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "podman-compose",
    "kubectl",
    "oc",
    "ssh",
    "lxc",
    "incus",
    "multipass",
];

impl<'a> Action<'a> {
    /// What its commands take away that nothing else has, each with the command.
    pub fn losses(&self) -> Vec<(&Command<'a>, Loss)> {
        let of = |command: &'_ Command<'a>| {
            let bodies: Vec<&str> = command.bodies.iter().filter_map(|body| self.args.get(body.clone())).collect();
            losses(command, self.text(command), self.args, &bodies)
        };
        self.commands.iter().flat_map(|command| of(command).into_iter().map(move |loss| (command, loss))).collect()
    }
}

/// What a command takes away. `text` is the whole text that it stands in, for statements that come through a pipe;
/// `own` its own text with its wrappers; `bodies` the texts of its here-documents.
fn losses(command: &Command<'_>, own: &str, text: &str, bodies: &[&str]) -> Vec<Loss> {
    let is_piped = command.pipe.index > 0;
    let mut losses = of_words(&command.words, is_piped, text, bodies);
    losses.extend(of_shell(&command.words, is_piped, bodies));
    // What is edited in place, or removed, has its names from elsewhere.
    let is_given = own.split_ascii_whitespace().any(|word| matches!(program::program_name(word), "xargs" | "parallel"));
    if is_given && losses.iter().any(|loss| matches!(loss, Loss::Overwritten(_))) {
        losses.push(Loss::Anything);
    }
    if losses.is_empty() && command.class == Class::Destroy && table::find(&command.words).is_none() {
        losses.push(Loss::Elsewhere);
    }
    if !losses.is_empty() && is_elsewhere(own) {
        return vec![Loss::Elsewhere];
    }
    let files: Vec<String> =
        command.truncates.iter().filter(|file| !is_device(file)).map(std::string::ToString::to_string).collect();
    if !files.is_empty() {
        losses.push(Loss::Overwritten(files));
    }
    losses
}

/// What a shell takes away that is given a text by here-document, by a pipe or behind further options.
fn of_shell(words: &[Cow<'_, str>], is_piped: bool, bodies: &[&str]) -> Vec<Loss> {
    let name = words.first().map_or("", |word| program::program_name(word));
    if !SHELLS.contains(&name) {
        return Vec::new();
    }
    let mut options = words[1..].iter().take_while(|word| word.starts_with(['-', '+']) || is_value(word));
    let is_text = |word: &&Cow<'_, str>| word.len() > 1 && word.starts_with('-') && word.ends_with('c');
    if options.clone().any(|word| is_text(&word)) {
        let text = words[1..].iter().skip_while(|word| word.starts_with(['-', '+']) || is_value(word));
        return text.take(1).flat_map(|text| of_text(text)).collect();
    }
    let is_stdin = options.clone().count() == words.len() - 1;
    match (is_stdin, bodies.is_empty()) {
        (true, false) => bodies.iter().flat_map(|body| of_text(body)).collect(),
        // `-n` reads and runs nothing.
        (true, true) if is_piped && !options.any(|word| word == "-n" || word == "--version") => vec![Loss::Anything],
        _ => Vec::new(),
    }
}

/// Whether a word is the value of the option `-o` of a shell.
fn is_value(word: &str) -> bool {
    matches!(word, "pipefail" | "errexit" | "nounset" | "xtrace" | "posix" | "extglob" | "nullglob")
}

/// What the text of a shell takes away.
fn of_text(text: &str) -> Vec<Loss> {
    Action::of("Bash", text).losses().into_iter().map(|(_, loss)| loss).collect()
}

/// Whether what is written there is nowhere.
fn is_device(file: &str) -> bool {
    file.starts_with("/dev/") || file.eq_ignore_ascii_case("nul") || file.starts_with('&')
}

/// Whether the words of a command run on another machine.
fn is_elsewhere(own: &str) -> bool {
    let mut words = own.split_ascii_whitespace().filter(|word| *word != "sudo" && !word.contains('='));
    let first = words.next().unwrap_or_default();
    ELSEWHERE.contains(&program::program_name(first))
        && words.any(|word| matches!(word, "exec" | "run") || first == "ssh")
}

/// What a command of these words takes away, wrappers removed.
fn of_words(words: &[Cow<'_, str>], is_piped: bool, text: &str, bodies: &[&str]) -> Vec<Loss> {
    if words.first().is_some_and(|word| matches!(program::program_name(word), "find" | "gfind")) {
        return find::losses(words);
    }
    let Some(row) = table::find(words) else { return Vec::new() };
    let mut args = words.get(1..).unwrap_or_default();
    let takes: Vec<&str> =
        row.takes.split_ascii_whitespace().chain(program::takes(&words[0]).iter().copied()).collect();
    if row.verbs {
        // Options before the verb are the program's own: `git -C DIR branch`.
        let verb = operands(args, &takes)
            .next()
            .and_then(|verb| args.iter().position(|word| std::ptr::eq(word.as_ref(), verb)));
        args = verb.map_or(args, |verb| &args[verb..]);
    }
    let parts = Parts::read(args, &takes, &[]);
    let mut losses = of_kinds(row, &parts, args, &takes, is_piped);
    losses.extend(values(row, args).map(|file| Loss::Overwritten(vec![file])));
    losses.extend(of_statements(row, &parts, args, is_piped, text, bodies));
    losses.extend(code::losses(row, args, bodies));
    losses
}

fn of_kinds(row: &LossRow, parts: &Parts<'_>, args: &[Cow<'_, str>], takes: &[&str], is_piped: bool) -> Vec<Loss> {
    let none = table::best(row.none.as_deref(), parts);
    let fit = |rules: &Option<String>| table::best(rules.as_deref(), parts);
    // Of the verbs of a program the nearest rule decides: `stash drop` is no `stash`.
    let kinds = [
        &row.removed,
        &row.overwritten,
        &row.paths,
        &row.changed,
        &row.cleaned,
        &row.refs,
        &row.anything,
        &row.elsewhere,
    ];
    let nearest = kinds.into_iter().filter_map(fit).max().filter(|_| row.verbs);
    let is = |rules: &Option<String>| {
        fit(rules).filter(|best| {
            none.is_none_or(|none| best.parts > none.parts) && nearest.is_none_or(|it| best.parts == it.parts)
        })
    };
    // The words of a rule are no operands: `worktree remove PATH`.
    let operands = |verb: usize| -> Vec<String> {
        let words = operands(args, takes).filter(|word| !word.is_empty());
        words.skip(verb).map(str::to_owned).collect()
    };
    let mut losses = Vec::new();
    if let Some(best) = is(&row.removed) {
        let words = operands(best.plain);
        // The names come through a pipe, or from another program.
        let is_given = is_piped && words.is_empty() || words.iter().any(|word| word.contains("{}"));
        losses.push(if is_given { Loss::Anything } else { Loss::Removed(words) });
    }
    if let Some(best) = is(&row.overwritten) {
        let words = operands(best.plain + usize::from(row.has_script(parts)));
        let is_given = is_piped && words.is_empty() && parts.plain.is_empty();
        if !is_given || row.values.is_none() {
            losses.push(Loss::Overwritten(words));
        }
    }
    if let Some(best) = is(&row.onto) {
        let mut words = operands(best.plain);
        // `-t DIR`, `--target-directory=DIR`: the place stands in front.
        words.extend(target_option(args));
        losses.push(Loss::Onto(words));
    }
    if is(&row.mirrored).is_some() {
        losses.extend(operands(0).pop().filter(|to| !to.contains(':')).map(Loss::Mirrored));
    }
    let (paths, changed, cleaned) = (is(&row.paths), is(&row.changed), is(&row.cleaned));
    if paths.is_some() || changed.is_some() || cleaned.is_some() {
        let only_paths = changed.is_none() && cleaned.is_none();
        let also = |rules: &Option<String>| table::best(rules.as_deref(), parts).is_some();
        // Another version of a path may be put over a file that git does not know.
        let has_version = paths.is_some() && operands(1).len() > 1
            || parts.options.iter().any(|(it, _)| it.starts_with("--source") || *it == "-s");
        losses.push(Loss::Worktree(WorktreeLoss {
            paths: if changed.is_some() { Vec::new() } else { operands(1) },
            only_paths,
            changed: cleaned.is_none(),
            untracked: also(&row.untracked) || only_paths && has_version,
            ignored: also(&row.ignored),
        }));
    }
    if is(&row.refs).is_some() {
        losses.push(Loss::Refs);
    }
    if is(&row.anything).is_some() {
        losses.push(Loss::Anything);
    }
    if is(&row.elsewhere).is_some() {
        losses.push(Loss::Elsewhere);
    }
    losses
}

/// The words that are no options and no values of one.
fn operands<'w>(args: &'w [Cow<'_, str>], takes: &[&str]) -> impl Iterator<Item = &'w str> {
    let (mut out, mut only, mut value) = (Vec::new(), false, false);
    for word in args.iter().map(AsRef::as_ref) {
        if std::mem::take(&mut value) {
            continue;
        }
        if only || !word.starts_with('-') || word == "-" {
            out.push(word);
        } else if word == "--" {
            only = true;
        } else {
            value = takes.contains(&word);
        }
    }
    out.into_iter()
}

fn target_option(args: &[Cow<'_, str>]) -> Option<String> {
    let mut words = args.iter().map(AsRef::as_ref);
    while let Some(word) = words.next() {
        if let Some(place) = word.strip_prefix("--target-directory=") {
            return Some(place.to_owned());
        }
        if matches!(word, "-t" | "--target-directory" | "-Destination") {
            return words.next().map(str::to_owned);
        }
    }
    None
}

/// Files that options name.
fn values<'w>(row: &'w LossRow, args: &'w [Cow<'_, str>]) -> impl Iterator<Item = String> + 'w {
    let names = row.values.as_deref().unwrap_or_default().split_ascii_whitespace();
    names.flat_map(move |name| {
        args.iter().enumerate().filter_map(move |(at, word)| {
            // The last of several letters in one word: `-sSLo FILE`.
            let is_last = name.len() == 2
                && word.len() > 2
                && !word.starts_with("--")
                && word.strip_prefix('-').is_some_and(|it| it.bytes().all(|letter| letter.is_ascii_alphabetic()))
                && !word.starts_with(name)
                && word.ends_with(&name[1..]);
            let value = match word.strip_prefix(name).or_else(|| is_last.then_some(""))? {
                "" if name.ends_with('=') => return None,
                "" => args.get(at + 1)?.as_ref(),
                rest if name.ends_with('=') => rest,
                rest if name.starts_with("--") => rest.strip_prefix('=')?,
                rest => rest,
            };
            (!value.is_empty() && value != "-").then(|| value.to_owned())
        })
    })
}

/// What statements of a database take away.
fn of_statements(
    row: &LossRow,
    parts: &Parts<'_>,
    args: &[Cow<'_, str>],
    is_piped: bool,
    text: &str,
    bodies: &[&str],
) -> Option<Loss> {
    let wanted = row.statements.as_deref()?;
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase() + " ";
    let mut said: Vec<String> = args.iter().map(|word| fold(word)).collect();
    said.extend(bodies.iter().map(|body| fold(body)));
    if is_piped {
        said.push(fold(text));
    }
    let is_in = |said: &String| {
        wanted.split('|').any(|wanted| match wanted.split_once('%') {
            Some((first, then)) => said.find(first).is_some_and(|at| said[at..].contains(then)),
            None => said.contains(wanted),
        })
    };
    if !said.iter().any(is_in) {
        return None;
    }
    let file = parts.plain.first().filter(|_| row.file).map(|file| (*file).to_owned());
    // SQLite's own companions hold what is not in the file yet.
    let all = |file: String| ["", "-wal", "-shm", "-journal", ".wal"].map(|end| format!("{file}{end}")).to_vec();
    Some(file.map_or(Loss::Elsewhere, |file| Loss::Overwritten(all(file))))
}
