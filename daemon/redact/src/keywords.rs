//! Finds keywords in a text with a hash lookup of the first bytes at every position. The lookups are independent of each
//! other, which makes this several times faster than an automaton.

use std::ops::Range;

/// Length of a keyword prefix in bytes.
const BEGINNING: usize = 3;

/// Case-insensitive keywords of at least three bytes.
pub(super) struct Keywords {
    /// Bucket of each prefix hash; 0 when no keyword has such a prefix.
    of: Box<[u8; 1 << 16]>,
    buckets: Vec<Bucket>,
    words: Vec<Vec<u8>>,
}

/// The keywords whose prefixes share a hash.
#[derive(Default)]
struct Bucket {
    /// A bit for each byte that may follow a prefix, as computed by [`follower`].
    followers: u64,
    words: Vec<usize>,
}

impl Keywords {
    /// Builds the index; words shorter than three bytes are never found.
    pub(super) fn new(words: &[&str]) -> Self {
        let mut of = Box::new([0; 1 << 16]);
        let mut buckets = vec![Bucket::default()];
        for (number, word) in words.iter().enumerate() {
            let [a, b, c, rest @ ..] = word.as_bytes() else {
                continue;
            };
            let place = hash(*a, *b, *c);
            let Some(slot) = of.get_mut(usize::from(place)) else {
                continue;
            };
            if *slot == 0 {
                buckets.push(Bucket::default());
                // If there are more buckets, the rest share the last one.
                *slot = u8::try_from(buckets.len() - 1).unwrap_or(u8::MAX);
            }
            if let Some(bucket) = buckets.get_mut(usize::from(*slot)) {
                bucket.followers |= rest.first().map_or(u64::MAX, |byte| follower(*byte));
                bucket.words.push(number);
            }
        }
        let words = words
            .iter()
            .map(|word| word.to_ascii_lowercase().into_bytes())
            .collect();
        Self { of, buckets, words }
    }

    /// Finds each keyword in a text: its number and range, ordered by position.
    pub(super) fn find<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
        let bytes = text.as_bytes();
        let places = bytes
            .windows(BEGINNING)
            .enumerate()
            .filter_map(|(at, window)| {
                let [a, b, c] = window else { return None };
                match self.of.get(usize::from(hash(*a, *b, *c))) {
                    None | Some(0) => None,
                    Some(bucket) => Some((at, usize::from(*bucket))),
                }
            });
        places.flat_map(move |(at, bucket)| {
            let next = bytes
                .get(at + BEGINNING)
                .map_or(u64::MAX, |byte| follower(*byte));
            let bucket = self
                .buckets
                .get(bucket)
                .filter(|bucket| bucket.followers & next != 0);
            let words = bucket
                .map(|bucket| bucket.words.as_slice())
                .unwrap_or_default();
            words.iter().filter_map(move |number| {
                let word = self.words.get(*number)?;
                let end = at + word.len();
                bytes
                    .get(at..end)?
                    .eq_ignore_ascii_case(word)
                    .then_some((*number, at..end))
            })
        })
    }
}

/// Hashes a keyword's first bytes, case-insensitively. Some punctuation collides; the comparison of the whole keyword
/// resolves that.
const fn hash(a: u8, b: u8, c: u8) -> u16 {
    let beginning = u32::from_le_bytes([a | 0x20, b | 0x20, c | 0x20, 0]);
    (beginning.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// Returns one of 64 bits for a byte, the same for both cases of a letter.
const fn follower(byte: u8) -> u64 {
    1 << ((byte | 0x20) & 63)
}
