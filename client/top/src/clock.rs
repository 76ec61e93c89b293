//! Timestamps, in the daemon's format.

use std::time::Duration;

use jiff::Timestamp;
use lore::local_time::local_time_of_day;

/// A timestamp, in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMicros(pub i64);

impl UnixMicros {
    /// Returns the current time.
    pub fn now() -> Self {
        Self(Timestamp::now().as_microsecond())
    }

    /// Parses an RFC 3339 timestamp; `None` when it is invalid.
    pub fn read(text: &str) -> Option<Self> {
        let read: Timestamp = text.parse().ok()?;
        Some(Self(read.as_microsecond()))
    }

    /// Returns the time since an earlier moment; zero when that is later, because clocks can be set back.
    pub fn since(self, earlier: Self) -> Duration {
        let passed = self.0.saturating_sub(earlier.0);
        Duration::from_micros(u64::try_from(passed).unwrap_or(0))
    }

    /// Returns whole seconds since 1970.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// Formats the local time of day: `15:04:05`.
    pub fn time_of_day(self) -> String {
        local_time_of_day(self.0).unwrap_or_else(|| "--:--:--".to_owned())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_daemon_are_read() {
        lore::local_time::use_utc();
        let read = UnixMicros::read("2026-11-22T15:04:05.250000Z").unwrap();
        assert_eq!(read.time_of_day(), "15:04:05");
        let later = UnixMicros::read("2026-11-22T15:04:06Z").unwrap();
        assert_eq!(later.since(read), Duration::from_millis(750));
        assert_eq!(read.since(later), Duration::ZERO);
        assert_eq!(UnixMicros::read("yesterday"), None);
        assert_eq!(UnixMicros(i64::MAX).time_of_day(), "--:--:--");
    }
}
