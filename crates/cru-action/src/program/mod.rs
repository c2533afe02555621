//! What a simple command does, by its program and arguments: the table `data/programs.toml`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use crate::class::{CheckKind, Class};

mod name;
mod row;
mod rule;
mod stem;
mod unwrap;

#[cfg(test)]
mod tests;

pub use name::{is_generated, is_outside, is_prose, is_scratch, program_name};
use row::{FILE, ProgramFile, ProgramRow};
pub(crate) use rule::{Parts, Rule};
pub(crate) use unwrap::{Inner, unwrap};

/// What a row or rule of the table says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) class: Class,
    pub(crate) check: Option<CheckKind>,
    /// Whether nothing is changed anywhere, though other machines may be asked.
    pub(crate) reads_only: bool,
    /// Whether others see what it made.
    pub(crate) publishes: bool,
    /// Whether the name of a file alone says so: what a script does besides is not known.
    pub(crate) by_file: bool,
}

impl Effect {
    const LOOK: Self = Self { class: Class::Look, check: None, reads_only: true, publishes: false, by_file: false };

    const fn of(class: Class) -> Self {
        Self {
            class,
            check: None,
            reads_only: matches!(class, Class::Look | Class::GitLook),
            publishes: false,
            by_file: false,
        }
    }

    const fn checks(kind: CheckKind) -> Self {
        Self { class: Class::Check, check: Some(kind), reads_only: false, publishes: false, by_file: false }
    }

    /// By the name of a class in the table.
    fn named(name: &str) -> Self {
        match name {
            "look" => Self::LOOK,
            "fetch" => Self { reads_only: true, ..Self::of(Class::Network) },
            "test" => Self::checks(CheckKind::Test),
            "build" => Self::checks(CheckKind::Build),
            "lint" => Self::checks(CheckKind::Lint),
            "format" => Self::checks(CheckKind::Format),
            "type" => Self::checks(CheckKind::Type),
            "check" => Self::checks(CheckKind::General),
            "run" => Self::of(Class::Run),
            "change" => Self::of(Class::Change),
            "install" => Self::of(Class::Install),
            "network" => Self::of(Class::Network),
            "publish" => Self { publishes: true, ..Self::of(Class::Network) },
            "git_look" => Self::of(Class::GitLook),
            "git_change" => Self::of(Class::GitChange),
            "publish_git" => Self { publishes: true, ..Self::of(Class::GitChange) },
            "destroy" => Self::of(Class::Destroy),
            _ => Self::default(),
        }
    }
}

/// A program, its texts cut up when it is first asked for.
#[derive(Debug)]
struct Program {
    #[cfg(test)]
    name: &'static str,
    row: &'static ProgramRow,
    rules: OnceLock<Rules>,
}

/// The texts of a row, cut up.
#[derive(Debug, Default)]
struct Rules {
    all: Vec<Rule<'static>>,
    takes: Vec<&'static str>,
    alias: Vec<(&'static str, &'static str)>,
    wraps: Vec<Vec<&'static str>>,
    scripts: Vec<Vec<&'static str>>,
    default: Option<Effect>,
}

/// The table.
struct Table {
    programs: Vec<Program>,
    by_name: HashMap<&'static str, (usize, &'static str)>,
    /// Beginnings of names, for verbs of `PowerShell`.
    by_start: Vec<(&'static str, usize)>,
    stems: HashMap<&'static str, (usize, Effect)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(&FILE));

impl Program {
    fn rules(&self) -> &Rules {
        self.rules.get_or_init(|| Rules::of(self.row))
    }
}

impl Rules {
    fn of(row: &'static ProgramRow) -> Self {
        // In the order in which they win among equals.
        const CLASSES: &[&str] = &[
            "look",
            "fetch",
            "destroy",
            "publish_git",
            "git_change",
            "git_look",
            "publish",
            "install",
            "network",
            "change",
            "test",
            "build",
            "lint",
            "format",
            "type",
            "check",
            "run",
        ];
        let mut rules = Vec::new();
        for class in CLASSES {
            let effect = Effect::named(class);
            let texts = row.rules.get(*class).map_or("", String::as_str).split(',');
            rules.extend(texts.filter(|it| !it.trim().is_empty()).map(|it| Rule::read(it, effect)));
        }
        let lists = |texts: &'static Option<String>| {
            let texts = texts.iter().flat_map(|text| text.split(','));
            texts.map(|it| it.split_ascii_whitespace().collect()).collect()
        };
        Self {
            all: rules,
            takes: row.takes.split_ascii_whitespace().collect(),
            alias: row.alias.split_ascii_whitespace().filter_map(|pair| pair.split_once('=')).collect(),
            wraps: lists(&row.wrap),
            scripts: lists(&row.scripts),
            default: row.default.as_deref().map(Effect::named),
        }
    }
}

impl Table {
    fn new(file: &'static ProgramFile) -> Self {
        let mut programs: Vec<Program> = Vec::with_capacity(file.program.len());
        let mut by_name = HashMap::with_capacity(2048);
        let mut by_start = Vec::new();
        let mut stems = HashMap::new();
        for (at, row) in file.stem.iter().enumerate() {
            let effect = Effect::named(&row.class);
            for word in row.words.split_ascii_whitespace() {
                stems.entry(word).or_insert((at, effect));
            }
        }
        for (name, row) in &file.program {
            let (name, index) = (name.as_str(), programs.len());
            by_name.insert(name, (index, name));
            for other in row.same.split_ascii_whitespace() {
                by_name.insert(other, (index, name));
            }
            for other in row.names.split_ascii_whitespace() {
                match other.strip_suffix('*') {
                    Some(start) => by_start.push((start, index)),
                    None => {
                        by_name.insert(other, (index, other));
                    }
                }
            }
            programs.push(Program {
                #[cfg(test)]
                name,
                row,
                rules: OnceLock::new(),
            });
        }
        Self { programs, by_name, by_start, stems }
    }

    /// The row of a program, and the name under which it is known; `None` for that where its own name is it.
    fn find(&'static self, name: &str) -> Option<(&'static Program, Option<&'static str>)> {
        if let Some(&(index, known)) = self.by_name.get(name) {
            return Some((self.programs.get(index)?, Some(known)));
        }
        let cmdlet = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains('-');
        let (_, index) = self.by_start.iter().find(|(start, _)| cmdlet && name.starts_with(start))?;
        Some((self.programs.get(*index)?, None))
    }
}

/// What the table says of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) effect: Effect,
    /// The program's main name in the table; its own name where it has no row.
    pub(crate) program: Cow<'static, str>,
    /// The words behind the program that name what it does: `test`, `run lint`, `fmt --check`.
    pub(crate) verb: String,
    /// Whether the program has a row.
    pub(crate) listed: bool,
}

/// Whether a program keeps versions of files, or talks with a host of them.
pub(crate) fn keeps_versions(program: &str) -> bool {
    TABLE.find(program).is_some_and(|(program, _)| program.row.versions)
}

/// Options of a program whose value is the next word.
pub(crate) fn takes(first: &str) -> &'static [&'static str] {
    find(first, program_name(first)).map_or(&[], |(program, _)| &program.rules().takes)
}

/// The name of a program as the table has it.
pub(crate) fn main_name(name: &str) -> Option<&'static str> {
    TABLE.find(name)?.1
}

/// Whether the exit status 1 of a command is an answer and no failure. `words` begins with the program, wrappers removed.
pub(crate) fn answers(words: &[Cow<'_, str>]) -> bool {
    let Some((first, args)) = words.split_first() else { return false };
    let Some(texts) = row::FILE.answers.get(program_name(first)) else { return false };
    let none = Rules::default();
    let rules = TABLE.find(program_name(first)).map_or(&none, |(program, _)| program.rules());
    let parts = rule::Parts::read(args, &rules.takes, &rules.alias);
    texts.is_empty() || texts.split(',').any(|text| Rule::read(text, Effect::LOOK).fit(&parts).is_some())
}

/// Whether a program checks sources, or runs scripts of a project: where it changes something, it rewrites sources.
pub(crate) fn may_check(program: &str) -> bool {
    const CHECKS: &[&str] = &["lint", "format", "type", "check", "test"];
    TABLE.find(program).is_some_and(|(program, _)| {
        program.row.scripts.is_some() || CHECKS.iter().any(|class| program.row.rules.contains_key(*class))
    })
}

/// What a command does. `words` begins with the program, wrappers removed.
pub(crate) fn classify(words: &[Cow<'_, str>]) -> Known {
    let Some((first, args)) = words.split_first() else { return Known::default() };
    let name = program_name(first);
    let found = find(first, name);
    let canonical = found.and_then(|(_, canonical)| canonical);
    let program = found.map(|(program, _)| program);
    let known = |effect, verb: String| Known {
        effect,
        program: canonical.map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed),
        verb,
        listed: program.is_some(),
    };
    let Some(program) = program else {
        let effect = if asks_for_help(args) { Effect::LOOK } else { stem::of_path(first).unwrap_or_default() };
        return known(effect, String::new());
    };
    let rules = program.rules();
    let parts = rule::Parts::read(args, &rules.takes, &rules.alias);
    let best = rules.all.iter().filter_map(|rule| Some((rule.fit(&parts)?, rule)));
    let best: Option<((usize, usize), &Rule<'_>)> = best.fold(None, |best, (score, rule)| match best {
        Some((highest, _)) if highest >= score => best,
        _ => Some((score, rule)),
    });
    if asks_for_help(args) {
        return known(Effect::LOOK, String::new());
    }
    // A script of the project has the name that it likes: `npm run test:unit`, `make check`.
    let script = rules.scripts.iter().find(|head| parts.begins_with(head));
    if let Some(head) = script
        && best.is_none_or(|(score, rule)| score.1 == 0 && rule.plain_len() <= head.len())
    {
        let names = &parts.plain[head.len()..];
        let script_key = &program.row.script_key;
        if let Some(effect) = stem::of_names(names, &parts.options) {
            let verb = format!("{script_key} {}", names.first().copied().unwrap_or(""));
            return known(effect, verb.trim().to_owned());
        }
        if best.is_none() {
            let ran = if names.is_empty() { rules.default.unwrap_or_default() } else { Effect::of(Class::Run) };
            let verb = names.first().map_or_else(String::new, |name| format!("{script_key} {name}"));
            return known(ran, verb.trim().to_owned());
        }
    }
    if let Some((_, rule)) = best {
        return known(scratched(program, &parts, rule.effect), rule.verb(&parts));
    }
    let effect = rules.default.unwrap_or_default();
    if program.row.default.as_deref() == Some("run")
        && let Some(tests) = parts.plain.first().and_then(|file| stem::of_test_file(file))
    {
        return known(tests, parts.plain.first().map_or_else(String::new, |file| (*file).to_owned()));
    }
    known(scratched(program, &parts, effect), String::new())
}

/// A command that touches nothing but scratch folders prepares and keeps nothing.
fn scratched(program: &Program, parts: &rule::Parts<'_>, effect: Effect) -> Effect {
    let plain = match program.row.scratch.as_str() {
        "all" => &parts.plain[..],
        "last" => parts.plain.last().map_or(&[][..], std::slice::from_ref),
        _ => return effect,
    };
    if !plain.is_empty() && plain.iter().all(|path| is_scratch(path)) {
        return Effect { reads_only: false, ..Effect::LOOK };
    }
    effect
}

/// Whether the arguments ask a program about itself, as nearly every program understands it.
fn asks_for_help(args: &[Cow<'_, str>]) -> bool {
    match args {
        [] => false,
        [only] if matches!(only.as_ref(), "-h" | "-V" | "help" | "version" | "-version" | "-help") => true,
        [first, .., last] | [first @ last] => {
            matches!(first.as_ref(), "--help" | "--version") || last.as_ref() == "--help"
        }
    }
}

/// The row of a program. One that is run by a path may be another of the same name, unless the path leads to where
/// programs are installed.
fn find(word: &str, name: &str) -> Option<(&'static Program, Option<&'static str>)> {
    let (program, canonical) = TABLE.find(word).or_else(|| TABLE.find(name))?;
    let path = word.contains(['/', '\\']) && !word.starts_with('@');
    (!path || program.row.local || name::is_installed(word)).then_some((program, canonical))
}
