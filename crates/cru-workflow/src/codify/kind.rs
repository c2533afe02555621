//! What kind of deed a command is: it looks, runs, changes or proves something.
//!
//! A table says what well-known programs do; anything it does not know counts as run.

use std::cmp::Reverse;
use std::sync::LazyLock;

use foldhash::HashMap;
use memchr::memmem;

use super::program::PROGRAMS;
use super::shell::{split, words};

/// What a deed is, least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Only looks, or prepares: `ls`, `git status`, `cd`.
    Look,
    /// Does something the table does not know.
    Run,
    /// Changes something that lasts: `git commit`, `npm install`.
    Change,
    /// Proves something: tests, builds, linters.
    Check,
    /// Changes a file through an editing tool.
    Edit,
}

/// Options with which a download program sends or keeps something.
const SENDING: &[&str] =
    &["-X", "-d", "-F", "-T", "-o", "-O", "--data", "--data-raw", "--request", "--form", "--output"];

/// What a simple command does.
pub(super) fn kind(simple: &str) -> Kind {
    let words = words(simple);
    let Some(program) = words.first() else { return Kind::Look };
    if is_assignment(simple) {
        return Kind::Look;
    }
    if matches!(words.get(1), Some(&("--version" | "version" | "--help" | "-h" | "help")))
        || words.last() == Some(&"--help")
        || simple.starts_with("command -v ")
    {
        return Kind::Look;
    }
    if *program == "rm" && words.iter().skip(1).filter(|word| !word.starts_with('-')).all(|path| is_scratch(path)) {
        return Kind::Look;
    }
    if matches!(*program, "curl" | "wget") && words.iter().any(|word| SENDING.contains(word)) {
        return Kind::Run;
    }
    if words.starts_with(&["gh", "api"]) && (changes_by_api(simple, &words)) {
        return Kind::Change;
    }
    let best = known(&words);
    if let Some((_, Kind::Look)) = best
        && writes_file(simple)
    {
        return Kind::Change;
    }
    // What programs call it when they only show something.
    let shows = || matches!(words.get(1), Some(&("status" | "list" | "ls" | "show" | "logs" | "info" | "whoami")));
    best.map_or_else(|| if shows() { Kind::Look } else { Kind::Run }, |(_, kind)| kind)
}

/// Whether a call of GitHub's API sends something to be kept; a query of GraphQL is sent too.
fn changes_by_api(simple: &str, words: &[&str]) -> bool {
    const SENDING: &[&str] = &["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"];
    if words.contains(&"graphql") {
        return simple.contains("mutation");
    }
    let get = words.windows(2).any(|pair| matches!(pair, ["-X" | "--method", "GET"]));
    !get && words.iter().any(|word| SENDING.contains(word))
}

/// A row of the table: its place there, its kind, and all its words.
type Entry = (usize, Kind, Vec<&'static str>);

/// What the table says of a program.
#[derive(Default)]
struct Program {
    /// By the second word; what has none stands under nothing.
    verbs: HashMap<&'static str, Vec<Entry>>,
    /// Those whose first or second word is open.
    open: Vec<Entry>,
}

/// The table by first words; what begins with an open one stands under nothing.
static BY_PROGRAM: LazyLock<HashMap<&'static str, Program>> = LazyLock::new(|| {
    let mut programs: HashMap<&str, Program> = HashMap::default();
    let rows = PROGRAMS.iter().flat_map(|(kind, patterns)| patterns.iter().map(move |pattern| (*kind, *pattern)));
    for (at, (kind, pattern)) in rows.enumerate() {
        let words: Vec<&str> = pattern.split(' ').collect();
        let open = |at: usize| words.get(at).is_some_and(|word| word.ends_with('*'));
        let first = if open(0) { "" } else { words[0] };
        let program = programs.entry(first).or_default();
        let entries = if open(0) || open(1) {
            &mut program.open
        } else {
            program.verbs.entry(words.get(1).copied().unwrap_or("")).or_default()
        };
        entries.push((at, kind, words));
    }
    programs
});

/// How many of the first words the table knows, and the kind it says: the row that says most, else the first one.
pub(super) fn known(words: &[&str]) -> Option<(usize, Kind)> {
    let (first, rest) = words.split_first()?;
    let verb = rest.first().copied().unwrap_or("");
    let (program, any) = (BY_PROGRAM.get(first), BY_PROGRAM.get(""));
    let named = [verb, ""].map(|verb| program.and_then(|program| program.verbs.get(verb)));
    let open = [program, any].map(|program| program.map(|program| &program.open));
    named
        .into_iter()
        .chain(open)
        .flatten()
        .flatten()
        .filter(|(_, _, pattern)| fits(pattern, words))
        .max_by_key(|(at, _, pattern)| (pattern.len(), Reverse(*at)))
        .map(|(_, kind, pattern)| (pattern.len(), *kind))
}

/// What makes two checks the same kind: program and verb, `cargo test`, `npm run lint`.
pub(super) fn check_key(core: &str) -> String {
    let parts = split(core);
    let telling = parts.iter().rev().find(|part| kind(part.text) == Kind::Check).or(parts.last());
    let words = telling.map(|part| words(part.text)).unwrap_or_default();
    let len = known(&words).map_or(2, |(len, _)| len);
    words.into_iter().take(len).collect::<Vec<_>>().join(" ")
}

/// Whether a simple command only sets a variable: `x=$(…)`, `x="a b"`.
pub(super) fn is_assignment(simple: &str) -> bool {
    let Some((name, value)) = simple.split_once('=') else { return false };
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let whole = |open: &str, close: char| value.starts_with(open) && value.ends_with(close);
    named
        && (value.starts_with('{')
            || whole("$(", ')')
            || whole("\"", '"')
            || whole("'", '\'')
            || !value.contains(char::is_whitespace))
}

/// Whether `pattern` fits the first of `words`.
fn fits(pattern: &[&str], words: &[&str]) -> bool {
    let fits = |(part, word): (&&str, &&str)| match part.strip_suffix('*') {
        Some(open) => word.starts_with(open),
        None => word == part,
    };
    words.len() >= pattern.len() && pattern.iter().zip(words).all(fits)
}

/// Whether it redirects its output into a file that is more than scratch.
fn writes_file(simple: &str) -> bool {
    let bytes = simple.as_bytes();
    if memchr::memchr(b'>', bytes).is_none() {
        return false;
    }
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            None if matches!(byte, b'\'' | b'"') => quote = Some(byte),
            None if byte == b'>' => {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
                let target = simple[at + 1..].trim_start_matches('>').trim_start().trim_start_matches(['"', '\'']);
                let kept = !target.is_empty() && !target.starts_with(['&', '=', '$', '(']) && !is_scratch(target);
                if kept && !matches!(before, Some(b'-' | b'=' | b'2' | b'&' | b'<' | b'>')) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether a path lies where nothing is kept.
pub(super) fn is_scratch(path: &str) -> bool {
    const PLACES: &[&str] = &["/tmp/", "/dev/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/proc/"];
    const PARTS: &[&str] = &["/scratchpad/", "\\AppData\\Local\\Temp\\", "/AppData/Local/Temp/"];
    PLACES.iter().any(|place| path.starts_with(place))
        || PARTS.iter().any(|part| memmem::find(path.as_bytes(), part.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn knows_what_commands_do() {
        for (command, expected) in [
            ("ls -la", Kind::Look),
            ("git -C dir log", Kind::Look),
            ("sudo timeout 60 cargo +nightly test -p auth", Kind::Check),
            ("RUST_LOG=debug cargo run", Kind::Run),
            ("cargo fmt", Kind::Change),
            ("cargo fmt --check", Kind::Check),
            ("npm run test:unit", Kind::Check),
            ("npm run dev", Kind::Run),
            ("sed -n 1,5p x", Kind::Look),
            ("sed -i s/a/b/ x", Kind::Change),
            ("uv run pytest -q", Kind::Check),
            ("./gradlew build", Kind::Check),
            ("echo hi > out.txt", Kind::Change),
            ("grep '=>' x 2>/dev/null", Kind::Look),
            ("grep -o 'a\">[^<]*' x", Kind::Look),
            ("cat > /tmp/notes.md", Kind::Look),
            ("rm -rf /tmp/x", Kind::Look),
            ("rm -rf build", Kind::Change),
            ("gh api repos/a/b/pulls/1/merge -X PUT -f merge_method=squash", Kind::Change),
            ("gh api repos/a/b/pulls --jq .", Kind::Look),
            ("gh api graphql -f query='{ viewer }'", Kind::Look),
            ("go version", Kind::Look),
            ("command -v tool", Kind::Look),
            ("tool status", Kind::Look),
            ("tool push --help", Kind::Look),
            ("tool push", Kind::Run),
            ("./target/debug/tool", Kind::Run),
            ("", Kind::Look),
        ] {
            assert_eq!(kind(command), expected, "{command}");
        }
    }
}
