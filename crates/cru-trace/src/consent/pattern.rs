//! `[run] allow`: patterns of plain commands, compared word by word.

use super::reader;

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(Vec<PatternWord>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternWord {
    /// This very word.
    Word(String),
    /// `*`: any words, or none.
    Any,
}

impl Pattern {
    /// Reads one: words as in a command, of which `*` stands for any further words, or none. `cargo test*` is `cargo test *`.
    ///
    /// Errors: what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let glued = text.strip_suffix('*').filter(|before| !before.ends_with([' ', '\t', '\\', '*', '\'', '"']));
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

/// Goes through both from the left; behind a `*` that did not fit, it takes one word more.
fn allows(pattern: &[PatternWord], words: &[&str]) -> bool {
    let (mut at, mut of) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while at < words.len() {
        match pattern.get(of) {
            Some(PatternWord::Any) => {
                last = Some((of, at));
                of += 1;
            }
            Some(PatternWord::Word(word)) if word == words[at] => {
                at += 1;
                of += 1;
            }
            _ => match last {
                Some((any, from)) => {
                    last = Some((any, from + 1));
                    (of, at) = (any + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[of..].iter().all(|word| *word == PatternWord::Any)
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
