//! Which objects are still in use, by which sessions, and what they take.
//!
//! Rows of the room's view: its table of keys is in [`super::view`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::view::{Reader, SPACE, damaged, key, of_session, of_session_row, read};
use crate::events::checkpoints::DeltaLink;
use crate::log::{Hash, Position};
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix};

/// What the store has of checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointTotals {
    /// Checkpoints.
    pub count: u64,
    /// Bytes of their objects.
    pub bytes: u64,
}

/// An object in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRow {
    /// Length of its value.
    pub bytes: u64,
    /// What it takes on disk, in bytes.
    pub stored_bytes: u64,
    /// The object that it is a delta against.
    pub base: Option<Hash>,
}

/// One session's use of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObjectUse {
    /// How many parts and deltas of the session need it.
    count: u32,
    /// Position of the save since which they do.
    since: Position,
}

impl CheckpointTotals {
    fn encode(&self) -> Vec<u8> {
        [self.count, self.bytes].map(u64::to_be_bytes).concat()
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = Reader(value);
        Some(Self {
            count: reader.u64()?,
            bytes: reader.u64()?,
        })
    }
}

impl ObjectRow {
    fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(48);
        value.extend(self.bytes.to_be_bytes());
        value.extend(self.stored_bytes.to_be_bytes());
        value.extend(self.base.iter().flat_map(|base| base.0));
        value
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = Reader(value);
        let (bytes, stored_bytes) = (reader.u64()?, reader.u64()?);
        let base = match reader.0 {
            [] => None,
            _ => Some(Hash(reader.array()?)),
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
        let mut value = self.count.to_be_bytes().to_vec();
        value.extend(self.since.0.to_be_bytes());
        value
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = Reader(value);
        Some(Self {
            count: reader.array().map(u32::from_be_bytes)?,
            since: Position(reader.u64()?),
        })
    }
}

fn use_key(session: &str, object: &Hash) -> Vec<u8> {
    of_session(b'u', session, &object.0)
}

fn user_key(object: &Hash, session: &str) -> Vec<u8> {
    let mut user = key(b'w', &object.0);
    user.extend(session.as_bytes());
    user
}

/// Notes one more use of the first object of a chain by a session; one that is new to the session
/// uses the next, too.
pub(super) fn take(
    rows: &mut dyn RowsMut,
    chain: &[DeltaLink],
    session: &str,
    since: Position,
) -> Result<(), Error> {
    for (at, link) in chain.iter().enumerate() {
        let use_key = use_key(session, &link.hash);
        if let Some(mut used) = read(rows, &use_key, ObjectUse::decode)? {
            used.count = used.count.saturating_add(1);
            rows.put(SPACE, &use_key, &used.encode());
            return Ok(());
        }
        rows.put(SPACE, &use_key, &ObjectUse { count: 1, since }.encode());
        let user_key = user_key(&link.hash, session);
        rows.put(SPACE, &user_key, &since.0.to_be_bytes());
        let object_key = key(b'o', &link.hash.0);
        if rows.get(SPACE, &object_key)?.is_none() {
            let row = ObjectRow {
                bytes: link.bytes,
                stored_bytes: link.stored_bytes,
                base: chain.get(at + 1).map(|base| base.hash),
            };
            rows.put(SPACE, &object_key, &row.encode());
            charge(rows, session, |bytes| {
                bytes.saturating_add(link.stored_bytes)
            })?;
            store(rows, |bytes| bytes.saturating_add(link.stored_bytes))?;
        }
    }
    Ok(())
}

/// Notes one use less of an object by a session; one that the session no longer uses makes it use
/// its base no more.
pub(super) fn release(rows: &mut dyn RowsMut, object: &Hash, session: &str) -> Result<(), Error> {
    let mut next = Some(*object);
    while let Some(object) = next.take() {
        let use_key = use_key(session, &object);
        let Some(mut used) = read(rows, &use_key, ObjectUse::decode)? else {
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

/// Ends every use that a session makes of objects.
pub(super) fn release_all(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for (object, used) in all_of(rows, session)? {
        end(rows, &object, session, used.since)?;
    }
    Ok(())
}

/// Lets objects count for a session that was folded again where it has used them for longest.
pub(super) fn flush(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for (object, used) in all_of(rows, session)? {
        let other = longest(rows, &object, Some(session))?;
        if let Some((since, heir)) = other
            && used.since < since
            && let Some(row) = self::object(rows, &object)?
        {
            charge(rows, &heir, |bytes| bytes.saturating_sub(row.stored_bytes))?;
            charge(rows, session, |bytes| {
                bytes.saturating_add(row.stored_bytes)
            })?;
        }
    }
    Ok(())
}

/// Ends a session's use of an object: it goes when nobody else uses it, and else counts for who has
/// used it for longest. Its base, which the session uses through it, comes back.
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
    let less = |bytes: u64| bytes.saturating_sub(row.stored_bytes);
    match longest(rows, object, None)? {
        None => {
            rows.remove(SPACE, &key(b'o', &object.0));
            charge(rows, session, less)?;
            store(rows, less)?;
        }
        Some((its, heir)) if since < its => {
            charge(rows, session, less)?;
            charge(rows, &heir, |bytes| bytes.saturating_add(row.stored_bytes))?;
        }
        Some(_) => {}
    }
    Ok(row.base)
}

/// The session that has used an object for longest, but for one that is left out, and since when.
fn longest(
    rows: &dyn Rows,
    object: &Hash,
    but: Option<&str>,
) -> Result<Option<(Position, String)>, Error> {
    let prefix = key(b'w', &object.0);
    let high = after_prefix(&prefix);
    let mut found: Option<(Position, String)> = None;
    rows.scan(
        SPACE,
        &prefix,
        &high,
        Direction::Forward,
        &mut |key, value| {
            let name = key.get(prefix.len()..).unwrap_or_default();
            let name = std::str::from_utf8(name).map_err(|_| damaged(key))?;
            let since = Position(Reader(value).u64().ok_or_else(|| damaged(key))?);
            let is_wanted = but != Some(name);
            if is_wanted && found.as_ref().is_none_or(|(first, _)| since < *first) {
                found = Some((since, name.to_owned()));
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// The objects that a session uses.
fn all_of(rows: &dyn Rows, session: &str) -> Result<Vec<(Hash, ObjectUse)>, Error> {
    let prefix = of_session(b'u', session, &[]);
    let high = after_prefix(&prefix);
    let mut found = Vec::new();
    rows.scan(
        SPACE,
        &prefix,
        &high,
        Direction::Forward,
        &mut |key, value| {
            let hash = key
                .get(prefix.len()..)
                .and_then(|hash| hash.try_into().ok());
            match (hash, ObjectUse::decode(value)) {
                (Some(hash), Some(used)) => found.push((Hash(hash), used)),
                (None, _) | (_, None) => return Err(damaged(key)),
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// The objects that a session uses.
pub(super) fn of(rows: &dyn Rows, session: &str) -> Result<Vec<Hash>, Error> {
    let all = all_of(rows, session)?.into_iter();
    Ok(all.map(|(hash, _)| hash).collect())
}

/// What the objects take on disk that nobody uses any more once these sessions use these of them no more.
pub(super) fn freed_by(
    rows: &dyn Rows,
    no_more: &BTreeMap<&str, BTreeSet<Hash>>,
) -> Result<u64, Error> {
    let objects: BTreeSet<Hash> = no_more.values().flatten().copied().collect();
    let mut bytes = 0;
    for hash in objects {
        let prefix = key(b'w', &hash.0);
        let high = after_prefix(&prefix);
        let mut is_used = false;
        rows.scan(SPACE, &prefix, &high, Direction::Forward, &mut |key, _| {
            let user = key.get(prefix.len()..).unwrap_or_default();
            let user = std::str::from_utf8(user).map_err(|_| damaged(key))?;
            let ended = no_more.get(user);
            is_used = !ended.is_some_and(|ended| ended.contains(&hash));
            Ok(match is_used {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        if !is_used && let Some(row) = object(rows, &hash)? {
            bytes += row.stored_bytes;
        }
    }
    Ok(bytes)
}

fn charge(rows: &mut dyn RowsMut, session: &str, change: impl Fn(u64) -> u64) -> Result<(), Error> {
    let mut of = of_session_row(rows, session)?;
    of.bytes = change(of.bytes);
    rows.put(SPACE, &key(b'l', session.as_bytes()), &of.encode());
    Ok(())
}

fn store(rows: &mut dyn RowsMut, change: impl Fn(u64) -> u64) -> Result<(), Error> {
    let mut totals = totals(rows)?;
    totals.bytes = change(totals.bytes);
    put_totals(rows, totals);
    Ok(())
}

/// Nothing at all is no row: as if there had never been anything.
fn put_totals(rows: &mut dyn RowsMut, totals: CheckpointTotals) {
    match totals == CheckpointTotals::default() {
        true => rows.remove(SPACE, b"t"),
        false => rows.put(SPACE, b"t", &totals.encode()),
    }
}

/// Counts checkpoints of the store.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub(super) fn count(rows: &mut dyn RowsMut, change: impl Fn(u64) -> u64) -> Result<(), Error> {
    let mut totals = totals(rows)?;
    totals.count = change(totals.count);
    put_totals(rows, totals);
    Ok(())
}

/// What the store has of checkpoints.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn totals(rows: &dyn Rows) -> Result<CheckpointTotals, Error> {
    Ok(read(rows, b"t", CheckpointTotals::decode)?.unwrap_or_default())
}

/// An object in use.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn object(rows: &dyn Rows, hash: &Hash) -> Result<Option<ObjectRow>, Error> {
    read(rows, &key(b'o', &hash.0), ObjectRow::decode)
}

/// Visits every object in use.
///
/// # Errors
/// [`Error`] when the rows cannot be read, or what `visit` returned.
pub fn walk(
    rows: &dyn Rows,
    visit: &mut dyn FnMut(Hash, ObjectRow) -> Result<(), Error>,
) -> Result<(), Error> {
    let high = after_prefix(b"o");
    rows.scan(SPACE, b"o", &high, Direction::Forward, &mut |key, value| {
        let hash = key
            .get(1..)
            .and_then(|hash| <[u8; 32]>::try_from(hash).ok());
        match (hash, ObjectRow::decode(value)) {
            (Some(hash), Some(row)) => visit(Hash(hash), row)?,
            (None, _) | (_, None) => return Err(damaged(key)),
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Every object in use, by its hash.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn in_use(rows: &dyn Rows) -> Result<Vec<Hash>, Error> {
    let mut found = Vec::new();
    walk(rows, &mut |hash, _| {
        found.push(hash);
        Ok(())
    })?;
    Ok(found)
}

/// The way from an object in use to the one that is whole; `None` when it is not in use.
///
/// # Errors
/// [`Error`] when a row cannot be read, or one of the way is missing.
pub fn chain(rows: &dyn Rows, hash: &Hash) -> Result<Option<Vec<DeltaLink>>, Error> {
    let mut links: Vec<DeltaLink> = Vec::new();
    let mut next = Some(*hash);
    while let Some(hash) = next {
        let Some(row) = object(rows, &hash)? else {
            return match links.is_empty() {
                true => Ok(None),
                false => Err(damaged(&key(b'o', &hash.0))),
            };
        };
        links.push(DeltaLink::to(hash, row.bytes, row.stored_bytes));
        next = row.base;
    }
    Ok(Some(links))
}
