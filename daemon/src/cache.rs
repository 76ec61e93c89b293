//! Cache of data derived from events: bounded by size, evicts the least recently used entries.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash as Hashable;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::locks::lock_unpoisoned;
use crate::log::{Hash, Position};

/// Maximum size of a value that is stored although it is too large for the cache, in bytes. With the cache and
/// `limits.memory_bytes_max` it is below the 512 MiB that a daemon may take.
pub const OVERSIZED_BYTES_MAX: usize = 128 << 20;

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
    /// The newest value that is too large for the cache, so that it is not derived again by each call.
    oversized: Option<(K, Arc<dyn Any + Send + Sync>, usize)>,
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
            oversized: None,
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
        if let Some((_, value, _)) = inner.oversized.as_ref().filter(|(known, ..)| known == key) {
            return Arc::clone(value).downcast().ok();
        }
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

    /// Stores a value of about `bytes` in place of the last one that was too large for the cache.
    ///
    /// A value over [`OVERSIZED_BYTES_MAX`] is not stored.
    pub fn put_oversized<T: Send + Sync + 'static>(&self, key: K, value: Arc<T>, bytes: usize) {
        if self.bytes_max > 0 && bytes <= OVERSIZED_BYTES_MAX {
            self.lock().oversized = Some((key, value, bytes));
        }
    }

    /// Discards the value that was too large for the cache. Who derives another one calls this before, so that both are not
    /// in memory at once.
    pub fn discard_oversized(&self) {
        let discarded = self.lock().oversized.take();
        // Outside of the lock, because a large value takes a while to free.
        drop(discarded);
    }

    /// Whether a value of about `bytes` is small enough to be stored.
    #[must_use]
    pub fn keeps(&self, bytes: usize) -> bool {
        bytes <= self.bytes_max / 4
    }

    /// Removes the value of a key. Who derives the next one of the same kind gets its memory.
    pub fn remove(&self, key: &K) {
        let removed = self.lock().remove(key);
        // Outside of the lock, because a large value takes a while to free.
        drop(removed);
    }

    /// Removes all entries; called when the daemon is idle.
    pub fn clear(&self) {
        *self.lock() = Inner::default();
    }

    /// Approximate size of the entries, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let inner = self.lock();
        let oversized = inner.oversized.as_ref().map_or(0, |(_, _, bytes)| *bytes);
        inner.bytes + oversized
    }
}

impl<K: Eq + Hashable> Inner<K> {
    fn remove(&mut self, key: &K) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.uses.remove(&entry.last_use);
        self.bytes -= entry.bytes;
        Some(entry)
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
        cache.remove(&key(4));
        cache.remove(&key(5));
        assert_eq!((cache.get::<u64>(&key(4)), cache.bytes()), (None, 75));
        cache.clear();
        assert_eq!(cache.bytes(), 0);
    }

    /// One value that is too large for the cache is kept, until the next one or until the cache is cleared.
    #[test]
    fn one_oversized_value_is_kept() {
        let cache = Cache::new(100);
        let key = |n| (Position(n), Hash::default());
        cache.put(key(0), Arc::new(0_u64), 25);
        cache.put_oversized(key(1), Arc::new(1_u64), 1000);
        assert_eq!(cache.get::<u64>(&key(1)).as_deref(), Some(&1));
        assert_eq!(cache.get::<String>(&key(1)), None);
        assert_eq!(cache.get::<u64>(&key(0)).as_deref(), Some(&0));
        assert_eq!(cache.bytes(), 1025);
        cache.put_oversized(key(2), Arc::new(2_u64), 500);
        assert_eq!(cache.get::<u64>(&key(1)), None);
        cache.put_oversized(key(3), Arc::new(3_u64), OVERSIZED_BYTES_MAX + 1);
        assert_eq!(cache.get::<u64>(&key(3)), None);
        assert_eq!(cache.get::<u64>(&key(2)).as_deref(), Some(&2));
        cache.discard_oversized();
        assert_eq!(cache.get::<u64>(&key(2)), None);
        assert_eq!(cache.bytes(), 25);
        cache.put_oversized(key(2), Arc::new(2_u64), 500);
        cache.clear();
        assert_eq!(cache.get::<u64>(&key(2)), None);
        assert_eq!(cache.bytes(), 0);
    }
}
