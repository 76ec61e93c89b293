//! What was read of the log up to a position, for those used last: the next reader reads only what came since.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::log::Position;

/// Values by key, each with the position up to which it is complete. The least recently used ones are evicted.
pub struct PositionCache<K, V: ?Sized> {
    of: HashMap<K, Entry<V>>,
    next_use: u64,
    entries_max: usize,
}

struct Entry<V: ?Sized> {
    value: Arc<V>,
    known_to: Position,
    last_use: u64,
}

impl<K: Clone + Eq + Hash, V: ?Sized> PositionCache<K, V> {
    /// Creates a cache with a maximum number of entries.
    #[must_use]
    pub fn new(entries_max: usize) -> Self {
        Self {
            of: HashMap::new(),
            next_use: 0,
            entries_max,
        }
    }

    /// Returns a value, and the position up to which it is complete.
    pub fn get(&mut self, key: &K) -> Option<(Arc<V>, Position)> {
        let next_use = self.next_use;
        let entry = self.of.get_mut(key)?;
        entry.last_use = next_use;
        self.next_use += 1;
        Some((Arc::clone(&entry.value), entry.known_to))
    }

    /// Keeps a value, unless the kept one is complete up to a later position.
    pub fn put(&mut self, key: K, value: &Arc<V>, known_to: Position) {
        let last_use = self.next_use;
        self.next_use += 1;
        let is_older = |kept: &Entry<V>| kept.known_to > known_to;
        if self.of.get(&key).is_some_and(is_older) {
            return;
        }
        let entry = Entry {
            value: Arc::clone(value),
            known_to,
            last_use,
        };
        self.of.insert(key, entry);
        while self.of.len() > self.entries_max {
            let oldest = self.of.iter().min_by_key(|(_, entry)| entry.last_use);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.of.remove(&oldest);
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.of = HashMap::new();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_is_evicted_and_the_later_is_kept() {
        let mut cache: PositionCache<&str, str> = PositionCache::new(2);
        cache.put("a", &"at 5".into(), Position(5));
        cache.put("a", &"at 3".into(), Position(3));
        let (value, known_to) = cache.get(&"a").unwrap();
        assert_eq!((&*value, known_to), ("at 5", Position(5)));
        cache.put("b", &"b".into(), Position(1));
        assert!(cache.get(&"a").is_some());
        cache.put("c", &"c".into(), Position(1));
        assert!(cache.get(&"b").is_none(), "used before the others");
        assert!(cache.get(&"a").is_some() && cache.get(&"c").is_some());
        cache.clear();
        assert!(cache.get(&"a").is_none());
    }
}
