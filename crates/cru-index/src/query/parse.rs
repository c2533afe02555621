//! Marks and words as a tree. `NOT` binds tighter than `AND`, `AND` tighter than `OR`.

use jiff::Zoned;

use super::error::QueryError;
use super::field::{Field, FieldSet};
use super::lex::{QueryToken, TokenKind, TypedText};
use super::test::{FieldTest, Operand, TestValue};
use super::{Operator, QueryNode, QueryWords, field};
use crate::table::ColumnType;
use cru_base::Span;
use cru_session::time::moment;

/// Brackets within brackets.
const DEEPEST: usize = 64;
/// Words and tests of one search.
const MOST: usize = 512;

/// An open bracket: the alternatives that are complete, and the one being read.
struct Level {
    open: Span,
    any: Vec<QueryNode>,
    all: Vec<QueryNode>,
    /// Whether the next part is excluded.
    negate: bool,
    /// The operator that waits for a part, for messages.
    waiting: Option<Span>,
    /// Whether anything stood here, words without letters included.
    seen: bool,
}

impl Level {
    fn new(open: Span) -> Self {
        Self { open, any: Vec::new(), all: Vec::new(), negate: false, waiting: None, seen: false }
    }

    fn push(&mut self, node: QueryNode) {
        let node = if std::mem::take(&mut self.negate) { QueryNode::Not(Box::new(node)) } else { node };
        self.all.push(node);
        self.part();
    }

    /// A part was there, even if there is nothing in it to look for.
    fn part(&mut self) {
        self.seen = true;
        self.waiting = None;
        self.negate = false;
    }

    fn alternative(&mut self) {
        let all = std::mem::take(&mut self.all);
        self.any.extend(one(all, QueryNode::All));
    }

    fn close(mut self) -> Option<QueryNode> {
        self.alternative();
        one(self.any, QueryNode::Any)
    }
}

fn one(mut nodes: Vec<QueryNode>, many: impl Fn(Vec<QueryNode>) -> QueryNode) -> Option<QueryNode> {
    match nodes.len() {
        0 | 1 => nodes.pop(),
        _ => Some(many(nodes)),
    }
}

/// The tree of a query.
pub(super) fn tree(
    text: &str,
    tokens: &[QueryToken],
    fields: &dyn FieldSet,
    now: &Zoned,
) -> Result<QueryNode, QueryError> {
    let whole = Span::new(0, text.len());
    let leaf = Leaf { text, fields, now };
    let mut levels = vec![Level::new(whole)];
    let mut leaves = 0;
    for token in tokens {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { break };
        match &token.kind {
            TokenKind::Open if depth > DEEPEST => {
                return Err(QueryError::new(
                    token.span,
                    "too many parentheses within each other",
                    "remove some of them",
                ));
            }
            TokenKind::Open => levels.push(Level::new(token.span)),
            TokenKind::Close if depth == 1 => {
                let help = leaf.or_quote("remove it", ")");
                return Err(QueryError::new(token.span, "this parenthesis is never opened", help));
            }
            TokenKind::Close => {
                let level = levels.pop().filter(|level| level.seen);
                let Some(level) = level else {
                    let start = tokens.iter().rev().find(|open| open.span.end <= token.span.start);
                    let span = Span::new(start.map_or(token.span.start, |open| open.span.start), token.span.end);
                    let help = leaf.or_quote("write a condition in them", "()");
                    return Err(QueryError::new(span, "there is nothing in these parentheses", help));
                };
                leaf.finished(&level)?;
                let node = level.close();
                if let Some(outer) = levels.last_mut() {
                    match node {
                        Some(node) => outer.push(node),
                        None => outer.part(),
                    }
                }
            }
            TokenKind::And | TokenKind::Or if !level.seen || level.waiting.is_some() => {
                let word = token.span.of(text);
                let help = leaf.or_quote("write one condition before it and one behind it", word);
                return Err(QueryError::new(token.span, format!("nothing stands before this {word}"), help));
            }
            TokenKind::And => level.waiting = Some(token.span),
            TokenKind::Or => {
                level.alternative();
                level.waiting = Some(token.span);
            }
            TokenKind::Not => {
                level.negate = !level.negate;
                level.waiting = Some(token.span);
            }
            TokenKind::Words(_) | TokenKind::Test { .. } => {
                leaves += 1;
                if fields.takes_words() && leaves > MOST {
                    let message = format!("more than {MOST} words");
                    return Err(QueryError::new(token.span, message, "quote the text to find it as a phrase"));
                }
                match leaf.read(token)? {
                    Some(node) => level.push(node),
                    None => level.part(),
                }
            }
        }
    }
    let Some(level) = levels.pop() else { return Err(leaf.nothing(whole)) };
    if !levels.is_empty() {
        return Err(QueryError::new(level.open, "this parenthesis is never closed", "close it with `)`"));
    }
    leaf.finished(&level)?;
    level.close().ok_or_else(|| leaf.nothing(whole))
}

/// What reads words and tests.
struct Leaf<'a> {
    text: &'a str,
    fields: &'a dyn FieldSet,
    now: &'a Zoned,
}

impl Leaf<'_> {
    /// What to do; where words may stand alone, also how to find `text` itself.
    fn or_quote(&self, help: &str, text: &str) -> String {
        if !self.fields.takes_words() {
            return help.to_owned();
        }
        let mark = if help.ends_with('?') { "" } else { ";" };
        format!("{help}{mark} to find the text itself: \"{text}\"")
    }

    fn finished(&self, level: &Level) -> Result<(), QueryError> {
        let Some(span) = level.waiting else { return Ok(()) };
        let help = self.or_quote("write a condition behind it", span.of(self.text));
        Err(QueryError::new(span, "nothing follows here", help))
    }

    fn nothing(&self, span: Span) -> QueryError {
        if self.fields.takes_words() {
            let help = "write a word with a letter or a digit, or a field: `is:failed`";
            return QueryError::new(span, "there is nothing to look for", help);
        }
        QueryError::new(span, "there is no condition", "for example: `status=failed`")
    }

    /// The node of a token; `None` where there is no letter and no digit to look for.
    fn read(&self, token: &QueryToken) -> Result<Option<QueryNode>, QueryError> {
        match &token.kind {
            TokenKind::Words(word) if self.fields.takes_words() => {
                let (text, mark) = marked(word);
                let words = QueryWords {
                    text: text.to_owned(),
                    span: token.span,
                    quoted: word.quoted,
                    prefix: mark == Some('*'),
                    fuzzy: mark == Some('~'),
                };
                Ok((!crate::words::cut(text).is_empty()).then_some(QueryNode::Words(words)))
            }
            TokenKind::Words(word) => self.alone(word, token.span).map(|test| Some(QueryNode::Test(test))),
            TokenKind::Test { name, op, sign, value, at } => {
                self.test(*name, (*op, *sign), value, (*at, token.span)).map(|test| Some(QueryNode::Test(test)))
            }
            _ => Ok(None),
        }
    }

    /// A word where words cannot stand alone: a column of yes or no.
    fn alone(&self, word: &TypedText, span: Span) -> Result<FieldTest, QueryError> {
        let field = self.fields.field(&word.text, Operator::Equal).filter(|_| !word.quoted);
        match field {
            Some(Field::Column(column)) if column.of == ColumnType::Bool => {
                let value = TestValue {
                    text: "yes".to_owned(),
                    folded: "yes".to_owned(),
                    prefix: false,
                    operand: Operand::Bool(true),
                };
                Ok(FieldTest { field: Field::Column(column), op: Operator::Equal, values: vec![value], span })
            }
            Some(_) => {
                let help = format!("write an operator (: = != < <= > >= ~ !~) and a value: `{}=value`", word.text);
                Err(QueryError::new(span, format!("`{}` is a field without a value", word.text), help))
            }
            None => {
                let help = self.fields.instead(&word.text);
                Err(QueryError::new(span, format!("`{}` is a word without a field", word.text), help))
            }
        }
    }

    fn test(
        &self,
        place: Span,
        (op, sign): (Operator, Span),
        value: &TypedText,
        (at, span): (Span, Span),
    ) -> Result<FieldTest, QueryError> {
        let name = place.of(self.text);
        if name.is_empty() {
            return Err(QueryError::new(sign, "a field is missing here", format!("fields: {}", self.fields.list())));
        }
        let Some(field) = self.fields.field(name, op) else { return Err(self.unknown(place, span)) };
        if !field.takes(op) {
            return Err(refused(name, field, op, sign));
        }
        let is_list = match field {
            Field::File | Field::After | Field::Before => false,
            Field::Column(column) => !(op.is_order() || (op == Operator::Has && column.of == ColumnType::Path)),
            _ => true,
        };
        let parts = if is_list && !value.quoted { value.text.split(',').collect() } else { vec![value.text.as_str()] };
        let values = parts
            .into_iter()
            .map(|part| {
                self.value(name, field, op, part, value)
                    .map_err(|(message, help)| QueryError::new(if at.is_empty() { span } else { at }, message, help))
            })
            .collect::<Result<_, _>>()?;
        Ok(FieldTest { field, op, values, span })
    }

    /// One value, or what is wrong with it and what to do.
    fn value(
        &self,
        name: &str,
        field: Field,
        op: Operator,
        text: &str,
        typed: &TypedText,
    ) -> Result<TestValue, (String, String)> {
        let has = op == Operator::Has;
        let of = match field {
            Field::Column(column) => Some(column.of),
            _ => None,
        };
        let prefix = has && if typed.quoted { typed.mark == Some('*') } else { text.ends_with('*') };
        let text = if prefix && !typed.quoted { &text[..text.len() - 1] } else { text };
        let sigil = match (field, of) {
            (Field::Channel | Field::Tag, _) | (_, Some(ColumnType::Channel | ColumnType::Tags)) => '#',
            (Field::Agent, _) | (_, Some(ColumnType::Agent)) => '@',
            _ => '\0',
        };
        let text = if has { text.trim() } else { text }.trim_start_matches(sigil);
        let is_column = of.is_some() && !has;
        if text.is_empty() && !prefix && !(is_column && typed.quoted) {
            let help = match field::filter(name) {
                Some(filter) if has => format!("write it right behind the colon: `{}`", filter.example),
                _ if has => format!("write it right behind the colon: `{name}:value`"),
                _ => format!("write `{name}=null` where nothing is known, `{name}=\"\"` for an empty text"),
            };
            let typed = format!("{name}{}", op.sign());
            return Err((format!("a value is missing behind `{typed}`"), self.or_quote(&help, &typed)));
        }
        let folded = text.to_lowercase();
        let operand = match (field, of) {
            _ if is_column && !typed.quoted && folded == "null" => Some(Operand::Null),
            (Field::After | Field::Before, _) | (_, Some(ColumnType::Time)) => self.time(text),
            (_, Some(ColumnType::Bool)) => match folded.as_str() {
                "true" | "yes" => Some(Operand::Bool(true)),
                "false" | "no" => Some(Operand::Bool(false)),
                _ => None,
            },
            (_, Some(ColumnType::Int | ColumnType::Float)) => number(text),
            _ => Some(Operand::Text),
        };
        let Some(operand) = operand else {
            return Err(match (field, of) {
                (_, Some(ColumnType::Bool)) => {
                    (format!("`{text}` is not yes or no"), format!("write `{name}=yes` or `{name}=no`"))
                }
                (_, Some(ColumnType::Int | ColumnType::Float)) => {
                    (format!("`{text}` is not a number"), format!("write digits: `{name}>=1000`"))
                }
                _ => (
                    format!("`{text}` is not a time"),
                    "write 2026-11-01, 2026-11, 2026-11-01T09:00Z, 7d, 12h, today or yesterday".to_owned(),
                ),
            });
        };
        Ok(TestValue { text: text.to_owned(), folded, prefix, operand })
    }

    /// From the start to the end of a time; an instant is a nanosecond.
    fn time(&self, text: &str) -> Option<Operand> {
        let (from, to) = (moment(text, false, self.now)?, moment(text, true, self.now)?);
        let next = from.checked_add(jiff::SignedDuration::from_nanos(1)).unwrap_or(from);
        Some(Operand::Time(from, to.max(next)))
    }

    fn unknown(&self, place: Span, span: Span) -> QueryError {
        let name = place.of(self.text);
        let help = match self.fields.nearest(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("fields: {}", self.fields.list()),
        };
        let help = self.or_quote(&help, &span.of(self.text).replace('"', ""));
        QueryError::new(place, format!("{} `{name}`", self.fields.no_field()), help)
    }
}

/// Text and mark: `*` or `~` at the end.
fn marked(word: &TypedText) -> (&str, Option<char>) {
    if word.quoted {
        return (&word.text, word.mark);
    }
    let mark = word.text.chars().last().filter(|c| matches!(c, '*' | '~'));
    (&word.text[..word.text.len() - mark.map_or(0, char::len_utf8)], mark)
}

fn number(text: &str) -> Option<Operand> {
    let whole = text.parse().map(Operand::Int).ok();
    whole.or_else(|| text.parse().ok().filter(|number: &f64| number.is_finite()).map(Operand::Float))
}

/// The error for an operator that a field cannot take.
fn refused(name: &str, field: Field, op: Operator, sign: Span) -> QueryError {
    let message = format!("`{name}` is {} and cannot be compared with `{}`", field.holds_what(), op.sign());
    let operators = [
        Operator::Has,
        Operator::Equal,
        Operator::Unequal,
        Operator::Less,
        Operator::AtMost,
        Operator::Greater,
        Operator::AtLeast,
        Operator::Contains,
        Operator::Lacks,
    ];
    let taken: Vec<&str> = operators.into_iter().filter(|op| field.takes(*op)).map(Operator::sign).collect();
    let help = match field::filter(name) {
        Some(filter) if taken.len() == 1 => format!("write `{}`", filter.example),
        _ => format!("operators of `{name}`: {}", taken.join(" ")),
    };
    QueryError::new(sign, message, help)
}
