//! Where a phrase can begin: a table of the first three bytes of all phrases.
//!
//! Most words of most texts begin like no phrase. Looking up three bytes for each word is several times as fast as
//! following an automaton through each byte.

/// Number of bits in the table. A power of two.
const BITS: usize = 1 << 16;

/// Multiplier that spreads three bytes over 32 bits (Knuth, The Art of Computer Programming, 6.4).
const SPREAD: u32 = 0x9e37_79b1;

/// A set of the first three bytes of phrases. It may have more members, and never fewer.
pub struct PhraseStarts {
    bits: Vec<u64>,
}

impl PhraseStarts {
    /// Creates the set for these phrases. A shorter phrase may begin any three bytes that begin with it.
    pub fn new<'p>(phrases: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut starts = Self {
            bits: vec![0; BITS / 64],
        };
        for phrase in phrases {
            starts.add(phrase);
        }
        starts
    }

    fn add(&mut self, phrase: &[u8]) {
        match *phrase {
            [] => {}
            [first] => (0..=u8::MAX).for_each(|second| self.add(&[first, second])),
            [first, second] => (0..=u8::MAX).for_each(|third| self.add(&[first, second, third])),
            [first, second, third, ..] => {
                let bit = bit(first, second, third);
                if let Some(word) = self.bits.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
        }
    }

    /// Returns whether a phrase may begin here. A text ends as if zeros followed.
    pub fn may_begin(&self, rest: &[u8]) -> bool {
        let bit = match *rest {
            [first, second, third, ..] => bit(first, second, third),
            [first, second] => bit(first, second, 0),
            [first] => bit(first, 0, 0),
            [] => return false,
        };
        let word = self.bits.get(bit / 64).copied().unwrap_or_default();
        word >> (bit % 64) & 1 == 1
    }
}

fn bit(first: u8, second: u8, third: u8) -> usize {
    let key = u32::from_le_bytes([first, second, third, 0]);
    (key.wrapping_mul(SPREAD) >> (32 - BITS.trailing_zeros())) as usize
}
