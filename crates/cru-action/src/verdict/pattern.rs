//! A small language for lines of output, matched in time linear in the line for each `*`.
//!
//! - a blank: one or more blanks or tabs
//! - `*`: any run of characters, also none; `\*` is the star itself
//! - `{n}`: a whole number above zero; `{0}`: zero; `{i}`: any whole number; `{=}`: the number of the first of these
//!   again; `{>}`: a number above that of the first of these
//! - `{w}`: a run of characters without a blank
//! - everything else: itself
//!
//! A pattern covers the whole line. A number is never a part of a longer one.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Positive,
    Zero,
    Any,
    Same,
    Above,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(Vec<u8>),
    Blank,
    Any,
    Word,
    Number(Count),
}

/// One compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct LinePattern {
    tokens: Vec<Token>,
    counted: bool,
}

impl LinePattern {
    /// `None` where a brace holds an unknown name.
    pub(super) fn compile(text: &str) -> Option<Self> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let mut taken = first.len_utf8();
            match first {
                ' ' => tokens.push(Token::Blank),
                '*' => tokens.push(Token::Any),
                '{' => {
                    let end = rest.find('}')?;
                    tokens.push(match &rest[1..end] {
                        "n" => Token::Number(Count::Positive),
                        "0" => Token::Number(Count::Zero),
                        "i" => Token::Number(Count::Any),
                        "=" => Token::Number(Count::Same),
                        ">" => Token::Number(Count::Above),
                        "w" => Token::Word,
                        _ => return None,
                    });
                    taken = end + 1;
                }
                _ => {
                    let literal = if first == '\\' && rest.len() > 1 {
                        let next = rest[1..].chars().next()?;
                        taken += next.len_utf8();
                        &rest[1..taken]
                    } else {
                        &rest[..taken]
                    };
                    match tokens.last_mut() {
                        Some(Token::Literal(bytes)) => bytes.extend_from_slice(literal.as_bytes()),
                        _ => tokens.push(Token::Literal(literal.as_bytes().to_vec())),
                    }
                }
            }
            rest = &rest[taken..];
        }
        let counted = tokens.contains(&Token::Number(Count::Positive));
        Some(Self { tokens, counted })
    }

    /// The longest text that every line of this form holds.
    pub(super) fn literal(&self) -> Option<&[u8]> {
        let literals = self.tokens.iter().filter_map(|token| match token {
            Token::Literal(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        literals.max_by_key(|bytes| bytes.len())
    }

    /// Whether a line of this form names a number above zero.
    pub(super) fn is_counted(&self) -> bool {
        self.counted
    }

    /// Whether `line` begins like this pattern: cheap, and false for most lines.
    pub(super) fn may_match(&self, line: &[u8]) -> bool {
        match self.tokens.first() {
            Some(Token::Literal(bytes)) => line.starts_with(bytes),
            Some(Token::Number(_)) => line.first().is_some_and(u8::is_ascii_digit),
            _ => true,
        }
    }

    /// Whether the whole of `line` is of this form.
    pub(super) fn matches(&self, line: &[u8]) -> bool {
        let (mut token, mut at) = (0, 0);
        let mut number: Option<&[u8]> = None;
        // Where to go on after the last `*`: its token, the next place to try, the number known there.
        let mut again: Option<(usize, usize, Option<&[u8]>)> = None;
        loop {
            let next = match self.tokens.get(token) {
                None if at == line.len() => return true,
                None => None,
                Some(Token::Any) if token + 1 == self.tokens.len() => return true,
                Some(Token::Any) => {
                    again = Some((token, at, number));
                    Some(at)
                }
                Some(other) => {
                    let comma_follows =
                        matches!(self.tokens.get(token + 1), Some(Token::Literal(text)) if text.starts_with(b","));
                    step(other, line, at, comma_follows, &mut number)
                }
            };
            if let Some(next) = next {
                token += 1;
                at = next;
                continue;
            }
            let Some((star, from, known)) = again else { return false };
            if from >= line.len() {
                return false;
            }
            again = Some((star, from + 1, known));
            (token, at, number) = (star + 1, from + 1, known);
        }
    }
}

/// The end of `token` where it stands at `at`. A number holds commas between groups of three digits, unless the pattern
/// itself has one there.
fn step<'a>(
    token: &Token,
    line: &'a [u8],
    at: usize,
    comma_follows: bool,
    number: &mut Option<&'a [u8]>,
) -> Option<usize> {
    let rest = line.get(at..)?;
    let run = |is: fn(&u8) -> bool| rest.iter().take_while(|byte| is(byte)).count();
    match token {
        Token::Literal(bytes) => rest.starts_with(bytes).then(|| at + bytes.len()),
        Token::Blank => Some(run(|byte| matches!(byte, b' ' | b'\t'))).filter(|n| *n > 0).map(|n| at + n),
        Token::Word => Some(run(|byte| !matches!(byte, b' ' | b'\t'))).filter(|n| *n > 0).map(|n| at + n),
        Token::Number(count) => {
            if at > 0 && is_of_number(line[at - 1]) && line[at - 1] != b',' {
                return None;
            }
            let mut length = run(u8::is_ascii_digit);
            let grouped = |from: usize| {
                let group = &rest[from..rest.len().min(from + 5)];
                let digits = group.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
                group.first() == Some(&b',') && digits == 3
            };
            while !comma_follows && (1..40).contains(&length) && grouped(length) {
                length += 4;
            }
            let digits = &rest[..length];
            let is_zero = digits.iter().all(|byte| *byte == b'0');
            let fits = !digits.is_empty()
                && match count {
                    Count::Positive => !is_zero,
                    Count::Zero => is_zero,
                    Count::Any => true,
                    Count::Same => *number == Some(digits),
                    Count::Above => number.is_some_and(|first| size(first) < size(digits)),
                };
            if !fits {
                return None;
            }
            if number.is_none() {
                *number = Some(digits);
            }
            Some(at + digits.len())
        }
        Token::Any => Some(at),
    }
}

/// By which numbers are in order: how many digits they have, and the digits.
fn size(digits: &[u8]) -> (usize, Vec<u8>) {
    let plain: Vec<u8> = digits.iter().copied().filter(u8::is_ascii_digit).skip_while(|byte| *byte == b'0').collect();
    (plain.len(), plain)
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b',')
}

#[cfg(test)]
mod tests {
    use super::LinePattern;

    #[test]
    fn table() {
        let rows: &[(&str, &str, bool)] = &[
            ("test result: ok. {n} passed; 0 failed*", "test result: ok. 5 passed; 0 failed; 1 ignored", true),
            ("test result: ok. {n} passed; 0 failed*", "test result: ok. 0 passed; 0 failed", false),
            ("* {n} passed* in *", "=== 12 passed in 1.2s ===", true),
            ("* {0} failed", "x 10 failed", false),
            ("* {0} failed", "x 0 failed", true),
            ("Tests: {n} passed, {=} total", "Tests:   12 passed,  12 total", true),
            ("Tests: {n} passed, {=} total", "Tests: 11 passed, 12 total", false),
            ("{i}/{>} passed", "9/10 passed", true),
            ("{i}/{>} passed", "0/1 passed", true),
            ("{i}/{>} passed", "10/10 passed", false),
            ("{i}/{>} passed", "10/9 passed", false),
            ("ok {w} *", "ok  \tgithub.com/a/b\t0.1s", true),
            ("make: \\*\\*\\* *", "make: *** [all] Error 2", true),
            ("{n} tests", "1,204 tests", true),
            ("*({i},{i}): error *", "a.ts(1,234): error x", true),
            ("Failed: {0}, Passed: {n},*", "Failed: 0, Passed: 1, Skipped: 0", true),
            ("*{n} tests", "1,204 tests", true),
            ("", "", true),
            ("", "x", false),
            ("a*b*c", "abbbc", true),
            ("a*b*c", "abbb", false),
        ];
        for (pattern, line, matches) in rows {
            let compiled = LinePattern::compile(pattern).unwrap();
            assert_eq!(compiled.matches(line.as_bytes()), *matches, "{pattern} on {line}");
        }
        assert!(LinePattern::compile("{x}").is_none());
        assert!(LinePattern::compile("{").is_none());
    }
}
