//! Words and simple commands.

use std::borrow::Cow;
use std::ops::Range;

use super::lexer::{Closer, Lexer};
use super::status::hide;
use super::{Hidden, Nesting, Operator, SimpleCommand, Word};

/// What a word was put together from.
pub(super) struct Built {
    /// The text so far, where it differs from one piece of the source.
    owned: Option<String>,
    /// The piece of the source that is not in `owned` yet.
    piece: Range<usize>,
    pub(super) expands: bool,
    pub(super) is_pattern: bool,
}

impl Built {
    /// Leaves the bytes `skip` of the source out and goes on behind them.
    pub(super) fn skip(&mut self, text: &str, skip: Range<usize>) {
        self.piece.end = skip.start;
        if !self.piece.is_empty() {
            let piece = text.get(self.piece.clone()).unwrap_or("");
            self.owned.get_or_insert_default().push_str(piece);
        }
        self.piece = skip.end..skip.end;
    }
}

impl<'a> Lexer<'a> {
    /// Reads a simple command; its index, or `None` where nothing stands here. `test` for `[[ … ]]`.
    pub(super) fn simple(&mut self, operator: Operator, nesting: Nesting, test: bool) -> Option<usize> {
        let index = self.commands.len();
        let start = self.at;
        let mut command = SimpleCommand { range: start..start, operator, nesting, ..SimpleCommand::default() };
        // Its place is taken now, so that the commands of its substitutions follow it.
        self.commands.push(command.clone());
        loop {
            self.blanks();
            let Some(byte) = self.peek() else { break };
            if test {
                if byte == b'\n' && command.words.is_empty() {
                    break;
                }
                // Operators within a test are words of it.
                let from = self.at;
                if matches!(byte, b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')') {
                    self.at += 1;
                    let text = Cow::Borrowed(self.text.get(from..self.at).unwrap_or(""));
                    command.words.push(Word { text, range: from..self.at, expands: false, is_pattern: false });
                } else {
                    let word = self.word();
                    let ends = word.text == "]]";
                    command.words.push(word);
                    command.range.end = self.at;
                    if ends {
                        break;
                    }
                }
                command.range.end = self.at;
                continue;
            }
            match byte {
                b'\n' | b';' | b'|' | b')' => break,
                b'#' => {
                    self.comment();
                    break;
                }
                b'(' => {
                    if command.words.len() == 1 && self.is_empty_round() {
                        break;
                    }
                    if command.words.is_empty() && command.assignments.is_empty() && command.redirections.is_empty() {
                        break;
                    }
                    // No command of this language has a bracket here.
                    self.complete = false;
                    let from = self.at;
                    self.balanced(b'(', b')');
                    let text = Cow::Borrowed(self.text.get(from..self.at).unwrap_or(""));
                    command.words.push(Word { text, range: from..self.at, expands: true, is_pattern: false });
                }
                _ if self.is_redirection() => {
                    let redirection = self.redirection(index, command.redirections.len());
                    command.redirections.push(redirection);
                }
                b'&' => break,
                _ => {
                    let assigns = command.words.is_empty() && is_assignment(&self.bytes[self.at..self.end]);
                    let word = self.word();
                    if word.range.is_empty() {
                        break;
                    }
                    if assigns { &mut command.assignments } else { &mut command.words }.push(word);
                }
            }
            command.range.end = self.at;
        }
        if command.range.is_empty() {
            self.commands.truncate(index);
            return None;
        }
        self.set_flags(&command);
        self.commands[index] = command;
        Some(index)
    }

    fn is_empty_round(&self) -> bool {
        let rest = self.bytes.get(self.at + 1..self.end).unwrap_or_default();
        rest.iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b')')
    }

    /// `set -euo pipefail`.
    fn set_flags(&mut self, command: &SimpleCommand<'_>) {
        let mut words = command.words.iter().map(|word| word.text.as_ref());
        if words.next() != Some("set") {
            return;
        }
        let mut on = true;
        for word in words {
            if word == "pipefail" {
                self.flags.pipefail = on;
            } else if word == "errexit" {
                self.flags.errexit = on;
            } else if let Some(letters) = word.strip_prefix(['-', '+']) {
                on = word.starts_with('-');
                if letters.contains('e') {
                    self.flags.errexit = on;
                }
            }
        }
    }

    /// Reads the word that begins here; empty where none does.
    pub(super) fn word(&mut self) -> Word<'a> {
        let start = self.at;
        let mut built = Built { owned: None, piece: start..start, expands: false, is_pattern: false };
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b')' => break,
                b'<' | b'>' => {
                    if self.peek_at(1) != Some(b'(') {
                        break;
                    }
                    self.at += 1;
                    self.substitution(&mut built);
                }
                b'(' => {
                    let before = self.at.checked_sub(1).filter(|at| *at >= start).and_then(|at| self.bytes.get(at));
                    // An array or an extended pattern; else the word ends.
                    match before {
                        Some(b'=' | b'?' | b'*' | b'+' | b'@' | b'!') => {
                            built.expands = true;
                            self.balanced(b'(', b')');
                        }
                        _ => break,
                    }
                }
                b'\'' => self.single(&mut built),
                b'"' => self.double(&mut built),
                b'\\' if self.is_on_drive(start) => self.at += 1,
                b'\\' => self.escape(&mut built),
                b'$' => self.dollar(&mut built),
                b'`' => self.backtick(&mut built),
                b'*' | b'?' | b'[' => {
                    built.is_pattern |= self.at > start || byte != b'[' || self.peek_at(1).is_some_and(|it| it > b' ');
                    self.at += 1;
                }
                b'{' => {
                    built.is_pattern |= !matches!(self.peek_at(1), None | Some(b' ' | b'\n' | b'}' | b';'));
                    self.at += 1;
                }
                b'~' if self.at == start => {
                    self.at += 1;
                    built.is_pattern |= self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric());
                }
                _ => self.at += 1,
            }
        }
        built.piece.end = self.at;
        let rest = self.text.get(built.piece.clone()).unwrap_or("");
        let text = match built.owned {
            None => Cow::Borrowed(rest),
            Some(mut owned) if !rest.is_empty() || owned.is_empty() => {
                owned.push_str(rest);
                Cow::Owned(owned)
            }
            Some(owned) => Cow::Owned(owned),
        };
        let word = Word { text, range: start..self.at, expands: built.expands, is_pattern: built.is_pattern };
        self.borrow_quoted(word)
    }

    /// A word that is one quoted text without escapes is a piece of the source.
    fn borrow_quoted(&self, mut word: Word<'a>) -> Word<'a> {
        if matches!(word.text, Cow::Owned(_))
            && let Some(inner) = word.range.end.checked_sub(1).and_then(|end| self.text.get(word.range.start + 1..end))
            && inner == word.text
        {
            word.text = Cow::Borrowed(inner);
        }
        word
    }

    /// `$(…)`, `<(…)`, with the bracket here.
    pub(super) fn substitution(&mut self, built: &mut Built) {
        built.expands = true;
        if !self.may_descend() {
            self.balanced(b'(', b')');
            return;
        }
        self.at += 1;
        let first = self.commands.len();
        let pending = std::mem::take(&mut self.pending);
        self.nested(Closer::Paren, Nesting::Substitution);
        self.complete &= self.pending.is_empty();
        self.pending = pending;
        hide(&mut self.commands[first..], Hidden::Substitution);
    }
}

/// Whether a word that begins so sets a variable.
fn is_assignment(rest: &[u8]) -> bool {
    let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let starts = rest.first().is_some_and(|byte| !byte.is_ascii_digit());
    let mut after = rest.get(name..).unwrap_or_default();
    if let [b'[', index @ ..] = after {
        let len = index.iter().take(64).position(|&byte| byte == b']');
        after = len.and_then(|len| index.get(len + 1..)).unwrap_or_default();
    }
    name > 0 && starts && matches!(after, [b'=', ..] | [b'+', b'=', ..])
}

impl Built {
    /// Goes on with a text of its own.
    pub(super) fn keep_owned(&mut self) {
        self.owned.get_or_insert_default();
    }
}
