//! What kind of deed a command is: it looks, runs, changes or proves something.
//!
//! A table says what well-known programs do; anything it does not know counts as run.

use std::collections::HashMap;
use std::sync::LazyLock;

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

/// Kind and words of a row of the table.
type Entry = (Kind, Vec<&'static str>);

/// Entries of the table by their first word; those with an open one stand under nothing.
static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<Entry>>> = LazyLock::new(|| {
    let mut entries: HashMap<&str, Vec<Entry>> = HashMap::new();
    for (kind, patterns) in PROGRAMS {
        for pattern in *patterns {
            let first = pattern.split(' ').next().unwrap_or("");
            let first = if first.ends_with('*') { "" } else { first };
            entries.entry(first).or_default().push((*kind, pattern.split(' ').collect()));
        }
    }
    entries
});

/// How many of the first words the table knows, and the kind it says.
pub(super) fn known(words: &[&str]) -> Option<(usize, Kind)> {
    let mut best: Option<(usize, Kind)> = None;
    let entries = |first: &str| BY_PROGRAM.get(first).map_or(&[][..], Vec::as_slice);
    for (kind, pattern) in entries(words.first().copied().unwrap_or("")).iter().chain(entries("")) {
        let len = fit(pattern, words);
        if len > 0 && best.is_none_or(|(other, _)| len > other) {
            best = Some((len, *kind));
        }
    }
    best
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

/// Number of words of `pattern` that fit, 0 if it does not.
fn fit(pattern: &[&str], words: &[&str]) -> usize {
    let mut count = 0;
    for part in pattern {
        let Some(word) = words.get(count) else { return 0 };
        let fits = match part.strip_suffix('*') {
            Some(open) => word.starts_with(open),
            None => word == part,
        };
        if !fits {
            return 0;
        }
        count += 1;
    }
    count
}

/// Whether it redirects its output into a file that is more than scratch.
fn writes_file(simple: &str) -> bool {
    let bytes = simple.as_bytes();
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
    PLACES.iter().any(|place| path.starts_with(place)) || PARTS.iter().any(|part| path.contains(part))
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
