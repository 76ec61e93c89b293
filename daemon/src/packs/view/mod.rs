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

use serde::{Deserialize, Serialize};

use crate::citations::{self, PackOwner};
use crate::events::packs::{Item, PackBuilt, PackDependency, PackEvent};
use crate::log::{Hash, LoggedEvent, Position, RecordKey, codec};
use crate::rows::{self, key, key_in};
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

fn use_key(session: &str, item: &Item) -> Vec<u8> {
    let mut key = key_in(b'u', session, Hash::of(&codec::encode(item)).0);
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
    rows.put(SPACE, &key(b'p', &made.id), &codec::encode(&row));
    let own = session.unwrap_or_default();
    let listed = PackListEntry {
        pack: made.id.clone(),
        tokens: made.tokens,
        rests_on: made.rests_on.clone(),
    };
    let at = position.0.to_be_bytes();
    rows.put(SPACE, &key_in(b's', own, at), &codec::encode(&listed));
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
    rows::read_cbor(rows, SPACE, &key(b'p', pack))
}

/// Sums the tokens of all packs that were built for a session.
pub fn tokens(rows: &dyn Rows, session: &str) -> Result<u64, Error> {
    Ok(listed(rows, session)?
        .iter()
        .map(|(_, entry)| entry.tokens)
        .sum())
}

/// Lists the packs of a session in log order, each with its row's key.
fn listed(rows: &dyn Rows, session: &str) -> Result<Vec<(Vec<u8>, PackListEntry)>, Error> {
    rows::list(
        rows,
        SPACE,
        &key_in(b's', session, ""),
        usize::MAX,
        |at, value| Some((key_in(b's', session, at), codec::decode(value).ok()?)),
    )
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
    rows::walk(rows, SPACE, &low, Direction::Backward, &mut |at, pack| {
        if found.len() == limit {
            return Some(ControlFlow::Break(()));
        }
        found.push((rows::text(pack)?, rows::position(at)?));
        Some(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Lists the events of packs outside sessions after a position with a selected dependency, in log order.
pub fn resting_on(
    rows: &dyn Rows,
    after: Position,
    is_wanted: &mut dyn FnMut(&PackDependency, Position) -> bool,
) -> Result<Vec<(RecordKey, Position)>, Error> {
    let low = key_in(b's', "", after.0.saturating_add(1).to_be_bytes());
    let high = after_prefix(&key_in(b's', "", ""));
    let mut packs = Vec::new();
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        let at = key.last_chunk::<8>().and_then(|at| rows::position(at));
        let position = at.ok_or_else(|| rows::damaged(SPACE, key))?;
        let listed: PackListEntry = rows::decode(SPACE, key, value)?;
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
    remove_all(rows, SPACE, &key_in(b'u', session, ""))
}

/// Removes the rows of a session's own packs and prunings. Packs of other sessions that use its items remain.
pub fn forget_own(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for (key, listed) in listed(rows, session)? {
        remove_listed(rows, session, &key, &listed);
    }
    remove_all(rows, SPACE, &key_in(b'w', session, ""))?;
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
        let key = key_in(b's', "", position.0.to_be_bytes());
        if let Some(listed) = rows::read_cbor(rows, SPACE, &key)? {
            remove_listed(rows, "", &key, &listed);
        }
    }
    citations::forget(rows, PackOwner::Project(project.unwrap_or_default()))
}

/// Removes all rows of a pack in its session's list.
fn remove_listed(rows: &mut dyn RowsMut, session: &str, row: &[u8], listed: &PackListEntry) {
    let at = row.last_chunk::<8>().copied().unwrap_or_default();
    for one in &listed.rests_on {
        let mut of_use = use_key(holder(one, session), &one.item);
        of_use.extend(at);
        rows.remove(SPACE, &of_use);
    }
    rows.remove(SPACE, &key(b'p', &listed.pack));
    rows.remove(SPACE, row);
}
