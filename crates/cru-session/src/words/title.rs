//! A title from a prompt: one sentence of it, without what opens it and says nothing.
//!
//! A title may lose words at its beginning only, never one that denies or counts ([`super::list`]), and its end only
//! where `…` marks it. Markup and paths are shortened. Nothing is turned and nothing is joined.

use std::borrow::Cow;

use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};

use super::list::{ASKING, FILLER, NEGATION, PERSONA, STOP, TASK_HEADING, VAGUE, is_unspaced};
use super::pasted::{is_fence, is_pasted};
use super::sentence::sentences;
use super::shorten::{at_sentence, at_word, path, without_queries};

pub use super::choice::{heading, is_code, name_part, of_commit};

/// Characters a title may have.
pub const MAX: usize = 80;

/// Bytes of a prompt that are looked at: what stands further down was pasted.
pub(super) const SEEN: usize = 8_000;
/// Lines with words that are looked at.
const LINES: usize = 4;

/// A title, and whether it says anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// On one line, at most [`MAX`] characters, never empty.
    pub text: String,
    /// Whether it names something: `Fix it` does not.
    pub tells: bool,
}

impl Title {
    /// The title alone.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// The title that `prompt` gives; `None` when it has no words.
///
/// Of its sentences it is the first that names something.
pub fn of(prompt: &str) -> Option<Title> {
    all_of(prompt).into_iter().next()
}

/// The titles that the sentences of `prompt` give, best first: those that name something, of these the ones that forbid
/// nothing first, in their order.
pub fn all_of(prompt: &str) -> Vec<Title> {
    let prompt = sanitise(&prompt[..floor_char_boundary(prompt, SEEN)]);
    let prompt = without_queries(&prompt);
    let prompt = unwrapped(unmarked(&prompt));
    let lines = lines(below_task(prompt));
    let mut candidates: Vec<Candidate> =
        // Sentences among which any is looked for that says something.
        lines.iter().flat_map(|line| sentences(line)).take(8).map(candidate).collect();
    // Which of several is meant most, no list of verbs can tell.
    candidates.sort_by_key(|it| match (it.tells, it.forbids) {
        (true, false) => 0,
        (true, true) => 1,
        (false, _) => 2,
    });
    let titles = candidates.iter().map(|it| Title { text: polished(it), tells: it.tells });
    titles.filter(|title| !title.text.is_empty()).collect()
}

/// Whether words name something: two words at least that are neither function words nor vague.
pub fn tells(words: &str) -> bool {
    let unspaced = words.chars().filter(|c| is_unspaced(*c)).count();
    unspaced >= 4 || content(words).nth(1).is_some()
}

/// The first sentences of a request on one line of at most `max` characters, without what opens it and says nothing.
/// Empty where there are no words.
pub fn request(prompt: &str, max: usize) -> String {
    let prompt = sanitise(&prompt[..floor_char_boundary(prompt, SEEN)]);
    let prompt = without_queries(&prompt);
    let lines = lines(below_task(unwrapped(unmarked(&prompt))));
    let whole = lines.join(" ");
    let (text, _) = without_filler(&whole);
    at_sentence(&capital(text), max).into_owned()
}

/// A title from a command line: `Command /review src`.
pub fn of_command(words: &str) -> String {
    let line = fold_whitespace(&without_queries(&sanitise(words.lines().next().unwrap_or(""))));
    at_word(&format!("Command {}", if line.is_empty() { "/" } else { &line }), MAX)
}

/// A title from the call of a host's playbook: its name, and the task line that it was given. Without one it names nothing.
pub fn of_playbook(words: &str) -> Option<Title> {
    let (name, task) = words.trim().split_once(char::is_whitespace).unwrap_or((words.trim(), ""));
    let task = of(task).filter(|task| task.tells);
    let name = fold_whitespace(&sanitise(name.trim_start_matches('/')));
    Some(match task {
        Some(task) if !name.is_empty() => Title { text: at_word(&format!("{name}: {}", task.text), MAX), tells: true },
        _ => Title { text: of_command(words), tells: false },
    })
}

/// A title that a host or a person gave, on one line; `None` when it has no words.
pub fn given(text: &str) -> Option<String> {
    const MAX_GIVEN: usize = 120;
    let text = at_word(&fold_whitespace(&without_queries(&sanitise(text))), MAX_GIVEN);
    text.chars().any(char::is_alphanumeric).then_some(text)
}

/// The words that name something, in order. A word that denies or counts names nothing, but it stays.
pub(super) fn content(words: &str) -> impl Iterator<Item = &str> {
    let parts = words.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
    let parts = parts.map(|word| word.trim_matches(['\'', '’'])).filter(|word| !word.is_empty());
    parts.filter(|word| !STOP.has(word) && !VAGUE.has(word))
}

/// A sentence as a title: without its filler.
#[derive(Debug)]
struct Candidate<'a> {
    text: &'a str,
    /// A phrase was taken off that made a question of a request.
    asked: bool,
    /// It begins with a word that denies.
    forbids: bool,
    tells: bool,
}

fn candidate(sentence: &str) -> Candidate<'_> {
    let whole = sentence.trim();
    let (text, asked) = without_filler(whole);
    // What is left of `now test it` says no more than the whole.
    // Characters that filler must leave.
    let short = text.chars().count() < 9 && !text.contains(is_unspaced);
    let (text, asked) = if short { (whole, false) } else { (text, asked) };
    let forbids = NEGATION.at_start(text).is_some();
    Candidate { text, asked, forbids, tells: tells(text) }
}

/// `text` from its first word on that says something, and whether what was taken off made a question of it.
fn without_filler(text: &str) -> (&str, bool) {
    let mut rest = text;
    let mut asked = false;
    loop {
        let asking = ASKING.at_start(rest);
        let Some(length) = asking.max(FILLER.at_start(rest)) else { break };
        let after = rest[length..].trim_start_matches(|c: char| c.is_whitespace() || ",.!;:-–—…，。！、".contains(c));
        // `We should not` says the contrary of `should`; `all right` is no `right`.
        if after.is_empty() || NEGATION.at_start(after).is_some() {
            break;
        }
        asked |= asking == Some(length);
        rest = after;
    }
    (rest, asked)
}

/// Without marks at the end, with a capital, cut.
fn polished(candidate: &Candidate<'_>) -> String {
    let marks = ['.', ',', ':', ';', '。', ' ', '-', '–'];
    let kept = candidate.text.trim().trim_end_matches(marks);
    // `Can you add a test?` asks for a test; what is left of it is no question.
    let kept = if candidate.asked { kept.trim_end_matches(['?', '？']).trim_end_matches(marks) } else { kept };
    at_word(&capital(kept), MAX)
}

/// With a capital first letter, but for words that are spelt otherwise on purpose (`npm`, `snake_case`).
pub(super) fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or("");
    let plain = first.chars().all(|c| c.is_lowercase() || matches!(c, '\'' | '’' | ',' | '-'));
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if plain => c.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// The first lines that say something, without markup; all of them where everything looks pasted. A line that only leads
/// to a heading gives way to the heading.
fn lines(prompt: &str) -> Vec<String> {
    let mut written: Vec<String> = Vec::new();
    let mut pasted: Vec<String> = Vec::new();
    let mut fenced = false;
    let mut lines = prompt.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    while let Some(raw) = lines.next() {
        if is_fence(raw) {
            fenced = !fenced;
            continue;
        }
        let Some(line) = line(raw) else { continue };
        if written.is_empty()
            && line.ends_with(':')
            && let Some(heading) = lines.peek().filter(|next| next.starts_with('#')).and_then(|next| self::line(next))
        {
            return vec![heading];
        }
        let to = if fenced || is_pasted(&without_image_marks(raw)) { &mut pasted } else { &mut written };
        to.push(line);
        if written.len() == LINES || pasted.len() == 50 {
            break;
        }
    }
    if written.is_empty() {
        pasted.truncate(LINES);
        return pasted;
    }
    written
}

/// A line without the marks of markdown; `None` when it says nothing.
pub(super) fn line(text: &str) -> Option<String> {
    if is_mark(text) || text.starts_with('|') {
        return None;
    }
    let mut text = text;
    loop {
        text = text.trim_start_matches(['#', '>', '-', '+', '=', '$', '❯', '›', '•', ' ', '\t', '\\']);
        // Behind the mark of an item stands a blank.
        let item = text.trim_start_matches('*');
        if item.len() == text.len() || !item.starts_with(' ') {
            break;
        }
        text = item;
    }
    let text = text.trim_end_matches(['=', ' ']);
    let text = text.strip_prefix("[ ]").or_else(|| text.strip_prefix("[x]")).unwrap_or(text);
    let text = without_targets(text);
    let words = text.split_whitespace().map(word).filter(|word| !word.is_empty());
    let out = without_tags(&without_image_marks(&words.collect::<Vec<_>>().join(" ")));
    let out = out.trim_end_matches('\\').trim();
    out.chars().any(char::is_alphanumeric).then(|| out.to_owned())
}

/// One word: no emphasis, no code marks, a path cut to its last part, an address to its ends.
fn word(word: &str) -> String {
    let word = word.replace('`', "");
    let lead = word.len() - word.trim_start_matches(['(', '"', '\'', '[', '<']).len();
    let (before, rest) = word.split_at(lead);
    let tail = rest.trim_end_matches([')', '"', '\'', ']', '>', '.', ',', ';', ':', '!', '?']).len();
    let (core, after) = rest.split_at(tail);
    let core = without_emphasis(core);
    let core = core.strip_prefix('@').filter(|name| name.contains(['/', '.'])).unwrap_or(core);
    format!("{before}{}{after}", path(core))
}

/// Without the asterisks of emphasis before and behind it. Others say something: `3**3`, `2 * 3`, `*.rs`, `src/*`.
fn without_emphasis(word: &str) -> &str {
    let (opened, closed) = (word.trim_start_matches('*'), word.trim_end_matches('*'));
    let inner = opened.trim_end_matches('*');
    if inner.is_empty() || opened.len() == closed.len() {
        return if inner.is_empty() { word } else { inner };
    }
    let word = if opened.starts_with(['.', '/']) { word } else { opened };
    if closed.ends_with(['.', '/']) { word } else { word.trim_end_matches('*') }
}

/// Whether a line only names what a program put below it: `[[ ## user_query ## ]]`.
fn is_mark(line: &str) -> bool {
    line.starts_with("[[ ## ") && line.ends_with(" ## ]]")
}

/// `words` without such lines at their beginning.
pub fn unmarked(words: &str) -> &str {
    let mut words = words.trim_start();
    while let Some((_, rest)) = words.split_once('\n').filter(|(line, _)| is_mark(line.trim())) {
        words = rest.trim_start();
    }
    words
}

/// Whether a line only says that a person's words follow, as some hosts put it before them.
pub fn is_label(line: &str) -> bool {
    let label = line.trim().trim_start_matches('#').trim();
    ["user input", "user request", "user message"].iter().any(|known| label.eq_ignore_ascii_case(known))
}

/// The request within what some hosts put around it: a heading that says only that it is one, and a fence.
pub fn unwrapped(words: &str) -> &str {
    let text = words.trim_start();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if !is_label(first) {
        return words;
    }
    let rest = rest.trim_start();
    match rest.strip_prefix("```").and_then(|fence| fence.split_once('\n')) {
        // Nothing in it: what the host adds says what to do.
        Some((_, body)) => match body.split_once("```") {
            Some((own, after)) if own.trim().is_empty() => after,
            _ => body.split_once("\n```").map_or(body, |(body, _)| body),
        },
        None if rest.is_empty() => words,
        None => rest,
    }
}

/// The words from where they ask for something on: below the heading of a task, behind paragraphs that say who an agent
/// is.
fn below_task(words: &str) -> &str {
    let mut at = 0;
    for line in words.split_inclusive('\n') {
        at += line.len();
        let heads = line.starts_with('#') || line.trim_end().ends_with([':', '*']);
        let label = line.trim().trim_matches(['#', '*', ' ', ':']);
        let label = label.split(" (").next().unwrap_or("");
        if heads && line.len() <= 80 && TASK_HEADING.has(label) && words[at..].split_whitespace().nth(3).is_some() {
            return &words[at..];
        }
    }
    let mut rest = words.trim_start();
    while let Some((paragraph, after)) = rest.split_once("\n\n") {
        let first = paragraph.trim_start_matches(['#', '>', '-', '*', ' ']);
        if after.trim().is_empty() || PERSONA.at_start(first).is_none() {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Links as the words that they show: `[a.rs](src/a.rs)` as `a.rs`.
fn without_targets(text: &str) -> Cow<'_, str> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("](") {
        out.push_str(before);
        let (mut depth, mut escaped) = (0_u32, false);
        let end = after.bytes().position(|byte| {
            let is_end = byte == b')' && depth == 0 && !escaped;
            match byte {
                b'(' if !escaped => depth += 1,
                // Some programs escape the last of a pair alone.
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
            is_end
        });
        // `a[0](b)` is a call.
        let is_link = |at: &usize| {
            let before = out[..*at].chars().next_back();
            before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '!' | '"')) && !out[*at..].contains(']')
        };
        let (Some(start), Some(end)) = (out.rfind('[').filter(is_link), end) else {
            (out, rest) = (out + "](", after);
            continue;
        };
        out.remove(start);
        rest = &after[end + 1..];
    }
    if out.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}

/// Without `[Image #1]` and its like, which hosts write in the place of a picture.
fn without_image_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[Image") {
        let Some((_, behind)) = after.split_once(']') else { break };
        out.push_str(before);
        rest = behind;
    }
    out.push_str(rest);
    fold_whitespace(&out)
}

/// Without `<tag>` marks; their content stays.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let after = &rest[at + 1..];
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        let Some(end) = after.find('>').filter(|_| is_tag) else {
            out.push_str(&rest[..=at]);
            rest = after;
            continue;
        };
        out.push_str(&rest[..at]);
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    fold_whitespace(&out)
}

#[cfg(test)]
mod tests;
