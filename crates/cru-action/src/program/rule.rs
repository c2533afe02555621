//! Rules of the table and how they fit the arguments of a command.

use std::borrow::Cow;

use super::Effect;

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule<'t> {
    pub(super) effect: Effect,
    plain: Vec<&'t str>,
    options: Vec<Wanted<'t>>,
    /// First byte of the first plain word, where that is no pattern: most rules are left out by it.
    first: Option<u8>,
}

/// An option that a rule asks for.
#[derive(Debug)]
enum Wanted<'t> {
    /// `--check`
    Whole(&'t str),
    /// `--check*`
    Start(&'t str),
    /// `-[i]`: a group of short options with this letter.
    Letter(char),
    /// `--request=POST`, `-X=POST`.
    Valued(&'t str, &'t str),
    /// `~mutation`: any argument that holds this text.
    Text(&'t str),
}

impl<'t> Rule<'t> {
    pub(crate) fn read(text: &'t str, effect: Effect) -> Self {
        let (options, plain): (Vec<&str>, Vec<&str>) = text
            .split_ascii_whitespace()
            .partition(|word| word.starts_with(['-', '~']) && !matches!(*word, "-" | "~*"));
        let options = options.into_iter().map(|word| {
            if let Some(text) = word.strip_prefix('~') {
                return Wanted::Text(text);
            }
            let letter = word.strip_prefix("-[").and_then(|rest| rest.chars().next());
            match (letter, word.strip_suffix('*'), word.split_once('=')) {
                (Some(letter), ..) => Wanted::Letter(letter),
                (None, Some(start), _) => Wanted::Start(start),
                (None, None, Some((name, value))) => Wanted::Valued(name, value),
                (None, None, None) => Wanted::Whole(word),
            }
        });
        let first = plain.first().filter(|word| !word.contains('*') && **word != "_");
        let first = first.and_then(|word| word.bytes().next());
        Self { effect, options: options.collect(), first, plain }
    }

    pub(super) fn plain_len(&self) -> usize {
        self.plain.len()
    }

    /// How many words it names itself: `_` stands for any.
    pub(crate) fn named_len(&self) -> usize {
        self.plain.iter().filter(|word| **word != "_").count()
    }

    /// How well it fits: the number of its parts, and of its options; `None` where it does not.
    pub(crate) fn fit(&self, parts: &Parts<'_>) -> Option<(usize, usize)> {
        if self.first.is_some_and(|first| parts.first != Some(first)) {
            return None;
        }
        let fits = self.plain.len() <= parts.plain.len()
            && self.plain.iter().zip(&parts.plain).all(|(wanted, word)| is_word(wanted, word))
            && self.options.iter().all(|wanted| wanted.is_in(parts));
        fits.then_some((self.plain.len() + self.options.len(), self.options.len()))
    }

    /// Its words as the command has them, `_` left out.
    pub(super) fn verb(&self, parts: &Parts<'_>) -> String {
        let mut verb = String::new();
        let plain = self.plain.iter().zip(&parts.plain).filter(|(wanted, _)| **wanted != "_").map(|(_, word)| *word);
        let options = self.options.iter().filter_map(|wanted| match wanted {
            Wanted::Whole(word) | Wanted::Start(word) => Some(*word),
            Wanted::Letter(_) | Wanted::Valued(..) | Wanted::Text(_) => None,
        });
        for word in plain.chain(options) {
            if !verb.is_empty() {
                verb.push(' ');
            }
            verb.push_str(word);
        }
        verb
    }
}

/// Whether a word is what a rule wants: itself, `_` for any, `word*` for a beginning, `*word` for an ending.
fn is_word(wanted: &str, word: &str) -> bool {
    match (wanted.strip_suffix('*'), wanted.strip_prefix('*')) {
        _ if wanted == "_" => true,
        (Some(start), _) => word.starts_with(start),
        (None, Some(end)) => word.ends_with(end),
        (None, None) => wanted == word,
    }
}

impl Wanted<'_> {
    fn is_in(&self, parts: &Parts<'_>) -> bool {
        if let Self::Text(text) = self {
            return parts.args.iter().any(|word| word.contains(text));
        }
        parts.options.iter().any(|(option, next)| match self {
            Self::Whole(wanted) => option == wanted,
            Self::Start(start) => option.starts_with(start),
            Self::Letter(letter) => option.strip_prefix('-').is_some_and(|rest| {
                !rest.starts_with('-') && rest.chars().take_while(char::is_ascii_alphanumeric).any(|it| it == *letter)
            }),
            Self::Text(_) => false,
            Self::Valued(name, value) => {
                (option == name && next == value)
                    || option.strip_prefix(name).is_some_and(|rest| rest.strip_prefix('=').unwrap_or(rest) == *value)
            }
        })
    }
}

/// The arguments of a command, told apart.
#[derive(Debug, Default)]
pub(crate) struct Parts<'w> {
    /// What is no option and no value of one.
    pub(crate) plain: Vec<&'w str>,
    /// Options, each with the word behind it.
    pub(crate) options: Vec<(&'w str, &'w str)>,
    /// First byte of the first plain word.
    first: Option<u8>,
    /// All of them.
    args: &'w [Cow<'w, str>],
}

impl<'w> Parts<'w> {
    /// Arguments of one command that are looked at.
    const MAX: usize = 200;

    /// `takes`: options whose value is the next word. `alias`: other forms of the first plain word.
    pub(crate) fn read(args: &'w [Cow<'w, str>], takes: &[&str], alias: &[(&'w str, &'w str)]) -> Self {
        let mut parts = Self { args: args.get(..Self::MAX).unwrap_or(args), ..Self::default() };
        let mut value = false;
        for (at, word) in args.iter().enumerate().take(Self::MAX) {
            let word = word.as_ref();
            if std::mem::take(&mut value) {
                continue;
            }
            if word.len() > 1 && word.starts_with('-') {
                let next = args.get(at + 1).map_or("", |next| next.as_ref());
                parts.options.push((word, next));
                value = takes.contains(&word);
            } else if parts.plain.is_empty() {
                // `cargo +nightly test`
                if word.len() > 1 && word.starts_with('+') {
                    continue;
                }
                let long = alias.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| *long);
                parts.plain.push(long);
            } else {
                parts.plain.push(word);
            }
        }
        parts.first = parts.plain.first().and_then(|word| word.bytes().next());
        parts
    }

    /// Whether the plain words begin with these.
    pub(super) fn begins_with(&self, head: &[&str]) -> bool {
        head.len() <= self.plain.len() && head.iter().zip(&self.plain).all(|(wanted, word)| is_word(wanted, word))
    }
}
