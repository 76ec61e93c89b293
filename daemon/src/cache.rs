//! Cache of data derived from events: bounded by size, evicts the least recently used entries.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash as Hashable;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::locks::lock_unpoisoned;
use crate::log::{Hash, Position};

/// The source of an entry: an event, and the hash of all other inputs.
pub type Key = (Position, Hash);

/// Derived values of any type, by their source: an event by default.
pub struct Cache<K = Key> {
    inner: Mutex<Inner<K>>,
    bytes_max: usize,
}

struct Inner<K> {
    entries: HashMap<K, Entry>,
    /// Keys by last use, oldest first.
    uses: BTreeMap<u64, K>,
    next_use: u64,
    bytes: usize,
}

struct Entry {
    value: Arc<dyn Any + Send + Sync>,
    bytes: usize,
    last_use: u64,
}

impl<K> Default for Inner<K> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            uses: BTreeMap::new(),
            next_use: 0,
            bytes: 0,
        }
    }
}

impl<K: Clone + Eq + Hashable> Cache<K> {
    /// Creates an empty cache of at most `bytes_max`.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            inner: Mutex::default(),
            bytes_max,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K>> {
        // Every change below is complete before a panic is possible.
        lock_unpoisoned(&self.inner)
    }

    /// Returns the value of a key, if it exists and has this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self, key: &K) -> Option<Arc<T>> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let entry = inner.entries.get_mut(key)?;
        inner.uses.remove(&entry.last_use);
        entry.last_use = inner.next_use;
        inner.uses.insert(inner.next_use, key.clone());
        inner.next_use += 1;
        Arc::clone(&entry.value).downcast().ok()
    }

    /// Stores a value of about `bytes`, unless it is larger than a quarter of the cache.
    pub fn put<T: Send + Sync + 'static>(&self, key: K, value: Arc<T>, bytes: usize) {
        if !self.keeps(bytes) {
            return;
        }
        let mut inner = self.lock();
        inner.remove(&key);
        let last_use = inner.next_use;
        inner.next_use += 1;
        inner.uses.insert(last_use, key.clone());
        inner.bytes += bytes;
        inner.entries.insert(
            key,
            Entry {
                value,
                bytes,
                last_use,
            },
        );
        while inner.bytes > self.bytes_max
            && let Some((_, oldest)) = inner.uses.first_key_value()
        {
            let oldest = oldest.clone();
            inner.remove(&oldest);
        }
    }

    /// Whether a value of about `bytes` is small enough to be stored.
    #[must_use]
    pub fn keeps(&self, bytes: usize) -> bool {
        bytes <= self.bytes_max / 4
    }

    /// Removes all entries; called when the daemon is idle.
    pub fn clear(&self) {
        *self.lock() = Inner::default();
    }

    /// Approximate size of the entries, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }
}

impl<K: Eq + Hashable> Inner<K> {
    fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.uses.remove(&entry.last_use);
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least recently used entry is evicted first, the size limit holds, and another type is a miss.
    #[test]
    fn the_least_recently_used_goes_first() {
        let cache = Cache::new(100);
        let key = |n| (Position(n), Hash::default());
        for n in 0..4 {
            cache.put(key(n), Arc::new(n), 25);
        }
        assert_eq!(cache.get::<u64>(&key(0)).as_deref(), Some(&0));
        cache.put(key(4), Arc::new(4_u64), 25);
        assert_eq!(cache.get::<u64>(&key(1)), None);
        assert_eq!(cache.get::<u64>(&key(0)).as_deref(), Some(&0));
        assert_eq!(cache.get::<String>(&key(0)), None);
        cache.put(key(5), Arc::new(5_u64), 26);
        assert_eq!(cache.get::<u64>(&key(5)), None, "too large to keep");
        assert_eq!(cache.bytes(), 100);
        cache.clear();
        assert_eq!(cache.bytes(), 0);
    }
}
