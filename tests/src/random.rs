//! Seeded randomness.

use std::hash::{BuildHasher, RandomState};

/// A seeded generator: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

/// Returns the seed of a test: `LORE_SEED`, or else a random one. Tests print it for failures.
pub fn seed() -> u64 {
    match std::env::var("LORE_SEED").map(|seed| seed.parse()) {
        Ok(Ok(seed)) => seed,
        Ok(Err(_)) | Err(_) => RandomState::new().hash_one(()) % 1_000_000_000,
    }
}

impl Random {
    /// Creates the generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` up to, but excluding, `high`.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.bits() % (high - low).max(1)
    }

    /// Returns true in one of `times` cases.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.range(0, times) == 0
    }

    /// Returns one of the elements.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        let at = self.range(0, of.len() as u64) as usize;
        of.get(at).expect("something to pick from")
    }
}

/// Returns a text that compresses to no less than half: hexadecimal digits of random bits.
pub fn noise(bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.push_str(&format!("{:016x}", random.bits()));
    }
    text.truncate(bytes);
    text
}
