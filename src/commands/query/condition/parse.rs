//! Reading a condition.
//!
//! `or` binds less than `and`, `and` less than `not`. A column of yes or no may stand alone.

use unicode_width::UnicodeWidthStr as _;

use super::word::{Kind as Sign, Op, Word, words};
use super::{Condition, Operand, Test};
use crate::base::{Env, Error, Result, Span};
use crate::commands::query::column::Type;
use crate::commands::query::kind::Kind;
use crate::commands::session::filter;

/// Parentheses may stand in one another so deep.
const DEEPEST: usize = 64;

/// The condition that `text` writes on the columns of `kind`.
pub(in crate::commands::query) fn parse(text: &str, kind: Kind, env: &Env) -> Result<Condition> {
    let words = words(text).map_err(|span| problem(text, span, "this quote is not closed"))?;
    let mut parser = Parser { text, words: &words, at: 0, depth: 0, kind, env };
    if words.is_empty() {
        return Err(Error::usage("--where: an empty condition").with_hint("for example: --where status=failed"));
    }
    let condition = parser.any()?;
    match parser.peek() {
        None => Ok(condition),
        Some(Word { kind: Sign::Close, span }) => Err(problem(text, *span, "no parenthesis is open here")),
        Some(word) => Err(problem(text, word.span, "expected `and` or `or` here")
            .with_hint("a value with blanks or parentheses is written in quotes: title~\"two words\"")),
    }
}

struct Parser<'a> {
    text: &'a str,
    words: &'a [Word],
    at: usize,
    depth: usize,
    kind: Kind,
    env: &'a Env,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Word> {
        self.words.get(self.at)
    }

    /// Takes the next word if it is this one of `and`, `or`, `not`.
    fn takes(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Word { kind: Sign::Text(text, false), .. }) if text.eq_ignore_ascii_case(wanted))
            // A column may be called so.
            && !matches!(self.words.get(self.at + 1), Some(Word { kind: Sign::Op(_), .. }));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Condition> {
        let mut parts = vec![self.all()?];
        while self.takes("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition> {
        let mut parts = vec![self.not()?];
        while self.takes("and") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Condition::All))
    }

    fn not(&mut self) -> Result<Condition> {
        let mut negated = false;
        while self.takes("not") {
            negated = !negated;
        }
        let inner = self.primary()?;
        Ok(if negated { Condition::Not(Box::new(inner)) } else { inner })
    }

    fn primary(&mut self) -> Result<Condition> {
        let end = Span::new(self.text.len(), self.text.len());
        let Some(word) = self.peek() else { return Err(problem(self.text, end, "a condition is missing here")) };
        self.at += 1;
        match &word.kind {
            Sign::Open => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(problem(self.text, word.span, "too many parentheses in one another"));
                }
                let inner = self.any()?;
                match self.peek() {
                    Some(Word { kind: Sign::Close, .. }) => self.at += 1,
                    Some(other) => return Err(problem(self.text, other.span, "expected `and`, `or` or `)` here")),
                    None => return Err(problem(self.text, word.span, "this parenthesis is not closed")),
                }
                self.depth -= 1;
                Ok(inner)
            }
            Sign::Text(name, _) => self.test(name, word.span),
            Sign::Op(_) | Sign::Close => {
                Err(problem(self.text, word.span, "expected a column here").with_hint(self.kind.suggestion("")))
            }
        }
    }

    fn test(&mut self, name: &str, span: Span) -> Result<Condition> {
        let Some(chosen) = self.kind.find(name) else {
            let message = format!("{} have no column `{name}`", self.kind.name());
            return Err(problem(self.text, span, &message).with_hint(self.kind.suggestion(name)));
        };
        let column = chosen.column;
        let Some(Word { kind: Sign::Op(op), span: sign }) = self.peek() else {
            if column.of == Type::Bool {
                return Ok(Condition::Test(Test { column, op: Op::Equal, operands: vec![Operand::Bool(true)] }));
            }
            let end = Span::new(span.end, span.end);
            return Err(problem(self.text, end, "expected one of = != < <= > >= ~ !~ here"));
        };
        self.at += 1;
        let is_text = matches!(column.of, Type::Text | Type::Agent | Type::List);
        if matches!(op, Op::Contains | Op::Lacks) && !is_text {
            let message = format!("`{name}` is {}; `~` looks into text", column.of.name());
            return Err(problem(self.text, *sign, &message));
        }
        let Some(Word { kind: Sign::Text(value, is_quoted), span }) = self.peek() else {
            let end = Span::new(sign.end, sign.end);
            return Err(problem(self.text, end, "a value is missing here")
                .with_hint(format!("`{name}=null` where nothing is known, `{name}=\"\"` for an empty text")));
        };
        self.at += 1;
        let several = !is_quoted && matches!(op, Op::Equal | Op::Unequal | Op::Contains | Op::Lacks);
        let values = if several { value.split(',').collect() } else { vec![value.as_str()] };
        let read = |value| self.operand(value, *is_quoted, column.of, *span);
        let operands = values.into_iter().map(read).collect::<Result<_>>()?;
        Ok(Condition::Test(Test { column, op: *op, operands }))
    }

    fn operand(&self, value: &str, is_quoted: bool, of: Type, span: Span) -> Result<Operand> {
        let lower = value.to_lowercase();
        if lower == "null" && !is_quoted {
            return Ok(Operand::Null);
        }
        let found = match of {
            Type::Text | Type::Agent | Type::List => Some(Operand::Text(lower)),
            Type::Bool => match lower.as_str() {
                "true" | "yes" => Some(Operand::Bool(true)),
                "false" | "no" => Some(Operand::Bool(false)),
                _ => None,
            },
            Type::Int | Type::Float => value
                .parse()
                .map(Operand::Int)
                .ok()
                .or_else(|| value.parse().ok().filter(|number: &f64| number.is_finite()).map(Operand::Float)),
            Type::Time => {
                let times =
                    (filter::time("", value, false, self.env).ok(), filter::time("", value, true, self.env).ok());
                let instant = jiff::SignedDuration::from_nanos(1);
                times
                    .0
                    .zip(times.1)
                    .map(|(from, to)| Operand::Time(from, to.max(from.checked_add(instant).unwrap_or(from))))
            }
        };
        found.ok_or_else(|| {
            let error = problem(self.text, span, &format!("`{value}` is not {}", of.name()));
            if of == Type::Time {
                error.with_hint("2026-11-01, 2026-11-01T09:00Z, 7d, 12h, today or yesterday")
            } else {
                error
            }
        })
    }
}

fn one_or(mut parts: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    if parts.len() > 1 {
        return many(parts);
    }
    parts.pop().unwrap_or_else(|| many(Vec::new()))
}

/// An error with a mark under the place.
fn problem(text: &str, span: Span, message: &str) -> Error {
    // Neither controls nor line ends may move the mark.
    let plain = |text: &str| -> String { text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect() };
    let before = plain(text.get(..span.start).unwrap_or_default()).width();
    let marked = plain(text.get(span.start..span.end).unwrap_or_default()).width().max(1);
    let line = crate::base::text::sanitise(&plain(text)).into_owned();
    let message = crate::base::text::sanitise(message).into_owned();
    Error::usage(format!("--where: {message}\n  {line}\n  {}{}", " ".repeat(before), "^".repeat(marked)))
}
