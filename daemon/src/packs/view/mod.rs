//! The view of context packs: the packs with their dependencies, and the working sets of sessions.
//!
//! | key | value |
//! | --- | --- |
//! | `p` pack | [`PackRow`] |
//! | `s` session 0 position (u64) | [`PackListEntry`]: a pack of a session; empty session: outside sessions |
//! | `u` session 0 item 0 position (u64) of the pack | pack that uses an item of the session; empty: of none |
//! | `w` session 0 position (u64) | [`working::WorkingSetChange`]: a pruning, or the reset of one |
//!
//! All numbers are big-endian; an item is the SHA-256 of its encoding.

pub mod working;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::citations::{self, PackOwner};
use crate::events::packs::{Item, PackBuilt, PackDependency, PackEvent};
use crate::log::{Hash, LoggedEvent, Position, RecordKey, codec};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix, remove_all};

/// The keyspace of this view, version 1.
pub const SPACE: Keyspace = Keyspace::new("packs.1");

/// The row of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackRow {
    /// Position of the pack's event.
    pub position: u64,
    /// Key of the record that holds the event.
    pub record: u64,
    /// The session that the pack was built for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl PackRow {
    /// Returns the record and the position of the event.
    #[must_use]
    pub fn place(&self) -> (RecordKey, Position) {
        (RecordKey(Position(self.record)), Position(self.position))
    }
}

/// An entry in a session's list of packs; holds everything that is needed to remove the pack's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PackListEntry {
    pack: String,
    tokens: u64,
    rests_on: Vec<PackDependency>,
}

pub(super) fn key(tag: u8, session: &str, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(session.len() + rest.len() + 2);
    key.push(tag);
    key.extend(session.as_bytes());
    key.push(0);
    key.extend(rest);
    key
}

fn pack_key(pack: &str) -> Vec<u8> {
    let mut key = vec![b'p'];
    key.extend(pack.as_bytes());
    key
}

fn use_key(session: &str, item: &Item) -> Vec<u8> {
    let mut key = key(b'u', session, &Hash::of(&codec::encode(item)).0);
    key.push(0);
    key
}

/// Returns the session that holds a dependency; empty for context files and documents.
fn holder<'r>(one: &'r PackDependency, own: &'r str) -> &'r str {
    if one.item.is_of_session() {
        one.session.as_deref().unwrap_or(own)
    } else {
        ""
    }
}

pub(super) fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, Error> {
    codec::decode(value).map_err(|reason| Error::corrupt(SPACE.name(), key, reason))
}

/// Folds an event of this feature module.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    pack: &PackEvent,
    record: RecordKey,
) -> Result<(), Error> {
    let session = event.header.session.as_deref();
    match (pack, session) {
        (PackEvent::Built(made), _) => make(rows, event, made, record),
        (PackEvent::Pruned(pruned), Some(session)) => working::prune(rows, event, session, pruned),
        (PackEvent::Unpruned(_), Some(session)) => working::unprune(rows, event, session),
        (PackEvent::Pruned(_) | PackEvent::Unpruned(_), None) => Ok(()),
    }
}

fn make(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    made: &PackBuilt,
    record: RecordKey,
) -> Result<(), Error> {
    let position = event.position();
    let session = event.header.session.as_deref();
    let row = PackRow {
        position: position.0,
        record: record.0.0,
        session: session.map(str::to_owned),
    };
    rows.put(SPACE, &pack_key(&made.id), &codec::encode(&row));
    let own = session.unwrap_or_default();
    let listed = PackListEntry {
        pack: made.id.clone(),
        tokens: made.tokens,
        rests_on: made.rests_on.clone(),
    };
    let at = position.0.to_be_bytes();
    rows.put(SPACE, &key(b's', own, &at), &codec::encode(&listed));
    for one in &made.rests_on {
        let mut key = use_key(holder(one, own), &one.item);
        key.extend(at);
        rows.put(SPACE, &key, made.id.as_bytes());
    }
    let project = event.header.project.as_deref().unwrap_or_default();
    let owner = session.map_or(PackOwner::Project(project), PackOwner::Session);
    citations::remember(rows, owner, position, &made.piece_hashes())
}

/// Returns the pack with this id.
pub fn get(rows: &dyn Rows, pack: &str) -> Result<Option<PackRow>, Error> {
    let key = pack_key(pack);
    rows.get(SPACE, &key)?
        .map(|value| decode(&key, &value))
        .transpose()
}

/// Sums the tokens of all packs that were built for a session.
pub fn tokens(rows: &dyn Rows, session: &str) -> Result<u64, Error> {
    let low = key(b's', session, &[]);
    let mut tokens = 0;
    rows.scan(
        SPACE,
        &low,
        &after_prefix(&low),
        Direction::Forward,
        &mut |key, value| {
            tokens += decode::<PackListEntry>(key, value)?.tokens;
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(tokens)
}

/// Lists at most `limit` packs that depend on an item of a session, newest first: id and position.
pub fn uses(
    rows: &dyn Rows,
    session: &str,
    item: &Item,
    limit: usize,
) -> Result<Vec<(String, Position)>, Error> {
    let low = use_key(session, item);
    let mut found = Vec::new();
    rows.scan(
        SPACE,
        &low,
        &after_prefix(&low),
        Direction::Backward,
        &mut |key, value| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let damaged = || Error::corrupt(SPACE.name(), key, "not a use");
            let position = key.last_chunk::<8>().ok_or_else(damaged)?;
            let pack = std::str::from_utf8(value).map_err(|_| damaged())?;
            found.push((pack.to_owned(), Position(u64::from_be_bytes(*position))));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Lists the events of packs outside sessions after a position with a selected dependency, in log order.
pub fn resting_on(
    rows: &dyn Rows,
    after: Position,
    is_wanted: &mut dyn FnMut(&PackDependency, Position) -> bool,
) -> Result<Vec<(RecordKey, Position)>, Error> {
    let low = key(b's', "", &after.0.saturating_add(1).to_be_bytes());
    let high = after_prefix(&key(b's', "", &[]));
    let mut packs = Vec::new();
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        let damaged = || Error::corrupt(SPACE.name(), key, "not a pack of a list");
        let at = key.last_chunk::<8>().ok_or_else(damaged)?;
        let position = Position(u64::from_be_bytes(*at));
        let listed: PackListEntry = decode(key, value)?;
        if listed.rests_on.iter().any(|one| is_wanted(one, position)) {
            packs.push(listed.pack);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let rows_of = packs.iter().map(|pack| get(rows, pack));
    let found = rows_of.collect::<Result<Vec<_>, Error>>()?;
    Ok(found.into_iter().flatten().map(|row| row.place()).collect())
}

/// Removes every row of a session: its packs, their dependents and citations, and its prunings.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    forget_own(rows, session)?;
    remove_all(rows, SPACE, &key(b'u', session, &[]))
}

/// Removes the rows of a session's own packs and prunings. Packs of other sessions that use its items remain.
pub fn forget_own(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for (key, value) in all(rows, &key(b's', session, &[]))? {
        remove_listed(rows, session, &key, &value)?;
    }
    remove_all(rows, SPACE, &key(b'w', session, &[]))?;
    citations::forget(rows, PackOwner::Session(session))
}

/// Removes the packs outside sessions at these positions, and the project's citations. The positions cover all
/// packs of the project, or all packs without a project.
pub fn forget_outside(
    rows: &mut dyn RowsMut,
    project: Option<&str>,
    positions: &BTreeSet<Position>,
) -> Result<(), Error> {
    for position in positions {
        let listed = key(b's', "", &position.0.to_be_bytes());
        if let Some(value) = rows.get(SPACE, &listed)? {
            remove_listed(rows, "", &listed, &value)?;
        }
    }
    citations::forget(rows, PackOwner::Project(project.unwrap_or_default()))
}

/// Removes all rows of a pack in its session's list.
fn remove_listed(
    rows: &mut dyn RowsMut,
    session: &str,
    key: &[u8],
    value: &[u8],
) -> Result<(), Error> {
    let listed: PackListEntry = decode(key, value)?;
    let at = key.last_chunk::<8>().copied().unwrap_or_default();
    for one in &listed.rests_on {
        let mut of_use = use_key(holder(one, session), &one.item);
        of_use.extend(at);
        rows.remove(SPACE, &of_use);
    }
    rows.remove(SPACE, &pack_key(&listed.pack));
    rows.remove(SPACE, key);
    Ok(())
}

type KeyValue = (Vec<u8>, Vec<u8>);

fn all(rows: &dyn Rows, prefix: &[u8]) -> Result<Vec<KeyValue>, Error> {
    let mut found = Vec::new();
    let end = after_prefix(prefix);
    rows.scan(
        SPACE,
        prefix,
        &end,
        Direction::Forward,
        &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}
