//! WordPiece as in BERT's uncased models: text is cleaned, lower-cased and stripped of accents, then split at white space,
//! punctuation and Chinese characters; each word is split into the longest known pieces.
//!
//! It deliberately differs from the original in one point: special tokens such as `[SEP]` in a text are plain text.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};
use rustc_hash::FxHashMap;
use unicode_normalization::char::decompose_canonical;

use super::ModelError;

/// Limit on a word's characters; a longer word is unknown as a whole.
const MAX_WORD: usize = 100;

/// A vocabulary of word pieces.
pub struct WordPiece {
    /// Pieces at the beginning of a word.
    beginnings: FxHashMap<Box<str>, u32>,
    /// Pieces within a word, without their `##` prefix.
    continuations: FxHashMap<Box<str>, u32>,
    unknown: u32,
    /// Length of the longest piece in bytes.
    longest: usize,
    size: usize,
}

impl WordPiece {
    /// Reads a vocabulary: one piece per line, its id is the line number, from 0.
    pub fn new(vocabulary: &[u8]) -> Result<Self, ModelError> {
        let damaged = |why: &str| ModelError::Damaged {
            file: "vocab.txt",
            why: why.into(),
        };
        let text = str::from_utf8(vocabulary).map_err(|_| damaged("it is not UTF-8"))?;
        let size = text.lines().count();
        let mut beginnings = FxHashMap::with_capacity_and_hasher(size, Default::default());
        let mut continuations = FxHashMap::default();
        let mut longest = 1;
        for (piece, number) in text.lines().zip(0u32..) {
            longest = longest.max(piece.len());
            match piece.strip_prefix("##").filter(|rest| !rest.is_empty()) {
                Some(rest) => continuations.insert(rest.into(), number),
                None => beginnings.insert(piece.into(), number),
            };
        }
        let unknown = *beginnings
            .get("[UNK]")
            .ok_or_else(|| damaged("it has no [UNK]"))?;
        Ok(Self {
            beginnings,
            continuations,
            unknown,
            longest,
            size,
        })
    }

    /// Returns the number of pieces in the vocabulary.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the id of unknown words.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Returns the id of a special token such as `[CLS]`.
    #[must_use]
    pub fn mark(&self, mark: &str) -> Option<u32> {
        self.beginnings.get(mark).copied()
    }

    /// Returns the first `limit` pieces of a text.
    #[must_use]
    pub fn pieces(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut words = WordBuffer {
            pieces: Vec::with_capacity(limit.min(text.len() / 3 + 1)),
            limit,
            word: String::new(),
            length: 0,
        };
        for character in text.chars() {
            if words.pieces.len() >= limit {
                break;
            }
            match character {
                'a'..='z' | '0'..='9' => words.push(character),
                'A'..='Z' => words.push(character.to_ascii_lowercase()),
                ' ' | '\t' | '\n' | '\r' => words.end(self),
                '!'..='~' => words.alone(self, character),
                '\0'..='\x7f' => {}
                _ => self.beyond_ascii(character, &mut words),
            }
        }
        words.end(self);
        words.pieces.truncate(limit);
        words.pieces
    }

    /// Cleans and decomposes one character, and drops its accents.
    fn beyond_ascii(&self, character: char, words: &mut WordBuffer) {
        if character == '\u{fffd}' || CLASSES.other.contains(character) {
            return;
        }
        let chinese = is_chinese(character);
        if chinese {
            words.end(self);
        }
        decompose_canonical(character, |part| {
            if CLASSES.accents.contains(part) {
                return;
            }
            for part in part.to_lowercase() {
                if part.is_whitespace() {
                    words.end(self);
                } else if part.is_ascii_punctuation() || CLASSES.punctuation.contains(part) {
                    words.alone(self, part);
                } else {
                    words.push(part);
                }
            }
        });
        if chinese {
            words.end(self);
        }
    }

    /// Splits one word: the longest known beginning first, then the longest known continuations.
    fn split(&self, word: &str, pieces: &mut Vec<u32>) {
        let before = pieces.len();
        let mut rest = word;
        let mut known = &self.beginnings;
        while !rest.is_empty() {
            let longest = (1..=rest.len().min(self.longest)).rev();
            let found = longest
                .filter_map(|end| rest.split_at_checked(end))
                .find_map(|(piece, after)| Some((*known.get(piece)?, after)));
            let Some((piece, after)) = found else {
                pieces.truncate(before);
                pieces.push(self.unknown);
                return;
            };
            pieces.push(piece);
            rest = after;
            known = &self.continuations;
        }
    }
}

/// The word being read, and the pieces of the words before it.
struct WordBuffer {
    pieces: Vec<u32>,
    limit: usize,
    word: String,
    /// Length of the word in characters; only the characters within the limit are stored.
    length: usize,
}

impl WordBuffer {
    fn push(&mut self, character: char) {
        self.length += 1;
        if self.length <= MAX_WORD {
            self.word.push(character);
        }
    }

    fn alone(&mut self, vocabulary: &WordPiece, character: char) {
        self.end(vocabulary);
        self.push(character);
        self.end(vocabulary);
    }

    fn end(&mut self, vocabulary: &WordPiece) {
        if self.length == 0 || self.pieces.len() >= self.limit {
            // Too long to be in the vocabulary.
        } else if self.length > MAX_WORD {
            self.pieces.push(vocabulary.unknown);
        } else {
            vocabulary.split(&self.word, &mut self.pieces);
        }
        self.word.clear();
        self.length = 0;
    }
}

/// Character classes, by Unicode's general categories.
struct Classes {
    /// Controls, formats and private use: skipped.
    other: Members,
    /// Nonspacing marks.
    accents: Members,
    punctuation: Members,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes {
    other: Members::new(r"[\p{Cc}\p{Cf}\p{Co}]"),
    accents: Members::new(r"\p{Mn}"),
    punctuation: Members::new(r"\p{P}"),
});

/// Sorted ranges of characters.
struct Members(Vec<(char, char)>);

impl Members {
    fn new(class: &str) -> Self {
        let ranges = match regex_syntax::parse(class).map(regex_syntax::hir::Hir::into_kind) {
            Ok(HirKind::Class(Class::Unicode(class))) => class,
            // The three patterns above are classes: tests check that each has members.
            Ok(_) | Err(_) => ClassUnicode::empty(),
        };
        Self(
            ranges
                .ranges()
                .iter()
                .map(|range| (range.start(), range.end()))
                .collect(),
        )
    }

    fn contains(&self, character: char) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= character);
        after
            .checked_sub(1)
            .and_then(|before| self.0.get(before))
            .is_some_and(|(_, end)| character <= *end)
    }
}

/// Returns whether a character belongs to the blocks in which each character is a word.
fn is_chinese(character: char) -> bool {
    matches!(character,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}'
        | '\u{2b920}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_members() {
        assert!(
            CLASSES.other.contains('\u{200b}')
                && CLASSES.other.contains('\u{e000}')
                && !CLASSES.other.contains('a')
        );
        assert!(CLASSES.accents.contains('\u{301}') && !CLASSES.accents.contains('é'));
        assert!(
            CLASSES.punctuation.contains('—')
                && CLASSES.punctuation.contains('。')
                && !CLASSES.punctuation.contains('€')
        );
    }

    #[test]
    fn a_word_is_its_longest_pieces() {
        let vocabulary =
            WordPiece::new("[UNK]\nun\nunab\n##aff\n##able\n##ffable\n,".as_bytes()).unwrap();
        assert_eq!(
            vocabulary.pieces("unaffable, Ünaffable", 9),
            [1, 3, 4, 6, 1, 3, 4]
        );
        assert_eq!(
            vocabulary.pieces("unabx un", 9),
            [0, 1],
            "what no pieces make up is unknown as a whole"
        );
        assert_eq!(
            vocabulary.pieces("unaffable", 2),
            [1, 3],
            "a limit cuts within a word"
        );
        assert_eq!(
            vocabulary.pieces(&format!("{} un", "un".repeat(51)), 9),
            [0, 1],
            "too long a word is unknown"
        );
    }
}
