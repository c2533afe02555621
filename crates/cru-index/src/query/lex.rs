//! A query cut into marks, words and tests of fields.

use cru_base::Span;

use super::error::QueryError;
use super::field::FieldSet;
use super::operator::Operator;

/// A piece of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueryToken {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Open,
    Close,
    And,
    Or,
    Not,
    /// A word, or `"a phrase"`.
    Words(TypedText),
    /// `name OP value`.
    Test {
        /// Place of the name.
        name: Span,
        op: Operator,
        /// Place of the operator.
        sign: Span,
        value: TypedText,
        /// Place of the value.
        at: Span,
    },
}

/// A word or a value as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypedText {
    /// Without quotes.
    pub(super) text: String,
    pub(super) quoted: bool,
    /// The mark behind a closing quote: `*` or `~`.
    pub(super) mark: Option<char>,
}

/// Cuts `text`; every character is looked at a bounded number of times.
pub(super) fn tokens(text: &str, fields: &dyn FieldSet) -> Result<Vec<QueryToken>, QueryError> {
    let lexer = Lexer { text, fields, words: fields.takes_words() };
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        let kind = match c {
            _ if c.is_whitespace() => {
                at = next;
                continue;
            }
            '(' => TokenKind::Open,
            ')' => TokenKind::Close,
            '-' if text[next..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '(')) => TokenKind::Not,
            _ => {
                let token = lexer.word(at)?;
                // No piece is empty.
                at = token.span.end.max(next);
                tokens.push(token);
                continue;
            }
        };
        tokens.push(QueryToken { kind, span: Span::new(at, next) });
        at = next;
    }
    lexer.connect(&mut tokens);
    Ok(tokens)
}

struct Lexer<'a> {
    text: &'a str,
    fields: &'a dyn FieldSet,
    /// Whether a word may stand without a field. `a=b` is a word then, unless `a` is a field.
    words: bool,
}

/// The start of a test: lengths and places.
struct TestHead {
    name: Span,
    op: Operator,
    sign: Span,
    /// Where the value begins.
    value: usize,
}

impl Lexer<'_> {
    /// The word or test that begins at `start`.
    fn word(&self, start: usize) -> Result<QueryToken, QueryError> {
        let rest = &self.text[start..];
        if rest.starts_with('"') {
            let (value, end) = quoted(self.text, start, false)?;
            return Ok(QueryToken { kind: TokenKind::Words(value), span: Span::new(start, end) });
        }
        if let Some(TestHead { name, op, sign, value: at }) = self.head(start) {
            let (value, end) = if self.text[at..].starts_with(['"', '\'']) {
                quoted(self.text, at, true)?
            } else {
                let end = at + bare(&self.text[at..]);
                (TypedText { text: self.text[at..end].to_owned(), quoted: false, mark: None }, end)
            };
            let kind = TokenKind::Test { name, op, sign, value, at: Span::new(at, end) };
            return Ok(QueryToken { kind, span: Span::new(start, end) });
        }
        // A bracket of code (`main()`) belongs to its word, that of `NOT(` does not.
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let is_operator = rest[letters..].starts_with('(')
            && operator_word(&rest[..letters]).is_some()
            && (!self.words || is_upper(&rest[..letters]) || self.is_before_test(start + letters));
        let len = if is_operator { letters } else { bare(rest).max(rest.chars().next().map_or(1, char::len_utf8)) };
        let end = start + len;
        let span = Span::new(start, end);
        let word = span.of(self.text);
        let kind = match (word, operator_word(word)) {
            (_, Some(kind)) if !self.words || is_upper(word) => kind,
            ("&&", _) => {
                return Err(QueryError::new(
                    span,
                    "`&&` is not an operator",
                    "write AND, or nothing: all parts must hold",
                ));
            }
            ("||", _) => return Err(QueryError::new(span, "`||` is not an operator", "write OR")),
            _ => TokenKind::Words(TypedText { text: word.to_owned(), quoted: false, mark: None }),
        };
        Ok(QueryToken { kind, span })
    }

    /// The name and the operator of the test that begins at `start`.
    fn head(&self, start: usize) -> Option<TestHead> {
        let rest = &self.text[start..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let ends = |c: char| if self.words { !is_name(c) } else { c.is_whitespace() || "()\"':=!<>~".contains(c) };
        let len = rest.find(ends)?;
        let name = Span::new(start, start + len);
        let blanks = rest[len..].len() - rest[len..].trim_start().len();
        let (op, sign) = Operator::at_start(&rest[len + blanks..])?;
        let sign = Span::new(name.end + blanks, name.end + blanks + sign);
        let behind = &self.text[sign.end..];
        if blanks > 0 && op == Operator::Has {
            return None;
        }
        if self.words && !self.is_head(name, op, blanks, behind) {
            return None;
        }
        let value = if op == Operator::Has { behind } else { behind.trim_start() };
        Some(TestHead { name, op, sign, value: self.text.len() - value.len() })
    }

    /// Whether name and operator begin a test where words may stand too. `std::env`, `https://…`, `localhost:8080`,
    /// `x=1`,
    /// `errors => 0` and `tokne~` are words.
    fn is_head(&self, name: Span, op: Operator, blanks: usize, behind: &str) -> bool {
        let name = name.of(self.text);
        let is_arrow = behind.starts_with(['>', '<', ':']) || behind.starts_with("//");
        if is_arrow || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return false;
        }
        let is_known = self.fields.field(name, op).is_some();
        let nothing = behind.is_empty() || behind.starts_with(|c: char| c.is_whitespace() || c == ')');
        match op {
            Operator::Has if !is_known => {
                let value = &behind[..bare(behind)];
                let is_port = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                // `warning:` is a word with a colon behind it, `nolint:exhaustive` a word of code; `tol:bash` is a slip.
                let is_slip = || self.fields.nearest(name).is_some();
                name.bytes().all(|byte| byte.is_ascii_alphabetic()) && !nothing && !is_port && is_slip()
            }
            Operator::Contains => is_known && !(nothing && blanks == 0),
            // `tokns>1000` is a slip rather than a text.
            _ if op.is_order() && !is_known => {
                behind.starts_with(|c: char| c.is_ascii_digit()) && self.fields.nearest(name).is_some()
            }
            _ => is_known,
        }
    }

    /// Whether a test begins behind the brackets at `at`.
    fn is_before_test(&self, at: usize) -> bool {
        let rest = self.text[at..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '(' | '-'));
        self.head(self.text.len() - rest.len()).is_some()
    }

    /// Where words may stand too, `and`, `or` and `not` are operators beside a test, and words between words.
    fn connect(&self, tokens: &mut [QueryToken]) {
        if !self.words {
            return;
        }
        let mut before = Vec::with_capacity(tokens.len());
        let mut is_test = false;
        for token in tokens.iter() {
            before.push(is_test);
            is_test = match token.kind {
                TokenKind::Test { .. } => true,
                TokenKind::Close => is_test,
                _ => false,
            };
        }
        let mut is_test = false;
        for (token, before) in tokens.iter_mut().zip(before).rev() {
            if let TokenKind::Words(TypedText { text, quoted: false, .. }) = &token.kind
                && let Some(kind) = operator_word(text)
                && (is_test || (before && kind != TokenKind::Not))
            {
                token.kind = kind;
            }
            is_test = match token.kind {
                TokenKind::Test { .. } => true,
                TokenKind::Open | TokenKind::Not => is_test,
                _ => false,
            };
        }
    }
}

/// `and`, `or`, `not` in any case.
fn operator_word(word: &str) -> Option<TokenKind> {
    [("and", TokenKind::And), ("or", TokenKind::Or), ("not", TokenKind::Not)]
        .into_iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, kind)| kind)
}

fn is_upper(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Length of a text without quotes: to the next blank or bracket of the query. A bracket that opens and closes within
/// the word (`main()`, `f(x)`) is part of it.
fn bare(text: &str) -> usize {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            _ if c.is_whitespace() => return at,
            '(' if at == 0 => return at,
            '(' => open += 1,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The quoted text at `start` and where it ends. A doubled quote is a quote; in a value so is `\` with a quote.
fn quoted(text: &str, start: usize, is_value: bool) -> Result<(TypedText, usize), QueryError> {
    let quote = if text[start..].starts_with('\'') { '\'' } else { '"' };
    let mut words = String::new();
    let mut chars = text[start + 1..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_value && c == '\\' {
            words.push(chars.next_if(|(_, c)| *c == quote || *c == '\\').map_or('\\', |(_, c)| c));
        } else if c != quote {
            words.push(c);
        } else if chars.next_if(|(_, c)| *c == quote).is_some() {
            words.push(quote);
        } else {
            let end = start + 1 + at + 1;
            let mark = text[end..].chars().next().filter(|c| matches!(c, '*' | '~'));
            let end = end + mark.map_or(0, char::len_utf8);
            return Ok((TypedText { text: words, quoted: true, mark }, end));
        }
    }
    let help = format!("end the text with `{quote}`: {quote}{}{quote}", words.trim_end());
    Err(QueryError::new(Span::new(start, start + 1), "this quote is never closed", help))
}
