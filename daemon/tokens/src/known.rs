//! The counts of texts that were counted lately: packs count the same messages and results again and again.

use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of texts; each takes 16 bytes.
const TEXTS: usize = 8192;

/// Sizes of the texts, in bytes: shorter ones are counted as fast as they are looked up, and longer ones are rare.
const BYTES: RangeInclusive<usize> = 32..=64 << 10;

/// The counts of texts, by keyed hashes of 64 bits: no text can be made to have the hash of another one. The memory is taken
/// at the first use.
#[derive(Default)]
pub struct KnownCounts {
    hasher: RandomState,
    counts: Mutex<Vec<KnownCount>>,
}

#[derive(Clone, Copy, Default)]
struct KnownCount {
    hash: u64,
    bytes: u32,
    tokens: u32,
}

/// What a text is looked up by.
#[derive(Clone, Copy)]
pub struct TextHash {
    hash: u64,
    bytes: u32,
}

impl TextHash {
    fn is_of(self, known: KnownCount) -> bool {
        known.hash == self.hash && known.bytes == self.bytes
    }

    const fn place(self) -> usize {
        (self.hash % TEXTS as u64) as usize
    }
}

impl KnownCounts {
    /// Returns what a text is looked up by; `None` if texts of its size are not kept.
    pub fn hash(&self, text: &str) -> Option<TextHash> {
        BYTES.contains(&text.len()).then(|| TextHash {
            hash: self.hasher.hash_one(text),
            bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
        })
    }

    /// Returns the number of tokens of a text, if it is known.
    pub fn get(&self, text: TextHash) -> Option<usize> {
        let known = self.lock().get(text.place()).copied()?;
        text.is_of(known).then_some(known.tokens as usize)
    }

    /// Keeps the number of tokens of a text, in the place of another one.
    pub fn put(&self, text: TextHash, tokens: usize) {
        let mut counts = self.lock();
        counts.resize(TEXTS, KnownCount::default());
        if let (Some(place), Ok(tokens)) = (counts.get_mut(text.place()), u32::try_from(tokens)) {
            *place = KnownCount {
                hash: text.hash,
                bytes: text.bytes,
                tokens,
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<KnownCount>> {
        // An entry is replaced whole or not at all.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_known_until_another_takes_its_place() {
        let known = KnownCounts::default();
        assert!(known.hash("short").is_none());
        assert!(known.hash(&"x".repeat(65 << 10)).is_none());
        let hashes = (0..200_000).map(|number| known.hash(&format!("{number:>40}")).unwrap());
        let hashes: Vec<TextHash> = hashes.collect();
        for (tokens, hash) in hashes.iter().enumerate() {
            assert_eq!(known.get(*hash), None);
            known.put(*hash, tokens);
            assert_eq!(known.get(*hash), Some(tokens));
        }
        let kept = hashes
            .iter()
            .enumerate()
            .filter(|(tokens, hash)| known.get(**hash) == Some(*tokens));
        assert!((TEXTS / 2..=TEXTS).contains(&kept.count()));
    }
}
