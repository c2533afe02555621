//! Cutting text into words, for code as well as for prose.
//!
//! A word is a run of letters and digits. `snake_case`, `camelCase` and paths are cut at their joints, and the parts
//! stand at following positions, so that a phrase finds them however they are joined; a name of several parts stands as
//! one word at the place of its first part as well, so that it is found when typed in one. Case and accents do not
//! matter. Each character of a script without blanks (Han, kana, Hangul) is a word. Nothing is stemmed and nothing is
//! left out.
//!
//! Most of the time of a build is spent here: plain text is looked at once, and nothing is allocated for a word.

mod fold;

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Name of the tokenizer in the index.
pub const NAME: &str = "words";

/// The longest word, in bytes of the text; a longer one is cut into several.
const LONGEST: usize = 200;

/// The tokenizer.
#[derive(Clone, Debug, Default)]
pub struct Words {
    token: Token,
    parts: Vec<Range<usize>>,
}

/// Its stream.
#[derive(Debug)]
pub struct Stream<'a> {
    text: &'a str,
    at: usize,
    position: usize,
    /// Parts of the name at hand.
    parts: &'a mut Vec<Range<usize>>,
    /// The next of them.
    next: usize,
    /// The name as a whole comes next.
    joined: bool,
    /// Where the letter of an escape stands that may belong to the name: `\nname`.
    lead: Option<usize>,
    token: &'a mut Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.parts.clear();
        Stream {
            text,
            at: 0,
            position: 0,
            parts: &mut self.parts,
            next: 0,
            joined: false,
            lead: None,
            token: &mut self.token,
        }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        if self.joined {
            self.joined = false;
            self.whole();
            return true;
        }
        loop {
            if let Some(part) = self.parts.get(self.next) {
                let part = part.clone();
                if let Some(lead) = self.lead.take() {
                    self.set(lead..part.end);
                    fold::push(&self.text[lead..part.end], &mut self.token.text);
                    return true;
                }
                self.joined = self.next == 0 && self.parts.len() > 1;
                self.next += 1;
                self.set(part.clone());
                fold::push(&self.text[part], &mut self.token.text);
                self.position += 1;
                return true;
            }
            let rest = &self.text.as_bytes()[self.at..];
            let skipped = rest.iter().take_while(|byte| CLASS[usize::from(**byte)] == Class::Other).count();
            self.at += skipped;
            let Some(&byte) = rest.get(skipped) else { return false };
            if CLASS[usize::from(byte)] == Class::Far {
                let c = self.char(self.at);
                if !c.is_alphanumeric() {
                    self.at += c.len_utf8();
                    continue;
                }
                if fold::is_alone(c) {
                    let text = self.text;
                    let (len, letter) = fold::alone(&text[self.at..]);
                    self.set(self.at..self.at + len);
                    self.token.text.push_str(&letter);
                    self.at += len;
                    self.position += 1;
                    return true;
                }
            }
            self.name();
        }
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

impl Stream<'_> {
    fn set(&mut self, part: Range<usize>) {
        self.token.offset_from = part.start;
        self.token.offset_to = part.end;
        self.token.position = self.position;
        self.token.position_length = 1;
        self.token.text.clear();
    }

    /// The name as one word, at the place of its first part, which was just given.
    fn whole(&mut self) {
        let (from, to) =
            (self.parts.first().map_or(0, |part| part.start), self.parts.last().map_or(0, |part| part.end));
        self.set(from..to);
        self.token.position = self.position.saturating_sub(1);
        let mut left = LONGEST;
        for part in self.parts.iter() {
            let part = &self.text[part.clone()];
            let end = if part.len() <= left { part.len() } else { floor(part, left) };
            fold::push(&part[..end], &mut self.token.text);
            left -= end;
            if end < part.len() {
                break;
            }
        }
    }

    fn char(&self, at: usize) -> char {
        self.text[at..].chars().next().unwrap_or(' ')
    }

    /// Finds the parts of the name that starts here.
    fn name(&mut self) {
        self.parts.clear();
        self.next = 0;
        let bytes = self.text.as_bytes();
        // What the last letter was, where it stands, and whether it may begin a part of its own.
        let (mut before, mut letter, mut capitals) = (Class::Other, self.at, false);
        let (mut from, mut at) = (self.at, self.at);
        // In a quoted text `\n` is no letter, in a path of Windows it is: the word stands with it and without.
        if at > 0
            && bytes[at - 1] == b'\\'
            && matches!(bytes[at], b'n' | b't' | b'r')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
        {
            self.lead = Some(at);
            (from, at) = (at + 1, at + 1);
        }
        while let Some(&byte) = bytes.get(at) {
            let mut class = CLASS[usize::from(byte)];
            let mut len = 1;
            if class == Class::Far {
                let c = self.char(at);
                len = c.len_utf8();
                if fold::is_mark(c) {
                    at += len;
                    continue;
                }
                class = match c {
                    _ if !c.is_alphanumeric() || fold::is_alone(c) => Class::Other,
                    _ if c.is_uppercase() => Class::Upper,
                    _ if c.is_lowercase() => Class::Lower,
                    _ => Class::Digit,
                };
            }
            match class {
                Class::Other | Class::Far => break,
                Class::Joint => {
                    self.part(from..at);
                    from = at + 1;
                }
                Class::Upper if before == Class::Lower => {
                    self.part(from..at);
                    from = at;
                }
                // `HTTPServer`: the last capital begins the next part.
                Class::Lower if before == Class::Upper && capitals => {
                    self.part(from..letter);
                    from = letter;
                }
                _ => {}
            }
            capitals = class == Class::Upper && matches!(before, Class::Upper | Class::Digit);
            (before, letter) = (class, at);
            at += len;
        }
        self.part(from..at);
        self.at = at;
    }

    /// Adds a part, cut where it is too long.
    fn part(&mut self, part: Range<usize>) {
        let mut from = part.start;
        while part.end - from > LONGEST {
            let to = from + floor(&self.text[from..part.end], LONGEST);
            self.parts.push(from..to);
            from = to;
        }
        if from < part.end {
            self.parts.push(from..part.end);
        }
    }
}

/// The last place in `text` up to `at` where it can be cut.
fn floor(text: &str, at: usize) -> usize {
    cru_base::lines::floor_char_boundary(text, at)
}

/// What a byte is to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Other,
    Lower,
    Upper,
    Digit,
    /// `_`
    Joint,
    /// The beginning of a character beyond ASCII.
    Far,
}

static CLASS: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Joint,
            0x80.. => Class::Far,
            _ => Class::Other,
        };
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// The words of `text` with their byte ranges and positions.
pub fn cut(text: &str) -> Vec<Token> {
    let mut words = Words::default();
    let mut stream = words.token_stream(text);
    let mut tokens = Vec::new();
    while stream.advance() {
        tokens.push(stream.token().clone());
    }
    tokens
}

#[cfg(test)]
mod tests;
