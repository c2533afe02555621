//! What is known of runners: `data/verdict.toml`, read once.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;

use super::pattern::LinePattern;

/// What a line of an output says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The run failed.
    Failed,
    /// What should run could not be found or started.
    Missing,
    /// The host ended the run, or went on without it.
    Unfinished,
    /// Nothing was run.
    Empty,
    /// All of the run went well.
    Passed,
    /// The first of two lines that say so together; the number names the pair.
    Lead(u16),
    /// The second of them.
    Close(u16),
    /// A part went well.
    Part,
    /// Something is wrong.
    Error,
    /// The host cut the output here.
    Truncated,
    /// A line that says nothing of the run.
    Noise,
}

impl Meaning {
    /// Where a line has several meanings, the lowest is the one that counts.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Failed => 0,
            Self::Missing => 1,
            Self::Unfinished => 2,
            Self::Empty => 3,
            Self::Passed | Self::Lead(_) | Self::Close(_) => 4,
            Self::Part => 5,
            Self::Error => 6,
            Self::Truncated => 7,
            Self::Noise => 8,
        }
    }
}

/// The runner of a line: its place in the table, or none of them in particular.
pub(super) type RunnerIndex = Option<u16>;

/// What a pattern says where a line is of its form.
#[derive(Debug)]
pub(super) struct KnownLine {
    pub(super) pattern: LinePattern,
    pub(super) meaning: Meaning,
    pub(super) runner: RunnerIndex,
}

/// One runner; its fields are the keys of the data file, where they are explained.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the data file")]
pub(super) struct Runner {
    pub(super) runs_others: bool,
    pub(super) alone: bool,
    pub(super) is_silent: bool,
    pub(super) lists: bool,
    pub(super) tail_hides: bool,
    pub(super) loose_exit: bool,
    pub(super) always: Vec<String>,
    idle: Vec<String>,
    keys: Vec<Vec<String>>,
}

/// All runners.
#[derive(Debug)]
pub(super) struct Runners {
    pub(super) table: Vec<Runner>,
    pub(super) lines: Vec<KnownLine>,
    /// Finds the longest literal of each pattern; a literal's index is that of its line.
    pub(super) literals: Option<AhoCorasick>,
    /// The same for lines that tell of a failure alone, and the lines they belong to.
    pub(super) failures: Option<AhoCorasick>,
    pub(super) failure_lines: Vec<u16>,
    /// What switches a check off.
    pub(super) switches_off: Vec<String>,
    /// What keeps a check from looking.
    pub(super) silences: Vec<String>,
    idle: Vec<String>,
    launchers: Vec<(Vec<String>, usize)>,
}

/// The table of this program.
pub(super) static RUNNERS: LazyLock<Runners> = LazyLock::new(|| Runners::read(include_str!("../../data/verdict.toml")));

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct File {
    general: General,
    host: Host,
    runner: Vec<Entry>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct General {
    idle: Vec<String>,
    launchers: Vec<String>,
    failed: Vec<String>,
    error: Vec<String>,
    missing: Vec<String>,
    switches_off: Vec<String>,
    silences: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Host {
    unfinished: Vec<String>,
    truncated: Vec<String>,
    noise: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the data file")]
struct Entry {
    name: String,
    keys: Vec<String>,
    any: bool,
    alone: bool,
    silent: bool,
    lists: bool,
    tail_hides: bool,
    loose_exit: bool,
    passed: Vec<String>,
    part: Vec<String>,
    pairs: Vec<(String, String)>,
    empty: Vec<String>,
    failed: Vec<String>,
    error: Vec<String>,
    always: Vec<String>,
    idle: Vec<String>,
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

impl Runners {
    /// The table of `text`. What is wrong in it is left out; a test proves that nothing is.
    fn read(text: &str) -> Self {
        let file: File = toml::from_str(text).unwrap_or_default();
        let mut lines = Vec::new();
        let mut add = |patterns: &[String], meaning: Meaning, runner: RunnerIndex| {
            let compiled = patterns.iter().filter_map(|text| LinePattern::compile(text));
            lines.extend(compiled.map(|pattern| KnownLine { pattern, meaning, runner }));
        };
        add(&file.general.failed, Meaning::Failed, None);
        add(&file.general.error, Meaning::Error, None);
        add(&file.general.missing, Meaning::Missing, None);
        add(&file.host.unfinished, Meaning::Unfinished, None);
        add(&file.host.truncated, Meaning::Truncated, None);
        add(&file.host.noise, Meaning::Noise, None);
        let mut pairs = 0;
        for (index, entry) in (0_u16..).zip(&file.runner) {
            let runner = Some(index);
            add(&entry.passed, Meaning::Passed, runner);
            add(&entry.part, Meaning::Part, runner);
            add(&entry.empty, Meaning::Empty, runner);
            add(&entry.failed, Meaning::Failed, runner);
            add(&entry.error, Meaning::Error, runner);
            for (lead, close) in &entry.pairs {
                add(std::slice::from_ref(lead), Meaning::Lead(pairs), runner);
                add(std::slice::from_ref(close), Meaning::Close(pairs), runner);
                pairs += 1;
            }
        }
        lines.retain(|line| line.pattern.literal().is_some());
        // The index of a literal is that of its line, so both stay in step.
        let finder = |chosen: &mut dyn Iterator<Item = &KnownLine>| {
            let literals = chosen.filter_map(|line| line.pattern.literal());
            AhoCorasick::builder().match_kind(MatchKind::Standard).build(literals).ok()
        };
        let literals = finder(&mut lines.iter());
        // A short literal stands in too many lines to search for.
        let is_rare = |line: &KnownLine| line.pattern.literal().is_some_and(|literal| literal.len() >= 4);
        let tells = |line: &&KnownLine| line.meaning == Meaning::Failed && is_rare(line);
        let failures = finder(&mut lines.iter().filter(tells));
        let failure_lines = (0_u16..).zip(&lines).filter(|(_, line)| tells(line)).map(|(index, _)| index).collect();
        let runners = file.runner.into_iter().map(|entry| Runner {
            runs_others: entry.any,
            alone: entry.alone,
            is_silent: entry.silent,
            lists: entry.lists,
            tail_hides: entry.tail_hides,
            loose_exit: entry.loose_exit,
            always: entry.always,
            idle: entry.idle,
            keys: entry.keys.iter().map(|key| words(key)).collect(),
        });
        let launchers = file.general.launchers.iter().map(|text| {
            let all = words(text);
            let named: Vec<String> = all.iter().filter(|word| *word != "+").cloned().collect();
            let values = all.len() - named.len();
            (named, values)
        });
        Self {
            table: runners.collect(),
            lines,
            literals,
            failures,
            failure_lines,
            switches_off: file.general.switches_off,
            silences: file.general.silences,
            idle: file.general.idle,
            launchers: launchers.collect(),
        }
    }

    /// The runner that `command` names.
    pub(super) fn of(&self, command: &[&str]) -> RunnerIndex {
        let mut rest = command;
        // Launchers stand before each other; each round takes at least one word.
        loop {
            let key = self.longest_key(rest);
            let launched = self.without_launcher(rest);
            match (key, launched) {
                (Some((_, length)), Some(after)) if rest.len() - after.len() < length => {
                    return key.map(|(index, _)| index);
                }
                (_, Some(after)) => rest = after,
                (key, None) => return key.map(|(index, _)| index),
            }
        }
    }

    fn longest_key(&self, command: &[&str]) -> Option<(u16, usize)> {
        let keys =
            (0_u16..).zip(&self.table).flat_map(|(index, runner)| runner.keys.iter().map(move |key| (index, key)));
        keys.filter(|(_, key)| begins_with(command, key))
            .map(|(index, key)| (index, key.len()))
            .max_by_key(|(_, length)| *length)
    }

    fn without_launcher<'a, 'b>(&self, command: &'b [&'a str]) -> Option<&'b [&'a str]> {
        if command.first().is_some_and(|word| is_assignment(word)) {
            return Some(&command[1..]);
        }
        let fits = |named: &[String]| {
            named.len() <= command.len() && named.iter().zip(command).all(|(word, given)| word == program(given))
        };
        let (named, values) =
            self.launchers.iter().filter(|(named, _)| fits(named)).max_by_key(|(named, _)| named.len())?;
        let mut rest = &command[named.len()..];
        while let Some((first, after)) = rest.split_first() {
            if !first.starts_with('-') && !is_assignment(first) {
                break;
            }
            // The package of an option such as `--with pytest-cov` is no command.
            let takes_value =
                matches!(*first, "--with" | "-p" | "--package" | "--extra" | "--group" | "--python" | "-n" | "-s");
            rest = after.get(usize::from(takes_value)..).unwrap_or(&[]);
        }
        let rest = rest.get(*values..).unwrap_or(&[]);
        (!rest.is_empty()).then_some(rest)
    }

    /// Whether `command` is one that runs nothing, for its options.
    pub(super) fn is_idle(&self, command: &[&str]) -> bool {
        let own = command.split(|word| *word == "--").next().unwrap_or(command);
        let by_runner = self.of(command).and_then(|index| self.table.get(usize::from(index)));
        let is_in = |list: &[String], word: &str| list.iter().any(|idle| idle == word);
        own.iter().any(|word| is_in(&self.idle, word))
            || by_runner.is_some_and(|runner| command.iter().any(|word| is_in(&runner.idle, word)))
    }
}

/// A program without its folder and the endings that name its kind of file.
fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let ends = [".exe", ".cmd", ".bat", ".ps1"];
    ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether `command` has the words of `key` in order, with nothing but options and their values between.
fn begins_with(command: &[&str], key: &[String]) -> bool {
    let Some((first, wanted)) = key.split_first() else { return false };
    let Some((given, mut rest)) = command.split_first() else { return false };
    if program(given) != first && given != first {
        return false;
    }
    for word in wanted {
        let mut after_option = false;
        loop {
            let Some((next, after)) = rest.split_first() else { return false };
            rest = after;
            if next == word {
                break;
            }
            let is_option = next.starts_with('-') || next.starts_with('+');
            if !is_option && !after_option {
                return false;
            }
            after_option = is_option && !next.contains('=') && !next.starts_with('+');
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(command: &str) -> Option<String> {
        let words: Vec<&str> = command.split(' ').collect();
        let file: File = toml::from_str(include_str!("../../data/verdict.toml")).unwrap();
        RUNNERS.of(&words).map(|index| file.runner[usize::from(index)].name.clone())
    }

    #[test]
    fn the_table_is_whole() {
        let file: File = toml::from_str(include_str!("../../data/verdict.toml")).unwrap();
        let mut texts: Vec<&String> = Vec::new();
        texts.extend(file.general.failed.iter().chain(&file.general.error).chain(&file.general.missing));
        texts.extend(file.host.unfinished.iter().chain(&file.host.truncated).chain(&file.host.noise));
        for entry in &file.runner {
            assert!(!entry.name.is_empty() && !entry.keys.is_empty());
            texts.extend(
                entry.passed.iter().chain(&entry.part).chain(&entry.empty).chain(&entry.failed).chain(&entry.error),
            );
            texts.extend(entry.pairs.iter().flat_map(|(lead, close)| [lead, close]));
        }
        for text in &texts {
            let pattern = LinePattern::compile(text);
            assert!(pattern.is_some_and(|pattern| pattern.literal().is_some()), "{text}");
        }
        assert_eq!(RUNNERS.lines.len(), texts.len());
        assert!(RUNNERS.literals.is_some() && RUNNERS.failures.is_some());
        assert_eq!(RUNNERS.table.len(), file.runner.len());
    }

    #[test]
    fn runners_of_commands() {
        let rows: &[(&str, Option<&str>)] = &[
            ("cargo test -p x", Some("cargo test")),
            ("cargo +nightly --locked test", Some("cargo test")),
            ("cargo nextest run", Some("cargo nextest")),
            ("go -C dir test ./...", Some("go test")),
            ("go version", None),
            ("python -m pytest -q", Some("pytest")),
            ("python3 -m unittest", Some("unittest")),
            ("uv run --with pytest-cov pytest", Some("pytest")),
            ("/usr/bin/make -j4", Some("make")),
            ("./gradlew test", Some("gradle")),
            ("npx --yes tsc --noEmit", Some("tsc")),
            ("bun test", Some("bun test")),
            ("bun run test", Some("npm")),
            ("CI=1 npx vitest run", Some("vitest")),
            ("timeout 60 go test ./...", Some("go test")),
            ("gofmt -l .", Some("gofmt")),
            ("gofmt -w .", None),
            ("ruff format --check", Some("ruff format")),
            ("ruff check", Some("ruff")),
            ("npm audit", Some("audit")),
            ("./check.sh", None),
            ("", None),
        ];
        for (command, expected) in rows {
            assert_eq!(name(command).as_deref(), *expected, "{command}");
        }
    }
}
