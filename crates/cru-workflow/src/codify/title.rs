//! Titles: short, whole, and made from a person's words ([`super::request`]) or from what was done.

use super::deed::Deed;
use super::kind::{self, Kind};
use super::phrase::DANGLING;
use super::{core, shell};
use cru_base::text::slug;
use cru_session::words::shorten::without_queries;

/// Characters of a title at most.
pub(super) const MAX_TITLE: usize = 64;

/// Cut to a title: at a clause where it is too long, no final stop, first letter upper case.
pub(super) fn title(text: &str) -> String {
    let text = without_queries(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = cut(&text, MAX_TITLE);
    let cut = without_dangling(cut.trim_end_matches(['.', ',', ':', ';', '!', '?', ' ', '…', '-', '–', '—']));
    capitalise(cut.trim_end_matches([',', ':', ';', ' ']))
}

/// At most `max` characters of whole sentences, with `…` where something was left out; where a sentence alone is longer,
/// cut as [`cut`] does.
pub(super) fn cut_at_sentence(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max.saturating_sub(2)).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    let sentence = [". ", "? ", "! ", "。", "？", "！"]
        .iter()
        .filter_map(|mark| Some(head.rfind(mark)? + mark.trim_end().len()))
        .max();
    if let Some(at) = sentence.filter(|&at| head[..at].chars().count() * 5 >= max * 2) {
        return format!("{} …", &head[..at]);
    }
    let cut = cut(text, max);
    if cut.ends_with('…') { cut } else { format!("{cut} …") }
}

/// At most `max` characters, cut where a clause ends, else at a word; no dangling words at the end.
pub(super) fn cut(text: &str, max: usize) -> String {
    const CLAUSES: &[&str] = &[
        ". ",
        "? ",
        "! ",
        "; ",
        ": ",
        " - ",
        " — ",
        ", ",
        " so that ",
        " because ",
        " in order to ",
        " which ",
        " (",
        " such that ",
        " when ",
        " while ",
        " as well as ",
    ];
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    // The last one that leaves enough.
    let mut starts = head.rmatch_indices([' ', '.', '?', '!', ';', ':', ',']).map(|(at, _)| at);
    let clause = starts
        .find(|&at| CLAUSES.iter().any(|mark| head[at..].starts_with(mark)))
        .filter(|&at| head[..at].chars().count() * 5 >= max * 2);
    if let Some(at) = clause {
        return balanced(&without_dangling(&head[..at])).to_owned();
    }
    let at = head.rfind(' ').unwrap_or(end);
    let cut = without_dangling(&head[..at]);
    format!("{}…", balanced(&cut).trim_end_matches([',', ';', ':']))
}

/// Without words at the end that lead to something.
fn without_dangling(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    while words.len() > 2 && words.last().is_some_and(|word| DANGLING.contains(&word.to_lowercase().as_str())) {
        words.pop();
    }
    words.join(" ")
}

/// Without an opened bracket, quote or code span at its end that the cut left open.
fn balanced(text: &str) -> &str {
    let open = |mark: char| text.matches(mark).count() % 2 == 1;
    let mut end = text.len();
    for mark in ['`', '"'] {
        if open(mark) {
            end = end.min(text.rfind(mark).unwrap_or(end));
        }
    }
    if text.matches('(').count() > text.matches(')').count() {
        end = end.min(text.rfind('(').unwrap_or(end));
    }
    let kept = text[..end].trim_end();
    if kept.chars().count() > 8 { kept } else { text }
}

pub(super) fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    let first_word = text.split_whitespace().next().unwrap_or("");
    match chars.next() {
        // A name of a file or function stays as it is.
        Some(first) if !first_word.contains(['.', '_', '/', '(', '`']) => {
            first.to_uppercase().collect::<String>() + chars.as_str()
        }
        _ => text.to_owned(),
    }
}

/// Long paths and addresses cut to their last parts.
pub(super) fn shorten_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(' ') {
        if !out.is_empty() {
            out.push(' ');
        }
        if !word.contains(['/', '.']) {
            out.push_str(word);
            continue;
        }
        let bare = word.trim_start_matches(['@', '(', '"', '\'', '`', '[']);
        let lead = &word[..word.len() - bare.len()];
        let path = bare.split("://").last().unwrap_or(bare);
        if path.len() > 28 && path.matches('/').count() >= 2 {
            let parts: Vec<&str> = path.trim_end_matches('/').rsplit('/').take(2).collect();
            let keep = if bare.contains("://") { 2 } else { 1 };
            let tail: Vec<&str> = parts.into_iter().take(keep).rev().collect();
            out.push_str(lead.trim_start_matches('@'));
            out.push_str(&tail.join("/"));
        } else {
            out.push_str(lead.trim_start_matches('@'));
            out.push_str(bare);
        }
    }
    out
}

/// Two to four words of a title as a name: `token-store`.
pub(super) fn short_name(title: &str) -> String {
    let told = |word: &&str| !DANGLING.contains(&word.to_lowercase().as_str());
    slug(&title.split(' ').filter(told).collect::<Vec<_>>().join(" "), 4)
}

/// A title from what was done: a commit's message, else files and commands. `None` where nothing tells.
pub(super) fn from_deeds(deeds: &[Deed<'_>]) -> Option<String> {
    commit(deeds).or_else(|| from_files(deeds)).or_else(|| from_commands(deeds))
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
        (text.split_whitespace().count() >= 2).then(|| title(text))
    })
}

fn is_conventional(prefix: &str) -> bool {
    let word = prefix.split(['(', '!']).next().unwrap_or("");
    (2..=12).contains(&word.len()) && word.chars().all(|c| c.is_ascii_lowercase())
}

/// The last part of a path of any system.
pub(super) fn file_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or("")
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
    let verb = if best.kind == Kind::Check { "Check with" } else { "Run" };
    Some(cru_base::text::truncate(&format!("{verb} {}", words.join(" ")), MAX_TITLE).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn cuts_leave_no_loose_ends() {
        assert_eq!(cut("one two three four (five six seven", 24), "one two three four");
        assert_eq!(cut("look at the whole of the garden", 20), "look at the whole…");
    }
}
