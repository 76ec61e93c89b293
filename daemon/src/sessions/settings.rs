//! What this room is set to, and what follows from it: whether a session is in use.

use super::view::SessionRow;
use crate::clock::Micros;
use crate::operation::Context;
use crate::reloadable::Reloadable;

/// The settings of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    /// A session without an event for so long is expired, in milliseconds.
    pub expire_after_ms: u64,
    /// How far back metrics are told unless a call says, in milliseconds.
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

/// Whether a session is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Something was recorded in it lately.
    Active,
    /// Nothing was for a while; a write revives it.
    Expired,
    /// Nothing more is recorded in it.
    Closed,
}

impl SessionSettings {
    /// The settings as they are now.
    #[must_use]
    pub fn of(cx: &Context) -> Self {
        let live = cx.extensions.get::<Reloadable<Self>>();
        live.map_or_else(Self::default, |live| *live.get())
    }

    /// Whether a session is in use at this time.
    #[must_use]
    pub fn state(&self, row: &SessionRow, now: Micros) -> State {
        if row.closed != 0 {
            State::Closed
        } else if self.is_past(row, now) {
            State::Expired
        } else {
            State::Active
        }
    }

    /// Whether nothing has happened in a session for as long as it takes to expire.
    #[must_use]
    pub fn is_past(&self, row: &SessionRow, now: Micros) -> bool {
        now.saturating_sub(row.last_activity) >= self.expire_after_ms.saturating_mul(1000)
    }
}
