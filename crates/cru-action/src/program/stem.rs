//! What a script does, by the words of its name.

use super::{Effect, TABLE, name};
use crate::class::Class;

/// Scripts that a runner is asked for: what they do together. `None` where no name says it.
pub(super) fn of_names(names: &[&str], options: &[(&str, &str)]) -> Option<Effect> {
    // `make VAR=value target`
    let mut effects = names.iter().take(8).filter(|name| is_plain(name)).map_while(|name| of_name(name));
    let first = effects.next()?;
    let effect = effects.fold(first, |strongest, next| if next.class > strongest.class { next } else { strongest });
    let writes = options.iter().any(|(option, _)| matches!(*option, "--fix" | "--write" | "-w"));
    if writes && effect.class == Class::Check {
        return Some(Effect::of(Class::Change));
    }
    Some(effect)
}

/// Whether a word can be the name of a script.
pub(super) fn is_plain(word: &str) -> bool {
    !word.is_empty() && !word.contains(['=', '$', ' ', '\n', '"', '*'])
}

/// What a script of this name does.
pub(super) fn of_name(name: &str) -> Option<Effect> {
    if name.len() > 120 {
        return None;
    }
    let mut best: Option<(usize, Effect)> = None;
    let (mut formats, mut checks) = (false, false);
    for word in words(name) {
        let lower = word.to_ascii_lowercase();
        formats |= matches!(lower.as_str(), "format" | "fmt" | "formatting" | "prettier" | "spotless");
        checks |= matches!(lower.as_str(), "check" | "verify" | "ci" | "diff" | "dry");
        if let Some(found) = TABLE.stems.get(lower.as_str())
            && best.is_none_or(|(at, _)| found.0 < at)
        {
            best = Some(*found);
        }
    }
    let (_, effect) = best?;
    // To format changes files, unless it is only checked.
    if formats && effect == Effect::named("format") && !checks {
        return Some(Effect::of(Class::Change));
    }
    Some(effect)
}

/// The words of a name.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric()).flat_map(|part| {
        let mut cuts: Vec<usize> = vec![0];
        let bytes = part.as_bytes();
        cuts.extend(
            (1..bytes.len()).filter(|&at| bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase()),
        );
        cuts.push(part.len());
        cuts.windows(2).filter_map(|pair| part.get(pair[0]..pair[1])).collect::<Vec<_>>()
    })
}

/// A program that is run by its path: what its name says where it is a script, else only that it is run.
pub(super) fn of_path(path: &str) -> Option<Effect> {
    const ENDINGS: &[&str] = &["sh", "bash", "zsh", "ps1", "bat", "cmd", "fish"];
    const FOLDERS: &[&str] = &["scripts", "script", "bin", "ci", "hack", "tools", "dev"];
    let file = name::program_name(path);
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    let script = ending.is_some_and(|ending| ENDINGS.contains(&ending));
    let by_path = path.contains(['/', '\\']) && !path.starts_with('@') && !path.starts_with('$');
    if !by_path && !script {
        return None;
    }
    let folder = path.rsplit(['/', '\\']).nth(1).unwrap_or("");
    let named = script || (ending.is_none() && FOLDERS.contains(&folder));
    let stem = if script { file.rsplit_once('.').map_or(file, |(stem, _)| stem) } else { file };
    let effect = if named { of_name(stem).filter(|effect| effect.class == Class::Check) } else { None };
    let effect = effect.map(|effect| Effect { by_file: true, ..effect });
    Some(effect.or_else(|| of_test_file(path)).unwrap_or(Effect::of(Class::Run)))
}

/// A file of tests that an interpreter runs: `test_x.py`, `x_test.py`, `x.test.js`, `x.spec.ts`.
pub(super) fn of_test_file(path: &str) -> Option<Effect> {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (stem, ending) = file.rsplit_once('.')?;
    let program = matches!(ending, "py" | "js" | "mjs" | "cjs" | "ts" | "mts" | "rb" | "php" | "lua" | "pl" | "t");
    let tests = stem.starts_with("test_")
        || ["_test", ".test", ".spec", "_spec", "-test"].iter().any(|end| stem.ends_with(end))
        || matches!(stem, "test" | "tests" | "runtests" | "run_tests");
    (program && tests).then(|| Effect { by_file: true, ..Effect::named("test") })
}
