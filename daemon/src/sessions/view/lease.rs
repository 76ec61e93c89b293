//! Leases: exclusive work on a session for a limited time.

use serde::{Deserialize, Serialize};

use super::SPACE;
use crate::clock::{Micros, format_time};
use crate::events::sessions::SessionLeased;
use crate::log::{LoggedEvent, codec};
use crate::rows::{self, key_in};
use crate::store::{Error, Rows, RowsMut};

/// A lease as last taken or renewed; it may have expired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Token: the position at which it was taken, so a later holder's token is greater.
    pub token: u64,
    /// Expiry time.
    pub until: Micros,
    /// Holder: agent.
    #[serde(default)]
    pub agent: String,
    /// Holder: user id.
    pub uid: u32,
    /// Holder: client program.
    #[serde(default)]
    pub client: String,
}

impl Lease {
    /// Returns whether the lease is in force.
    #[must_use]
    pub fn holds(&self, now: Micros) -> bool {
        now < self.until
    }

    /// Describes the holder and the expiry time for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let who = if self.agent.is_empty() {
            format!("a caller without a name (uid {})", self.uid)
        } else {
            format!("`{}`", self.agent)
        };
        format!("{who} until {}", format_time(self.until))
    }
}

pub(super) fn take(
    rows: &mut dyn RowsMut,
    session: &str,
    event: &LoggedEvent,
    leased: &SessionLeased,
) -> Result<(), Error> {
    let actor = &event.header.actor;
    let lease = Lease {
        token: leased.token(event).0,
        until: leased.until,
        agent: actor.agent.clone(),
        uid: actor.uid,
        client: actor.client.clone(),
    };
    // Expired leases are removed.
    for (name, before) in leases(rows, session, usize::MAX)? {
        if !before.holds(event.header.time) {
            release(rows, session, &name);
        }
    }
    let key = key_in(b'l', session, &leased.name);
    rows.put(SPACE, &key, &codec::encode(&lease));
    Ok(())
}

pub(super) fn release(rows: &mut dyn RowsMut, session: &str, name: &str) {
    rows.remove(SPACE, &key_in(b'l', session, name));
}

/// Returns a lease of a session by name, whether or not it has expired.
pub fn lease(rows: &dyn Rows, session: &str, name: &str) -> Result<Option<Lease>, Error> {
    rows::read_cbor(rows, SPACE, &key_in(b'l', session, name))
}

/// Returns the leases of a session by name, including expired ones, at most `limit`.
pub fn leases(rows: &dyn Rows, session: &str, limit: usize) -> Result<Vec<(String, Lease)>, Error> {
    rows::list(
        rows,
        SPACE,
        &key_in(b'l', session, ""),
        limit,
        |name, value| Some((rows::text(name)?, codec::decode(value).ok()?)),
    )
}
