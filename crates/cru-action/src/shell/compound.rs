//! One item of a list: a simple command, or a loop, condition, group or function with all that it contains.

use super::lexer::{Closer, Lexer, ListEnd};
use super::status::hide;
use super::{EachLoop, Hidden, Nesting, Operator, SimpleCommand};

/// What an item is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Item {
    /// Whether it is one simple command.
    pub(super) simple: bool,
    /// The command whose status is its own.
    pub(super) status: Option<usize>,
}

impl Lexer<'_> {
    /// Reads an item that begins with the plain word `plain`.
    pub(super) fn item(&mut self, plain: &str, operator: Operator, nesting: Nesting) -> Item {
        let first = self.commands.len();
        let mut status = None;
        match plain {
            "" if self.peek() == Some(b'(') => status = self.round(nesting),
            "{" if self.may_descend() => {
                self.at += 1;
                status = self.nested(Closer::Words(&["}"]), nesting.max(Nesting::Group)).status;
            }
            "if" if self.may_descend() => self.condition(nesting),
            "while" | "until" if self.may_descend() => {
                self.at += plain.len();
                self.nested(Closer::Words(&["do"]), nesting.max(Nesting::Loop));
                self.body(nesting);
            }
            "for" | "select" if self.may_descend() => self.each(plain.len(), nesting),
            "case" if self.may_descend() => self.case(nesting),
            "function" if self.may_descend() => {
                self.at += plain.len();
                self.blanks();
                self.word();
                self.blanks();
                if self.starts_with("()") {
                    self.at += 2;
                }
                self.function(nesting);
            }
            "[[" => {
                let at = self.simple(operator, nesting, true);
                return Item { simple: at.is_some(), status: at };
            }
            _ => return self.simple_or_function(operator, nesting),
        }
        self.trailing(nesting);
        // What joins the whole stands before its first command.
        if let Some(command) = self.commands.get_mut(first) {
            command.operator = operator;
        }
        Item { simple: false, status }
    }

    /// A simple command, or a function where that is a name with `()` behind it.
    fn simple_or_function(&mut self, operator: Operator, nesting: Nesting) -> Item {
        let before = self.at;
        let at = self.simple(operator, nesting, false);
        if self.at == before {
            // Nothing begins with this byte.
            self.complete = false;
            self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        }
        if let Some(at) = at
            && self.is_function_head(at)
        {
            self.commands.truncate(at);
            if self.may_descend() {
                self.function(nesting);
                return Item::default();
            }
        }
        Item { simple: at.is_some(), status: at }
    }

    /// Whether the command that was just read is the name of a function, with `()` behind it, which is then taken.
    fn is_function_head(&mut self, at: usize) -> bool {
        let Some(SimpleCommand { words, assignments, redirections, .. }) = self.commands.get(at) else { return false };
        if words.len() != 1 || !assignments.is_empty() || !redirections.is_empty() || self.peek() != Some(b'(') {
            return false;
        }
        let from = self.at;
        self.at += 1;
        self.blanks();
        let found = self.peek() == Some(b')');
        self.at = if found { self.at + 1 } else { from };
        found
    }

    /// The body of a function.
    fn function(&mut self, nesting: Nesting) {
        self.space();
        let first = self.commands.len();
        let plain = self.plain();
        if self.peek().is_some() {
            self.depth += 1;
            self.item(plain, Operator::First, nesting.max(Nesting::Function));
            self.depth -= 1;
        }
        hide(&mut self.commands[first..], Hidden::Function);
    }

    /// `( … )` or `(( … ))`.
    fn round(&mut self, nesting: Nesting) -> Option<usize> {
        if self.starts_with("((") {
            self.balanced(b'(', b')');
            return None;
        }
        if !self.may_descend() {
            self.balanced(b'(', b')');
            return None;
        }
        self.at += 1;
        self.nested(Closer::Paren, nesting.max(Nesting::Group)).status
    }

    fn condition(&mut self, nesting: Nesting) {
        let nesting = nesting.max(Nesting::Condition);
        let first = self.commands.len();
        self.at += 2;
        let mut expects: &[&str] = &["then"];
        loop {
            let ListEnd { word, .. } = self.nested(Closer::Words(expects), nesting);
            match word {
                "then" => expects = &["elif", "else", "fi"],
                "elif" => expects = &["then"],
                "else" => expects = &["fi"],
                _ => break,
            }
        }
        hide(&mut self.commands[first..], Hidden::Condition);
    }

    /// The body of a loop up to `done`.
    fn body(&mut self, nesting: Nesting) {
        let first = self.commands.len();
        self.nested(Closer::Words(&["done"]), nesting.max(Nesting::Loop));
        hide(&mut self.commands[first..], Hidden::Loop);
    }

    /// `for name in words; do …; done`.
    fn each(&mut self, keyword: usize, nesting: Nesting) {
        self.at += keyword;
        self.blanks();
        if self.starts_with("((") {
            self.balanced(b'(', b')');
        }
        let mut words = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\\' if self.skips_blank() => {}
                b';' | b'\n' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                _ => {
                    let before = self.at;
                    words.push(self.word());
                    if self.at == before {
                        break;
                    }
                }
            }
        }
        if words.get(1).is_some_and(|word| word.text == "in") {
            let each = words.split_off(2);
            self.loops.push(EachLoop { name: words.swap_remove(0).text, words: each });
        }
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.space();
        if self.eat_word("do") {
            self.body(nesting);
            return;
        }
        self.complete = false;
    }

    fn skips_blank(&mut self) -> bool {
        let before = self.at;
        self.blanks();
        self.at > before
    }

    /// `case word in pattern) …;; esac`.
    fn case(&mut self, nesting: Nesting) {
        let nesting = nesting.max(Nesting::Condition);
        let first = self.commands.len();
        self.at += 4;
        self.blanks();
        self.word();
        self.space();
        if !self.eat_word("in") {
            self.complete = false;
            return;
        }
        loop {
            self.space();
            if self.eat_word("esac") {
                break;
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
            }
            // The pattern.
            loop {
                self.blanks();
                match self.peek() {
                    Some(b')') => {
                        self.at += 1;
                        break;
                    }
                    Some(b'|') => self.at += 1,
                    None | Some(b'\n' | b';' | b'&' | b'<' | b'>' | b'(') => {
                        self.complete = false;
                        return;
                    }
                    Some(_) => {
                        let before = self.at;
                        self.word();
                        if self.at == before {
                            self.complete = false;
                            return;
                        }
                    }
                }
            }
            if self.nested(Closer::CaseItem, nesting).word != ";;" {
                break;
            }
        }
        hide(&mut self.commands[first..], Hidden::Condition);
    }

    /// The redirections behind `done`, `fi`, `}`, `)`, as a command without words.
    fn trailing(&mut self, nesting: Nesting) {
        let mut command = SimpleCommand { nesting, ..SimpleCommand::default() };
        let at = self.commands.len();
        let mut any = false;
        loop {
            self.blanks();
            let start = self.at;
            if !self.is_redirection() {
                break;
            }
            if !any {
                any = true;
                command.range = start..start;
                self.commands.push(command.clone());
            }
            let redirection = self.redirection(at, command.redirections.len());
            command.redirections.push(redirection);
            command.range.end = self.at;
        }
        if let Some(slot) = self.commands.get_mut(at).filter(|_| any) {
            *slot = command;
        }
    }
}
