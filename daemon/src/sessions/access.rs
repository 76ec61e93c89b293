//! When each session was last looked at: beside the log, since a read writes nothing to it.
//!
//! Kept in memory and written to a file of its own at most hourly, and when the daemon stops: a
//! kill loses an hour of it, and nothing rests on it but which sessions are cleaned up first.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::Micros;
use crate::log::codec;
use crate::store::Error;

const HOUR_MICROS: Micros = 3600 * 1_000_000;
/// Sessions that are remembered; beyond it those not looked at for longest are forgotten.
const SESSIONS_MAX: usize = 100_000;

/// The last look at each session.
#[derive(Debug)]
pub struct LastAccess {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    times: BTreeMap<String, Micros>,
    is_changed: bool,
    written: Micros,
}

impl LastAccess {
    /// Reads the file; without a readable one nothing was looked at yet.
    #[must_use]
    pub fn open(path: PathBuf) -> Self {
        let times = fs::read(&path)
            .ok()
            .and_then(|bytes| codec::decode(&bytes).ok())
            .unwrap_or_default();
        let inner = Inner {
            times,
            ..Inner::default()
        };
        Self {
            path,
            inner: Mutex::new(inner),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change below is complete before anything could panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a look.
    pub fn note(&self, session: &str, now: Micros) {
        let mut inner = self.lock();
        inner.is_changed = true;
        match inner.times.get_mut(session) {
            Some(time) => *time = now.max(*time),
            None => {
                inner.times.insert(session.to_owned(), now);
            }
        }
    }

    /// Forgets that a session was ever looked at; the file is to be written then.
    pub fn forget(&self, session: &str) {
        let mut inner = self.lock();
        inner.is_changed |= inner.times.remove(session).is_some();
    }

    /// The last look at a session.
    #[must_use]
    pub fn of(&self, session: &str) -> Option<Micros> {
        self.lock().times.get(session).copied()
    }

    /// Writes the file if there is something new and the last time is an hour ago.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be written; it is tried again.
    pub fn write_hourly(&self, now: Micros) -> Result<(), Error> {
        let is_due = now.saturating_sub(self.lock().written) >= HOUR_MICROS;
        if is_due { self.write(now) } else { Ok(()) }
    }

    /// Writes the file if there is something new: a whole one takes the place of the old one.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be written.
    pub fn write(&self, now: Micros) -> Result<(), Error> {
        let bytes = {
            let mut inner = self.lock();
            if !inner.is_changed {
                return Ok(());
            }
            inner.forget_oldest();
            inner.written = now;
            inner.is_changed = false;
            codec::encode(&inner.times)
        };
        let new = self.path.with_extension("new");
        let written = fs::write(&new, bytes)
            .map_err(Error::file("writing", &new))
            .and_then(|()| {
                fs::rename(&new, &self.path).map_err(Error::file("renaming", &self.path))
            });
        if written.is_err() {
            self.lock().is_changed = true;
        }
        written
    }
}

impl Inner {
    fn forget_oldest(&mut self) {
        let surplus = self.times.len().saturating_sub(SESSIONS_MAX);
        if surplus == 0 {
            return;
        }
        let mut times: Vec<Micros> = self.times.values().copied().collect();
        let (_, limit, _) = times.select_nth_unstable(surplus - 1);
        let limit = *limit;
        self.times.retain(|_, time| *time > limit);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Looks are remembered across a restart, written at most hourly; a broken file is as none.
    #[test]
    fn looks_are_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access");
        let access = LastAccess::open(path.clone());
        assert_eq!(access.of("s"), None);
        access.note("s", HOUR_MICROS + 1);
        access.write_hourly(HOUR_MICROS + 1).unwrap();
        access.note("s", HOUR_MICROS + 2);
        access.note("s", 5);
        access.write_hourly(HOUR_MICROS + 2).unwrap();
        let read = || LastAccess::open(path.clone()).of("s");
        assert_eq!(read(), Some(HOUR_MICROS + 1), "not yet an hour");
        access.write(HOUR_MICROS + 2).unwrap();
        assert_eq!(read(), Some(HOUR_MICROS + 2));
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read(), None);
    }

    /// Beyond the limit the oldest go.
    #[test]
    fn the_oldest_are_forgotten() {
        let mut inner = Inner::default();
        for at in 0..SESSIONS_MAX as u64 + 3 {
            inner.times.insert(format!("s-{at}"), at);
        }
        inner.forget_oldest();
        assert_eq!(inner.times.len(), SESSIONS_MAX);
        assert!(!inner.times.contains_key("s-2") && inner.times.contains_key("s-3"));
    }
}
