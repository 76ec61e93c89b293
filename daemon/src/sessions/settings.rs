//! The settings of sessions, and the session state that depends on them.

use lore::protocol::names::SessionState;

use super::view::SessionRow;
use crate::clock::Micros;
use crate::operation::Context;
use crate::reloadable::Reloadable;

/// Session settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    /// Time without an event after which a session expires, in milliseconds.
    pub expire_after_ms: u64,
    /// Default window of the metrics, in milliseconds.
    pub metrics_keep_ms: u64,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            expire_after_ms: 24 * 3600 * 1000,
            metrics_keep_ms: 3600 * 1000,
        }
    }
}

impl SessionSettings {
    /// Returns the current settings.
    #[must_use]
    pub fn of(cx: &Context) -> Self {
        let live = cx.extensions.get::<Reloadable<Self>>();
        live.map_or_else(Self::default, |live| *live.get())
    }

    /// Returns the state of a session at this time.
    #[must_use]
    pub fn state(&self, row: &SessionRow, now: Micros) -> SessionState {
        if row.closed != 0 {
            SessionState::Closed
        } else if self.is_past(row, now) {
            SessionState::Expired
        } else {
            SessionState::Active
        }
    }

    /// Returns whether a session had no event for at least the expiry time.
    #[must_use]
    pub fn is_past(&self, row: &SessionRow, now: Micros) -> bool {
        now.saturating_sub(row.last_activity) >= self.expire_after_ms.saturating_mul(1000)
    }
}
