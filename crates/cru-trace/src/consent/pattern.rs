//! `[run] allow`: patterns of plain commands, compared word by word.

use super::known::known;
use super::reader;

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(Vec<PatternWord>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternWord {
    /// This very word.
    Word(String),
    /// `*`: any words but options, or none; options too that only choose what is looked at.
    Any,
    /// `-*`: any words, or none.
    AnyOption,
}

impl PatternWord {
    /// Whether a word of a command may be one of those that it stands for.
    fn stands_for(&self, program: &str, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or(word);
        let is_plain = || known().plain_options.get(program).is_some_and(|known| known.iter().any(|it| it == name));
        match self {
            Self::Word(own) => own == word,
            Self::Any => !word.starts_with('-') || is_plain(),
            Self::AnyOption => true,
        }
    }
}

impl Pattern {
    /// Reads one: words as in a command, of which `*` stands for any further words that are no options, or none, and `-*`
    /// for options too. `cargo test*` is `cargo test *`.
    ///
    /// Errors: what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let glued = text.strip_suffix('*').filter(|before| !before.ends_with([' ', '\t', '\\', '*', '\'', '"', '-']));
        let text = glued.map_or_else(|| text.to_owned(), |before| format!("{before} *"));
        let commands = reader::read(&text).map_err(std::borrow::Cow::into_owned)?;
        let [command] = commands.as_slice() else {
            return Err("it is more than one command".to_owned());
        };
        if command.is_redirected {
            return Err("it writes or reads files by `>` or `<`, which needs a shell".to_owned());
        }
        if !command.assignments.is_empty() {
            return Err("it sets variables".to_owned());
        }
        let words = command.words.iter().map(|word| match word.text.as_str() {
            "*" if word.has_glob => Ok(PatternWord::Any),
            "-*" if word.has_glob => Ok(PatternWord::AnyOption),
            _ if word.has_glob => {
                Err(format!("in `{}` a `*` stands for a part of a word; it can stand for whole words", word.text))
            }
            _ if !word.is_plain() => Err(format!("`{}` means more than itself to a shell", word.text)),
            text => Ok(PatternWord::Word(text.to_owned())),
        });
        let words: Vec<PatternWord> = words.collect::<Result<_, _>>()?;
        match words.first() {
            Some(PatternWord::Word(_)) => Ok(Self(words)),
            _ => Err("it names no program".to_owned()),
        }
    }

    /// Whether it is of these words.
    pub(super) fn allows(&self, words: &[&str]) -> bool {
        allows(&self.0, words)
    }
}

/// Goes through the words once, with all places of the pattern that may be reached by then.
fn allows(pattern: &[PatternWord], words: &[&str]) -> bool {
    let program = words.first().copied().unwrap_or_default();
    // A `*` may stand for nothing.
    let behind_none = |mut places: Vec<bool>| {
        for (at, word) in pattern.iter().enumerate() {
            places[at + 1] |= places[at] && !matches!(word, PatternWord::Word(_));
        }
        places
    };
    let mut places = vec![false; pattern.len() + 1];
    places[0] = true;
    places = behind_none(places);
    for word in words {
        let mut next = vec![false; pattern.len() + 1];
        for (at, of) in pattern.iter().enumerate().filter(|(at, of)| places[*at] && of.stands_for(program, word)) {
            next[at + usize::from(matches!(of, PatternWord::Word(_)))] = true;
        }
        places = behind_none(next);
    }
    places[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_with_words() {
        for (pattern, text, is) in [
            ("cargo test", "cargo test", true),
            ("cargo test", "cargo test -p a", false),
            ("cargo test *", "cargo test", true),
            ("cargo test *", "cargo test -p a", true),
            ("cargo test*", "cargo test -p a", true),
            ("cargo test*", "cargo testx", false),
            ("cargo test*", "cargo", false),
            ("sort * -o out.csv", "sort a b -o out.csv", true),
            ("sort * -o out.csv", "sort -o out.csv", true),
            ("sort * -o out.csv", "sort a -o b", false),
            ("a * b * c", "a b b x c", true),
            ("a * b * c", "a x c b", false),
            ("cat 'a b'", "cat a\\ b", true),
            ("cat '*'", "cat x", false),
            ("cat \\*", "cat '*'", true),
            ("cat *", "cat ''", true),
            ("a *", "a -x", false),
            ("a *", "a --x=y b", false),
            ("a -*", "a -x b", true),
            ("a * -*", "a b -x c", true),
            ("a -x *", "a -x b", true),
            ("a -* b *", "a -x b c", true),
            ("a -* b *", "a -x b -c", false),
            ("cargo test *", "cargo test --manifest-path x/Cargo.toml", false),
            ("cargo test *", "cargo test -p a -- --nocapture", true),
        ] {
            let commands = reader::read(text).unwrap();
            assert_eq!(Pattern::read(pattern).unwrap().allows(&commands[0].texts()), is, "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_that_are_no_plain_command() {
        for pattern in [
            "",
            "*",
            "**",
            "* x",
            "sort *.csv",
            "sort *.csv > *.csv",
            "a; b",
            "a && b",
            "A=1 b",
            "a $b",
            "a ?",
            "a [b]",
            "a ~/b",
            "a 'b*",
        ] {
            assert!(Pattern::read(pattern).is_err(), "{pattern}");
        }
    }
}
