//! The only source of time and randomness, so that tests can fix both.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rand::Rng;

/// Microseconds since 1970-01-01 UTC.
pub type Micros = u64;

/// Time and randomness, real or fixed.
#[derive(Debug, Default)]
pub enum Clock {
    /// The system's clock and randomness.
    #[default]
    System,
    /// For tests: each reading is one microsecond after the last, and the "random" bytes come
    /// from a seed.
    Fixed {
        /// The next reading.
        now: AtomicU64,
        /// Total time added by [`Clock::advance`].
        elapsed: AtomicU64,
        /// State of the seeded generator.
        seed: Mutex<u64>,
        /// Tasks that wait for the clock to move.
        waiting: Mutex<Vec<Waker>>,
    },
}

impl Clock {
    /// Creates a clock for tests that starts at `now`.
    #[must_use]
    pub fn fixed(now: Micros, seed: u64) -> Self {
        Self::Fixed {
            now: AtomicU64::new(now),
            elapsed: AtomicU64::new(0),
            seed: Mutex::new(seed),
            waiting: Mutex::default(),
        }
    }

    /// Returns the current time. The log, not the clock, keeps it from running backwards.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is where it is read")]
    pub fn now(&self) -> Micros {
        match self {
            Self::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_micros().try_into().unwrap_or(u64::MAX)),
            Self::Fixed { now, .. } => now.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the monotonic time since a fixed moment of this process, whatever the time of day was set to.
    #[must_use]
    pub fn elapsed(&self) -> Micros {
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        match self {
            Self::System => BEGIN.elapsed().as_micros().try_into().unwrap_or(u64::MAX),
            Self::Fixed { elapsed, .. } => elapsed.load(Ordering::Relaxed),
        }
    }

    /// Moves a fixed clock forward; the system's clock cannot be moved.
    pub fn advance(&self, micros: Micros) {
        if let Self::Fixed {
            now,
            elapsed,
            waiting,
            ..
        } = self
        {
            now.fetch_add(micros, Ordering::Relaxed);
            elapsed.fetch_add(micros, Ordering::SeqCst);
            let woken = std::mem::take(&mut *lock(waiting));
            woken.into_iter().for_each(Waker::wake);
        }
    }

    /// Waits until a fixed clock was moved by some time. The time of the system's clock passes by itself: `sleep` has
    /// to wait for it.
    pub async fn pass(&self, micros: Micros, sleep: impl Future<Output = ()>) {
        let Self::Fixed {
            elapsed, waiting, ..
        } = self
        else {
            return sleep.await;
        };
        let end = elapsed.load(Ordering::SeqCst).saturating_add(micros);
        std::future::poll_fn(|cx| {
            let mut waiting = lock(waiting);
            if elapsed.load(Ordering::SeqCst) >= end {
                return Poll::Ready(());
            }
            waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Sets a fixed clock to another time, without a change of the monotonic time.
    pub fn set(&self, time: Micros) {
        if let Self::Fixed { now, .. } = self {
            now.store(time, Ordering::Relaxed);
        }
    }

    /// Returns random bytes from a generator that the system seeds, so a salt needs no system call.
    #[must_use]
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        match self {
            Self::System => {
                rand::rng().fill_bytes(&mut bytes);
            }
            Self::Fixed { seed, .. } => {
                let mut state = lock(seed);
                for byte in &mut bytes {
                    // SplitMix64 (Steele, Lea, Flood 2014).
                    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    let mut z = *state;
                    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                    *byte = (z ^ (z >> 31)) as u8;
                }
            }
        }
        bytes
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Formats a time as RFC 3339 in UTC, with microseconds.
///
/// ```
/// assert_eq!(lored_storage::clock::format_time(1_700_000_000_000_001), "2023-11-14T22:13:20.000001Z");
/// ```
#[must_use]
pub fn format_time(time: Micros) -> String {
    i64::try_from(time)
        .ok()
        .and_then(|micros| jiff::Timestamp::from_microsecond(micros).ok())
        .map_or_else(|| time.to_string(), |time| format!("{time:.6}"))
}

/// Parses an RFC 3339 time with an offset or `Z`; `None` when it is invalid or before 1970.
#[must_use]
pub fn parse_time(text: &str) -> Option<Micros> {
    let time: jiff::Timestamp = text.trim().parse().ok()?;
    time.as_microsecond().try_into().ok()
}
