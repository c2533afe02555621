//! Reads the text of a command: a total reader of what every shell understands alike.
//!
//! What it gives back means the same to `sh`, `dash`, `bash` and `zsh`. Anything else is an error, and never a guess: a
//! reader of one shell's language that stands before another shell lets through what nobody allowed.

use std::borrow::Cow;

/// What is said of a text that is not understood.
pub(super) type Why = Cow<'static, str>;

/// A word, without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadWord {
    pub(super) text: String,
    /// Where the first quote stood in `text`.
    quoted_at: Option<usize>,
    /// `*`, `?` or `[` that a shell fills in.
    pub(super) has_glob: bool,
    /// `~` at its beginning.
    pub(super) has_tilde: bool,
    /// A character that some shell takes for more than itself.
    is_odd: bool,
}

impl ReadWord {
    /// Whether it stands for its text and nothing else, in every shell.
    pub(super) const fn is_plain(&self) -> bool {
        !self.has_glob && !self.has_tilde && !self.is_odd
    }

    /// Whether no part of it is quoted.
    pub(super) const fn is_bare(&self) -> bool {
        self.quoted_at.is_none()
    }

    /// The name of the variable that it sets, where it stands before a command.
    fn sets(&self) -> Option<&str> {
        let (name, _) = self.text.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_bare = self.quoted_at.is_none_or(|at| at > name.len());
        (is_name && is_bare && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }
}

/// `> FILE`, `< FILE`; a stream that goes where another goes (`2>&1`) is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadRedirection {
    pub(super) is_write: bool,
    pub(super) target: ReadWord,
}

/// What stands between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// `&&`
    And,
    /// `||`, `|`, `;` or the end of a line.
    Other,
}

/// One command of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadCommand {
    /// `CI=1` before the program.
    pub(super) assignments: Vec<ReadWord>,
    pub(super) words: Vec<ReadWord>,
    pub(super) redirections: Vec<ReadRedirection>,
    /// Whether it has any redirection, `2>&1` included.
    pub(super) is_redirected: bool,
    /// Whether an operator stands behind it.
    is_followed: bool,
    /// What stands before it.
    pub(super) joint: Option<Joint>,
    /// Where it begins in the text.
    pub(super) start: usize,
}

impl ReadCommand {
    /// Whether it is words and nothing else.
    pub(super) fn is_plain(&self) -> bool {
        let is_alone = self.assignments.is_empty() && !self.is_redirected && !self.is_followed;
        is_alone && self.words.iter().all(ReadWord::is_plain)
    }

    /// The same where `~` is read as the home folder.
    pub(super) fn is_plain_but_for_tilde(&self) -> bool {
        let is_plain = |word: &ReadWord| {
            word.is_plain() || word.has_tilde && !word.has_glob && word.text.matches('~').count() == 1
        };
        self.assignments.is_empty() && !self.is_redirected && self.words.iter().all(is_plain)
    }

    /// The words as texts.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }

    fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && !self.is_redirected
    }
}

/// Reads a text as commands between `&&`, `||`, `|`, `;` and line ends.
///
/// Errors: what it holds that is not understood.
pub(super) fn read(text: &str) -> Result<Vec<ReadCommand>, Why> {
    if text.chars().any(is_hidden) {
        return Err("it holds characters that cannot be seen or look like others".into());
    }
    let mut reader =
        Reader { text, at: 0, word: None, waiting: None, command: ReadCommand::default(), done: Vec::new() };
    while let Some(c) = reader.next() {
        reader.take(c)?;
    }
    reader.end_word();
    if reader.waiting.is_some() {
        return Err("it is not understood: it names no file for its output or input".into());
    }
    if !reader.command.is_empty() {
        reader.done.push(reader.command);
    } else if matches!(reader.command.joint, Some(Joint::And)) || ends_open(text) {
        return Err("it is not understood: it ends where another command has to follow".into());
    }
    if reader.done.is_empty() {
        return Err("there is no command".into());
    }
    Ok(reader.done)
}

/// Whether a text ends with an operator that wants another command.
fn ends_open(text: &str) -> bool {
    text.trim_end().ends_with('|')
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    word: Option<ReadWord>,
    /// A redirection whose file comes next.
    waiting: Option<bool>,
    command: ReadCommand,
    done: Vec<ReadCommand>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next_is(&mut self, wanted: char) -> bool {
        let is = self.peek() == Some(wanted);
        if is {
            self.at += wanted.len_utf8();
        }
        is
    }

    fn take(&mut self, c: char) -> Result<(), Why> {
        match c {
            ' ' | '\t' => self.end_word(),
            '\n' => {
                self.end_word();
                if !self.command.is_empty() {
                    self.end_command(Joint::Other)?;
                } else if self.command.joint == Some(Joint::And) || self.waiting.is_some() {
                    return Err("it is not understood: a line ends in the middle of a command".into());
                }
            }
            ';' => self.end_command(Joint::Other)?,
            '&' if self.next_is('&') => self.end_command(Joint::And)?,
            '&' => return Err("it goes on in the background, or holds an operator that not every shell knows".into()),
            '|' if self.peek() == Some('&') => return Err("`|&` is an operator that not every shell knows".into()),
            '|' => {
                self.next_is('|');
                self.end_command(Joint::Other)?;
                if matches!(self.peek(), Some('|' | ';' | '&')) {
                    return Err("it is not understood: an operator stands behind another".into());
                }
            }
            '>' | '<' => self.redirection(c)?,
            '\'' => self.single()?,
            '"' => self.double()?,
            '\\' => {
                let next = self.next().filter(|c| !c.is_whitespace() || *c == ' ');
                let next = next.ok_or("it is not understood: it ends, or a line of it ends, with a backslash")?;
                self.quoted().text.push(next);
            }
            '$' | '`' => return Err("it runs or fills in what its text does not tell".into()),
            '(' | ')' | '{' | '}' => {
                return Err("it is not understood: it groups commands, or defines some of its own".into());
            }
            '!' | '#' | '^' => {
                return Err(format!("it is not understood: `{c}` means more than itself to a shell").into());
            }
            '*' | '?' | '[' | ']' => {
                let word = self.open();
                word.has_glob = true;
                word.text.push(c);
            }
            '~' => {
                let word = self.open();
                word.has_tilde |= word.text.is_empty() && word.is_bare();
                word.is_odd = true;
                word.text.push(c);
            }
            '=' | '%' => {
                let word = self.open();
                word.is_odd |= word.text.is_empty();
                word.text.push(c);
            }
            c => self.open().text.push(c),
        }
        Ok(())
    }

    fn open(&mut self) -> &mut ReadWord {
        if self.word.is_none() && self.command.is_empty() && self.waiting.is_none() {
            // The character that opens the word was taken already.
            let back = self.text.get(..self.at).and_then(|taken| taken.chars().next_back()).map_or(0, char::len_utf8);
            self.command.start = self.at - back;
        }
        self.word.get_or_insert_default()
    }

    fn quoted(&mut self) -> &mut ReadWord {
        let word = self.open();
        word.quoted_at = word.quoted_at.or(Some(word.text.len()));
        word
    }

    fn single(&mut self) -> Result<(), Why> {
        self.quoted();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some('\n') | None => return Err("it is not understood: a quote does not end on its line".into()),
                Some(c) => self.quoted().text.push(c),
            }
        }
    }

    fn double(&mut self) -> Result<(), Why> {
        self.quoted();
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('\n') | None => return Err("it is not understood: a quote does not end on its line".into()),
                Some('$' | '`') => return Err("it runs or fills in what its text does not tell".into()),
                Some('\\') => {
                    let next = self.next().filter(|c| matches!(c, '"' | '\\' | '$' | '`'));
                    let next = next.ok_or("it is not understood: a backslash between double quotes")?;
                    self.quoted().text.push(next);
                }
                Some(c) => self.quoted().text.push(c),
            }
        }
    }

    fn redirection(&mut self, c: char) -> Result<(), Why> {
        let is_stream = |word: &ReadWord| word.is_bare() && matches!(word.text.as_str(), "0" | "1" | "2");
        let is_number = |word: &ReadWord| word.is_bare() && word.text.bytes().all(|byte| byte.is_ascii_digit());
        match &self.word {
            Some(word) if is_stream(word) => self.word = None,
            Some(word) if is_number(word) => return Err("it uses a stream of its own".into()),
            _ => self.end_word(),
        }
        if self.waiting.is_some() {
            return Err("it is not understood: an operator stands behind another".into());
        }
        if self.command.is_empty() {
            self.command.start = self.at - 1;
        }
        self.command.is_redirected = true;
        match (c, self.peek()) {
            ('>', Some('>')) => self.at += 1,
            ('>', Some('&')) => {
                self.at += 1;
                let is_known = matches!(self.next(), Some('1' | '2'));
                let is_end = self.peek().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&'));
                return if is_known && is_end { Ok(()) } else { Err("it uses a stream of its own".into()) };
            }
            (_, Some('>' | '<' | '&' | '|')) => {
                return Err("it holds an operator that not every shell reads alike".into());
            }
            _ => {}
        }
        self.waiting = Some(c == '>');
        Ok(())
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.waiting.take() {
            Some(is_write) => self.command.redirections.push(ReadRedirection { is_write, target: word }),
            None if self.command.words.is_empty() && word.sets().is_some() => self.command.assignments.push(word),
            None => self.command.words.push(word),
        }
    }

    fn end_command(&mut self, joint: Joint) -> Result<(), Why> {
        self.end_word();
        if self.waiting.is_some() || self.command.is_empty() {
            return Err("it is not understood: an operator stands where a command or a file has to".into());
        }
        self.command.is_followed = true;
        let next = ReadCommand { joint: Some(joint), ..ReadCommand::default() };
        self.done.push(std::mem::replace(&mut self.command, next));
        Ok(())
    }
}

/// Characters that a person does not see, or takes for a blank.
fn is_hidden(c: char) -> bool {
    let of_format = matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}'
        | '\u{e0000}'..='\u{e0fff}');
    of_format || c.is_control() && !matches!(c, '\n' | '\t') || c.is_whitespace() && !c.is_ascii()
}

/// The words as one text that [`read`] and every shell read back as these words.
pub(super) fn quoted(words: &[&str]) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@+,".contains(&byte);
    let quote = |word: &&str| {
        if !word.is_empty() && word.bytes().all(is_bare) {
            (*word).to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Option<Vec<String>> {
        let commands = read(text).ok()?;
        let [command] = commands.as_slice() else { return None };
        command.is_plain().then(|| command.words.iter().map(|word| word.text.clone()).collect())
    }

    #[test]
    fn words_of_plain_commands() {
        for (text, wanted) in [
            ("cargo test", &["cargo", "test"][..]),
            ("  cargo \t test  ", &["cargo", "test"]),
            ("a 'b c' \"d e\" f\\ g", &["a", "b c", "d e", "f g"]),
            ("a ''", &["a", ""]),
            ("a b'c'\"d\"e", &["a", "bcde"]),
            ("a '$x `y` \\n *'", &["a", "$x `y` \\n *"]),
            ("a \"\\$x \\\" \\\\\"", &["a", "$x \" \\"]),
            ("a \\* \\; \\$", &["a", "*", ";", "$"]),
            ("a --b=c x=y +%F a%b", &["a", "--b=c", "x=y", "+%F", "a%b"]),
            ("a ü", &["a", "ü"]),
        ] {
            assert_eq!(words(text).as_deref().unwrap_or_default(), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_plain_command() {
        for text in [
            "",
            " ",
            "\n",
            "a;",
            "a; b",
            "a & b",
            "a &",
            "a && b",
            "a | b",
            "a > b",
            "a < b",
            "a 2>&1",
            "(a)",
            "((a)); b",
            "a $b",
            "a \"$b\"",
            "a `b`",
            "a {b,c}",
            "a *",
            "a ?",
            "a [b]",
            "a ~",
            "a ~/b",
            "a b~c",
            "a # b",
            "a !b",
            "! a",
            "a\nb",
            "A=1 b",
            "a 'b",
            "a \"b",
            "a \\",
            "a \\\n b",
            "a \"\\b\"",
            "a\r",
            "a\0",
            "a\u{a0}b",
            "a\u{202e}b",
            "a =b",
            "a %1",
            "a^b^c",
            "a 'b\nc'",
            "a &>/dev/null b",
            "a |& b",
            "a <<< b",
            "a << b",
            "a >| b",
            "a <> b",
            "a >& b",
            "a 3> b",
            "a <(b)",
            "a $'b'",
            "a &&",
            "a ||",
            "| a",
            "&& a",
            "a ;; b",
            "a | | b",
            "a > > b",
            "a >",
        ] {
            assert_eq!(words(text), None, "{text}");
        }
    }

    #[test]
    fn several_commands() {
        let read = |text: &str| read(text).map(|all| all.iter().map(|it| it.texts().join(" ")).collect::<Vec<_>>());
        assert_eq!(read("a b && c > d | e; f\n\ng || h 2>&1").unwrap(), ["a b", "c", "e", "f", "g", "h"]);
        assert_eq!(read("a;\nb\n").unwrap(), ["a", "b"]);
        assert!(read("a &&\nb").is_err() && read("a && ").is_err() && read("a |").is_err());
        let text = "cd x && CI=1 b  c";
        let all = super::read(text).unwrap();
        assert_eq!((&text[all[1].start..], all[1].joint), ("CI=1 b  c", Some(Joint::And)));
        assert_eq!(all[1].assignments.len(), 1);
    }

    proptest! {
        #[test]
        fn words_are_read_back(words in proptest::collection::vec("[ -~äß]{0,8}", 1..5)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let read = read(&quoted(&words)).unwrap();
            prop_assert_eq!(read.len(), 1);
            prop_assert!(read[0].is_plain());
            prop_assert_eq!(read[0].texts(), words);
        }

        #[test]
        fn any_text_is_read(text in "[ab '\"\\\\$`;&|<>(){}*?~#!=%^\n\t0-2\\PC]{0,24}") {
            let _ = read(&text);
        }
    }
}
