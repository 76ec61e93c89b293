//! Membership of keys that come in order.

use std::cell::Cell;

/// Ascending keys that are asked for in nearly ascending order, as a scan of vectors meets them.
pub struct AscendingKeys<'k> {
    keys: &'k [u64],
    /// Place of the first key that is not below the last one that was asked for.
    at: Cell<usize>,
}

impl<'k> AscendingKeys<'k> {
    /// Creates it for keys in ascending order.
    pub const fn new(keys: &'k [u64]) -> Self {
        Self {
            keys,
            at: Cell::new(0),
        }
    }

    /// Returns whether a key is one of them.
    pub fn has(&self, key: u64) -> bool {
        let (first, last) = (self.keys.first(), self.keys.last());
        if first.is_none_or(|first| key < *first) || last.is_none_or(|last| key > *last) {
            return false;
        }
        let mut at = self.at.get();
        let before = at.checked_sub(1).and_then(|before| self.keys.get(before));
        if before.is_some_and(|before| *before >= key) {
            at = 0;
        }
        let rest = self.keys.get(at..).unwrap_or_default();
        // Steps that double, because the next key is near.
        let mut step = 1;
        while rest.get(step).is_some_and(|next| *next < key) {
            step *= 2;
        }
        let near = rest.get(step / 2..rest.len().min(step + 1));
        at += step / 2
            + near
                .unwrap_or_default()
                .partition_point(|known| *known < key);
        self.at.set(at);
        self.keys.get(at) == Some(&key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Keys are found in whatever order they are asked for.
        #[test]
        fn keys_are_found_in_any_order(
            keys in proptest::collection::btree_set(0_u64..60, 0..40),
            asked in proptest::collection::vec(0_u64..70, 0..60),
            is_sorted: bool,
        ) {
            let (known, mut asked): (Vec<u64>, _) = (keys.iter().copied().collect(), asked);
            if is_sorted {
                asked.sort_unstable();
            }
            let ascending = AscendingKeys::new(&known);
            for key in asked {
                prop_assert_eq!(ascending.has(key), keys.contains(&key), "{}", key);
            }
        }
    }
}
