//! Where keywords stand in a text: their first bytes are looked up at every place, which waits for
//! nothing before it and so is several times quicker than an automaton.

use std::ops::Range;

/// Bytes of a beginning.
const BEGINNING: usize = 3;

/// Keywords of any case, each of three bytes or more.
pub(super) struct Keywords {
    /// The bucket of each hash of a beginning; 0: no keyword begins so.
    of: Box<[u8; 1 << 16]>,
    buckets: Vec<Bucket>,
    words: Vec<Vec<u8>>,
}

/// The keywords whose beginnings have one hash.
#[derive(Default)]
struct Bucket {
    /// A bit for each byte that may follow a beginning, as [`follower`] has it.
    followers: u64,
    words: Vec<usize>,
}

impl Keywords {
    /// Of these words; one that is shorter than three bytes is never found.
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
                // Should there ever be more, some share the last one.
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

    /// Each keyword that stands in a text, as its number and where it is, by where it begins.
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

/// Of the first bytes of a keyword, where letters of both cases are one; so are some marks, which the
/// comparison of the whole keyword tells apart.
const fn hash(a: u8, b: u8, c: u8) -> u16 {
    let beginning = u32::from_le_bytes([a | 0x20, b | 0x20, c | 0x20, 0]);
    (beginning.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// A bit for a byte: one of 64, the same for both cases of a letter.
const fn follower(byte: u8) -> u64 {
    1 << ((byte | 0x20) & 63)
}
