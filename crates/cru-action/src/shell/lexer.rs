//! Lists of commands: the operators between them, comments, lines and here-documents.

use super::status::{Element, Flags, mark};
use super::{EachLoop, MAX_DEPTH, Nesting, Operator, Script, SimpleCommand};

/// Reads a text.
pub(super) fn read(text: &str) -> Script<'_> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        end: text.len(),
        depth: 0,
        commands: Vec::new(),
        loops: Vec::new(),
        pending: Vec::new(),
        complete: true,
        flags: Flags::default(),
    };
    let status = lexer.list(Closer::End, Nesting::Top).status;
    lexer.complete &= lexer.pending.is_empty();
    Script { text, commands: lexer.commands, loops: lexer.loops, complete: lexer.complete, status }
}

/// What ends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closer {
    /// The end of the text.
    End,
    /// `)`
    Paren,
    /// One of these reserved words.
    Words(&'static [&'static str]),
    /// `;;` or `esac`.
    CaseItem,
}

/// How a list ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListEnd {
    /// The reserved word that ended it; `""` for another end.
    pub(super) word: &'static str,
    /// The command whose status is that of the list.
    pub(super) status: Option<usize>,
}

/// A here-document whose body has not been read yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) command: usize,
    pub(super) redirection: usize,
    pub(super) mark: String,
    pub(super) indented: bool,
}

/// Where the reading of a text stands.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// Where the part that is read ends.
    pub(super) end: usize,
    pub(super) depth: u32,
    pub(super) commands: Vec<SimpleCommand<'a>>,
    pub(super) loops: Vec<EachLoop<'a>>,
    /// Here-documents whose bodies begin after this line.
    pub(super) pending: Vec<Pending>,
    pub(super) complete: bool,
    pub(super) flags: Flags,
}

/// Reserved words that only end or continue something.
const CLOSERS: &[&str] = &["then", "do", "done", "fi", "else", "elif", "esac", "}"];

impl<'a> Lexer<'a> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.bytes.get(at).copied() } else { None }
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.bytes.get(self.at..self.end).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Passes over blanks and continued lines.
    pub(super) fn blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek_at(1) == Some(b'\n') => self.at += 2,
                b'\\' if self.peek_at(1) == Some(b'\r') && self.peek_at(2) == Some(b'\n') => self.at += 3,
                _ => break,
            }
        }
    }

    /// Passes over a comment up to its line end.
    pub(super) fn comment(&mut self) {
        let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// The plain word that begins here, up to the next byte that ends a word; `""` where it holds a quote or expansion.
    pub(super) fn plain(&self) -> &'a str {
        const LONGEST: usize = 12;
        let from = self.bytes.get(self.at..self.end).unwrap_or_default();
        for (len, &byte) in from.iter().take(LONGEST + 1).enumerate() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' => {
                    return self.text.get(self.at..self.at + len).unwrap_or("");
                }
                b'\'' | b'"' | b'\\' | b'$' | b'`' => return "",
                _ => {}
            }
        }
        if from.len() <= LONGEST { self.text.get(self.at..self.end).unwrap_or("") } else { "" }
    }

    /// Takes `word` where it stands here as a plain word.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.plain() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// Ends a line: the bodies of the here-documents that it opened follow.
    pub(super) fn newline(&mut self) {
        self.at += 1;
        if !self.pending.is_empty() {
            self.bodies();
        }
    }

    /// Passes over blanks, comments and line ends.
    pub(super) fn space(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.newline(),
                Some(b'#') => self.comment(),
                _ => break,
            }
        }
    }

    /// Reads a list up to what ends it, one level deeper. Callers check [`Lexer::may_descend`] first.
    pub(super) fn nested(&mut self, closer: Closer, nesting: Nesting) -> ListEnd {
        self.depth += 1;
        let flags = self.flags;
        let end = self.list(closer, nesting);
        self.flags = flags;
        self.depth -= 1;
        end
    }

    pub(super) fn may_descend(&mut self) -> bool {
        let may = self.depth < MAX_DEPTH;
        self.complete &= may;
        may
    }

    /// Reads a list up to what ends it, which is consumed.
    pub(super) fn list(&mut self, closer: Closer, nesting: Nesting) -> ListEnd {
        let mut elements: Vec<Element> = Vec::new();
        let mut join = Operator::First;
        let mut negated = false;
        let word = loop {
            self.blanks();
            let Some(byte) = self.peek() else {
                self.complete &= closer == Closer::End;
                break "";
            };
            match byte {
                b'\n' => {
                    self.newline();
                    if !matches!(join, Operator::And | Operator::Or | Operator::Pipe | Operator::Background)
                        && !elements.is_empty()
                    {
                        join = Operator::Sequence;
                    }
                    continue;
                }
                b'#' => {
                    self.comment();
                    continue;
                }
                b';' => {
                    self.at += 1;
                    if self.peek() == Some(b';') || (closer == Closer::CaseItem && self.peek() == Some(b'&')) {
                        self.at += 1;
                        if self.peek() == Some(b'&') {
                            self.at += 1;
                        }
                        if closer == Closer::CaseItem {
                            break ";;";
                        }
                        self.complete = false;
                    }
                    if !elements.is_empty() {
                        join = Operator::Sequence;
                    }
                    continue;
                }
                b'&' | b'|' => {
                    let twice = self.peek_at(1) == Some(byte);
                    if byte == b'&' && self.peek_at(1) == Some(b'>') {
                        // A redirection.
                    } else {
                        self.at += if twice || (byte == b'|' && self.peek_at(1) == Some(b'&')) { 2 } else { 1 };
                        let operator = match (byte, twice) {
                            (b'&', true) => Operator::And,
                            (b'&', false) => Operator::Background,
                            (_, true) => Operator::Or,
                            (_, false) => Operator::Pipe,
                        };
                        if let Some(last) = elements.last_mut() {
                            last.background |= operator == Operator::Background;
                            join = operator;
                        } else {
                            self.complete = false;
                        }
                        continue;
                    }
                }
                b')' => {
                    self.at += 1;
                    if closer == Closer::Paren {
                        break "";
                    }
                    self.complete = false;
                    continue;
                }
                _ => {}
            }
            let plain = self.plain();
            if plain == "!" {
                self.at += 1;
                negated = !negated;
                continue;
            }
            if let Some(&known) = CLOSERS.iter().find(|known| **known == plain) {
                self.at += plain.len();
                let ends = match closer {
                    Closer::Words(words) => words.contains(&known),
                    Closer::CaseItem => known == "esac",
                    Closer::End | Closer::Paren => false,
                };
                if ends {
                    break known;
                }
                self.complete = false;
                continue;
            }
            let first = self.commands.len();
            let item = self.item(plain, join, nesting);
            let commands = first..self.commands.len();
            let negated = std::mem::take(&mut negated);
            elements.push(Element {
                commands,
                simple: item.simple,
                status: item.status,
                join,
                negated,
                background: false,
                flags: self.flags,
            });
            join = Operator::Sequence;
        };
        let status = mark(&mut self.commands, &elements);
        ListEnd { word, status }
    }
}
