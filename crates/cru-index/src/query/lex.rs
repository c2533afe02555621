//! A query as marks and words.

use super::error::Trouble;
use cru_base::Span;

/// A piece of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    And,
    Or,
    Not,
    /// A word, or `"a phrase"`; in `field:value`, its field.
    Word(Word),
}

/// A word as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The name before `:` and its place.
    pub(super) field: Option<(String, Span)>,
    /// Without quotes.
    pub(super) text: String,
    pub(super) quoted: bool,
    /// Marks behind a closing quote: `*` or `~`.
    pub(super) mark: Option<char>,
}

/// Cuts `text`; every character is looked at a bounded number of times.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Trouble> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        let one = |kind| Token { kind, span: Span::new(at, next) };
        match c {
            _ if c.is_whitespace() => at = next,
            '(' => {
                tokens.push(one(Kind::Open));
                at = next;
            }
            ')' => {
                tokens.push(one(Kind::Close));
                at = next;
            }
            '-' if text[next..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '(')) => {
                tokens.push(one(Kind::Not));
                at = next;
            }
            _ => {
                let (token, end) = word(text, at)?;
                tokens.push(token);
                at = end;
            }
        }
    }
    Ok(tokens)
}

/// The word that begins at `start`.
fn word(text: &str, start: usize) -> Result<(Token, usize), Trouble> {
    let rest = &text[start..];
    if rest.starts_with('"') {
        let (words, mark, end) = quoted(text, start)?;
        let word = Word { field: None, text: words, quoted: true, mark };
        return Ok((Token { kind: Kind::Word(word), span: Span::new(start, end) }, end));
    }
    if let Some(colon) = field(rest) {
        let name = Span::new(start, start + colon);
        let value = name.end + 1;
        let (words, was_quoted, mark, end) = if text[value..].starts_with('"') {
            let (words, mark, end) = quoted(text, value)?;
            (words, true, mark, end)
        } else {
            let end = value + bare(&text[value..]);
            (text[value..end].to_owned(), false, None, end)
        };
        let word = Word { field: Some((name.of(text).to_owned(), name)), text: words, quoted: was_quoted, mark };
        return Ok((Token { kind: Kind::Word(word), span: Span::new(start, end) }, end));
    }
    // A bracket of code (`main()`) belongs to its word.
    let end = start + bare(rest).max(rest.chars().next().map_or(1, char::len_utf8));
    let span = Span::new(start, end);
    let kind = match span.of(text) {
        "AND" => Kind::And,
        "OR" => Kind::Or,
        "NOT" => Kind::Not,
        "&&" => {
            return Err(Trouble::new(span, "`&&` is no operator here", "write AND, or nothing: words must all hold"));
        }
        "||" => return Err(Trouble::new(span, "`||` is no operator here", "write OR")),
        word => Kind::Word(Word { field: None, text: word.to_owned(), quoted: false, mark: None }),
    };
    Ok((Token { kind, span }, end))
}

/// Length of `name` in `name:value`. `std::env`, `https://…` and `localhost:8080` are words.
fn field(rest: &str) -> Option<usize> {
    let colon = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    let value = rest[colon..].strip_prefix(':')?;
    if colon == 0 || value.starts_with(':') || value.starts_with("//") {
        return None;
    }
    let end = bare(value);
    let number = end > 0 && value[..end].bytes().all(|byte| byte.is_ascii_digit());
    let known = super::Field::find(&rest[..colon]).is_some();
    // `warning:` is a word with a colon behind it.
    let nothing = end == 0 && !value.starts_with('"');
    (known || !(number || nothing)).then_some(colon)
}

/// Length of a word without quotes: to the next blank or bracket of the query. A bracket that opens and closes within
/// the word (`main()`, `f(x)`) is part of it.
fn bare(text: &str) -> usize {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            _ if c.is_whitespace() => return at,
            '(' if at == 0 || matches!(&text[..at], "AND" | "OR" | "NOT") => return at,
            '(' => open += 1,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

/// A quoted text at `start`: its words, the mark behind it, and where it ends. `""` within is a quote.
fn quoted(text: &str, start: usize) -> Result<(String, Option<char>, usize), Trouble> {
    let mut words = String::new();
    let mut chars = text[start + 1..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '"' {
            words.push(c);
            continue;
        }
        if chars.next_if(|(_, c)| *c == '"').is_some() {
            words.push('"');
            continue;
        }
        let end = start + 1 + at + 1;
        let mark = text[end..].chars().next().filter(|c| matches!(c, '*' | '~'));
        return Ok((words, mark, end + mark.map_or(0, char::len_utf8)));
    }
    let help = format!("end the phrase with `\"`: \"{}\"", words.trim_end());
    Err(Trouble::new(Span::new(start, start + 1), "this quote is never closed", help))
}
