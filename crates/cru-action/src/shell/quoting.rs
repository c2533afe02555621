//! Quotes, escapes and expansions within a word.

use super::lexer::{Closer, Lexer};
use super::status::hide;
use super::word::Built;
use super::{Hidden, Nesting, is_drive};

impl Lexer<'_> {
    /// `'…'`
    pub(super) fn single(&mut self, built: &mut Built) {
        built.skip(self.text, self.at..self.at + 1);
        self.at += 1;
        let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
        if let Some(len) = rest.iter().position(|&byte| byte == b'\'') {
            self.at += len;
            built.skip(self.text, self.at..self.at + 1);
            self.at += 1;
        } else {
            self.at = self.end;
            self.complete = false;
        }
        built.owned_at_least();
    }

    /// `"…"`
    pub(super) fn double(&mut self, built: &mut Built) {
        built.skip(self.text, self.at..self.at + 1);
        self.at += 1;
        built.owned_at_least();
        loop {
            let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
            let Some(len) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'$' | b'`')) else {
                self.at = self.end;
                self.complete = false;
                return;
            };
            self.at += len;
            match self.bytes[self.at] {
                b'"' => {
                    built.skip(self.text, self.at..self.at + 1);
                    self.at += 1;
                    return;
                }
                b'\\' => match self.peek_at(1) {
                    Some(b'"' | b'\\' | b'$' | b'`') => {
                        built.skip(self.text, self.at..self.at + 1);
                        self.at += 2;
                    }
                    Some(b'\n') => {
                        built.skip(self.text, self.at..self.at + 2);
                        self.at += 2;
                    }
                    _ => self.at += 1,
                },
                b'$' => self.expansion(built),
                _ => self.backtick(built),
            }
        }
    }

    /// Whether a `\` of the word that begins at `start` is of a path of Windows, as in `cd c:\x`.
    pub(super) fn is_on_drive(&self, start: usize) -> bool {
        if !self.peek_at(1).is_some_and(|next| next.is_ascii_alphanumeric() || next == b'_') {
            return false;
        }
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        // The path itself, or the value of an option, whose name is not long.
        let value = word.iter().take(64).position(|byte| *byte == b'=').and_then(|at| word.get(at + 1..));
        is_drive(word) || value.is_some_and(is_drive)
    }

    /// `\x`
    pub(super) fn escape(&mut self, built: &mut Built) {
        let next = self.text.get(self.at + 1..self.end).and_then(|rest| rest.chars().next());
        match next {
            Some('\n') => {
                built.skip(self.text, self.at..self.at + 2);
                self.at += 2;
            }
            Some(c) => {
                built.skip(self.text, self.at..self.at + 1);
                self.at += 1 + c.len_utf8();
            }
            None => {
                self.at += 1;
                self.complete = false;
            }
        }
    }

    /// `$` outside double quotes.
    pub(super) fn dollar(&mut self, built: &mut Built) {
        match self.peek_at(1) {
            Some(b'"') => {
                built.skip(self.text, self.at..self.at + 1);
                self.at += 1;
                self.double(built);
            }
            // `$'…'`: its escapes stay as they are written.
            Some(b'\'') => {
                built.skip(self.text, self.at..self.at + 2);
                self.at += 2;
                loop {
                    match self.peek() {
                        None => {
                            self.complete = false;
                            break;
                        }
                        Some(b'\\') => {
                            built.expands = true;
                            self.at = self.after_escape();
                        }
                        Some(b'\'') => {
                            built.skip(self.text, self.at..self.at + 1);
                            self.at += 1;
                            break;
                        }
                        Some(_) => self.at += 1,
                    }
                }
                built.owned_at_least();
            }
            _ => self.expansion(built),
        }
    }

    /// `$name`, `${…}`, `$((…))`, `$(…)`; a lone `$` is itself.
    fn expansion(&mut self, built: &mut Built) {
        match self.peek_at(1) {
            Some(b'(') if self.peek_at(2) == Some(b'(') => {
                built.expands = true;
                self.at += 1;
                self.balanced(b'(', b')');
            }
            Some(b'(') => {
                self.at += 1;
                self.substitution(built);
            }
            Some(b'{') => {
                built.expands = true;
                self.at += 1;
                self.balanced(b'{', b'}');
            }
            next => {
                let names = |byte: u8| byte.is_ascii_alphanumeric() || b"_?@*#$!-".contains(&byte);
                built.expands |= next.is_some_and(names);
                self.at += 1;
            }
        }
    }

    /// `` `…` ``
    pub(super) fn backtick(&mut self, built: &mut Built) {
        built.expands = true;
        let mut at = self.at + 1;
        let end = loop {
            match self.bytes.get(at).filter(|_| at < self.end) {
                None => {
                    self.complete = false;
                    self.at = self.end;
                    return;
                }
                Some(b'`') => break at,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        };
        let outer = std::mem::replace(&mut self.end, end);
        self.at += 1;
        if self.may_descend() {
            let first = self.commands.len();
            let pending = std::mem::take(&mut self.pending);
            self.nested(Closer::End, Nesting::Substitution);
            self.complete &= self.pending.is_empty();
            self.pending = pending;
            hide(&mut self.commands[first..], Hidden::Substitution);
        }
        self.end = outer;
        self.at = end + 1;
    }

    /// Behind the backslash here and the character that it escapes.
    fn after_escape(&self) -> usize {
        let next = self.text.get(self.at + 1..self.end).and_then(|rest| rest.chars().next());
        (self.at + 1 + next.map_or(0, char::len_utf8)).min(self.end)
    }

    /// Passes over a pair of brackets with all between, the opening one here. Brackets within quotes do not count.
    pub(super) fn balanced(&mut self, open: u8, close: u8) {
        let mut depth = 0_usize;
        let mut quote = None;
        while let Some(byte) = self.peek() {
            match (quote, byte) {
                (None | Some(b'"'), b'\\') => {
                    self.at = self.after_escape();
                    continue;
                }
                (Some(open), byte) if open == byte => quote = None,
                (None, b'\'' | b'"') => quote = Some(byte),
                (None, byte) if byte == open => depth += 1,
                (None, byte) if byte == close => {
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
        self.complete = false;
    }
}

impl Built {
    /// A quoted text may be empty and is a word all the same.
    fn owned_at_least(&mut self) {
        self.keep_owned();
    }
}
