//! Cutting a condition into words.

use crate::base::Span;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Contains,
    Lacks,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Op(Op),
    /// A name or a value; the flag says that it was quoted.
    Text(String, bool),
}

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

const OPS: [(&str, Op); 9] = [
    ("==", Op::Equal),
    ("!=", Op::Unequal),
    ("<=", Op::AtMost),
    (">=", Op::AtLeast),
    ("!~", Op::Lacks),
    ("=", Op::Equal),
    ("<", Op::Less),
    (">", Op::Greater),
    ("~", Op::Contains),
];

/// The words of `text`. Error: the place of a quote that is not closed.
pub(super) fn words(text: &str) -> Result<Vec<Word>, Span> {
    let mut words: Vec<Word> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let value = matches!(words.last(), Some(Word { kind: Kind::Op(_), .. }));
        let (kind, len) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c == '(' {
            (Kind::Open, 1)
        } else if c == ')' {
            (Kind::Close, 1)
        } else if c == '"' || c == '\'' {
            let (inside, len) = quoted(rest, c).ok_or(Span::new(at, text.len()))?;
            (Kind::Text(inside, true), len)
        } else if let Some((sign, op)) = OPS.iter().find(|(sign, _)| !value && rest.starts_with(sign)) {
            (Kind::Op(*op), sign.len())
        } else {
            // A name ends at an operator; a value may hold one (`args~a=b`), and `~` is a home in it.
            let ends = |c: char| c.is_whitespace() || "()\"'".contains(c) || (!value && "=!<>~".contains(c));
            let len = rest.char_indices().skip(1).find(|(_, c)| ends(*c)).map_or(rest.len(), |(len, _)| len);
            (Kind::Text(rest[..len].to_owned(), false), len)
        };
        words.push(Word { kind, span: Span::new(at, at + len) });
        at += len;
    }
    Ok(words)
}

/// The text in quotes at the start of `text`, `\` before a quote or `\` undone, and how long it is.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut inside = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((inside, at + 1));
        }
        if c == '\\' && text[at + 1..].starts_with([quote, '\\']) {
            inside.extend(chars.next().map(|(_, c)| c));
        } else {
            inside.push(c);
        }
    }
    None
}
