//! A person's words as a request: what of them asks for something, what only keeps the work going, what was pasted.
//!
//! Words alone decide, and only their beginning: what stands further down is mostly pasted. Nothing is understood, so what
//! does not begin like a request is none.

use super::head;
use super::phrase::{ASIDES, DANGLING, OPENERS, SPEAKING, TALK, VAGUE, VERBS};
use super::title::{MAX_TITLE, capitalise, cut, cut_at_sentence, shorten_paths, title};
use cru_base::text::{fold_whitespace, lowered, sanitise};
use cru_session::words::pasted::is_pasted;

/// Bytes of somebody's words that are looked at: what stands further down was pasted.
pub(super) const SEEN: usize = 8_000;
/// Bytes of the longest words that only keep the work going.
const MAX_TALK: usize = 240;

/// Whether a request only keeps the work going.
pub(super) fn is_talk(words: &str) -> bool {
    let words = words.trim();
    if words.len() > MAX_TALK {
        return false;
    }
    let plain = words.trim_end_matches(['.', '!', '?', ',']).to_lowercase();
    let plain = fold_whitespace(&plain);
    // A command of the host, or one that it hands to the shell.
    let command = plain.starts_with('/') && !plain.contains([' ', '.']) && plain.matches('/').count() == 1;
    command || plain.starts_with('!') || TALK.contains(&plain.as_str()) || TALK.contains(&strip_openers(&plain).trim())
}

/// Whether words ask for something, in any of their first sentences.
pub(super) fn asks(words: &str) -> bool {
    let clean = sanitise(head(unwrapped(words), SEEN));
    let mut lines =
        operative(&clean).lines().map(plain_line).filter(|line| !line.is_empty() && !is_pasted(line)).take(6);
    lines.any(|line| sentences(line).take(6).any(|sentence| opens_with_verb(strip_openers(sentence))))
}

/// Whether words state something at some length, and ask nothing.
pub(super) fn states(words: &str) -> bool {
    words.split_whitespace().nth(6).is_some() && !words.trim_end().ends_with('?')
}

/// `words` as a request of at most `max` characters: openers and politeness off, long paths shortened, first letter
/// upper case. `None` where nothing is left.
pub(super) fn request(words: &str, max: usize) -> Option<String> {
    let clean = sanitise(head(unwrapped(words), SEEN));
    let clean = operative(&clean);
    let mut text = String::new();
    let mut fenced = false;
    // The first lines that say something; what looks like pasted matter ends it, code between words is left out.
    for line in clean.lines().map(plain_line).filter(|line| !line.is_empty()) {
        if !text.is_empty() && (line.starts_with("```") || line.starts_with("~~~")) {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let short = text.is_empty() && line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_none();
        if short || is_pasted(line) {
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
        if text.len() > max && text.chars().count() > max {
            break;
        }
    }
    let text = fold_whitespace(&text);
    // What is to be done is told in full; a name has room for the end of a path.
    let text = if max > MAX_TITLE {
        cut_at_sentence(strip_openers(&text), max)
    } else {
        cut(strip_openers(&shorten_paths(&text)), max)
    };
    let question = if opens_with_verb(&text) { '?' } else { '.' };
    let text = text.trim_end_matches(['.', ',', ':', ';', ' ', question]);
    text.chars().filter(|c| c.is_alphanumeric()).nth(1).map(|_| capitalise(text))
}

/// A title from a person's words; only if they are (after cleaning) imperative. Looks at the first few lines: what
/// stands further down is often pasted.
pub(super) fn imperative(words: &str) -> Option<String> {
    let clean = sanitise(head(unwrapped(words), SEEN));
    let lines = operative(&clean).lines().map(plain_line).filter(|line| !line.is_empty());
    for line in lines.take_while(|line| !is_pasted(line)).take(3) {
        let line = shorten_paths(&fold_whitespace(line));
        for sentence in sentences(&line).take(4).filter(|sentence| !sentence.contains(", but ")) {
            let mut text = strip_openers(sentence);
            // What it builds on may stand first: "based on x, can you …".
            for asking in [" can you ", " could you ", " can we ", " could we ", " please "] {
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
                && before.split_whitespace().count() <= 12
            {
                text = strip_openers(after);
            }
            // The same without a comma: "in the guide mention …".
            if let Some(after) = behind_place(text) {
                text = after;
            }
            if opens_with_verb(text) && !is_vague(text) {
                let made = title(text);
                if !is_vague(&made) {
                    return Some(made);
                }
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
    (whole && (2..=9).contains(&words().count()) && !words().any(personal) && !is_talk(heading) && !is_vague(heading))
        .then(|| title(heading))
}

/// A title from words that ask for nothing in so many words: the first sentence that says what they are about, whole or
/// up to where a clause ends.
pub(super) fn topic(words: &str) -> Option<String> {
    let clean = sanitise(head(unwrapped(words), SEEN));
    let lines = operative(&clean).lines().map(plain_line).filter(|line| !line.is_empty());
    for line in lines.take_while(|line| !is_pasted(line)).take(3) {
        let line = shorten_paths(&fold_whitespace(line));
        for sentence in sentences(&line).take(4) {
            let text = strip_openers(sentence).trim_end_matches(['.', ',', ':', ';', ' ', '?', '!']);
            let made = title(text);
            let told = made.split_whitespace().count() >= 3 && !cut(text, MAX_TITLE).ends_with('…');
            let first = made.split_whitespace().next().unwrap_or("").to_lowercase();
            let first = first.split(['\'', '’', ':']).next().unwrap_or("");
            let talks = SPEAKING.contains(&first) || ASIDES.contains(&first) || forbids(&made);
            if told && reads_well(&made) && !made.contains("://") && !talks && !is_vague(&made) {
                return Some(made);
            }
        }
    }
    None
}

/// Whether words only say what not to do.
pub(super) fn forbids(words: &str) -> bool {
    let head = lowered(&words.chars().take(8).collect::<String>());
    ["do not ", "don't ", "dont "].iter().any(|not| head.starts_with(not))
}

/// The words from where they ask for something on: what stands before the heading of a task, and paragraphs that say who
/// an agent is, are left out.
fn operative(words: &str) -> &str {
    const TASKS: &[&str] =
        &["your task", "task", "the task", "objective", "your goal", "goal", "instructions", "what to do"];
    const PERSONAS: &[&str] = &["you are ", "you're ", "your name is ", "act as "];
    let mut at = 0;
    for line in words.split_inclusive('\n') {
        at += line.len();
        let heads = line.starts_with('#') || line.trim_end().ends_with([':', '*']);
        if !heads || line.len() > 80 {
            continue;
        }
        let label = line.trim().trim_matches(['#', '*', ' ', ':']).to_lowercase();
        let label = label.split(" (").next().unwrap_or("");
        if (TASKS.contains(&label) || label.ends_with(" task")) && words[at..].split_whitespace().nth(3).is_some() {
            return &words[at..];
        }
    }
    // What a shell shows before the cursor was taken along with the words.
    let mut rest = words.trim_start().trim_start_matches("❯ ");
    while let Some((paragraph, after)) = rest.split_once("\n\n") {
        let label = plain_line(paragraph.lines().next().unwrap_or("")).to_lowercase();
        let context = paragraph.lines().count() == 1
            && matches!(label.trim_matches(['*', ':']), "context" | "background" | "role");
        if after.trim().is_empty()
            || !(context || PERSONAS.iter().any(|persona| label.trim_start_matches("- ").starts_with(persona)))
        {
            break;
        }
        rest = after.trim_start();
    }
    rest
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
        // Nothing in it: what the host adds says what to do.
        Some((_, body)) => match body.split_once("```") {
            Some((own, after)) if own.trim().is_empty() => after,
            _ => body.split_once("\n```").map_or(body, |(body, _)| body),
        },
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

/// A line without marks of markdown at its start.
fn plain_line(line: &str) -> &str {
    line.trim().trim_start_matches(['#', '>', '*', '-', '•']).trim()
}

/// Whether the first word is a verb that asks for something. A question or a prohibition begins with one too: "do we",
/// "do not".
fn opens_with_verb(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("").trim_end_matches([',', ':']).to_lowercase();
    let second = words.next().map(str::to_lowercase);
    VERBS.contains(&first.as_str())
        && second.is_some_and(|second| {
            first != "do" || !matches!(second.as_str(), "not" | "you" | "we" | "i" | "they" | "these" | "those")
        })
}

/// What follows a place of a few words, if it is a request.
fn behind_place(text: &str) -> Option<&str> {
    let rest = text.get(..3).filter(|head| head.eq_ignore_ascii_case("in ")).map(|_| &text[3..])?;
    let ends = rest.match_indices(' ').map(|(at, _)| at).take(3);
    ends.map(|at| &rest[at + 1..]).find(|after| opens_with_verb(after) && !after.contains(", "))
}

/// Whether a request names nothing: "find out why", "fix them all".
fn is_vague(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.skip(1).all(|word| {
        let word = word.to_lowercase();
        // An option of the agent's: "do B".
        if word.chars().count() == 1 && word.is_ascii() {
            return true;
        }
        DANGLING.contains(&word.as_str()) || VAGUE.contains(&word.as_str())
    })
}

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let text = rest.trim_start();
        if text.is_empty() {
            return None;
        }
        // A sentence ends at a mark and a blank, or at a dash between blanks.
        let end = text.match_indices(' ').find_map(|(at, _)| {
            let (before, after) = (&text[..at], &text[at..]);
            let ends = before.ends_with(['.', '?', '!', ';', ':']);
            let dash = [" - ", " — "].iter().find(|dash| after.starts_with(*dash));
            if ends { Some(at + 1) } else { dash.map(|dash| at + dash.len()) }
        });
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
        // Most begin with another letter.
        let first = rest.bytes().next().map(|byte| byte.to_ascii_lowercase());
        let longest = OPENERS.iter().filter(|opener| opener.bytes().next() == first).filter_map(|opener| {
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

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn requests_become_titles() {
        let is = |words, expected: &str| assert_eq!(imperative(words).as_deref(), Some(expected), "{words}");
        is("Hi! Can you please add a rate limiter to the login endpoint?", "Add a rate limiter to the login endpoint");
        is("ok now let's fix the flaky clock test, thanks", "Fix the flaky clock test, thanks");
        is("I want you to refactor /home/me/code/api/src/auth/tokens/store.rs", "Refactor store.rs");
        is("The tests fail. Repair the clock in them.", "Repair the clock in them");
        is("in src/x.rs, rename the field", "Rename the field");
        is("In the agents guide mention the schema", "Mention the schema");
        is("No tests should be deleted. Add a check to the pipeline", "Add a check to the pipeline");
        is("CI is blowing up - we'll need to create an output directory", "Create an output directory");
        is("Do NOT use a subagent. Read the manual of the pump", "Read the manual of the pump");
        is("Use your suggested approach. Add an export to CSV", "Add an export to CSV");
        is(
            "implement the export of all sessions to markdown files so that people can read them in their editor of choice",
            "Implement the export of all sessions to markdown files",
        );
    }

    #[test]
    fn other_words_make_no_title() {
        for words in [
            "No tests should be deleted",
            "do we need to update the guide?",
            "why is this slow?",
            "the build is broken",
            "find out why and fix them all",
            "do we currently plan to support folders?",
            "can we check if we need to do this in other places?",
            "➜ api git:(main) ✗ push the branch",
            "",
            "fix",
            "```\nfix it now\n```",
        ] {
            assert_eq!(imperative(words), None, "{words}");
        }
    }

    #[test]
    fn requests_are_whole() {
        let long = "Move the pump to the cellar. ".repeat(50);
        let made = request(&long, 200).unwrap();
        assert!(made.ends_with("cellar. …") && made.chars().count() <= 200, "{made}");
        let is = |words, expected: &str| assert_eq!(request(words, 400).as_deref(), Some(expected), "{words}");
        is("❯ is this right? look at the pump", "Is this right? look at the pump");
        is("~/code/api (main)\nat Object.open (fs.js:3:1)\nnode:fs:443\nreturn x;\nMend the path", "Mend the path");
        is("You are **ann**, a helper.\n\nMend the path of the pump", "Mend the path of the pump");
        is(
            "You are ann.\n\n## Context\n\nA cellar.\n\n## Round 2 task\n\nMend the pump for good",
            "Mend the pump for good",
        );
        is(
            "Merge main into your branch:\n```\ngit merge main\n```\nThen push",
            "Merge main into your branch: Then push",
        );
        is("Use the https address\n01:12:38.208 Cloning into x\nfailed", "Use the https address");
        is("Task:", "Task");
        is("## User Input\n\n```text\n\n```\n\nMend the pump for good", "Mend the pump for good");
        is("diff --git a/x b/x\nindex 1a..2b 100644\n+++ b/x\nMend the path", "Mend the path");
    }

    #[test]
    fn topics_say_what_words_are_about() {
        let is = |words, expected| assert_eq!(topic(words), expected, "{words}");
        is("Main branch tests failing - why? https://example.org/1", Some("Main branch tests failing".to_owned()));
        is(
            "Analise o projeto e veja o que pode ser modularizado",
            Some("Analise o projeto e veja o que pode ser modularizado".to_owned()),
        );
        is("I think it is slow", None);
        is("any ideas here?", None);
        is("Do NOT use a subagent", None);
    }

    #[test]
    fn asking_is_told_from_telling() {
        assert!(asks("ok, merged. can we tag it please?") && asks("Thanks. Then write the guide"));
        assert!(!asks("what is this?") && !asks("Great work"));
    }

    #[test]
    fn talk_is_known() {
        for words in [
            "Continue.",
            "yes, please continue",
            "ok",
            "Commit this",
            "go ahead!",
            "/undo",
            "!gh pr list",
            "Wow, it works",
        ] {
            assert!(is_talk(words), "{words}");
        }
        assert!(!is_talk("continue with the migration of users"));
    }
}
