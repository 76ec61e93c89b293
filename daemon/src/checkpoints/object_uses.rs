//! Which objects are in use, by which sessions, and their size on disk.
//!
//! The keys of these rows are in the table of [`super::view`].

use std::collections::{BTreeMap, BTreeSet};

use super::view::{SPACE, of_session_row};
use crate::events::checkpoints::DeltaLink;
use crate::log::{Hash, Position};
use crate::rows::{self, key, key_in};
use crate::store::{Error, Rows, RowsMut};

/// The checkpoints of the whole store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointTotals {
    /// Number of checkpoints.
    pub count: u64,
    /// Size of their objects on disk, in bytes.
    pub bytes: u64,
}

/// An object in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRow {
    /// Length of its value, in bytes.
    pub bytes: u64,
    /// Size on disk, in bytes.
    pub stored_bytes: u64,
    /// The delta base, if any.
    pub base: Option<Hash>,
}

/// One session's use of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObjectUse {
    /// Number of parts and deltas of the session that need it.
    count: u32,
    /// Position of the first save that needs it.
    since: Position,
}

impl ObjectRow {
    fn encode(&self) -> Vec<u8> {
        let base = self.base.as_ref().map_or(&[][..], |base| &base.0);
        rows::numbers([self.bytes, self.stored_bytes], base)
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let ([bytes, stored_bytes], base) = rows::split(value)?;
        let base = match base {
            [] => None,
            base => Some(hash(base)?),
        };
        Some(Self {
            bytes,
            stored_bytes,
            base,
        })
    }
}

impl ObjectUse {
    fn encode(self) -> Vec<u8> {
        [&self.count.to_be_bytes()[..], &self.since.0.to_be_bytes()].concat()
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let (count, since) = value.split_first_chunk()?;
        Some(Self {
            count: u32::from_be_bytes(*count),
            since: rows::position(since)?,
        })
    }
}

fn hash(bytes: &[u8]) -> Option<Hash> {
    Some(Hash(bytes.try_into().ok()?))
}

fn use_key(session: &str, object: &Hash) -> Vec<u8> {
    key_in(b'u', session, object.0)
}

fn user_key(object: &Hash, session: &str) -> Vec<u8> {
    let mut user = key(b'w', object.0);
    user.extend(session.as_bytes());
    user
}

fn read_use(rows: &dyn Rows, key: &[u8]) -> Result<Option<ObjectUse>, Error> {
    rows::read(rows, SPACE, key, ObjectUse::decode)
}

/// Adds a session's use of the first object of a chain. An object that is new to the session also uses the next
/// object of the chain.
pub(super) fn take(
    rows: &mut dyn RowsMut,
    chain: &[DeltaLink],
    session: &str,
    since: Position,
) -> Result<(), Error> {
    for (at, link) in chain.iter().enumerate() {
        let use_key = use_key(session, &link.hash);
        if let Some(mut used) = read_use(rows, &use_key)? {
            used.count = used.count.saturating_add(1);
            rows.put(SPACE, &use_key, &used.encode());
            return Ok(());
        }
        rows.put(SPACE, &use_key, &ObjectUse { count: 1, since }.encode());
        let user_key = user_key(&link.hash, session);
        rows.put(SPACE, &user_key, &since.0.to_be_bytes());
        let object_key = key(b'o', link.hash.0);
        if rows.get(SPACE, &object_key)?.is_none() {
            let row = ObjectRow {
                bytes: link.bytes,
                stored_bytes: link.stored_bytes,
                base: chain.get(at + 1).map(|base| base.hash),
            };
            rows.put(SPACE, &object_key, &row.encode());
            charge(rows, session, link.stored_bytes.cast_signed())?;
            change_totals(rows, 0, link.stored_bytes.cast_signed())?;
        }
    }
    Ok(())
}

/// Removes one use of an object by a session. After the last one, the object's use of its base is removed, too.
pub(super) fn release(rows: &mut dyn RowsMut, object: &Hash, session: &str) -> Result<(), Error> {
    let mut next = Some(*object);
    while let Some(object) = next.take() {
        let use_key = use_key(session, &object);
        let Some(mut used) = read_use(rows, &use_key)? else {
            break;
        };
        used.count = used.count.saturating_sub(1);
        if used.count > 0 {
            rows.put(SPACE, &use_key, &used.encode());
            break;
        }
        next = end(rows, &object, session, used.since)?;
    }
    Ok(())
}

/// Removes all uses of a session.
pub(super) fn release_all(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for (object, used) in all_of(rows, session)? {
        end(rows, &object, session, used.since)?;
    }
    Ok(())
}

/// Charges objects to a session that was folded again if it has used them for the longest time.
pub fn flush(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for (object, used) in all_of(rows, session)? {
        let other = longest(rows, &object, Some(session))?;
        if let Some((since, heir)) = other
            && used.since < since
            && let Some(row) = self::object(rows, &object)?
        {
            charge(rows, &heir, -row.stored_bytes.cast_signed())?;
            charge(rows, session, row.stored_bytes.cast_signed())?;
        }
    }
    Ok(())
}

/// Removes a session's use of an object, and returns the object's base, which the session uses through it. An
/// unused object is removed; otherwise it is charged to the session that has used it for the longest time.
fn end(
    rows: &mut dyn RowsMut,
    object: &Hash,
    session: &str,
    since: Position,
) -> Result<Option<Hash>, Error> {
    rows.remove(SPACE, &use_key(session, object));
    rows.remove(SPACE, &user_key(object, session));
    let Some(row) = self::object(rows, object)? else {
        return Ok(None);
    };
    let bytes = row.stored_bytes.cast_signed();
    match longest(rows, object, None)? {
        None => {
            rows.remove(SPACE, &key(b'o', object.0));
            charge(rows, session, -bytes)?;
            change_totals(rows, 0, -bytes)?;
        }
        Some((its, heir)) if since < its => {
            charge(rows, session, -bytes)?;
            charge(rows, &heir, bytes)?;
        }
        Some(_) => {}
    }
    Ok(row.base)
}

/// Lists the sessions that use an object, by name, each with the position of its first use.
fn users(rows: &dyn Rows, object: &Hash) -> Result<Vec<(Position, String)>, Error> {
    rows::list(
        rows,
        SPACE,
        &key(b'w', object.0),
        usize::MAX,
        |name, since| Some((rows::position(since)?, rows::text(name)?)),
    )
}

/// Returns the session other than `but` that has used an object for the longest time, with its first use.
fn longest(
    rows: &dyn Rows,
    object: &Hash,
    but: Option<&str>,
) -> Result<Option<(Position, String)>, Error> {
    let mut users = users(rows, object)?;
    users.retain(|(_, name)| Some(name.as_str()) != but);
    Ok(users.into_iter().min_by_key(|(since, _)| *since))
}

fn all_of(rows: &dyn Rows, session: &str) -> Result<Vec<(Hash, ObjectUse)>, Error> {
    let prefix = key_in(b'u', session, "");
    rows::list(rows, SPACE, &prefix, usize::MAX, |object, value| {
        Some((hash(object)?, ObjectUse::decode(value)?))
    })
}

/// Lists the objects that a session uses.
pub fn objects_of(rows: &dyn Rows, session: &str) -> Result<Vec<Hash>, Error> {
    let all = all_of(rows, session)?.into_iter();
    Ok(all.map(|(hash, _)| hash).collect())
}

/// Returns the size on disk of the objects that become unused once these sessions stop using these objects.
pub fn freed_by(rows: &dyn Rows, no_more: &BTreeMap<&str, BTreeSet<Hash>>) -> Result<u64, Error> {
    let objects: BTreeSet<&Hash> = no_more.values().flatten().collect();
    let mut bytes = 0;
    for hash in objects {
        let users = users(rows, hash)?;
        let ends = |user: &str| no_more.get(user).is_some_and(|ended| ended.contains(hash));
        if users.iter().all(|(_, user)| ends(user))
            && let Some(row) = object(rows, hash)?
        {
            bytes += row.stored_bytes;
        }
    }
    Ok(bytes)
}

/// Changes the bytes that a session is charged for.
fn charge(rows: &mut dyn RowsMut, session: &str, bytes: i64) -> Result<(), Error> {
    let mut of = of_session_row(rows, session)?;
    of.bytes = of.bytes.saturating_add_signed(bytes);
    rows.put(SPACE, &key(b'l', session), &of.encode());
    Ok(())
}

/// Changes the totals of the store. Zeros have no row, as if there had never been a checkpoint.
pub(super) fn change_totals(rows: &mut dyn RowsMut, count: i64, bytes: i64) -> Result<(), Error> {
    let CheckpointTotals {
        count: counted,
        bytes: stored,
    } = totals(rows)?;
    match (
        counted.saturating_add_signed(count),
        stored.saturating_add_signed(bytes),
    ) {
        (0, 0) => rows.remove(SPACE, b"t"),
        (count, bytes) => rows.put(SPACE, b"t", &rows::numbers([count, bytes], &[])),
    }
    Ok(())
}

/// Returns the totals of the store.
pub fn totals(rows: &dyn Rows) -> Result<CheckpointTotals, Error> {
    let totals = rows::read(rows, SPACE, b"t", |value| {
        let ([count, bytes], _) = rows::split(value)?;
        Some(CheckpointTotals { count, bytes })
    })?;
    Ok(totals.unwrap_or_default())
}

/// Returns an object in use.
pub fn object(rows: &dyn Rows, hash: &Hash) -> Result<Option<ObjectRow>, Error> {
    rows::read(rows, SPACE, &key(b'o', hash.0), ObjectRow::decode)
}

/// Lists every object in use.
pub fn all(rows: &dyn Rows) -> Result<Vec<(Hash, ObjectRow)>, Error> {
    rows::list(rows, SPACE, b"o", usize::MAX, |object, value| {
        Some((hash(object)?, ObjectRow::decode(value)?))
    })
}

/// Lists the hashes of every object in use.
pub fn in_use(rows: &dyn Rows) -> Result<Vec<Hash>, Error> {
    rows::list(rows, SPACE, b"o", usize::MAX, |object, _| hash(object))
}

/// Returns the chain from an object in use to its keyframe; `None` if the object is not in use.
///
/// # Errors
/// [`Error::Corrupt`] when an object of the chain is missing.
pub fn chain(rows: &dyn Rows, hash: &Hash) -> Result<Option<Vec<DeltaLink>>, Error> {
    let mut links: Vec<DeltaLink> = Vec::new();
    let mut next = Some(*hash);
    while let Some(hash) = next {
        let Some(row) = object(rows, &hash)? else {
            return match links.is_empty() {
                true => Ok(None),
                false => Err(rows::damaged(SPACE, &key(b'o', hash.0))),
            };
        };
        links.push(DeltaLink::to(hash, row.bytes, row.stored_bytes));
        next = row.base;
    }
    Ok(Some(links))
}
