//! Counts o200k tokens: exactly, fast also for hostile texts, and without holding memory while
//! idle.
//!
//! The vocabulary is a byte table in the program. The lookup structures (6.5 MB of it) are built
//! at the first use and dropped when idle. The published tokenizers do not allow that, or fail:
//! tiktoken-rs 0.12 panics on a megabyte of spaces and holds 46 MB or more, and bpe-openai 0.3 adds
//! 32 MB to the program that cannot be released.

mod known;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use regex::Regex;
use rustc_hash::FxBuildHasher;

use known::KnownCounts;

/// Every token by rank: its length in one byte, then its bytes. OpenAI publishes them as `o200k_base.tiktoken`.
static VOCABULARY: &[u8] = include_bytes!("../o200k/tokens.bin");

/// Pattern that splits a text into pieces before their encoding: o200k's own expression without its look-ahead
/// (`\s+(?!\S)`), which [`Encoding::piece`] implements manually. So it needs no backtracking.
const PIECE: &str = concat!(
    r"^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"|\s*[\r\n]+",
    r"|\s+)",
);

/// A shared token counter: use it in an [`Arc`].
///
/// The text of special tokens, such as `<|endoftext|>`, is counted as ordinary text.
///
/// ```
/// let tokens = lored_tokens::Tokens::default();
/// assert_eq!(tokens.count("hello world"), 2);
/// ```
#[derive(Default)]
pub struct Tokens {
    loaded: Mutex<Option<Loaded>>,
}

struct Loaded {
    encoding: Arc<Encoding>,
    last_use: Instant,
}

impl Tokens {
    /// Counts the tokens of a text. The first use loads the encoding, which takes some milliseconds.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.count_within(text, usize::MAX).unwrap_or(usize::MAX)
    }

    /// Counts the tokens of a text; `None` when they are more than `max`, without counting all.
    #[must_use]
    pub fn count_within(&self, text: &str, max: usize) -> Option<usize> {
        let encoding = self.encoding();
        let hash = encoding.known.hash(text);
        if let Some(count) = hash.and_then(|hash| encoding.known.get(hash)) {
            return (count <= max).then_some(count);
        }
        let (count, rest) = encoding.read(text, max);
        if !rest.is_empty() {
            return None;
        }
        if let Some(hash) = hash {
            encoding.known.put(hash, count);
        }
        Some(count)
    }

    /// Returns the longest beginning of a text that has at most `max` tokens and does not end inside
    /// a word or a run of punctuation.
    #[must_use]
    pub fn beginning<'t>(&self, text: &'t str, max: usize) -> &'t str {
        let (_, rest) = self.encoding().read(text, max);
        text.get(..text.len() - rest.len()).unwrap_or_default()
    }

    /// Drops the encoding; the next use loads it again. Running counts are not affected.
    pub fn release(&self) {
        *self.lock() = None;
    }

    /// Drops the encoding unless it was used within the last `idle`; then returns when to try again.
    pub fn release_when_idle(&self, idle: Duration) -> Option<Duration> {
        let mut loaded = self.lock();
        let left = idle.saturating_sub(loaded.as_ref()?.last_use.elapsed());
        if left.is_zero() {
            *loaded = None;
            return None;
        }
        Some(left)
    }

    /// Whether the encoding is in memory.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.lock().is_some()
    }

    /// Loads under the lock, so that concurrent first uses wait for one load.
    fn encoding(&self) -> Arc<Encoding> {
        let mut loaded = self.lock();
        let loaded = loaded.get_or_insert_with(|| Loaded {
            encoding: Arc::new(Encoding::load()),
            last_use: Instant::now(),
        });
        loaded.last_use = Instant::now();
        Arc::clone(&loaded.encoding)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Loaded>> {
        // The option is replaced whole or not at all.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("is_loaded", &self.is_loaded())
            .finish()
    }
}

/// A token's rank in the vocabulary: of two possible merges, the one with the lower rank is done first.
type Rank = u32;

/// The vocabulary as a map, and the compiled pattern for pieces.
struct Encoding {
    ranks: HashMap<&'static [u8], Rank, FxBuildHasher>,
    /// Length of the longest token, in bytes.
    token_bytes_max: usize,
    /// `None` is impossible (a test compiles it); a text would then be one piece.
    piece: Option<Regex>,
    known: KnownCounts,
}

impl Encoding {
    fn load() -> Self {
        let mut ranks = HashMap::with_capacity_and_hasher(200_000, FxBuildHasher);
        let mut token_bytes_max = 0;
        let mut rest = VOCABULARY;
        while let Some((&length, behind)) = rest.split_first() {
            let Some((token, next)) = behind.split_at_checked(length.into()) else {
                break;
            };
            let rank = Rank::try_from(ranks.len()).unwrap_or(Rank::MAX);
            ranks.insert(token, rank);
            token_bytes_max = token_bytes_max.max(token.len());
            rest = next;
        }
        Self {
            ranks,
            token_bytes_max,
            piece: Regex::new(PIECE).ok(),
            known: KnownCounts::default(),
        }
    }

    /// Reads whole pieces with at most `max` tokens; returns their tokens, and the rest of the text.
    fn read<'t>(&self, text: &'t str, max: usize) -> (usize, &'t str) {
        let mut merge = Merge::default();
        let (mut count, mut rest) = (0, text);
        while !rest.is_empty() {
            let (piece, behind) = self.piece(rest);
            // A long piece that cannot fit is not merged.
            if count + piece.len().div_ceil(self.token_bytes_max) > max {
                break;
            }
            let with_piece = count + self.count_piece(piece.as_bytes(), &mut merge);
            if with_piece > max {
                break;
            }
            (count, rest) = (with_piece, behind);
        }
        (count, rest)
    }

    /// Splits the first piece off a text that is not empty.
    ///
    /// A run of several white-space characters before other text leaves its last character to that text,
    /// unless that character is a line end.
    fn piece<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        if let Some(word) = plain_word(text.as_bytes()) {
            return text.split_at_checked(word).unwrap_or((text, ""));
        }
        let found = self.piece.as_ref().and_then(|piece| piece.find(text));
        let end = found.map_or(text.len(), |found| found.end());
        let (piece, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let last = piece.chars().next_back();
        if rest.is_empty() || !last.is_some_and(|last| last.is_whitespace() && !is_line_end(last)) {
            return (piece, rest);
        }
        let shorter = piece.len() - last.map_or(0, char::len_utf8);
        if shorter == 0 {
            return (piece, rest);
        }
        text.split_at_checked(shorter).unwrap_or((text, ""))
    }

    fn count_piece(&self, piece: &[u8], merge: &mut Merge) -> usize {
        if piece.len() < 2 || self.rank(piece).is_some() {
            return 1;
        }
        merge.count(self, piece)
    }

    fn rank(&self, bytes: &[u8]) -> Option<Rank> {
        if bytes.len() > self.token_bytes_max {
            return None;
        }
        self.ranks.get(bytes).copied()
    }
}

/// Returns the length of the first piece, if it is an ASCII word: capital letters, then small ones, with or without
/// a space before it. Most pieces are; [`PIECE`] finds the same more slowly.
fn plain_word(text: &[u8]) -> Option<usize> {
    let blank = usize::from(text.first() == Some(&b' '));
    let letters = text.iter().skip(blank);
    let capital = letters.take_while(|byte| byte.is_ascii_uppercase()).count();
    let letters = text.iter().skip(blank + capital);
    let small = letters.take_while(|byte| byte.is_ascii_lowercase()).count();
    let end = blank + capital + small;
    // After an apostrophe `'s` may follow; a non-ASCII character may be a letter, or a mark of the last letter.
    let ends = text
        .get(end)
        .is_none_or(|next| next.is_ascii() && *next != b'\'');
    (small > 0 && ends).then_some(end)
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\r' | '\n')
}

/// Byte-pair encoding of one piece: neighbouring parts are merged, lowest rank first, leftmost first
/// among equals, until no two form a token. A heap of candidates avoids quadratic time for a megabyte
/// of one letter; its memory is reused for all pieces of a text.
#[derive(Default)]
struct Merge {
    /// For each byte that begins a part, the end of that part; [`Merge::NO_PART`] for others.
    ends: Vec<u32>,
    /// For each byte that begins a part, the start of the previous part.
    befores: Vec<u32>,
    /// Possible merges; stale ones are skipped when they are popped.
    candidates: BinaryHeap<Reverse<Candidate>>,
}

/// A possible merge in one number, ordered by rank and then by start: 24 bits of rank, 32 of the start, and 8 of the
/// length, which a byte holds in the vocabulary, too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate(u64);

impl Candidate {
    fn new(rank: Rank, start: u32, end: u32) -> Self {
        Self(u64::from(rank) << 40 | u64::from(start) << 8 | u64::from(end - start))
    }

    fn start(self) -> u32 {
        (self.0 >> 8) as u32
    }

    fn end(self) -> u32 {
        self.start() + (self.0 & 0xff) as u32
    }
}

impl Merge {
    const NO_PART: u32 = 0;

    /// Counts the tokens of a piece of at least two bytes.
    fn count(&mut self, encoding: &Encoding, piece: &[u8]) -> usize {
        let Ok(bytes) = u32::try_from(piece.len()) else {
            return piece.len(); // over 4 GiB: at most a token for each byte
        };
        self.ends.clear();
        self.ends.extend(1..=bytes);
        self.befores.clear();
        self.befores
            .extend((0..bytes).map(|at| at.saturating_sub(1)));
        self.candidates.clear();
        for start in 0..bytes.saturating_sub(1) {
            self.propose(encoding, piece, start, start + 2);
        }
        let mut parts = piece.len();
        while let Some(Reverse(candidate)) = self.candidates.pop() {
            let (start, end) = (candidate.start(), candidate.end());
            let Some(middle) = self.end(start) else {
                continue;
            };
            if self.end(middle) != Some(end) {
                continue; // a neighbour has been merged otherwise
            }
            parts -= 1;
            set(&mut self.ends, start, end);
            set(&mut self.ends, middle, Self::NO_PART);
            set(&mut self.befores, end, start);
            if let Some(next) = self.end(end) {
                self.propose(encoding, piece, start, next);
            }
            if let Some(&before) = self.befores.get(start as usize).filter(|_| start > 0) {
                self.propose(encoding, piece, before, end);
            }
        }
        parts
    }

    fn propose(&mut self, encoding: &Encoding, piece: &[u8], start: u32, end: u32) {
        let merged = piece.get(start as usize..end as usize);
        if let Some(rank) = merged.and_then(|merged| encoding.rank(merged)) {
            let candidate = Candidate::new(rank, start, end);
            self.candidates.push(Reverse(candidate));
        }
    }

    /// Returns the end of the part that begins at `start`, if any.
    fn end(&self, start: u32) -> Option<u32> {
        let end = self.ends.get(start as usize).copied();
        end.filter(|end| *end != Self::NO_PART)
    }
}

fn set(places: &mut [u32], at: u32, value: u32) {
    if let Some(place) = places.get_mut(at as usize) {
        *place = value;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    /// The vocabulary is OpenAI's: written as `o200k_base.tiktoken` (base64 and rank in each line), it has the SHA-256
    /// that OpenAI's own tokenizer expects of that file.
    #[test]
    fn the_vocabulary_is_o200k() {
        let mut published = String::new();
        let mut rest = VOCABULARY;
        for rank in 0.. {
            let Some((&length, after)) = rest.split_first() else {
                break;
            };
            let (token, after) = after.split_at(length.into());
            published += &format!("{} {rank}\n", BASE64_STANDARD.encode(token));
            rest = after;
        }
        let hash = Sha256::digest(published);
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
        );
    }

    /// Counts equal those of tiktoken-rs 0.12, which contains OpenAI's own code.
    #[test]
    fn counts_are_those_of_o200k() {
        let tokens = Tokens::default();
        for (text, count) in [
            ("", 0),
            ("hello world", 2),
            ("Hello, world!", 4),
            ("<|endoftext|>", 7),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("fn main() {\n    println!(\"{}\", 1 + 2);\n}\n", 14),
            ("naïve café — 漢字かな交じり文 🦀🚀", 18),
            ("{\"a\":1234567890.125,\"b\":[true,null]}", 15),
            ("   leading\t\ttabs   and  spaces  \n\n\n  end ", 13),
            ("don't we'LL they'Re I'm", 7),
        ] {
            assert_eq!(tokens.count(text), count, "{text:?}");
        }
    }

    /// Texts of one piece, which would take minutes with a scan for each merge. The reference for spaces
    /// is bpe-openai 0.3, because tiktoken-rs panics.
    #[test]
    fn hostile_texts_are_counted_as_exactly() {
        let tokens = Tokens::default();
        for (text, count) in [
            ("a".repeat(100_000), 12_500),
            ("-".repeat(100_000), 1_562),
            ("7".repeat(100_000), 33_334),
            (" ".repeat(100_000), 782),
            (" ".repeat(100_000) + "x", 783),
        ] {
            assert_eq!(tokens.count(&text), count, "{:?}…", text.get(..1));
            assert_eq!(tokens.count_within(&text, count), Some(count));
            assert_eq!(tokens.count_within(&text, count - 1), None);
            assert_eq!(tokens.count_within(&text, 10), None);
        }
    }

    #[test]
    fn counting_stops_at_a_maximum() {
        let tokens = Tokens::default();
        let text = "hello world ".repeat(1_000);
        let count = tokens.count(&text);
        assert_eq!(tokens.count_within(&text, count), Some(count));
        assert_eq!(tokens.count_within(&text, count - 1), None);
        assert_eq!(tokens.count_within("", 0), Some(0));
    }

    /// A beginning ends after a word, has at most the permitted tokens, and the next word would not fit.
    #[test]
    fn a_beginning_is_as_long_as_it_can_be() {
        let tokens = Tokens::default();
        let text = "The quick brown fox jumps over the lazy dog.";
        assert_eq!(tokens.beginning(text, 4), "The quick brown fox");
        assert_eq!(tokens.beginning(text, 10), text);
        assert_eq!(tokens.beginning(text, 0), "");
        assert_eq!(
            tokens.beginning(&"a".repeat(100), 3),
            "",
            "one word does not fit"
        );
    }

    proptest! {
        /// An ASCII word equals the piece that the pattern finds.
        #[test]
        fn plain_words_are_pieces(text in "[ ]{0,2}[A-Za-z'ſéa1_\\n-]{0,6}\\PC{0,3}") {
            let piece = Regex::new(PIECE).unwrap();
            if let Some(end) = plain_word(text.as_bytes()) {
                prop_assert_eq!(piece.find(&text).map(|found| found.end()), Some(end));
            }
        }
    }

    /// Every byte is a token, so every text has a count, and every rank exists once.
    #[test]
    fn the_vocabulary_is_whole() {
        let encoding = Encoding::load();
        assert!(encoding.piece.is_some());
        assert_eq!(encoding.ranks.len(), 199_998);
        assert!((0..=u8::MAX).all(|byte| encoding.rank(&[byte]).is_some()));
    }

    #[test]
    fn it_is_loaded_once_and_let_go() {
        let tokens = Tokens::default();
        assert!(
            !tokens.is_loaded(),
            "nothing is loaded before the first use"
        );
        let loaded: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| tokens.encoding())).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(loaded.iter().all(|one| Arc::ptr_eq(one, &loaded[0])));
        assert!(
            tokens
                .release_when_idle(Duration::from_secs(3600))
                .is_some()
        );
        assert!(tokens.is_loaded(), "it was used just now");
        let held = Arc::downgrade(&loaded[0]);
        drop(loaded);
        assert_eq!(tokens.release_when_idle(Duration::ZERO), None);
        assert!(!tokens.is_loaded() && held.upgrade().is_none());
        assert_eq!(tokens.count("hello world"), 2);
        tokens.release();
        assert!(!tokens.is_loaded());
    }
}
