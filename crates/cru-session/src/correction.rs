//! Whether a person's words correct the agent.
//!
//! The importer titles such words `Correction`; whoever reads a note judges untitled ones by the same rule. It is
//! conservative: a remark that is missed can be titled by hand, one titled wrongly becomes a false training case.

/// The line a note shows where a person stopped the agent.
pub const INTERRUPTED: &str = "*Interrupted by the user.*";

/// Words that open a correction, in lower case; a word boundary must follow.
const OPENERS: &[&str] = &[
    // English
    "no",
    "nope",
    "don't",
    "dont",
    "do not",
    "stop",
    "wrong",
    "that's not",
    "thats not",
    "that is not",
    "that's wrong",
    "thats wrong",
    "that is wrong",
    "this is wrong",
    "this is not what",
    "this isn't what",
    "not what i",
    "instead",
    "actually",
    "i said",
    "i told you",
    "i didn't ask",
    "i did not ask",
    "i asked you",
    "i asked for",
    "i didn't say",
    "i never asked",
    "i already told you",
    "i meant",
    "i don't want",
    "i do not want",
    "i didn't want",
    "you should not",
    "you shouldn't",
    "you should have",
    "you were supposed",
    "you weren't supposed",
    "you forgot",
    "you missed",
    "you broke",
    "you deleted",
    "you removed",
    "you misunderstood",
    "did you forget",
    "why did you",
    "why didn't you",
    "not quite",
    "incorrect",
    "nah",
    "hold on",
    "wait no",
    "wait a sec",
    "wait a second",
    "wait a minute",
    "roll back",
    "put it back",
    "put that back",
    "change it back",
    "i'd rather",
    "i would rather",
    "undo",
    "revert that",
    "revert this",
    "not like that",
    // German
    "nein",
    "nicht so",
    "stopp",
    "falsch",
    "das ist falsch",
    "das stimmt nicht",
    "stattdessen",
    "ich meinte",
    "ich sagte",
    "warum hast du",
    "hör auf",
    "lass das",
    // French
    "non",
    "arrête",
    "c'est faux",
    "ce n'est pas",
    "pas comme ça",
    "plutôt",
    "en fait",
    // Spanish
    "para ya",
    "detente",
    "eso no",
    "eso está mal",
    "así no",
    "en realidad",
    "en lugar de",
    // Portuguese
    "não",
    "pare",
    "errado",
    "isso não",
    "na verdade",
    "em vez disso",
    // Italian
    "fermati",
    "sbagliato",
    "non è quello",
    "invece",
    // Dutch
    "nee",
    "fout",
    "niet zo",
    "in plaats daarvan",
    // Polish
    "nie",
    "źle",
    // Russian
    "нет",
    "стоп",
    "не так",
    "неправильно",
    "не надо",
];

/// What says so anywhere near the beginning.
const REMARKS: &[&str] = &[
    "not what i asked",
    "not what i meant",
    "not what i wanted",
    "isn't what i asked",
    "isn't what i meant",
    "isn't what i wanted",
    "that's not right",
    "that is not right",
    "that's wrong",
    "that is wrong",
    "you've misunderstood",
    "you misunderstood",
];

/// Words before an opener that change nothing.
const FILLERS: &[&str] = &[
    "oh", "hmm", "hm", "eh", "ehh", "well", "ok", "okay", "um", "uh", "ah", "sorry", "but", "hey", "wait", "please",
    "whoa",
];

/// The same in scripts that write no blanks between words: any text may follow.
const UNSPACED_OPENERS: &[&str] =
    &["不对", "不是", "不要", "错了", "停", "違う", "違います", "そうじゃない", "やめて", "아니", "틀렸"];

/// What begins like a correction and is none.
const EXCEPTIONS: &[&str] = &[
    "no problem",
    "no worries",
    "no need",
    "no rush",
    "no, that's fine",
    "no that's fine",
    "no, thanks",
    "no thanks",
    "no thank you",
    "no, thank you",
    "no changes",
    "no idea",
    "no question",
    "no questions",
    "no further",
    "no other",
    "no comment",
    "wrong window",
    "wrong chat",
    "no, go ahead",
    "actually great",
    "actually, great",
    "actually good",
    "actually, good",
    "actually fine",
    "actually, fine",
    "actually nice",
    "actually, nice",
    "actually perfect",
    "actually, perfect",
    "actually works",
    "actually, works",
    "actually looks good",
    "actually, looks good",
    "actually looks great",
    "actually, looks great",
    "actually that's fine",
    "actually, that's fine",
    "actually that's good",
    "actually, that's good",
    "actually that's great",
    "actually, that's great",
    "actually that's perfect",
    "actually, that's perfect",
    "actually that works",
    "actually, that works",
    "actually this is great",
    "actually, this is great",
    "actually this is good",
    "actually, this is good",
    "actually this works",
    "actually, this works",
    "actually it works",
    "actually, it works",
    "actually love it",
    "actually, love it",
    "no complaints",
    "no notes",
    "no objections",
    "no big deal",
    "no hurry",
    "no, all good",
    "no, looks good",
    "no, perfect",
    "no, that's good",
    "no, that's great",
    "no, that's perfect",
    "no, that's right",
    "no, that's correct",
    "nope, all good",
    "nope, looks good",
    "nope, that's all",
    "no, that's all",
    "stop there for",
    "no, it's fine",
    "no it's fine",
    "no, its fine",
    "no, that's ok",
    "no go ahead",
    "don't worry",
    "don't we",
    "don't you",
    "don't they",
    "dont worry",
    "don't forget",
    "dont forget",
    "do not forget",
    "stop here for",
    "actually, that's fine",
    "nie ma sprawy",
];

/// What goes on with the work after it was interrupted: no correction.
const GOING_ON: &[&str] = &[
    "continue",
    "please continue",
    "go on",
    "go ahead",
    "carry on",
    "keep going",
    "proceed",
    "resume",
    "yes",
    "ok",
    "okay",
    "try again",
    "retry",
    "weiter",
    "mach weiter",
    "continuer",
    "continúa",
    "sigue",
    "继续",
    "続けて",
    "계속",
];

/// What asks or asks for something else after an interruption: no correction by itself.
const ASKING: &[&str] = &[
    "can you",
    "could you",
    "can we",
    "could we",
    "can i",
    "could i",
    "may i",
    "i have a question",
    "i had a question",
    "i had the question",
    "it would be nice",
    "it would also be nice",
    "it'd be nice",
    "and it would",
    "and also",
    "one more thing",
    "while you're at it",
    "would you",
    "how can",
    "how do",
    "how does",
    "how would",
    "what if",
    "is there",
    "are there",
    "before we continue",
    "also",
    "never mind",
    "nevermind",
    "wow",
    "it works",
    "it worked",
    "i ran it",
    "works",
    "nice",
    "great",
    "cool",
    "perfect",
    "thanks",
    "that's ok",
    "that's okay",
    "that's fine",
    "thats ok",
    "thats fine",
    "btw",
    "by the way",
    "what are you doing",
    "give me",
    "show me",
];

/// Whether `words` begin like a correction.
pub fn opens_correction(words: &str) -> bool {
    let words = normalise(words);
    let plain = without_fillers(&words);
    !EXCEPTIONS.iter().any(|row| starts(plain, row))
        && (OPENERS.iter().any(|row| starts(&words, row) || starts(plain, row))
            || UNSPACED_OPENERS.iter().any(|row| words.starts_with(row))
            || REMARKS.iter().any(|row| says(&words, row)))
}

/// Whether `words`, said right after the agent was stopped or refused, only let it go on or ask for something.
pub fn goes_on(words: &str) -> bool {
    let words = normalise(words);
    let plain = without_fillers(&words);
    let listed = GOING_ON.iter().any(|row| starts(&words, row) || starts(plain, row));
    let short = plain.split(' ').count() <= 4 && (listed || (plain.is_empty() && !words.is_empty()));
    short || ASKING.iter().any(|row| starts(&words, row) || starts(plain, row))
}

/// The first characters in lower case, with one kind of apostrophe and single blanks.
fn normalise(words: &str) -> String {
    const ENOUGH: usize = 100;
    let start: String = words.trim_start().chars().take(ENOUGH).flat_map(char::to_lowercase).collect();
    cru_base::text::fold_whitespace(&start.replace('’', "'"))
}

/// Without the words at the beginning that only lead up to it.
fn without_fillers(words: &str) -> &str {
    let mut rest = words;
    let filler = |text: &str| FILLERS.iter().find(|row| starts(text, row)).map(|row| row.len());
    while let Some(length) = filler(rest) {
        rest = rest[length..].trim_start_matches(|c: char| !c.is_alphanumeric());
    }
    rest
}

/// Whether `row` stands in `words` as whole words.
fn says(words: &str, row: &str) -> bool {
    words.match_indices(row).any(|(at, _)| {
        let before = words[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric()) && starts(&words[at..], row)
    })
}

/// Whether `words` start with `row` as whole words.
fn starts(words: &str, row: &str) -> bool {
    words
        .strip_prefix(row)
        .is_some_and(|rest| rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_corrections() {
        for words in [
            "No, use the other file",
            "no",
            "Don’t store them in localStorage",
            "STOP! you are deleting it",
            "Actually, let's use vite",
            "that's not what I asked for",
            "hmm, that's not what I asked for",
            "this is fine but that's wrong in the header",
            "Oh no, we lost the navigation",
            "ok, please don't push yet",
            "Wait a sec, we need to copy the icon first",
            "you forgot the tests",
            "I said tabs",
            "Nein, das andere Modul",
            "non, pas celui-là",
            "нет, другой файл",
            "不对，用另一个文件",
        ] {
            assert!(opens_correction(words), "{words}");
        }
    }

    #[test]
    fn table_of_other_words() {
        for words in [
            "",
            "No problem, go on",
            "don't forget to push the pencil file",
            "Notify the user when it fails",
            "nonsense values appear in the table",
            "no-op is fine here",
            "stopwatch is off by one",
            "Now fix the tests",
            "yes please",
            "the actual size is wrong",
            "ok, no problem",
            "oh",
            "Never mind! But I'd like to ask for something else",
            "okay, wait for the build, then push",
            "why does the build take so long?",
            "add a test for the wrong password",
            "No questions, go ahead",
        ] {
            assert!(!opens_correction(words), "{words}");
        }
    }

    #[test]
    fn table_of_going_on() {
        for words in [
            "continue",
            "Go on",
            "sorry, continue",
            "ok",
            "please continue",
            "ok, go",
            "继续",
            "how can we know which one is active?",
            "oh, and it would also be nice to show the size",
            "whoa... I had the question first, how is it sorted?",
            "Can I get a table of that in the docs?",
        ] {
            assert!(goes_on(words), "{words}");
        }
        for words in ["continue but use tabs in the generated files", "use tabs", "okra"] {
            assert!(!goes_on(words), "{words}");
        }
    }
}
