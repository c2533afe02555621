//! Texts of `PowerShell` and `cmd.exe`, cut into commands and words as far as that is sure.
//!
//! Script blocks and brackets stay whole. Nothing within them is claimed, so a text that uses them is not complete.

use std::borrow::Cow;

use super::status::{Element, mark};
use super::{Dialect, Nesting, Operator, Redirection, RedirectionKind, Script, SimpleCommand, Word};

/// Reads a text.
pub(super) fn read(text: &str, dialect: Dialect) -> Script<'_> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, dialect, complete: true };
    let mut commands = Vec::new();
    let mut elements = Vec::new();
    let mut join = Operator::First;
    while let Some(byte) = reader.peek() {
        let next = reader.peek_at(1);
        let (len, operator) = match (byte, next) {
            (b' ' | b'\t' | b'\r', _) => (1, None),
            (b'\n', _) => (1, Some(Operator::Sequence)),
            (b'#', _) if dialect == Dialect::PowerShell => {
                reader.line();
                (0, None)
            }
            (b';', _) if dialect == Dialect::PowerShell => (1, Some(Operator::Sequence)),
            (b'&', Some(b'&')) => (2, Some(Operator::And)),
            (b'|', Some(b'|')) => (2, Some(Operator::Or)),
            (b'|', _) => (1, Some(Operator::Pipe)),
            // The call operator.
            (b'&', _) if dialect == Dialect::PowerShell => (1, None),
            (b'&', _) => (1, Some(Operator::Sequence)),
            _ => {
                let index = commands.len();
                let command = reader.command(join);
                if let Some(command) = command {
                    commands.push(command);
                    elements.push(Element {
                        commands: index..index + 1,
                        simple: true,
                        status: Some(index),
                        join,
                        ..Element::default()
                    });
                    join = Operator::Sequence;
                }
                (0, None)
            }
        };
        reader.at += len;
        if let Some(operator) = operator.filter(|_| !elements.is_empty()) {
            let continues = matches!(join, Operator::And | Operator::Or | Operator::Pipe);
            join = if operator == Operator::Sequence && continues { join } else { operator };
        }
    }
    let status = mark(&mut commands, &elements);
    Script { text, commands, loops: Vec::new(), complete: reader.complete, status }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
    complete: bool,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn line(&mut self) {
        while self.peek().is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    fn ends_word(&self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'|' | b'<' | b'>')
            || (byte == b';' && self.dialect == Dialect::PowerShell)
            || (byte == b'&' && (self.dialect == Dialect::Cmd || self.peek_at(1) == Some(b'&')))
    }

    fn command(&mut self, operator: Operator) -> Option<SimpleCommand<'a>> {
        let start = self.at;
        let mut command =
            SimpleCommand { range: start..start, operator, nesting: Nesting::Top, ..SimpleCommand::default() };
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => {
                    self.at += 1;
                    continue;
                }
                // A continued line.
                b'`' | b'^' if self.peek_at(1) == Some(b'\n') => {
                    self.at += 2;
                    continue;
                }
                b'0'..=b'9' | b'*' if matches!(self.peek_at(1), Some(b'<' | b'>')) => self.at += 1,
                _ => {}
            }
            match self.peek() {
                None | Some(b'\n' | b'|') => break,
                Some(b'#') if self.dialect == Dialect::PowerShell => break,
                Some(b'>' | b'<') => {
                    let redirection = self.redirection();
                    command.redirections.push(redirection);
                }
                Some(byte) if self.ends_word(byte) => break,
                Some(_) => {
                    let word = self.word();
                    command.words.push(word);
                }
            }
            command.range.end = self.at;
        }
        if command.range.is_empty() {
            // Nothing begins with this byte.
            self.complete = false;
            self.at += self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            return None;
        }
        Some(command)
    }

    fn redirection(&mut self) -> Redirection<'a> {
        let fd = self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).filter(|byte| byte.is_ascii_digit());
        let fd = fd.map(|byte| u32::from(byte - b'0'));
        let kind = match (self.peek(), self.peek_at(1)) {
            (Some(b'<'), _) => RedirectionKind::Read,
            (_, Some(b'>')) => RedirectionKind::Append,
            (_, Some(b'&')) => RedirectionKind::Duplicate,
            _ => RedirectionKind::Write,
        };
        self.at += if matches!(kind, RedirectionKind::Append | RedirectionKind::Duplicate) { 2 } else { 1 };
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut target = self.word();
        // The null devices of Windows.
        if target.text.eq_ignore_ascii_case("$null") || target.text.eq_ignore_ascii_case("nul") {
            target = Word { text: Cow::Borrowed("/dev/null"), expands: false, ..target };
        }
        Redirection { fd, kind, target, body: None }
    }

    fn word(&mut self) -> Word<'a> {
        let start = self.at;
        let mut expands = false;
        let mut is_pattern = false;
        let escape = if self.dialect == Dialect::PowerShell { b'`' } else { b'^' };
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' if self.dialect == Dialect::Cmd => self.at += 1,
                b'\'' | b'"' => {
                    // `@'…'@` ends at a line of its own.
                    let here = self.at > start && self.bytes[self.at - 1] == b'@' && self.peek_at(1) == Some(b'\n');
                    expands |= byte == b'"' && self.quoted_expands();
                    self.quoted(byte, here);
                }
                b'(' | b'{' => {
                    expands = true;
                    self.complete = false;
                    self.balanced();
                }
                b'$' | b'%' => {
                    expands |=
                        self.peek_at(1).is_some_and(|next| next.is_ascii_alphanumeric() || b"_({".contains(&next));
                    self.at += 1;
                }
                b'*' | b'?' => {
                    is_pattern = true;
                    self.at += 1;
                }
                byte if byte == escape => {
                    self.at += 1;
                    self.at += self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                }
                byte if self.ends_word(byte) => break,
                _ => self.at += 1,
            }
        }
        let raw = self.text.get(start..self.at).unwrap_or("");
        let inner = [b'\'', b'"'].iter().find_map(|&quote| {
            let quote = char::from(quote);
            raw.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote))
        });
        Word { text: Cow::Borrowed(inner.unwrap_or(raw)), range: start..self.at, expands, is_pattern }
    }

    fn quoted_expands(&self) -> bool {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        rest.iter().take_while(|byte| **byte != b'"').any(|byte| *byte == b'$')
    }

    fn quoted(&mut self, quote: u8, here: bool) {
        self.at += 1;
        if here {
            let mark = if quote == b'"' { "\n\"@" } else { "\n'@" };
            if let Some(len) = self.text.get(self.at..).and_then(|rest| rest.find(mark)) {
                self.at += len + mark.len();
            } else {
                self.at = self.text.len();
                self.complete = false;
            }
            return;
        }
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == quote {
                return;
            }
            if byte == b'`'
                && quote == b'"'
                && self.dialect == Dialect::PowerShell
                && self.peek().is_some_and(|it| it < 128)
            {
                self.at += 1;
            }
        }
        self.complete = false;
    }

    /// Passes over brackets of any kind with all between.
    fn balanced(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' | b'"' => {
                    self.quoted(byte, false);
                    continue;
                }
                b'(' | b'{' => depth += 1,
                b')' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
