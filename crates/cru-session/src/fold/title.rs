//! A heading from a prompt: its first sentence, without markdown, mentions and politeness, cut at a word.

use std::sync::LazyLock;

use cru_base::text::{fold_whitespace, sanitise, truncate};

/// Characters a heading may have.
const MAX: usize = 60;

/// A sentence shorter than this is no heading yet: `Hi.`, `Ok.`
const MIN: usize = 9;

/// What opens a request and says nothing about it, in lower case. Taken off again and again.
const POLITE: &[&str] = &[
    "hey claude",
    "hi claude",
    "hello claude",
    "hey",
    "hi",
    "hello",
    "good morning",
    "ok",
    "okay",
    "alright",
    "great",
    "yes",
    "yeah",
    "yep",
    "well",
    "oh no",
    "oh",
    "hmm",
    "wait",
    "cool",
    "nice",
    "perfect",
    "actually",
    "thanks",
    "thank you",
    "please",
    "can you please",
    "could you please",
    "would you please",
    "can you",
    "could you",
    "would you",
    "can we",
    "could we",
    "do you think you could",
    "do you think we could",
    "i'd like you to",
    "i would like you to",
    "i want you to",
    "i need you to",
    "i'd like to",
    "i'd like your help with",
    "please help to",
    "help to",
    "help me",
    "i think we need to",
    "i think",
    "we need to",
    "let's",
    "lets",
    "now",
    "so",
    "and",
    "then",
    "also",
    "bitte",
    "kannst du",
    "never mind",
    "nevermind",
    "but",
    "i'd like to ask you to",
];

/// The heading that `prompt` gives; `None` when it has no words.
pub(super) fn of(prompt: &str) -> Option<String> {
    let prompt = sanitise(prompt);
    let mut lines = prompt.lines().filter_map(line).take(LINES);
    let mut title = lines.next()?;
    if title.ends_with(':') {
        // `Implement the following plan:` says less than the plan's own heading.
        let after = prompt.lines().map(str::trim).filter(|text| !text.is_empty()).nth(1);
        if let Some(heading) = after.filter(|text| text.starts_with('#')).and_then(line) {
            title = heading;
        }
    }
    // `Never mind! But please add a test.`: the sentence that counts is the first one that asks for something.
    let lead = title.len() - without_politeness(&title).len();
    let end = lead + first_sentence(&title[lead..]).len();
    title.truncate(end);
    for more in lines {
        if title.chars().count() >= MIN {
            break;
        }
        title = format!("{title} {}", first_sentence(&more));
    }
    let title = polished(&title);
    (!title.is_empty()).then_some(title)
}

/// How many lines with words are looked at.
const LINES: usize = 3;

/// A heading from a command line: `Command /review src`.
pub(super) fn of_command(words: &str) -> String {
    let line = fold_whitespace(&sanitise(words.lines().next().unwrap_or("")));
    cut(&format!("Command {}", if line.is_empty() { "/" } else { &line }), MAX)
}

/// A title that a host or a person gave, on one line; `None` when it has no words.
pub(super) fn given(text: &str) -> Option<String> {
    const MAX_GIVEN: usize = 120;
    let text = cut(&fold_whitespace(&sanitise(text)), MAX_GIVEN);
    text.chars().any(char::is_alphanumeric).then_some(text)
}

/// `text` cut at a word boundary to `max` characters.
pub(super) fn cut(text: &str, max: usize) -> String {
    let short = truncate(text, max);
    let Some(body) = short.strip_suffix('…').filter(|_| short.len() != text.len()) else { return short.into_owned() };
    // A word that is longer than half the heading is cut inside, else the heading would say nothing.
    let at_word = text[body.len()..].starts_with(char::is_whitespace);
    let body = match body.rfind(char::is_whitespace) {
        Some(at) if !at_word && at * 2 >= body.len() => &body[..at],
        _ => body,
    };
    format!("{}…", body.trim_end_matches(|c: char| c.is_whitespace() || ",;:-–(".contains(c)))
}

/// A line without the marks of markdown; `None` when it says nothing.
fn line(text: &str) -> Option<String> {
    let text = text.trim();
    if is_mark(text) {
        return None;
    }
    if text.starts_with("```") || text.starts_with("~~~") || text.starts_with('|') {
        return None;
    }
    let text = text.trim_start_matches(['#', '>', '-', '*', '+', '=', '$', '❯', '›', '•', ' ', '\t', '\\']);
    let text = text.trim_end_matches(['=', ' ']);
    let text = text.strip_prefix("[ ]").or_else(|| text.strip_prefix("[x]")).unwrap_or(text);
    let mut out = String::new();
    for word in text.split_whitespace() {
        let word = word_of(word);
        if !word.is_empty() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&word);
        }
    }
    let out = without_tags(&without_image_marks(&out));
    let out = out.trim_end_matches('\\').trim();
    out.chars().any(char::is_alphanumeric).then(|| out.to_owned())
}

/// Whether a line only names what a program put below it: `[[ ## user_query ## ]]`.
fn is_mark(line: &str) -> bool {
    line.starts_with("[[ ## ") && line.ends_with(" ## ]]")
}

/// `words` without such lines at their beginning.
pub(super) fn unmarked(words: &str) -> &str {
    let mut words = words.trim_start();
    while let Some((_, rest)) = words.split_once('\n').filter(|(line, _)| is_mark(line.trim())) {
        words = rest.trim_start();
    }
    words
}

/// One word: no emphasis, no code marks, a path cut to its last part, a link to its address' end.
fn word_of(word: &str) -> String {
    let word: String = word.chars().filter(|c| !matches!(c, '`' | '*')).collect();
    let lead = word.len() - word.trim_start_matches(['(', '"', '\'', '[', '<']).len();
    let (before, rest) = word.split_at(lead);
    let tail = rest.trim_end_matches([')', '"', '\'', ']', '>', '.', ',', ';', ':', '!', '?']).len();
    let (core, after) = rest.split_at(tail);
    let core = core.strip_prefix('@').filter(|name| name.contains(['/', '.'])).unwrap_or(core);
    format!("{before}{}{after}", shorten_path(core))
}

/// `src/auth/token.rs` → `token.rs`; `https://host/a/b/7668` → `host/…/7668`; words like `and/or` stay.
fn shorten_path(word: &str) -> String {
    if let Some((_, address)) = word.split_once("://") {
        let address = address.trim_end_matches('/');
        let parts: Vec<&str> = address.split(['/', '?', '#']).filter(|part| !part.is_empty()).collect();
        return match parts.as_slice() {
            [] => String::new(),
            [host] => (*host).to_owned(),
            [host, last] => format!("{host}/{last}"),
            [host, .., last] => format!("{host}/…/{last}"),
        };
    }
    let slashes = word.matches(['/', '\\']).count();
    let rooted = word.starts_with(['/', '~']) || word.starts_with("./") || word.starts_with("../");
    // A single slash at the start is a command of the host: `/review`.
    let is_path = slashes >= 2 || (slashes == 1 && !word.starts_with('/') && (rooted || word.contains('.')));
    if !is_path {
        return word.to_owned();
    }
    let last = word.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or("");
    if last.is_empty() { word.to_owned() } else { last.to_owned() }
}

/// Without `[Image #1]` and its like, which hosts write in the place of a picture.
fn without_image_marks(text: &str) -> String {
    remove_between(text, "[Image", "]")
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

fn remove_between(text: &str, open: &str, close: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, behind)) = after.split_once(close) else { break };
        out.push_str(before);
        rest = behind;
    }
    out.push_str(rest);
    fold_whitespace(&out)
}

/// To the end of the first sentence that is long enough to say something.
fn first_sentence(text: &str) -> &str {
    let mut chars = text.char_indices().peekable();
    let mut count = 0;
    while let Some((at, c)) = chars.next() {
        count += 1;
        let ends_here = match c {
            '.' | '!' | '?' => chars.peek().is_some_and(|(_, next)| next.is_whitespace()) && !abbreviated(&text[..at]),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends_here && count >= MIN {
            return &text[..at + c.len_utf8()];
        }
    }
    text
}

/// Whether a full stop after `before` belongs to an abbreviation or a number.
fn abbreviated(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    word.contains('.') || ["e.g", "i.e", "etc", "vs", "approx", "no", "nr", "z.B"].contains(&word) || is_number(word)
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
}

/// Without politeness at the start and marks at the end, with a capital, cut.
fn polished(text: &str) -> String {
    let kept = without_politeness(text);
    let kept = if kept.chars().count() < MIN { text } else { kept };
    // `Can you add a test?` asks for a test; what is left of it is no question.
    let asked_for = kept.len() < text.len() && ASKING.iter().any(|row| before(text, kept).contains(row));
    let kept = if asked_for { kept.trim_end_matches('?') } else { kept };
    let kept = kept.trim().trim_end_matches(['.', ',', ':', ';', '。', ' ', '-', '–']);
    cut(&capital(kept), MAX)
}

/// What makes a request look like a question, in lower case.
const ASKING: &[&str] = &["can ", "could ", "would ", "do you think", "kannst "];

/// What was taken off the start of `text` to leave `kept`, in lower case.
fn before(text: &str, kept: &str) -> String {
    text[..text.len() - kept.len()].to_lowercase()
}

fn without_politeness(text: &str) -> &str {
    static LONGEST_FIRST: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let mut rows = POLITE.to_vec();
        rows.sort_by_key(|row| std::cmp::Reverse(row.len()));
        rows
    });
    let mut rest = text;
    loop {
        let found = LONGEST_FIRST.iter().find_map(|row| {
            let start = rest.get(..row.len())?;
            let after = &rest[row.len()..];
            let bounded = after.starts_with([' ', ',', '!', '.']);
            (start.eq_ignore_ascii_case(row) && bounded)
                .then(|| after.trim_start_matches([' ', ',', '!', '.', '-', '–']))
        });
        match found {
            Some(shorter) if !shorter.is_empty() => rest = shorter,
            _ => return rest,
        }
    }
}

/// With a capital first letter, but for words that are spelt otherwise on purpose (`npm`, `snake_case`).
fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or("");
    let plain = first.chars().all(|c| c.is_lowercase() || matches!(c, '\'' | '’' | ',' | '-'));
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if plain => c.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_programs_are_no_words() {
        let prompt = "[[ ## user_query ## ]]\n\nReply with the marker of the station.";
        assert_eq!(of(prompt).as_deref(), Some("Reply with the marker of the station"));
        assert_eq!(unmarked(prompt), "Reply with the marker of the station.");
        assert_eq!(unmarked("[[ ## user_query ## ]]"), "[[ ## user_query ## ]]");
    }

    #[test]
    fn table_of_headings() {
        let rows: &[(&str, &str)] = &[
            ("fix the login bug", "Fix the login bug"),
            ("Hey Claude, can you please add a Github Action to run tests?", "Add a Github Action to run tests"),
            ("## Plan\n\nmore", "Plan more"),
            ("Implement the following plan:\n\n# Rotate signing keys\n\n## Problem", "Rotate signing keys"),
            ("please look at `src/auth/token.rs` and **fix** it", "Look at token.rs and fix it"),
            ("Add tests for @src/cache.py and and/or logic", "Add tests for cache.py and and/or logic"),
            ("https://example.org/team/app/issues/7668 investigate this", "example.org/…/7668 investigate this"),
            ("Use version 1.2. Then test. And more", "Use version 1.2. Then test"),
            ("Hi.\nThe build fails on CI", "The build fails on CI"),
            ("[Image #1] what is this?", "What is this?"),
            ("<context>deploy the thing</context> now", "Deploy the thing now"),
            ("启动应用时确保环境变量已经设置。然后测试", "启动应用时确保环境变量已经设置"),
            ("/review src", "/review src"),
            ("ok", "Ok"),
            ("Oh no, we lost the navigation", "We lost the navigation"),
            ("Never mind! But I'd like to ask you to add a test", "Add a test"),
            ("we should not display the file", "We should not display the file"),
            ("❯ is this legit?", "Is this legit?"),
            ("=== Step 6: Verify ===", "Step 6: Verify"),
            ("Do you think you could write a parser for the logs?", "Write a parser for the logs"),
            ("oh, do we have a merge conflict now?", "Do we have a merge conflict now?"),
        ];
        for (prompt, heading) in rows {
            assert_eq!(of(prompt).as_deref(), Some(*heading), "{prompt}");
        }
    }

    #[test]
    fn nothing_to_say() {
        for prompt in ["", " \n", "```\n```", "…", "[Image #1]"] {
            assert_eq!(of(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn long_ones_end_at_a_word() {
        let heading = of("rework the whole of the storage layer so that every write is durable and undoable").unwrap();
        assert_eq!(heading, "Rework the whole of the storage layer so that every write…");
        assert!(heading.chars().count() <= 60);
        assert_eq!(of(&"x".repeat(100)).unwrap().chars().count(), 60);
    }

    #[test]
    fn commands() {
        assert_eq!(of_command("/review src"), "Command /review src");
        assert_eq!(of_command(""), "Command /");
    }
}
