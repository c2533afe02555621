//! Names that a person gave and an answer changed without a word: another model, another parameter.
//!
//! Only names that are unlike common words are looked for, and only where one that begins the same stands in their place:
//! what is merely left out may be done elsewhere.

use crate::case::entry::Entry;

/// Letters that two names must share at their beginning.
const SHARED: usize = 5;

/// Names that are looked for: of a long text that is pasted only the first ones are.
const NAMES: usize = 32;

/// Whether the last thing that was written has another name in the place of one that the words give.
pub(crate) fn swaps(words: &str, done: &[Entry]) -> bool {
    let Some(last) = done.iter().rposition(|entry| !entry.changes().is_empty()) else { return false };
    let lines = written(done);
    // Who says that it is another one has not swapped it.
    let said = done[last..].iter().filter_map(Entry::prose).collect::<Vec<_>>().join("\n");
    let given = |name: &str| lines.contains(name) || said.contains(name);
    let other = versions(words).take(NAMES).filter(|name| !given(name)).any(|name| {
        versions(&lines).any(|other| shared(name, other) >= SHARED && other != name && !words.contains(other))
    });
    let last = written(&done[last..=last]);
    let shortened = camels(words).take(NAMES).filter(|name| !last.contains(name) && !said.contains(name)).any(|name| {
        calls(&last).any(|other| {
            other.len() >= SHARED
                && other.len() < name.len()
                && name.starts_with(other)
                && !words.contains(&format!("{other}("))
        })
    });
    other
        || shortened
        || parameters(words)
            .take(NAMES)
            .any(|(name, parameter)| !said.contains(parameter) && renames(&lines, name, parameter))
}

/// All that was written.
fn written(done: &[Entry]) -> String {
    let mut lines = String::new();
    for change in done.iter().flat_map(Entry::changes) {
        for line in change.after() {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

/// Names of several words in one: `closeAllValves`.
fn camels(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_name(c)).filter(|word| {
        word.len() >= 8
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.contains(|c: char| c.is_ascii_uppercase())
    })
}

/// The names of what is called in a text.
fn calls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('(').map(|(at, _)| text[..at].rsplit(|c: char| !is_name(c)).next().unwrap_or_default())
}

/// Names with numbers and dashes in them, as models and releases have.
fn versions(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/' | ':')));
    words.map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric())).filter(|word| {
        word.len() >= 8
            && !word.contains(['/', ':', '_'])
            && word.contains('-')
            && word.contains(|c: char| c.is_ascii_digit())
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().filter(char::is_ascii_alphabetic).count() >= SHARED
    })
}

fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// Functions that are given with a typed parameter: `name(parameter: type)`.
fn parameters(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('(').filter_map(|(at, _)| {
        let name = text[..at].rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        let (parameter, rest) = first_name(&text[at + 1..]);
        (name.len() >= SHARED && !parameter.is_empty() && rest.trim_start().starts_with(':'))
            .then_some((name, parameter))
    })
}

/// Whether a text has the function with other parameters only.
fn renames(text: &str, name: &str, parameter: &str) -> bool {
    /// Between the name and what it takes there may be marks: `name?: (`.
    const MARKS: usize = 4;
    let mut other = false;
    for (at, _) in text.match_indices(name) {
        let rest = &text[at + name.len()..];
        let marks = rest.chars().take_while(|c| matches!(c, '?' | ':' | ' ' | '=' | '(')).count();
        if marks == 0 || marks > MARKS || !rest[..marks].ends_with('(') {
            continue;
        }
        let (taken, after) = first_name(&rest[marks..]);
        if taken == parameter {
            return false;
        }
        other |= !taken.is_empty() && after.trim_start().starts_with(':');
    }
    other
}

/// The name that a text begins with, and what follows it.
fn first_name(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(|c: char| !is_name(c)).unwrap_or(text.len()))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Call;
    use crate::case::entry::Told;

    fn swapped(words: &str, wrote: &str, said: &str) -> bool {
        let call = Call::new("Write", json!({ "file_path": "pump.ts", "content": wrote }), Some("done")).unwrap();
        let told = Told::Step {
            call: "`Write pump.ts`".into(),
            result: String::new(),
            failed: false,
            whole: Some(Box::new(call)),
            facts: Box::default(),
        };
        swaps(words, &[Entry { block: None, told }, Entry { block: None, told: Told::Prose(said.into()) }])
    }

    #[test]
    fn another_release() {
        let words = "run it on pumpware-3-fast-preview";
        assert!(swapped(words, "find(\"pumpware-2.5-fast\")", "Done."));
        assert!(!swapped(words, "find(\"pumpware-3-fast-preview\")", "Done."));
        assert!(!swapped(words, "find(\"pumpware-2.5-fast\")", "There is no pumpware-3-fast-preview yet."));
        assert!(!swapped(words, "find(\"hoseware-2.5-fast\")", "Done."));
        assert!(!swapped(words, "find(model)", "Done."));
    }

    #[test]
    fn half_a_name() {
        let words = "use closeAllValves for that";
        assert!(swapped(words, "close();\ncloseAll();", "Done."));
        assert!(!swapped(words, "closeAllValves();\ncloseAll();", "Done."));
        assert!(!swapped(words, "closeAll();", "There is no closeAllValves here."));
        assert!(!swapped(words, "openValves();", "Done."));
    }

    #[test]
    fn another_parameter() {
        let words = "it should take a resolveFlow(pump: string)";
        assert!(swapped(words, "resolveFlow?: (hose: Hose) => number;", "Done."));
        assert!(!swapped(words, "resolveFlow?: (pump: string) => number;", "Done."));
        assert!(!swapped(words, "resolveFlow?: (hose: Hose) => number;", "It takes the hose, not the pump."));
        assert!(!swapped(words, "const flow = resolveFlow(hose);", "Done."));
    }
}
