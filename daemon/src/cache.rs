//! What was derived from events and can be derived again: bounded by bytes, least recently used
//! goes first.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash as Hashable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::log::{Hash, Position};

/// What an entry is derived from: an event, and the hash of whatever else went in.
pub type Key = (Position, Hash);

/// Derived values of any type, by what they are derived from: an event unless said otherwise.
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
    /// An empty cache of at most `bytes_max`.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            inner: Mutex::default(),
            bytes_max,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K>> {
        // Every change below is complete before anything could panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value under a key, if it is there and of this type.
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

    /// Keeps a value of about `bytes`; one larger than a quarter of the cache is not kept.
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

    /// Whether a value of about `bytes` is small enough to be kept.
    #[must_use]
    pub fn keeps(&self, bytes: usize) -> bool {
        bytes <= self.bytes_max / 4
    }

    /// Lets go of everything: called when the daemon has been idle.
    pub fn clear(&self) {
        *self.lock() = Inner::default();
    }

    /// Bytes held, about.
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

    /// The least recently used go first, bytes stay under the limit, other types are no hit.
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
