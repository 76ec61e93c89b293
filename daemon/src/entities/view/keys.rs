//! Keys and values of this view's rows.

use crate::events::entities::EntityRef;
use crate::log::codec;
use crate::sessions::Line;
use crate::store::{Error, Rows, after_prefix};
use serde::de::DeserializeOwned;

use super::SPACE;

/// Returns the prefix of the rows of one family for a session or a project.
pub(super) fn prefix(tag: u8, of: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(of.len() + 64);
    key.push(tag);
    key.extend(of.as_bytes());
    key.push(0);
    key
}

/// Returns the prefix of the rows of one kind.
pub(super) fn of_kind(tag: u8, of: &str, kind: &str) -> Vec<u8> {
    let mut key = prefix(tag, of);
    key.extend(kind.as_bytes());
    key
}

/// Returns the prefix of the rows of one entity. Neither kinds nor canonical keys contain a zero byte.
pub(super) fn of_entity(tag: u8, of: &str, kind: &str, key: &str) -> Vec<u8> {
    let mut row = of_kind(tag, of, kind);
    row.push(0);
    row.extend(key.as_bytes());
    row
}

/// Returns the prefix of the rows of one entity.
pub(super) fn rows_of_entity(tag: u8, of: &str, entity: &EntityRef) -> Vec<u8> {
    let mut key = of_entity(tag, of, &entity.kind, &entity.key);
    key.push(0);
    key
}

/// Appends an entity to a key.
pub(super) fn push_entity(key: &mut Vec<u8>, entity: &EntityRef) {
    key.extend(entity.kind.as_bytes());
    key.push(0);
    key.extend(entity.key.as_bytes());
}

/// Returns the end of the rows of a line whose keys are a prefix and a position.
pub(super) fn end_of_line(line: &Line, prefix: &[u8]) -> Vec<u8> {
    match line.before() {
        Some(before) => [prefix, &before.0.to_be_bytes()].concat(),
        None => after_prefix(prefix),
    }
}

/// Decodes the value of a row.
pub(super) fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, Error> {
    codec::decode(value).map_err(|reason| Error::corrupt(SPACE.name(), key, reason))
}

/// Reads a row that holds a number; 0 if there is none.
pub(super) fn number(rows: &dyn Rows, key: &[u8]) -> Result<u64, Error> {
    rows.get(SPACE, key)?
        .map_or(Ok(0), |value| decode_number(key, &value))
}

/// Decodes the value of a row that holds a number.
pub(super) fn decode_number(key: &[u8], value: &[u8]) -> Result<u64, Error> {
    <[u8; 8]>::try_from(value)
        .map(u64::from_be_bytes)
        .map_err(|_| Error::corrupt(SPACE.name(), key, "not a number"))
}

/// Splits the rest of a key after a prefix into texts separated by zero bytes.
pub(super) fn texts<const N: usize>(key: &[u8], after: usize) -> Result<[&str; N], Error> {
    let damaged = || Error::corrupt(SPACE.name(), key, "not a key of this view");
    let rest = std::str::from_utf8(key.get(after..).unwrap_or_default()).map_err(|_| damaged())?;
    let mut parts = rest.splitn(N, '\0');
    let mut found = [""; N];
    for part in &mut found {
        *part = parts.next().ok_or_else(damaged)?;
    }
    Ok(found)
}

/// Returns the entity that follows a prefix in a key.
pub(super) fn entity(key: &[u8], after: usize) -> Result<EntityRef, Error> {
    let [kind, key] = texts::<2>(key, after)?;
    Ok(EntityRef {
        kind: kind.to_owned(),
        key: key.to_owned(),
    })
}
