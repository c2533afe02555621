//! Redirections and the bodies of here-documents.

use std::borrow::Cow;

use super::lexer::{Lexer, Pending};
use super::{Redirection, RedirectionKind, Word};

impl<'a> Lexer<'a> {
    /// Whether a redirection begins here; `<(…)` and `>(…)` are words.
    pub(super) fn is_redirection(&self) -> bool {
        match self.peek() {
            Some(b'<' | b'>') => self.peek_at(1) != Some(b'('),
            Some(b'&') => self.peek_at(1) == Some(b'>'),
            Some(b'0'..=b'9') => {
                let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
                let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
                matches!(rest.get(digits), Some(b'<' | b'>')) && rest.get(digits + 1) != Some(&b'(')
            }
            _ => false,
        }
    }

    /// Reads the redirection that begins here. `command` and `redirection` say where a here-document belongs.
    pub(super) fn redirection(&mut self, command: usize, redirection: usize) -> Redirection<'a> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let fd = self.text.get(start..self.at).and_then(|digits| digits.parse().ok());
        let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
        let (mut kind, len) = match rest {
            [b'&', b'>', b'>', ..] => (RedirectionKind::Append, 3),
            [b'&', b'>', ..] => (RedirectionKind::Write, 2),
            [b'>', b'>', ..] => (RedirectionKind::Append, 2),
            [b'>', b'&', ..] => (RedirectionKind::Duplicate, 2),
            [b'>', b'|', ..] => (RedirectionKind::Write, 2),
            [b'>', ..] => (RedirectionKind::Write, 1),
            [b'<', b'<', b'<', ..] => (RedirectionKind::HereString, 3),
            [b'<', b'<', b'-', ..] => (RedirectionKind::Here, 3),
            [b'<', b'<', ..] => (RedirectionKind::Here, 2),
            [b'<', b'&', ..] => (RedirectionKind::Duplicate, 2),
            [b'<', b'>', ..] => (RedirectionKind::ReadWrite, 2),
            _ => (RedirectionKind::Read, 1),
        };
        let indented = len == 3 && kind == RedirectionKind::Here;
        let outward = rest.first() == Some(&b'>');
        self.at += len;
        self.blanks();
        let target = match self.peek() {
            None | Some(b'\n' | b';' | b'|' | b'&') => {
                self.complete = false;
                Word { text: Cow::Borrowed(""), range: self.at..self.at, expands: true, is_pattern: false }
            }
            Some(_) => self.word(),
        };
        if kind == RedirectionKind::Duplicate
            && outward
            && !target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        {
            kind = RedirectionKind::Write;
        }
        if kind == RedirectionKind::Here {
            let mark = target.text.clone().into_owned();
            self.pending.push(Pending { command, redirection, mark, indented });
        }
        Redirection { fd, kind, target, body: None }
    }

    /// Passes over the bodies of the here-documents that the line before opened.
    pub(super) fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let mut body = start..self.end;
            let mut closed = false;
            while self.at < self.end {
                let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
                let len = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                let line = self.text.get(self.at..self.at + len).unwrap_or("");
                let line = if pending.indented { line.trim_start_matches('\t') } else { line };
                let found = line.trim_end_matches('\r') == pending.mark;
                if found {
                    body.end = self.at;
                    closed = true;
                    // The line end stays: it ends the command.
                    self.at += len;
                    break;
                }
                self.at = (self.at + len + 1).min(self.end);
            }
            self.complete &= closed;
            // The next body begins on the next line.
            if closed && self.peek() == Some(b'\n') {
                self.at += 1;
            }
            let slot = self.commands.get_mut(pending.command);
            if let Some(slot) = slot.and_then(|command| command.redirections.get_mut(pending.redirection)) {
                slot.body = Some(body);
            }
        }
    }
}
