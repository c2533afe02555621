//! Whether a command that stands in a note may run again, and who has to agree.
//!
//! A note may come from anyone, so the rule is a list of what is understood, and never one of what is dangerous: a command
//! of which any part is not understood is left to a person. What may run is asked for on a terminal. Without one only a
//! plain command runs, words that a shell would do nothing with, and only where a pattern of the user's own configuration
//! has these words; it is started from them, without a shell.

mod folder;
mod known;
mod pattern;
mod reader;
mod script;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use cru_action::{Action, Class};
use cru_base::{Env, program};

use crate::project::RunFolder;
use folder::CommandFolder;
use known::known;
use pattern::Pattern;
use reader::{Joint, ReadCommand, Why};

/// Short options in one word, behind which a value may begin.
const MOST_LETTERS: usize = 16;

/// Levels of `sh -c` that are looked into.
const MOST_SHELLS: usize = 3;

/// Who has to agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It is never run for anybody; why.
    ByHand(String),
    /// A person on a terminal.
    Ask(NoteCommand),
    /// Nobody: the user's configuration allows it. It is plain.
    Allowed(NoteCommand),
}

/// A command of a note, as it is started once somebody agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteCommand {
    start: Start,
    /// The folder below the project's that it starts in.
    below: PathBuf,
    project: RunFolder,
}

/// What is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A program with its arguments, without a shell.
    Words(Vec<String>),
    /// A text for `sh -c`, of which every part means the same in all shells.
    Shell(String),
}

impl NoteCommand {
    /// What is started, and in which folder, where `project` stands for the project's folder: that itself, or a copy.
    ///
    /// Errors: the text names the project's folder by its whole path, so that it would leave the copy.
    pub fn in_folder(&self, project: &Path) -> Result<(Start, PathBuf), String> {
        let start = match &self.start {
            Start::Words(words) => {
                let names: Vec<String> = self.project.names.iter().chain(&self.project.alias).cloned().collect();
                Start::Words(words.iter().map(|word| folder::moved(word, &names, project).into_owned()).collect())
            }
            Start::Shell(text) if project != self.project.path && names_any(text, &self.project.names) => {
                return Err("it names the project's folder by its whole path, and would leave the copy".to_owned());
            }
            Start::Shell(text) => Start::Shell(text.clone()),
        };
        Ok((start, project.join(&self.below)))
    }

    /// Whether it is started without a shell.
    pub const fn is_plain(&self) -> bool {
        matches!(self.start, Start::Words(_))
    }
}

/// The variables that a command of a note is given: those of a short list, and `more`, which the user's configuration
/// names.
pub fn variables(more: &[String], env: &Env) -> Vec<(String, String)> {
    let names = known().passed.iter().chain(more);
    let value = |name: &String| {
        let value = env.var(name)?;
        let value = if name == "PATH" { program::whole_folders(value) } else { value.to_owned() };
        Some((name.clone(), value))
    };
    names.filter_map(value).collect()
}

/// `[run] allow` of the user's configuration.
#[derive(Clone, Debug, Default)]
pub struct ConsentRules {
    allow: Vec<Pattern>,
}

impl ConsentRules {
    /// Of these patterns; those that are no plain command allow nothing, and what is wrong with each. Those of a vault
    /// have no say.
    pub fn new(allow: &[String]) -> (Self, Vec<String>) {
        let (mut rules, mut faults) = (Self::default(), Vec::new());
        for text in allow {
            match Pattern::read(text) {
                Ok(pattern) => rules.allow.push(pattern),
                Err(why) => faults.push(format!("[run] allow: `{}` allows nothing: {why}", text.escape_debug())),
            }
        }
        (rules, faults)
    }

    /// Who has to agree before a text of a note runs in the folder of its project.
    pub fn decide(&self, text: &str, project: &RunFolder) -> Consent {
        if project.is_too_wide {
            return Consent::ByHand("its folder is the home folder or one above it, and no project".to_owned());
        }
        match self.read(text, CommandFolder::new(project), 0) {
            Err(why) => Consent::ByHand(why.into_owned()),
            Ok((start, below, is_allowed)) => {
                let command = NoteCommand { start, below: below.iter().collect(), project: project.clone() };
                if is_allowed && project.is_known { Consent::Allowed(command) } else { Consent::Ask(command) }
            }
        }
    }

    /// What is started, the folder below the project's, and whether the rules allow it; why it is by hand.
    fn read(&self, text: &str, mut folder: CommandFolder<'_>, depth: usize) -> Result<(Start, Vec<String>, bool), Why> {
        // Bytes of the longest command that is looked at.
        if text.len() > (64 << 10) {
            return Err("too long to be looked at".into());
        }
        let commands = reader::read(text)?;
        let mut rest = commands.as_slice();
        // `cd api && cargo test`: where it starts, and what.
        if let [first, second, ..] = rest
            && first.is_plain_but_for_tilde()
            && second.joint == Some(Joint::And)
            && let ["cd", to] = first.texts().as_slice()
        {
            if !folder.enter(to) {
                return Err("it leaves the folder of the project".into());
            }
            rest = &rest[1..];
        }
        if let [only] = rest
            && let Some(inner) = shell_text(only)
        {
            if depth >= MOST_SHELLS {
                return Err("it is not understood".into());
            }
            return self.read(inner, folder, depth + 1);
        }
        let mut inside = folder.clone();
        let mut is_named = true;
        for command in rest {
            is_named &= self.check(command, &mut inside, depth)?;
        }
        if let [command] = rest
            && command.is_plain()
        {
            let words = command.words.iter().map(|word| word.text.clone()).collect();
            // A note may have brought the folder along, with its own `package.json`.
            let is_allowed = is_named && folder.below.is_empty();
            return Ok((Start::Words(words), folder.below, is_allowed));
        }
        let start = rest.first().map_or(0, |first| first.start);
        let text = text.get(start..).unwrap_or_default().trim();
        if folder.alias().is_some_and(|alias| names_any(text, std::slice::from_ref(alias))) {
            return Err("it names the folder that the project has elsewhere".into());
        }
        Ok((Start::Shell(text.to_owned()), folder.below, false))
    }

    /// Whether a pattern names a command; why it is by hand.
    fn check(&self, command: &ReadCommand, folder: &mut CommandFolder<'_>, depth: usize) -> Result<bool, Why> {
        if let Some(word) = command.assignments.iter().find(|word| !is_plain_assignment(word)) {
            return Err(format!("it sets {}", name_of(&word.text)).into());
        }
        let mut writes = false;
        for redirection in &command.redirections {
            let target = &redirection.target;
            if target.has_glob {
                return Err("it names files by a pattern".into());
            }
            let is_device = is_device(&target.text);
            if redirection.is_write && is_own_of_git(&target.text) {
                return Err("it changes git's own files".into());
            }
            if !is_device && !folder.holds(&target.text) {
                return Err(format!("{} is outside of the project", target.text).into());
            }
            writes |= redirection.is_write && !is_device;
        }
        let words = command.texts();
        let Some(first) = command.words.first() else { return Ok(false) };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-/".contains(&byte);
        if !first.is_bare() || !first.is_plain() || first.text.starts_with('-') || !first.text.bytes().all(is_name) {
            return Err("the name of a program is not plain text".into());
        }
        let of_shell = |list: &[String]| list.contains(&first.text);
        if of_shell(&known().builtins) {
            return Err(format!("`{}` changes what the commands behind it do", first.text).into());
        }
        if of_shell(&known().keywords) {
            return Err(format!("it is not understood: `{}` is a word of the shell", first.text).into());
        }
        if matches!(words[0], "cd" | "pushd" | "popd") {
            let is_inside =
                words[0] == "cd" && words.len() == 2 && !command.words[1].has_glob && folder.enter(words[1]);
            return if is_inside { Ok(false) } else { Err("it leaves the folder of the project".into()) };
        }
        if let Some(inner) = shell_text(command) {
            if depth >= MOST_SHELLS {
                return Err("it is not understood".into());
            }
            self.read(inner, folder.clone(), depth + 1)?;
            return Ok(false);
        }
        options(command, &words)?;
        let class = class(&words, writes)?;
        paths(command, class, folder)?;
        let is_named = !writes && self.allow.iter().any(|pattern| pattern.allows(&words));
        match class {
            Class::Look | Class::GitLook | Class::Check | Class::Change => Ok(is_named),
            Class::Run if is_named => Ok(true),
            Class::Run => Err("it runs a program of which nothing more is known; `[run] allow` can name it".into()),
            class => Err(format!("class {}", class.name()).into()),
        }
    }
}

/// Whether a word of a text, or a file that it names, begins with one of these names of a folder.
fn names_any(text: &str, names: &[String]) -> bool {
    let commands = reader::read(text).unwrap_or_default();
    let words = |it: &ReadCommand| {
        let targets = it.redirections.iter().map(|redirection| &redirection.target);
        it.words.iter().chain(targets).any(|word| names.iter().any(|name| word.text.contains(name.as_str())))
    };
    commands.iter().any(words)
}

/// The class of a simple command. What it runs by way of another program is taken for what it is only behind a program
/// that changes nothing about it.
fn class(words: &[&str], writes: bool) -> Result<Class, Why> {
    let text = reader::quoted(words);
    let action = Action::of("Bash", &text);
    let [command] = action.commands.as_slice() else { return Err("it is not understood".into()) };
    if !action.complete {
        return Err("it is not understood".into());
    }
    let is_itself = command.words.first().is_some_and(|word| *word == words[0]);
    if !is_itself && !known().wrappers.iter().any(|name| *name == words[0]) {
        return Err(format!("`{}` runs another program", words[0]).into());
    }
    let inner = command.words.first().map_or("", |word| word.as_ref());
    let is_inner_of = |list: &[String]| list.iter().any(|name| *name == inner);
    if is_inner_of(&known().builtins) {
        return Err(format!("`{inner}` changes what the commands behind it do").into());
    }
    if !is_itself && (is_inner_of(&known().shells) || is_inner_of(&known().keywords)) {
        return Err("it is not understood".into());
    }
    // A program of the repository may have any name.
    let is_path = words[0].contains('/') || inner.contains('/');
    if known().machine.iter().any(|name| *name == inner || *name == words[0] || *name == command.program) {
        return Err(format!("`{inner}` changes the machine and not the project").into());
    }
    if !script::is_harmless(&command.words) {
        return Err(format!("`{inner}` is given a text that may do anything").into());
    }
    let changes = known().changes.iter().any(|name| *name == command.program);
    match command.class {
        Class::Look | Class::GitLook | Class::Check | Class::Change if is_path => Ok(Class::Run),
        Class::Change if !changes => Ok(Class::Run),
        Class::Look if writes => Ok(Class::Change),
        class => Ok(class),
    }
}

/// `sh -c TEXT`: the text.
fn shell_text(command: &ReadCommand) -> Option<&str> {
    let [shell, option, text] = command.words.as_slice() else { return None };
    let is_shell = shell.is_bare() && known().shells.contains(&shell.text);
    let is_option = matches!(&*option.text, "-c" | "-ec" | "-lc" | "-euc");
    (command.is_plain() && is_shell && is_option).then_some(&*text.text)
}

/// Refuses options whose value is a program or a file that is written, and those that follow links out of the project.
fn options(command: &ReadCommand, words: &[&str]) -> Result<(), Why> {
    let own: Vec<&String> =
        words.iter().filter_map(|program| known().program_options.get(*program)).flatten().collect();
    // Programs take `--compress-prog` for `--compress-program`.
    let is_named = |name: &str, option: &str| {
        name == option || (name.len() > 2 && name.starts_with("--") && option.starts_with(name))
    };
    let is_own = |word: &str| {
        own.iter().any(|option| match option.strip_prefix('-').filter(|letter| letter.len() == 1) {
            // Among others: `-rnR`.
            Some(letter) => word.starts_with('-') && !word.starts_with("--") && word.contains(letter),
            None => word.split('=').next().is_some_and(|name| is_named(name, option)),
        })
    };
    let is_git = words.first() == Some(&"git");
    let is_before =
        |word: &&&str| word.starts_with('-') && !matches!(**word, "--no-pager" | "-P" | "--version" | "--help");
    if let Some(option) = words.get(1).filter(|_| is_git).filter(is_before) {
        return Err(format!("`git {option}` may name another repository, with programs of its own").into());
    }
    for (at, word) in words.iter().enumerate().skip(1) {
        let name = word.split('=').next().unwrap_or(word);
        if known().options.iter().any(|option| is_named(name, option)) || is_own(word) {
            return Err(format!("`{name}` may run another program, write a file or follow links").into());
        }
        let is_variable = word.contains('=') && !word.starts_with('-') && name.bytes().all(is_variable_byte);
        let is_setter = |word: &&str| matches!(*word, "make" | "gmake" | "env" | "just");
        let sets = is_variable && words[..at].iter().any(is_setter);
        if sets && !command.words.get(at).is_some_and(is_plain_assignment) {
            return Err(format!("it sets {name}").into());
        }
    }
    Ok(())
}

/// Refuses what names something outside of the project, by its name or by a link; of commands that change something also
/// what is not written out.
fn paths(command: &ReadCommand, class: Class, folder: &CommandFolder<'_>) -> Result<(), Why> {
    for word in command.words.iter().skip(1) {
        if word.has_glob && class != Class::Look {
            return Err("it names files by a pattern".into());
        }
        let text = &*word.text;
        if is_own_of_git(text) {
            return Err("it names git's own files".into());
        }
        let value = text.strip_prefix('-').map_or(text, |rest| rest.split_once('=').map_or("", |(_, value)| value));
        if value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..") || text.contains("/../") {
            let is_inside = is_device(value) || folder.holds(value) || is_pattern_of_search(command, value);
            if !is_inside {
                return Err(format!("{value} is outside of the project").into());
            }
        }
        // Short options with the value of the last behind them.
        let letters = text.strip_prefix('-').unwrap_or_default();
        let mut glued = letters.char_indices().skip(1).map(|(at, _)| &letters[at..]);
        let is_outside = |value: &&str| {
            (value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..")) && !folder.holds(value)
        };
        if glued.clone().take(MOST_LETTERS).any(|value| is_outside(&value)) {
            return Err(format!("{text} is outside of the project").into());
        }
        let glued = glued.by_ref().take(MOST_LETTERS);
        let mut parts = text.split(['=', ',', ':', '@']).chain([text]).chain(glued).filter(|part| !is_device(part));
        if let Some(part) = parts.find(|part| folder.leads_out(part)) {
            return Err(format!("{part} leads out of the project").into());
        }
    }
    Ok(())
}

fn is_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr")
}

/// Whether a path leads into git's own folder, where hooks and settings stand.
fn is_own_of_git(path: &str) -> bool {
    path.split(['/', '=']).any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Whether a word of `sed` or `awk` is a pattern, `/start/,/end/p`, and no path.
fn is_pattern_of_search(command: &ReadCommand, value: &str) -> bool {
    let program = command.words.first().map_or("", |word| &*word.text);
    matches!(program, "sed" | "awk") && value.starts_with('/') && value.matches('/').count() >= 2 && {
        let first_plain = command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
        first_plain.is_some_and(|word| word.text == value)
    }
}

/// `CI=1`: a variable that changes what no program does, with a plain value.
fn is_plain_assignment(word: &reader::ReadWord) -> bool {
    let name = name_of(&word.text);
    word.is_plain() && known().variables.iter().any(|known| *known == name)
}

fn name_of(text: &str) -> &str {
    text.split(['=', '+']).next().unwrap_or(text)
}

const fn is_variable_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
