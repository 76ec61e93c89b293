//! Rows of the views: keys of a tag and names, values of fixed numbers, reads and scans that report damage.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;

use crate::log::{Position, codec};
use crate::store::{Bytes, Direction, Error, Keyspace, Rows, after_prefix};

/// Builds a key: a tag, then a name.
#[must_use]
pub fn key(tag: u8, name: impl AsRef<[u8]>) -> Vec<u8> {
    let name = name.as_ref();
    let mut key = Vec::with_capacity(1 + name.len());
    key.push(tag);
    key.extend(name);
    key
}

/// Builds a key: a tag, a name that ends with 0, then another part.
#[must_use]
pub fn key_in(tag: u8, name: &str, rest: impl AsRef<[u8]>) -> Vec<u8> {
    let rest = rest.as_ref();
    let mut key = Vec::with_capacity(2 + name.len() + rest.len());
    key.push(tag);
    key.extend(name.as_bytes());
    key.push(0);
    key.extend(rest);
    key
}

/// Encodes a value of big-endian numbers and trailing bytes: simpler than CBOR for rows that many events write.
#[must_use]
pub fn numbers<const N: usize>(numbers: [u64; N], rest: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(8 * N + rest.len());
    for number in numbers {
        value.extend(number.to_be_bytes());
    }
    value.extend(rest);
    value
}

/// Decodes the numbers of a value, and returns the bytes after them.
#[must_use]
pub fn split<const N: usize>(value: &[u8]) -> Option<([u64; N], &[u8])> {
    let (numbers, rest) = value.split_at_checked(8 * N)?;
    let mut found = [0; N];
    for (number, bytes) in found.iter_mut().zip(numbers.as_chunks::<8>().0) {
        *number = u64::from_be_bytes(*bytes);
    }
    Some((found, rest))
}

/// Decodes a value of numbers and a text.
#[must_use]
pub fn split_text<const N: usize>(value: &[u8]) -> Option<([u64; N], String)> {
    let (numbers, text) = split(value)?;
    Some((numbers, self::text(text)?))
}

/// Decodes a value that is a position.
#[must_use]
pub fn position(value: &[u8]) -> Option<Position> {
    Some(Position(u64::from_be_bytes(value.try_into().ok()?)))
}

/// Decodes a text in a key or a value.
#[must_use]
pub fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

/// Builds the error of a row that does not decode.
#[must_use]
pub fn damaged(space: Keyspace, key: &[u8]) -> Error {
    Error::corrupt(space.name(), key, "not a row of this kind")
}

/// Reads a row.
pub fn read<T>(
    rows: &dyn Rows,
    space: Keyspace,
    key: &[u8],
    decode: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<Option<T>, Error> {
    let value = rows.get(space, key)?;
    value
        .map(|value| decode(&value).ok_or_else(|| damaged(space, key)))
        .transpose()
}

/// Decodes the value of a row in CBOR.
pub fn decode<T: DeserializeOwned>(space: Keyspace, key: &[u8], value: &[u8]) -> Result<T, Error> {
    codec::decode(value).map_err(|reason| Error::corrupt(space.name(), key, reason))
}

/// Reads a row in CBOR.
pub fn read_cbor<T: DeserializeOwned>(
    rows: &dyn Rows,
    space: Keyspace,
    key: &[u8],
) -> Result<Option<T>, Error> {
    let value = rows.get(space, key)?;
    value.map(|value| decode(space, key, &value)).transpose()
}

/// Ends a scan or walk once `is_over`.
pub fn until(is_over: bool) -> ControlFlow<()> {
    match is_over {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// Visitor of rows: gets the rest of the key and the value. `None` reports a damaged row, `Break` ends the walk.
pub type RowVisitor<'v> = &'v mut dyn FnMut(&[u8], &Bytes) -> Option<ControlFlow<()>>;

/// Visits the rows whose keys begin with a prefix.
pub fn walk(
    rows: &dyn Rows,
    space: Keyspace,
    prefix: &[u8],
    direction: Direction,
    visit: RowVisitor<'_>,
) -> Result<(), Error> {
    let high = after_prefix(prefix);
    rows.scan(space, prefix, &high, direction, &mut |key, value| {
        let rest = key.get(prefix.len()..).unwrap_or_default();
        visit(rest, value).ok_or_else(|| damaged(space, key))
    })
}

/// Lists the rows whose keys begin with a prefix, in order, at most `limit`; `decode` gets the rest of each key
/// and the value.
pub fn list<T>(
    rows: &dyn Rows,
    space: Keyspace,
    prefix: &[u8],
    limit: usize,
    mut decode: impl FnMut(&[u8], &[u8]) -> Option<T>,
) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    walk(
        rows,
        space,
        prefix,
        Direction::Forward,
        &mut |rest, value| {
            if found.len() == limit {
                return Some(ControlFlow::Break(()));
            }
            found.push(decode(rest, value)?);
            Some(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}
