//! Last read access of each session, stored next to the log because a read writes nothing to the log.
//!
//! Access times are kept in memory and written to a separate file at most hourly, and when the daemon stops. A kill
//! loses at most an hour. Retention depends on them, so unknown times count as accesses: a lost or damaged file
//! makes no session look inactive.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use crate::clock::Micros;
use crate::locks::lock_unpoisoned;
use crate::log::{Hash, codec};
use crate::store::{Error, durable};

const HOUR_MICROS: Micros = 3600 * 1_000_000;
/// Limit on stored sessions; beyond it, the sessions with the oldest access are dropped.
const SESSIONS_MAX: usize = 100_000;

/// The last access to each session.
#[derive(Debug)]
pub struct AccessTimes {
    path: PathBuf,
    inner: Mutex<Inner>,
    /// Held from the snapshot of the state until it is on disk, so that an older file never replaces a newer one.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Inner {
    times: BTreeMap<String, Micros>,
    /// Accesses up to here may be unknown: they were dropped, or their file was lost.
    unknown_until: Micros,
    is_changed: bool,
    written: Micros,
}

/// Access times by session, and until when accesses may be unknown.
type AccessRecords = (BTreeMap<String, Micros>, Micros);

impl AccessTimes {
    /// Reads the file. If it is damaged, or missing next to a log that is not empty, every access until now is unknown.
    #[must_use]
    pub fn open(path: PathBuf, is_log_empty: bool, now: Micros) -> Self {
        let mut inner = Inner::default();
        match fs::read(&path) {
            Ok(bytes) => match read(&bytes) {
                Some((times, unknown_until)) => {
                    (inner.times, inner.unknown_until) = (times, unknown_until)
                }
                None => {
                    tracing::warn!(path = %path.display(), "damaged: when sessions were looked at is unknown");
                    inner.lose(now);
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_log_empty => {}
            Err(_) => inner.lose(now),
        }
        Self {
            path,
            inner: Mutex::new(inner),
            writing: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change below is complete before a panic is possible.
        lock_unpoisoned(&self.inner)
    }

    /// Records an access; returns the time of the previous one.
    pub fn note(&self, session: &str, now: Micros) -> Option<Micros> {
        let mut inner = self.lock();
        inner.is_changed = true;
        match inner.times.get_mut(session) {
            Some(time) => {
                let before = *time;
                *time = now.max(before);
                Some(before)
            }
            None => inner.times.insert(session.to_owned(), now),
        }
    }

    /// Removes the access time of a session; the file must be written afterwards.
    pub fn forget(&self, session: &str) {
        let mut inner = self.lock();
        inner.is_changed |= inner.times.remove(session).is_some();
    }

    /// Returns the last known access to a session.
    #[must_use]
    pub fn of(&self, session: &str) -> Option<Micros> {
        self.lock().times.get(session).copied()
    }

    /// Returns the time since which a session was certainly not accessed.
    #[must_use]
    pub fn none_since(&self, session: &str) -> Micros {
        let inner = self.lock();
        let known = inner.times.get(session).copied().unwrap_or_default();
        known.max(inner.unknown_until)
    }

    /// Writes the file if there are changes and the last write was at least an hour ago. Returns the microseconds until
    /// changes that were not written are; `None` if there are none.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be written; the next call tries again.
    pub fn write_hourly(&self, now: Micros) -> Result<Option<Micros>, Error> {
        let (since, is_changed) = {
            let inner = self.lock();
            (now.saturating_sub(inner.written), inner.is_changed)
        };
        let left = HOUR_MICROS.saturating_sub(since);
        if is_changed && left > 0 {
            return Ok(Some(left));
        }
        self.write(now)?;
        Ok(None)
    }

    /// Writes the file if there are changes, replacing it atomically.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be written.
    pub fn write(&self, now: Micros) -> Result<(), Error> {
        let _writing = lock_unpoisoned(&self.writing);
        let bytes = {
            let mut inner = self.lock();
            if !inner.is_changed {
                return Ok(());
            }
            inner.forget_oldest();
            inner.written = now;
            inner.is_changed = false;
            codec::encode(&(&inner.times, inner.unknown_until))
        };
        let written = durable::replace(&self.path, &[&Hash::of(&bytes).0, &bytes])
            .map_err(Error::file("writing", &self.path));
        if written.is_err() {
            self.lock().is_changed = true;
        }
        written
    }
}

/// Decodes a file; `None` when it is damaged. The first 32 bytes are the SHA-256 of the rest; older files contain
/// only the times.
fn read(bytes: &[u8]) -> Option<AccessRecords> {
    match bytes.split_first_chunk::<32>() {
        Some((hash, rest)) if Hash::of(rest).0 == *hash => codec::decode(rest).ok(),
        Some(_) | None => codec::decode(bytes).ok().map(|times| (times, 0)),
    }
}

impl Inner {
    fn lose(&mut self, now: Micros) {
        self.unknown_until = now;
        self.is_changed = true;
    }

    fn forget_oldest(&mut self) {
        let surplus = self.times.len().saturating_sub(SESSIONS_MAX);
        if surplus == 0 {
            return;
        }
        let mut times: Vec<Micros> = self.times.values().copied().collect();
        let (_, limit, _) = times.select_nth_unstable(surplus - 1);
        let limit = *limit;
        self.times.retain(|_, time| *time > limit);
        self.unknown_until = self.unknown_until.max(limit);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Accesses survive a restart and are written at most hourly.
    #[test]
    fn looks_are_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access");
        let access = AccessTimes::open(path.clone(), true, 9);
        assert_eq!((access.of("s"), access.none_since("s")), (None, 0));
        assert_eq!(access.note("s", HOUR_MICROS + 1), None);
        access.write_hourly(HOUR_MICROS + 1).unwrap();
        assert_eq!(access.note("s", HOUR_MICROS + 2), Some(HOUR_MICROS + 1));
        assert_eq!(access.note("s", 5), Some(HOUR_MICROS + 2));
        access.write_hourly(HOUR_MICROS + 2).unwrap();
        let read = || AccessTimes::open(path.clone(), false, 9).of("s");
        assert_eq!(read(), Some(HOUR_MICROS + 1), "not yet an hour");
        access.write(HOUR_MICROS + 2).unwrap();
        assert_eq!(read(), Some(HOUR_MICROS + 2));
    }

    /// A lost file, or one damaged at any byte, makes no session look inactive, also after the next restart; the older
    /// format is read.
    #[test]
    fn what_is_lost_is_taken_for_a_look() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access");
        let open = |now| AccessTimes::open(path.clone(), false, now);
        let access = open(7);
        assert_eq!((access.of("s"), access.none_since("s")), (None, 7));
        access.note("s", 9);
        access.write(9).unwrap();
        let again = open(20);
        assert_eq!((again.none_since("s"), again.none_since("t")), (9, 7));
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert_eq!(open(30).none_since("s"), 30, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(open(30).none_since("s"), 30, "{at} bytes");
        }
        let old = BTreeMap::from([("s".to_owned(), 5_u64)]);
        fs::write(&path, codec::encode(&old)).unwrap();
        assert_eq!((open(30).none_since("s"), open(30).none_since("t")), (5, 0));
    }

    /// Beyond the limit, the oldest accesses are dropped.
    #[test]
    fn the_oldest_are_forgotten() {
        let mut inner = Inner::default();
        for at in 0..SESSIONS_MAX as u64 + 3 {
            inner.times.insert(format!("s-{at}"), at);
        }
        inner.forget_oldest();
        assert_eq!(inner.times.len(), SESSIONS_MAX);
        assert!(!inner.times.contains_key("s-2") && inner.times.contains_key("s-3"));
        assert_eq!(
            inner.unknown_until, 2,
            "they may have been looked at until then"
        );
    }
}
