//! What was observed in the last seconds: reports without ids of their host are the same only within a short time.

use std::collections::HashMap;
use std::sync::Mutex;

use lored_hosts::KEY_WINDOW_MS;

use crate::locks::lock_unpoisoned;

/// Number of keys after which those of the past are removed.
const KEYS_MAX: usize = 4096;

/// Keys of recent reports, with their times in milliseconds.
#[derive(Debug, Default)]
pub(super) struct RecentKeys(Mutex<HashMap<String, i64>>);

impl RecentKeys {
    /// Notes a report. Returns the time of the one that it repeats, or its own.
    pub fn note(&self, key: &str, at_ms: i64) -> i64 {
        let mut keys = lock_unpoisoned(&self.0);
        if let Some(first) = keys.get(key)
            && first.abs_diff(at_ms) <= KEY_WINDOW_MS.unsigned_abs()
        {
            return *first;
        }
        if keys.len() >= KEYS_MAX {
            keys.retain(|_, at| at.abs_diff(at_ms) <= KEY_WINDOW_MS.unsigned_abs());
            // Times are the host's: a flood of them must not fill the memory.
            if keys.len() >= KEYS_MAX {
                keys.clear();
            }
        }
        keys.insert(key.to_owned(), at_ms);
        at_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_one_report_for_a_short_time() {
        let recent = RecentKeys::default();
        assert_eq!(recent.note("a", 1_000), 1_000);
        assert_eq!(recent.note("a", 1_000 + KEY_WINDOW_MS), 1_000);
        assert_eq!(recent.note("b", 1_001), 1_001);
        let later = 1_001 + KEY_WINDOW_MS;
        assert_eq!(recent.note("a", later), later);
        for at in 0..3 * KEYS_MAX as i64 {
            recent.note(&at.to_string(), at * KEY_WINDOW_MS);
        }
        assert!(lock_unpoisoned(&recent.0).len() <= KEYS_MAX);
    }
}
