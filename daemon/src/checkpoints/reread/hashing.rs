//! SHA-256 of a text that begins as an earlier one.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::log::Hash;

/// Distance of the places in a text from which hashing can go on, in bytes.
const STEP_BYTES: usize = 8 * 1024;

/// The hash of a text, and the states of hashing at every step in it.
#[derive(Clone, Debug, Default)]
pub struct TextHash {
    /// SHA-256 of the whole text.
    pub hash: Hash,
    states: Arc<Vec<Sha256>>,
}

impl TextHash {
    /// Hashes a text.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        Self::default().after(text, 0)
    }

    /// Hashes another text that begins with the same bytes, which are not hashed again.
    #[must_use]
    pub fn after(&self, text: &[u8], shared_bytes: usize) -> Self {
        let shared = (shared_bytes.min(text.len()) / STEP_BYTES).min(self.states.len());
        let mut states = Vec::with_capacity(text.len() / STEP_BYTES);
        states.extend(self.states.iter().take(shared).cloned());
        let mut hasher = states.last().cloned().unwrap_or_default();
        let rest = text.get(shared * STEP_BYTES..).unwrap_or_default();
        let (steps, rest) = rest.as_chunks::<STEP_BYTES>();
        for step in steps {
            hasher.update(step);
            states.push(hasher.clone());
        }
        hasher.update(rest);
        Self {
            hash: Hash(hasher.finalize().into()),
            states: Arc::new(states),
        }
    }

    /// Returns its approximate size in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.states.len() * size_of::<Sha256>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However much of it is shared, the hash is that of the text.
    #[test]
    fn shared_beginnings_are_not_hashed_again() {
        let text = "0123456789abcdef".repeat(4000).into_bytes();
        let first = TextHash::of(&text);
        assert_eq!(first.hash, Hash::of(&text));
        for at in [0, 1, STEP_BYTES - 1, STEP_BYTES, 20_000, text.len() - 1] {
            let mut other = text.clone();
            other.truncate(at);
            other.extend_from_slice(b"another end");
            let next = first.after(&other, at);
            assert_eq!(next.hash, Hash::of(&other), "{at}");
            assert_eq!(next.after(&text, at).hash, first.hash, "{at}");
        }
    }
}
