//! Marks and words as a tree. `NOT` binds tighter than `AND`, `AND` tighter than `OR`.

use jiff::Timestamp;

use super::error::Trouble;
use super::field::Field;
use super::lex::{Kind, Token, Word};
use super::{Node, Restriction, Value, Words};
use cru_base::Span;
use cru_session::time::moment;

/// Brackets within brackets.
const DEEPEST: usize = 64;
/// Words and fields of one query.
const MOST: usize = 512;

/// An open bracket: the alternatives that are complete, and the one being read.
struct Level {
    open: Span,
    any: Vec<Node>,
    all: Vec<Node>,
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

    fn push(&mut self, node: Node) {
        let node = if std::mem::take(&mut self.negate) { Node::Not(Box::new(node)) } else { node };
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
        self.any.extend(one(all, Node::All));
    }

    fn close(mut self) -> Option<Node> {
        self.alternative();
        one(self.any, Node::Any)
    }
}

fn one(mut nodes: Vec<Node>, many: impl Fn(Vec<Node>) -> Node) -> Option<Node> {
    match nodes.len() {
        0 | 1 => nodes.pop(),
        _ => Some(many(nodes)),
    }
}

/// The tree of a query.
pub(super) fn tree(text: &str, tokens: &[Token], now: Timestamp) -> Result<Node, Trouble> {
    let whole = Span::new(0, text.len());
    let mut levels = vec![Level::new(whole)];
    let mut leaves = 0;
    for token in tokens {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { break };
        match &token.kind {
            Kind::Open if depth > DEEPEST => {
                return Err(Trouble::new(token.span, "too many brackets within brackets", "take some away"));
            }
            Kind::Open => levels.push(Level::new(token.span)),
            Kind::Close if depth == 1 => {
                let help = "take it away, or quote it: \")\"";
                return Err(Trouble::new(token.span, "this bracket was never opened", help));
            }
            Kind::Close => {
                let level = levels.pop().filter(|level| level.seen);
                let Some(level) = level else {
                    let start = tokens.iter().rev().find(|open| open.span.end <= token.span.start);
                    let span = Span::new(start.map_or(token.span.start, |open| open.span.start), token.span.end);
                    return Err(Trouble::new(
                        span,
                        "there is nothing in these brackets",
                        "write words in them, or quote them: \"()\"",
                    ));
                };
                finished(&level)?;
                let node = level.close();
                if let Some(outer) = levels.last_mut() {
                    match node {
                        Some(node) => outer.push(node),
                        None => outer.part(),
                    }
                }
            }
            Kind::And | Kind::Or if !level.seen || level.waiting.is_some() => {
                let word = token.span.of(text);
                let help = format!("a part before and one behind: `one {word} other`; the word itself is `\"{word}\"`");
                return Err(Trouble::new(token.span, format!("nothing stands before this {word}"), help));
            }
            Kind::And => level.waiting = Some(token.span),
            Kind::Or => {
                level.alternative();
                level.waiting = Some(token.span);
            }
            Kind::Not => {
                level.negate = !level.negate;
                level.waiting = Some(token.span);
            }
            Kind::Word(word) => {
                leaves += 1;
                if leaves > MOST {
                    let message = format!("more than {MOST} words");
                    return Err(Trouble::new(token.span, message, "quote the text to find it as a phrase"));
                }
                match leaf(word, token.span, now)? {
                    Some(node) => level.push(node),
                    None => level.part(),
                }
            }
        }
    }
    let Some(level) = levels.pop() else { return Err(nothing(whole)) };
    if !levels.is_empty() {
        return Err(Trouble::new(level.open, "this bracket is never closed", "close it with `)`"));
    }
    finished(&level)?;
    level.close().ok_or_else(|| nothing(whole))
}

fn nothing(span: Span) -> Trouble {
    Trouble::new(span, "there is nothing to look for", "write a word with a letter or a digit, or a field: `is:failed`")
}

fn finished(level: &Level) -> Result<(), Trouble> {
    match level.waiting {
        Some(span) => {
            Err(Trouble::new(span, "nothing follows here", "write what it is about, or quote it to find the word"))
        }
        None => Ok(()),
    }
}

/// A word or a field; `None` where there is no letter and no digit to look for.
fn leaf(word: &Word, span: Span, now: Timestamp) -> Result<Option<Node>, Trouble> {
    if let Some((name, place)) = &word.field {
        return restriction(name, *place, word, span, now).map(Some);
    }
    let (text, mark) = marked(word);
    if crate::words::cut(text).is_empty() {
        return Ok(None);
    }
    let words =
        Words { text: text.to_owned(), span, quoted: word.quoted, prefix: mark == Some('*'), fuzzy: mark == Some('~') };
    Ok(Some(Node::Words(words)))
}

/// Text and mark: `*` or `~` at the end.
fn marked(word: &Word) -> (&str, Option<char>) {
    if word.quoted {
        return (&word.text, word.mark);
    }
    let mark = word.text.chars().last().filter(|c| matches!(c, '*' | '~'));
    (&word.text[..word.text.len() - mark.map_or(0, char::len_utf8)], mark)
}

fn restriction(name: &str, place: Span, word: &Word, span: Span, now: Timestamp) -> Result<Node, Trouble> {
    let Some(field) = Field::find(name) else {
        let quote = format!("to find the text itself: \"{name}:{}\"", word.text.replace('"', ""));
        let near = Field::ALL
            .iter()
            .map(|(known, _)| (strsim::jaro_winkler(known, &name.to_lowercase()), *known))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(score, _)| *score > 0.75);
        let help = if let Some((_, known)) = near {
            format!("did you mean `{known}:`? {quote}")
        } else {
            let names: Vec<&str> = Field::ALL.iter().map(|(name, _)| *name).collect();
            format!("fields: {}; {quote}", names.join(", "))
        };
        return Err(Trouble::new(place, format!("there is no field `{name}`"), help));
    };
    let mut values = Vec::new();
    let text = word.text.as_str();
    let several: Vec<&str> = if field.is_list() && !word.quoted { text.split(',').collect() } else { vec![text] };
    for value in several {
        let prefix = if word.quoted { word.mark == Some('*') } else { value.ends_with('*') };
        let value = if prefix && !word.quoted { &value[..value.len() - 1] } else { value };
        let value = value.trim().trim_start_matches(match field {
            Field::Channel | Field::Tag => '#',
            Field::Agent => '@',
            _ => '\0',
        });
        if value.is_empty() && !prefix {
            let help =
                format!("write it right behind the colon: `{}`; to find the text itself: \"{name}:\"", example(field));
            return Err(Trouble::new(span, format!("a value is missing behind `{name}:`"), help));
        }
        let time = field.is_time().then(|| moment(value, false, now));
        if time == Some(None) {
            let span = Span::new(place.end + 1, span.end);
            let help = "2026-11-01, 2026-11-01T09:00Z, 7d, 12h, today or yesterday";
            return Err(Trouble::new(span, format!("`{value}` is no time"), help));
        }
        values.push(Value { text: value.to_owned(), prefix, time: time.flatten() });
    }
    Ok(Node::Field(Restriction { field, values, span }))
}

const fn example(field: Field) -> &'static str {
    match field {
        Field::Agent => "agent:coder",
        Field::Channel => "channel:dev",
        Field::Status => "status:failed",
        Field::Kind => "kind:decision",
        Field::Tool => "tool:bash",
        Field::File => "file:src/main.rs",
        Field::Model => "model:opus",
        Field::Project => "project:api",
        Field::Branch => "branch:main",
        Field::Tag => "tag:incident",
        Field::Session => "session:2026-11-20",
        Field::After => "after:7d",
        Field::Before => "before:2026-11-01",
        Field::Is => "is:failed",
    }
}
