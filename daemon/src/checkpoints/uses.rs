//! Which objects are still in use, by how many parts and deltas, and what they take.
//!
//! Rows of the room's view: its table of keys is in [`super::view`].

use std::ops::ControlFlow;

use super::event::Link;
use super::view::{Reader, SPACE, damaged, key, of_session_row, read};
use crate::log::Hash;
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix};

/// What the store has of checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Checkpoints.
    pub count: u64,
    /// Bytes of their objects.
    pub bytes: u64,
}

/// An object in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRow {
    uses: u32,
    /// Length of its value.
    pub bytes: u64,
    /// What it takes on disk, in bytes.
    pub stored_bytes: u64,
    /// The object that it is a delta against.
    pub base: Option<Hash>,
    /// The session that stored it first.
    owner: String,
}

impl Totals {
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
        let mut value = Vec::with_capacity(53 + self.owner.len());
        value.extend(self.uses.to_be_bytes());
        value.extend(self.bytes.to_be_bytes());
        value.extend(self.stored_bytes.to_be_bytes());
        value.push(u8::from(self.base.is_some()));
        value.extend(self.base.iter().flat_map(|base| base.0));
        value.extend(self.owner.as_bytes());
        value
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = Reader(value);
        let uses = reader.array().map(u32::from_be_bytes)?;
        let (bytes, stored_bytes) = (reader.u64()?, reader.u64()?);
        let base = match reader.array::<1>()? {
            [0] => None,
            _ => Some(Hash(reader.array()?)),
        };
        Some(Self {
            uses,
            bytes,
            stored_bytes,
            base,
            owner: reader.text()?,
        })
    }
}

/// Notes one more use of the first object of a chain; one that is new uses the next.
pub(super) fn take(rows: &mut dyn RowsMut, chain: &[Link], session: &str) -> Result<(), Error> {
    for (at, link) in chain.iter().enumerate() {
        let object_key = key(b'o', &link.hash.0);
        if let Some(mut row) = read(rows, &object_key, ObjectRow::decode)? {
            row.uses = row.uses.saturating_add(1);
            rows.put(SPACE, &object_key, &row.encode());
            return Ok(());
        }
        let row = ObjectRow {
            uses: 1,
            bytes: link.bytes,
            stored_bytes: link.stored_bytes,
            base: chain.get(at + 1).map(|base| base.hash),
            owner: session.to_owned(),
        };
        rows.put(SPACE, &object_key, &row.encode());
        charge(rows, session, |bytes| {
            bytes.saturating_add(link.stored_bytes)
        })?;
    }
    Ok(())
}

/// Notes one use less; an object that nothing uses goes, and uses its base no more.
pub(super) fn release(rows: &mut dyn RowsMut, object: &Hash) -> Result<(), Error> {
    let mut next = Some(*object);
    while let Some(object) = next.take() {
        let object_key = key(b'o', &object.0);
        let Some(mut row) = read(rows, &object_key, ObjectRow::decode)? else {
            break;
        };
        row.uses = row.uses.saturating_sub(1);
        if row.uses > 0 {
            rows.put(SPACE, &object_key, &row.encode());
            break;
        }
        rows.remove(SPACE, &object_key);
        charge(rows, &row.owner, |bytes| {
            bytes.saturating_sub(row.stored_bytes)
        })?;
        next = row.base;
    }
    Ok(())
}

fn charge(rows: &mut dyn RowsMut, session: &str, change: impl Fn(u64) -> u64) -> Result<(), Error> {
    let mut of = of_session_row(rows, session)?;
    of.bytes = change(of.bytes);
    rows.put(SPACE, &key(b'l', session.as_bytes()), &of.encode());
    let mut totals = totals(rows)?;
    totals.bytes = change(totals.bytes);
    rows.put(SPACE, b"t", &totals.encode());
    Ok(())
}

/// Counts checkpoints of the store.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub(super) fn count(rows: &mut dyn RowsMut, change: impl Fn(u64) -> u64) -> Result<(), Error> {
    let mut totals = totals(rows)?;
    totals.count = change(totals.count);
    rows.put(SPACE, b"t", &totals.encode());
    Ok(())
}

/// What the store has of checkpoints.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn totals(rows: &dyn Rows) -> Result<Totals, Error> {
    Ok(read(rows, b"t", Totals::decode)?.unwrap_or_default())
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

/// The way from an object in use to the one that is whole; `None` when it is not in use.
///
/// # Errors
/// [`Error`] when a row cannot be read, or one of the way is missing.
pub fn chain(rows: &dyn Rows, hash: &Hash) -> Result<Option<Vec<Link>>, Error> {
    let mut links: Vec<Link> = Vec::new();
    let mut next = Some(*hash);
    while let Some(hash) = next {
        let Some(row) = object(rows, &hash)? else {
            return match links.is_empty() {
                true => Ok(None),
                false => Err(damaged(&key(b'o', &hash.0))),
            };
        };
        links.push(Link::to(hash, row.bytes, row.stored_bytes));
        next = row.base;
    }
    Ok(Some(links))
}
