//! Commands that run another: `sudo`, `npx`, `uv run`, `bash -c`.

use std::borrow::Cow;

use super::{Program, classify, find, program_name};
use crate::shell::Dialect;

/// What a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// The words from this index on are a command.
    Words(usize),
    /// A text of a shell: the word at this index, or, with `joined`, that word and all behind it.
    Script { at: usize, joined: bool, dialect: Dialect },
}

/// What the command runs, where it only runs another.
pub(crate) fn unwrap(words: &[Cow<'_, str>]) -> Option<Inner> {
    let first = words.first()?;
    let Some((program, _)) = find(first, program_name(first)) else {
        return runs_known(words.get(1..)?).then_some(Inner::Words(1));
    };
    let row = program.row;
    if row.script_args && words.len() > 1 {
        return Some(Inner::Script { at: 1, joined: true, dialect: Dialect::Posix });
    }
    if let Some(options) = &row.script_option
        && let Some(at) = behind_option(program, words, options, false)
    {
        let dialect = match row.dialect.as_str() {
            "powershell" => Dialect::PowerShell,
            "cmd" => Dialect::Cmd,
            _ => Dialect::Posix,
        };
        return Some(Inner::Script { at, joined: dialect != Dialect::Posix, dialect });
    }
    let option = |options: &Option<String>, anywhere| {
        behind_option(program, words, options.as_deref()?, anywhere).map(Inner::Words)
    };
    option(&row.command_option, false)
        .or_else(|| option(&row.command_any_option, true))
        .or_else(|| program.rules().wraps.iter().find_map(|head| behind_head(program, words, head)).map(Inner::Words))
}

/// Whether the words behind a program without a row are a command: a known program, by its bare name, with one of the verbs
/// it is known by. A program that is given `git commit -m …` runs that.
fn runs_known(words: &[Cow<'_, str>]) -> bool {
    let is_name = words.first().is_some_and(|word| !word.contains(['/', '\\', '.', '=']) && !word.starts_with('-'));
    let has_verb = || {
        let known = classify(words);
        known.listed && !known.verb.is_empty()
    };
    is_name && words.len() > 1 && has_verb()
}

/// The word behind one of `options`, which stands before the first plain word unless `anywhere`.
fn behind_option(program: &Program, words: &[Cow<'_, str>], options: &str, anywhere: bool) -> Option<usize> {
    let takes = &program.rules().takes;
    let mut at = 1;
    while let Some(word) = words.get(at).map(AsRef::as_ref) {
        let found = options.split_ascii_whitespace().any(|option| match option.strip_prefix("-[") {
            Some(letters) => word.strip_prefix('-').is_some_and(|rest| {
                !rest.starts_with('-')
                    && rest.bytes().all(|it| it.is_ascii_alphabetic())
                    && rest.contains(&letters[..1])
            }),
            None => option == word,
        });
        if found {
            return words.get(at + 1).map(|_| at + 1);
        }
        if takes.contains(&word) {
            at += 1;
        } else if !anywhere && !word.starts_with(['-', '+', '/']) {
            return None;
        }
        at += 1;
    }
    None
}

/// The command behind the words `head` and the options around them.
fn behind_head(program: &Program, words: &[Cow<'_, str>], head: &[&str]) -> Option<usize> {
    let takes = &program.rules().takes;
    let mut at = 1;
    let mut stays = false;
    let mut options = |at: &mut usize| {
        while let Some(word) = words.get(*at).map(AsRef::as_ref) {
            stays |= program.row.stays.split_ascii_whitespace().any(|option| option == word);
            if word.len() > 1 && word.starts_with('-') && word != "--" {
                *at += 1 + usize::from(takes.contains(&word));
            } else if is_assignment(word) {
                *at += 1;
            } else {
                break;
            }
        }
    };
    for wanted in head {
        if *wanted != "--" && !wanted.starts_with('-') {
            options(&mut at);
        }
        let word = words.get(at)?.as_ref();
        let alias =
            program.rules().alias.iter().find(|(short, _)| *short == word && at >= 1).map_or(word, |(_, long)| long);
        if let Some(name) = wanted.strip_prefix('=') {
            return (name == word).then_some(at);
        } else if *wanted == "_" {
            if word == "--" {
                return None;
            }
        } else if *wanted != alias {
            return None;
        }
        at += 1;
    }
    options(&mut at);
    if words.get(at).is_some_and(|word| word == "--") {
        at += 1;
        options(&mut at);
    }
    // `mise exec tool@1 -- cmd`
    if !head.is_empty()
        && let Some(ahead) = words[at.min(words.len())..].iter().take(4).position(|word| word == "--")
        && words[at..at + ahead].iter().all(|word| word.contains('@'))
    {
        at += ahead + 1;
    }
    (at < words.len() && !stays).then_some(at)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
