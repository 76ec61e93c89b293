//! Leases: exclusive work on a session for a limited time.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{SPACE, named_key};
use crate::clock::{Micros, format_time};
use crate::events::sessions::SessionLeased;
use crate::log::{LoggedEvent, codec};
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix};

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
    let key = named_key(b'l', session, leased.name.as_bytes());
    rows.put(SPACE, &key, &codec::encode(&lease));
    Ok(())
}

pub(super) fn release(rows: &mut dyn RowsMut, session: &str, name: &str) {
    rows.remove(SPACE, &named_key(b'l', session, name.as_bytes()));
}

fn decode(key: &[u8], value: &[u8]) -> Result<Lease, Error> {
    codec::decode(value).map_err(|reason| Error::corrupt(SPACE.name(), key, reason))
}

/// Returns a lease of a session by name, whether or not it has expired.
pub fn lease(rows: &dyn Rows, session: &str, name: &str) -> Result<Option<Lease>, Error> {
    let key = named_key(b'l', session, name.as_bytes());
    rows.get(SPACE, &key)?
        .map(|value| decode(&key, &value))
        .transpose()
}

/// Returns the leases of a session by name, including expired ones, at most `limit`.
pub fn leases(rows: &dyn Rows, session: &str, limit: usize) -> Result<Vec<(String, Lease)>, Error> {
    let prefix = named_key(b'l', session, &[]);
    let mut found = Vec::new();
    rows.scan(
        SPACE,
        &prefix,
        &after_prefix(&prefix),
        Direction::Forward,
        &mut |key, value| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let name = key.get(prefix.len()..).unwrap_or_default();
            found.push((
                String::from_utf8_lossy(name).into_owned(),
                decode(key, value)?,
            ));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}
