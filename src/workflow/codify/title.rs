//! Titles: short and imperative, made from a person's words or from what was done.

use super::deed::Deed;
use super::phrase::{ADVERBS, DANGLING, OPENERS, SPEAKING, TALK, VAGUE, VERBS};
use super::shell::{self, Kind};
use crate::base::text::{fold_whitespace, sanitise, slug};

/// Characters of a title at most.
pub(super) const MAX_TITLE: usize = 64;

/// Whether a request only keeps the work going.
pub(super) fn is_talk(words: &str) -> bool {
    let plain = words.trim().trim_end_matches(['.', '!', '?', ',']).to_lowercase();
    let plain = fold_whitespace(&plain);
    TALK.contains(&plain.as_str()) || TALK.contains(&strip_openers(&plain).trim())
}

/// `words` as a request of at most `max` characters: openers and politeness off, long paths shortened, first letter
/// upper case. `None` where nothing is left.
pub(super) fn request(words: &str, max: usize) -> Option<String> {
    let clean = sanitise(unwrapped(words));
    let mut text = String::new();
    // The first lines that say something; what looks like pasted matter ends it.
    for line in clean.lines().map(plain_line).filter(|line| !line.is_empty()) {
        if is_pasted(line) {
            if text.is_empty() {
                continue;
            }
            break;
        }
        if !text.is_empty() {
            // A line that goes on in lower case was only wrapped.
            let goes_on = text.ends_with(['.', '!', '?', ':', ';', ',']) || line.starts_with(char::is_lowercase);
            text.push_str(if goes_on { " " } else { ". " });
        }
        text.push_str(line);
        if text.chars().count() > max {
            break;
        }
    }
    let text = shorten_paths(&fold_whitespace(&text));
    let text = strip_openers(&text);
    let text = cut(text, max);
    let question = if opens_with_verb(&text) { '?' } else { '.' };
    let text = text.trim_end_matches(['.', ',', ':', ';', ' ', question]);
    (text.chars().filter(|c| c.is_alphanumeric()).count() > 1).then(|| capitalise(text))
}

/// A title from a person's words; only if they are (after cleaning) imperative. Looks at the first few lines: what
/// stands further down is often pasted.
pub(super) fn imperative(words: &str) -> Option<String> {
    let clean = sanitise(unwrapped(words));
    let lines = clean.lines().map(plain_line).filter(|line| !line.is_empty());
    for line in lines.take_while(|line| !is_pasted(line)).take(3) {
        let line = shorten_paths(&fold_whitespace(line));
        for sentence in sentences(&line).take(4) {
            let mut text = strip_openers(sentence);
            // What it builds on may stand first: "based on x, can you …".
            for asking in [" can you ", " could you ", " please "] {
                if let Some((_, after)) = text.split_once(asking)
                    && !opens_with_verb(text)
                {
                    text = strip_openers(after);
                }
            }
            // What it is about may stand first: an address, a path.
            if let Some((place, after)) = text.split_once(' ')
                && place.contains('/')
                && opens_with_verb(after)
            {
                text = after;
            }
            // "in src/x.rs, add …": the request follows the place.
            if let Some((before, after)) = text.split_once(", ")
                && !opens_with_verb(text)
                && before.split_whitespace().count() <= 8
            {
                text = strip_openers(after);
            }
            if opens_with_verb(text) && !is_vague(text) {
                return Some(title(text));
            }
        }
    }
    None
}

/// A heading that was made of a person's words, if it is a plain statement: whole, not a question, not about the
/// speaker.
pub(super) fn statement(heading: &str) -> Option<String> {
    let heading = heading.trim();
    let personal = |word: &str| SPEAKING.contains(&word.to_lowercase().as_str());
    let words = || {
        heading.split(|c: char| c.is_whitespace() || c == '\'' || c == '’').map(|word| word.trim_matches([',', '.']))
    };
    let whole = !heading.starts_with("Command /")
        && !heading.ends_with(['…', '?', ':', ',', '='])
        && heading.starts_with(char::is_alphanumeric)
        && !heading.contains("://");
    (whole && (2..=9).contains(&words().count()) && !words().any(personal) && !is_talk(heading)).then(|| title(heading))
}

/// The request within what some hosts put around it: a heading that says only that it is one, and a fence.
fn unwrapped(words: &str) -> &str {
    let text = words.trim_start();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if !is_label(first) {
        return words;
    }
    let rest = rest.trim_start();
    match rest.strip_prefix("```").and_then(|fence| fence.split_once('\n')) {
        Some((_, body)) => body.split_once("\n```").map_or(body, |(body, _)| body),
        None if rest.is_empty() => words,
        None => rest,
    }
}

/// Whether words can stand as a title: they begin like one, and are not data.
pub(super) fn reads_well(title: &str) -> bool {
    let letters = title.chars().filter(|c| c.is_alphanumeric() || *c == ' ').count();
    title.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '/' | '.' | '~'))
        && letters * 10 >= title.chars().count() * 7
}

/// Whether a line only says that a person's words follow.
pub(super) fn is_label(line: &str) -> bool {
    matches!(plain_line(line).to_lowercase().as_str(), "user input" | "user request" | "user message")
}

/// Whether words are mostly something that was pasted: no request stands in them that a heading could be made of.
pub(super) fn is_mostly_pasted(words: &str) -> bool {
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let sentence = |line: &&&str| {
        let count = line.split_whitespace().count();
        (3..=60).contains(&count)
            && !is_pasted(line)
            && !line.contains("==")
            && !line.starts_with(['-', '*', '#', '✓', '✗', '='])
    };
    lines.len() > 5 && lines.iter().filter(sentence).count() * 2 < lines.len()
}

/// A line without marks of markdown at its start.
fn plain_line(line: &str) -> &str {
    line.trim().trim_start_matches(['#', '>', '*', '-', '•']).trim()
}

/// Whether a line looks like the output of a program, code or data rather than words.
fn is_pasted(line: &str) -> bool {
    let told = line.chars().filter(|c| c.is_alphanumeric() || *c == ' ').count();
    let fence = ["```", "~~~", "===", "---"].iter().any(|mark| line.starts_with(mark) || line.ends_with(mark));
    let log = ["ERROR", "error:", "error[", "FAILED", "Traceback", "warning:", "panic"]
        .iter()
        .any(|mark| line.starts_with(mark));
    let data = line.ends_with(['[', '{', '(', '\\']) || (line.starts_with('"') && line.ends_with([',', '"']));
    fence || log || data || line.starts_with(['<', '{', '|', '[']) || told * 4 < line.chars().count() * 3
}

/// Whether the first word is a verb that asks for something.
fn opens_with_verb(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("").trim_end_matches([',', ':']).to_lowercase();
    VERBS.contains(&first.as_str()) && words.next().is_some()
}

/// Whether a request names nothing: "find out why", "fix them all".
fn is_vague(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.skip(1).all(|word| {
        let word = word.to_lowercase();
        DANGLING.contains(&word.as_str()) || VAGUE.contains(&word.as_str())
    })
}

/// Cut to a title: at a clause where it is too long, no politeness, no final stop, first letter upper case.
pub(super) fn title(text: &str) -> String {
    let told = |word: &&str| !ADVERBS.contains(&word.to_lowercase().as_str());
    let mut text = text.split_whitespace().filter(told).collect::<Vec<_>>().join(" ");
    for tail in [" please", " thanks", " thank you", " for me", " now", " again"] {
        let trimmed = text.trim_end_matches(['.', '!', '?', ' ', ',']).len();
        if text.is_char_boundary(trimmed.saturating_sub(tail.len()))
            && trimmed > tail.len() + 8
            && text[trimmed - tail.len()..trimmed].eq_ignore_ascii_case(tail)
        {
            text.truncate(trimmed - tail.len());
        }
    }
    let cut = cut(&text, MAX_TITLE);
    capitalise(cut.trim_end_matches(['.', ',', ':', ';', '!', '?', ' ', '…', '-', '–', '—']))
}

/// At most `max` characters, cut where a clause ends, else at a word; no dangling words at the end.
fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    let clause = [
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
        " that ",
        " when ",
        " while ",
        " as well as ",
    ]
    .iter()
    .filter_map(|mark| head.rfind(mark))
    .filter(|&at| head[..at].chars().count() * 5 >= max * 2)
    .max();
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

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let text = rest.trim_start();
        if text.is_empty() {
            return None;
        }
        let end = [". ", "? ", "! ", "; ", ": ", " - ", " — "]
            .iter()
            .filter_map(|mark| Some(text.find(mark)? + mark.len()))
            .min();
        let end = end.unwrap_or(text.len());
        rest = &text[end..];
        Some(text[..end].trim_end_matches([' ', '-', '—', ':', ';']))
    })
}

/// Without greetings, fillers and politeness at its start.
fn strip_openers(text: &str) -> &str {
    let mut rest = text.trim_start();
    // A command of the host: `/review src`.
    if let Some((command, after)) = rest.split_once(' ')
        && command.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains(['/', '.']))
    {
        rest = after.trim_start();
    }
    for _ in 0..12 {
        let longest = OPENERS.iter().filter_map(|opener| {
            let after = rest.get(opener.len()..)?;
            let head = rest.get(..opener.len())?;
            let word =
                !after.starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '-' || c == '_' || c == '/');
            (head.eq_ignore_ascii_case(opener) && word).then_some((opener.len(), after))
        });
        let Some((_, after)) = longest.max_by_key(|(len, _)| *len) else { break };
        let after = after.trim_start_matches([' ', ',', '.', '!', ':', ';', '-', '—', '…']);
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

fn capitalise(text: &str) -> String {
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
fn shorten_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(' ') {
        if !out.is_empty() {
            out.push(' ');
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
        } else if bare.contains('/') || bare.contains('.') {
            out.push_str(lead.trim_start_matches('@'));
            out.push_str(bare);
        } else {
            out.push_str(word);
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

/// The message of the last commit or pull request, its conventional prefix off.
pub(super) fn commit(deeds: &[Deed<'_>]) -> Option<String> {
    deeds.iter().rev().filter(|deed| deed.shell && deed.succeeded()).find_map(|deed| {
        let full = deed.step.command.as_deref().unwrap_or(&deed.step.args);
        let (_, message) = shell::split(full).iter().rev().find_map(|part| shell::message(part.text))?;
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

fn from_files(deeds: &[Deed<'_>]) -> Option<String> {
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
    .map(|text| crate::base::text::truncate(&text, MAX_TITLE).into_owned())
}

fn from_commands(deeds: &[Deed<'_>]) -> Option<String> {
    let best = deeds.iter().filter(|deed| deed.tells() && deed.succeeded() && !deed.core.is_empty());
    let best = best.rev().max_by_key(|deed| deed.kind)?;
    // Of several commands in a row the one that does most; setting a variable says nothing.
    let parts = shell::split(&best.core);
    let told =
        parts.iter().filter(|part| !shell::is_assignment(part.text)).rev().max_by_key(|part| shell::kind(part.text));
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
    Some(crate::base::text::truncate(&format!("{verb} {}", words.join(" ")), MAX_TITLE).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_titles() {
        let is = |words, expected: &str| assert_eq!(imperative(words).as_deref(), Some(expected), "{words}");
        is("Hi! Can you please add a rate limiter to the login endpoint?", "Add a rate limiter to the login endpoint");
        is("ok now let's fix the flaky clock test, thanks", "Fix the flaky clock test");
        is("I want you to refactor /home/me/code/api/src/auth/tokens/store.rs", "Refactor store.rs");
        is("The tests fail. Repair the clock in them.", "Repair the clock in them");
        is("in src/x.rs, rename the field", "Rename the field");
        is(
            "implement the export of all sessions to markdown files so that people can read them in their editor of choice",
            "Implement the export of all sessions to markdown files",
        );
    }

    #[test]
    fn other_words_make_no_title() {
        for words in [
            "why is this slow?",
            "the build is broken",
            "find out why and fix them all",
            "",
            "fix",
            "```\nfix it now\n```",
        ] {
            assert_eq!(imperative(words), None, "{words}");
        }
    }

    #[test]
    fn talk_is_known() {
        for words in ["Continue.", "yes, please continue", "ok", "Commit this", "go ahead!"] {
            assert!(is_talk(words), "{words}");
        }
        assert!(!is_talk("continue with the migration of users"));
    }

    #[test]
    fn cuts_leave_no_loose_ends() {
        assert_eq!(cut("one two three four (five six seven", 24), "one two three four");
        assert_eq!(cut("look at the whole of the garden", 20), "look at the whole…");
    }
}
