//! A unit's words on their way into tantivy: each word once, with its count, so that no text is analysed twice.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Name of the tantivy tokenizer that reads word lists.
pub const NAME: &str = "written";

/// Separates terms and counts; terms have no white space.
const BREAK: char = '\n';

/// A list of words as one text: `term\ncount\n`, repeated.
#[derive(Default)]
pub struct WordList {
    pub text: String,
}

impl WordList {
    /// Appends a term that occurs `count` times.
    pub fn push(&mut self, term: &str, count: u32) {
        self.text.push_str(term);
        self.text.push(BREAK);
        self.text.push_str(&count.to_string());
        self.text.push(BREAK);
    }
}

/// Tokenizer for word lists.
#[derive(Clone, Default)]
pub struct Reader {
    token: Token,
}

/// The tokens of a word list; each word is repeated by its count.
pub struct Stream<'a> {
    rest: std::str::Split<'a, char>,
    left: u32,
    token: &'a mut Token,
}

impl Tokenizer for Reader {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.token.reset();
        Stream {
            rest: text.split(BREAK),
            left: 0,
            token: &mut self.token,
        }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        if self.left == 0 {
            let (Some(term), Some(count)) = (self.rest.next(), self.rest.next()) else {
                return false;
            };
            self.token.text.clear();
            self.token.text.push_str(term);
            self.left = count.parse().unwrap_or(1);
        }
        self.left = self.left.saturating_sub(1);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
