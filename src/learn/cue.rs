//! Which words of a person correct the agent: one table, in English.
//!
//! Used for words whose callout does not say it by its title. It prefers to miss a correction over making one of an
//! ordinary request; words in a language it does not know are none. A person who disagrees titles the callout.

/// Where a phrase must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// At the beginning, after [`FILLERS`], and as whole words.
    Start,
    /// Anywhere in the first sentence or two, as whole words.
    Opening,
}

/// A rule: its name, where its phrases stand, the phrases in lower case.
type Rule = (&'static str, At, &'static [&'static str]);

/// The rules, the first that fits names the case.
const RULES: &[Rule] = &[
    (
        "not that",
        At::Opening,
        &[
            "not what i asked",
            "not what i meant",
            "not what i wanted",
            "not what i want",
            "isn't what i asked",
            "isn't what i wanted",
            "isn't what i meant",
            "that's not right",
            "that is not right",
            "that's not how",
            "that's not correct",
            "that's wrong",
            "that is wrong",
            "this is wrong",
            "this isn't right",
            "you misunderstood",
            "you've misunderstood",
        ],
    ),
    (
        "reminder",
        At::Start,
        &[
            "i said",
            "i told you",
            "i already told you",
            "i asked you",
            "i asked for",
            "i didn't ask",
            "i did not ask",
            "i didn't say",
            "i never asked",
            "i meant",
            "like i said",
            "as i said",
            "i don't want",
            "i do not want",
            "i didn't want",
            "remember,",
        ],
    ),
    (
        "reproach",
        At::Start,
        &[
            "you forgot",
            "you missed",
            "you broke",
            "you should have",
            "you shouldn't have",
            "you should not have",
            "you were supposed",
            "you weren't supposed",
            "you didn't",
            "you did not",
            "you've broken",
            "you've missed",
            "you've forgotten",
            "you deleted",
            "you removed",
            "why did you",
            "why didn't you",
            "why are you",
            "why have you",
            "did you forget",
            "looks like you forgot",
            "looks like you missed",
        ],
    ),
    (
        "stop",
        At::Start,
        &["stop", "hold on", "wait a sec", "wait a second", "wait a minute", "wait,", "wait -", "wait no"],
    ),
    (
        "undo",
        At::Start,
        &[
            "undo",
            "revert",
            "roll back",
            "roll that back",
            "put it back",
            "put that back",
            "change it back",
            "bring back",
        ],
    ),
    (
        "prohibition",
        At::Start,
        &[
            "don't",
            "do not",
            "dont",
            "never",
            "please don't",
            "please do not",
            "pls don't",
            "stop using",
            "avoid",
            "quit",
            "let's not",
            "you don't need to",
            "you do not need to",
            "we don't need",
            "we don't want",
            "no need to",
        ],
    ),
    (
        "no",
        At::Start,
        &["no", "nope", "nah", "wrong", "incorrect", "not quite", "not really", "not like that", "oh no"],
    ),
    (
        "instead",
        At::Start,
        &[
            "actually, no",
            "actually no",
            "actually, don't",
            "actually don't",
            "actually, let's not",
            "actually, use",
            "actually use",
            "rather than that",
            "instead of that",
            "use that instead",
            "i'd rather",
            "i would rather",
            "i'd prefer",
            "i would prefer",
        ],
    ),
];

/// Openings that look like a rule's phrase and are none.
const NOT: &[&str] = &[
    "no problem",
    "no worries",
    "no worry",
    "no questions",
    "no question",
    "no changes",
    "no rush",
    "no comment",
    "no idea",
    "no need to apologise",
    "no need to apologize",
    "no thanks",
    "no, that's fine",
    "no that's fine",
    "no, that's all",
    "no that's all",
    "no, continue",
    "no, go ahead",
    "don't worry",
    "dont worry",
    "don't forget",
    "dont forget",
    "do not forget",
    "never mind",
    "nevermind",
    "stop here",
    "wrong window",
    "wrong chat",
    "no further",
    "no other",
    "no more questions",
    "no, it's fine",
    "no, looks good",
    "you didn't do anything wrong",
];

/// Words before the phrase that do not matter.
const FILLERS: &[&str] = &[
    "oh", "hmm", "hm", "ehh", "eh", "well", "ok", "okay", "um", "uh", "ah", "argh", "sorry", "but", "and", "so", "hey",
    "yeah", "please", "pls", "claude", "codex", "dude", "man",
];

/// How much of the words is looked at, in bytes: the point of a correction comes first, and a pasted log is no cue.
const OPENING: usize = 160;

/// The name of the rule by which `words` correct what went before, `None` where they do not.
pub(super) fn correction(words: &str) -> Option<&'static str> {
    let opening = opening(words);
    let start = without_fillers(&opening);
    if NOT.iter().any(|phrase| begins(start, phrase)) {
        return None;
    }
    let fits = |(_, at, phrases): &&Rule| {
        phrases.iter().any(|phrase| match at {
            At::Start => begins(start, phrase) || begins(&opening, phrase),
            At::Opening => contains(&opening, phrase),
        })
    };
    RULES.iter().find(fits).map(|(name, ..)| *name)
}

/// Words that let the agent go on as it was.
const GO_ON: &[&str] = &[
    "continue",
    "go on",
    "go ahead",
    "carry on",
    "keep going",
    "proceed",
    "resume",
    "try again",
    "retry",
    "again",
    "yes",
    "y",
    "yep",
    "ok",
    "okay",
    "sure",
    "fine",
    "go",
    "next",
    "do it",
    "please continue",
    "sorry continue",
    "sorry, continue",
    "sorry, go on",
    "commit",
    "push",
];

/// Whether `words` only let the agent go on: after an interruption they correct nothing.
pub(super) fn goes_on(words: &str) -> bool {
    let words = opening(words);
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    words.is_empty() || GO_ON.contains(&words)
}

/// The first line or two in lower case, apostrophes plain, blanks folded.
fn opening(words: &str) -> String {
    let head = &words[..crate::base::lines::floor_char_boundary(words, OPENING * 2)];
    let mut folded = crate::base::text::fold_whitespace(head).to_lowercase().replace('’', "'");
    let cut = crate::base::lines::floor_char_boundary(&folded, OPENING);
    folded.truncate(cut);
    folded
}

fn without_fillers(text: &str) -> &str {
    let mut rest = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    while let Some((filler, after)) = FILLERS.iter().find_map(|filler| {
        let after = rest.strip_prefix(filler)?;
        let blank = after.strip_prefix([' ', ',', '.', '!', '…', ':', ';', '-'])?;
        Some((filler, blank.trim_start_matches(|c: char| !c.is_alphanumeric())))
    }) {
        // "oh no" is a phrase of its own.
        if *filler == "oh" && begins(rest, "oh no") {
            break;
        }
        rest = after;
    }
    rest
}

fn begins(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(ends_word)
}

fn contains(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric()) && ends_word(&text[at + phrase.len()..])
    })
}

fn ends_word(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '\'' && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_and_others() {
        let table: &[(&str, Option<&str>)] = &[
            ("don't store them in localStorage", Some("prohibition")),
            ("Don’t touch the lockfile", Some("prohibition")),
            ("no, use the other table", Some("no")),
            ("No. The test is right, the code is not.", Some("no")),
            ("Oh no, we lost the navigation", Some("no")),
            ("hmm, that's not what I asked for", Some("not that")),
            ("this is fine but that's wrong in the header", Some("not that")),
            ("I said tabs", Some("reminder")),
            ("you forgot the tests", Some("reproach")),
            ("why did you delete it?", Some("reproach")),
            ("Wait, does it only run on main?", Some("stop")),
            ("Wait a sec, we need to copy the icon first", Some("stop")),
            ("stop, run the tests first", Some("stop")),
            ("revert that", Some("undo")),
            ("ok, please don't push yet", Some("prohibition")),
            ("actually, use a map", Some("instead")),
            ("no problem, go on", None),
            ("No worries!", None),
            ("don't forget to push", None),
            ("never mind", None),
            ("now push", None),
            ("note that it is wrong in the header", None),
            ("notice how it stops", None),
            ("nothing to add", None),
            ("add a test for the wrong password", None),
            ("why does the build take so long?", None),
            ("yes", None),
            ("continue", None),
            ("wait for the build, then push", None),
            ("stopwatch in the corner, please", None),
            ("", None),
            ("…", None),
            ("nein, so nicht", None),
        ];
        for (words, rule) in table {
            assert_eq!(correction(words), *rule, "{words:?}");
        }
    }

    #[test]
    fn a_phrase_far_down_is_no_cue() {
        let log = format!("see the log:\n{}\nthat's wrong", "line of a log\n".repeat(40));
        assert_eq!(correction(&log), None);
    }

    #[test]
    fn words_that_let_it_go_on() {
        for words in ["continue", "Sorry, continue.", "yes!", " … ", "go on"] {
            assert!(goes_on(words), "{words:?}");
        }
        for words in ["continue with the parser", "use vite", "yes, but with tabs"] {
            assert!(!goes_on(words), "{words:?}");
        }
    }
}
