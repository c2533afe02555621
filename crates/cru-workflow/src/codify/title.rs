//! Titles of steps that no words name: from what was done.

use super::deed::Deed;
use super::kind::{self, DeedKind};
use super::{core, shell};
use cru_base::text::{fold_whitespace, slug};
use cru_session::words::list::STOP;
use cru_session::words::shorten::{at_word, file_name, without_queries};

/// Characters of a title at most.
pub(super) const MAX_TITLE: usize = 64;

/// Somebody's own title, shortened at most: on one line, without the mark it ends with.
pub(super) fn given(text: &str) -> String {
    let line = fold_whitespace(&without_queries(text));
    at_word(line.trim_end_matches(['.', ',', ':', ';', '!', ' ']), MAX_TITLE)
}

/// Two to four words of a title as a name: `token-store`.
pub(super) fn short_name(title: &str) -> String {
    let told = |word: &&str| !STOP.has(word);
    slug(&title.split(' ').filter(told).collect::<Vec<_>>().join(" "), 4)
}

/// How many commits were made.
pub(super) fn commits(deeds: &[Deed<'_>]) -> usize {
    let commits =
        |deed: &&Deed<'_>| deed.succeeded() && memchr::memmem::find(deed.core.as_bytes(), b"git commit").is_some();
    deeds.iter().filter(commits).count()
}

/// The message of the last commit or pull request, its conventional prefix off.
pub(super) fn commit(deeds: &[Deed<'_>]) -> Option<String> {
    deeds.iter().rev().filter(|deed| deed.shell && deed.succeeded()).find_map(|deed| {
        let full = deed.command();
        // Nearly every command is of another program.
        if !["git", "gh"].iter().any(|program| memchr::memmem::find(full.as_bytes(), program.as_bytes()).is_some()) {
            return None;
        }
        let (_, message) = shell::split(full).iter().rev().find_map(|part| core::message(part.text))?;
        if message.starts_with("fixup!") || message.starts_with("squash!") {
            return None;
        }
        let text = match message.split_once(": ") {
            Some((prefix, rest)) if is_conventional(prefix) => rest,
            _ => message.as_str(),
        };
        (text.split_whitespace().count() >= 2).then(|| given(text))
    })
}

fn is_conventional(prefix: &str) -> bool {
    let word = prefix.split(['(', '!']).next().unwrap_or("");
    (2..=12).contains(&word.len()) && word.chars().all(|c| c.is_ascii_lowercase())
}

/// A title from the files that were written.
pub(super) fn from_files(deeds: &[Deed<'_>]) -> Option<String> {
    let mut paths: Vec<&str> = Vec::new();
    let mut created = false;
    for deed in deeds.iter().filter(|deed| deed.succeeded()) {
        for path in &deed.writes {
            if !paths.contains(&path.as_ref()) && paths.len() < 200 {
                paths.push(path);
            }
        }
        created |= deed.step.writes.iter().any(|file| file.created);
    }
    let verb = if created { "Write" } else { "Change" };
    match paths.as_slice() {
        [] => None,
        [one] => Some(format!("{verb} {}", file_name(one))),
        [one, two] => Some(format!("{verb} {} and {}", file_name(one), file_name(two))),
        [one, rest @ ..] => Some(format!("{verb} {} and {} other files", file_name(one), rest.len())),
    }
    .map(|text| cru_base::text::truncate(&text, MAX_TITLE).into_owned())
}

/// A title from the most telling command.
pub(super) fn from_commands(deeds: &[Deed<'_>]) -> Option<String> {
    let best = deeds.iter().filter(|deed| deed.tells() && deed.succeeded() && !deed.core.is_empty());
    let best = best.rev().max_by_key(|deed| deed.kind)?;
    // Of several commands in a row the one that does most; setting a variable says nothing.
    let parts = shell::split(&best.core);
    let told =
        parts.iter().filter(|part| !kind::is_assignment(part.text)).rev().max_by_key(|part| kind::kind(part.text));
    let core = told.filter(|_| parts.len() > 1).map_or(best.core.as_str(), |part| part.text);
    let mut words: Vec<&str> =
        core.split_whitespace().map(|word| word.trim_matches(['"', '\''])).filter(|word| !word.is_empty()).collect();
    // What is redirected, and options without their values, tell nothing.
    words.truncate(words.iter().position(|word| word.starts_with(['<', '>'])).unwrap_or(words.len()));
    if matches!(words.first(), None | Some(&("cat" | "tee" | "echo" | "printf"))) {
        return None;
    }
    if words.len() > 1
        && matches!(words[0], "node" | "python" | "python3" | "bash" | "sh" | "ruby")
        && !words[1].starts_with('-')
    {
        words.remove(0);
    }
    let mut words: Vec<&str> =
        words.into_iter().take(4).map(|word| if word.len() > 24 { file_name(word) } else { word }).collect();
    while words.len() > 1 && words.last().is_some_and(|word| word.starts_with('-')) {
        words.pop();
    }
    let verb = if best.kind == DeedKind::Check { "Check with" } else { "Run" };
    Some(cru_base::text::truncate(&format!("{verb} {}", words.join(" ")), MAX_TITLE).into_owned())
}
