//! The keys of this view's rows.

use crate::events::entities::EntityRef;
use crate::store::Error;

use super::SPACE;

/// The beginning of what a session, or a project, has of one family.
pub(super) fn prefix(tag: u8, of: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(of.len() + 64);
    key.push(tag);
    key.extend(of.as_bytes());
    key.push(0);
    key
}

/// The same, of one kind.
pub(super) fn of_kind(tag: u8, of: &str, kind: &str) -> Vec<u8> {
    let mut key = prefix(tag, of);
    key.extend(kind.as_bytes());
    key
}

/// The same, of one entity. Neither kinds nor canonical keys hold a zero.
pub(super) fn of_entity(tag: u8, of: &str, kind: &str, key: &str) -> Vec<u8> {
    let mut row = of_kind(tag, of, kind);
    row.push(0);
    row.extend(key.as_bytes());
    row
}

/// What follows a prefix: texts with zeros between.
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

/// The entity that follows a prefix.
pub(super) fn entity(key: &[u8], after: usize) -> Result<EntityRef, Error> {
    let [kind, key] = texts::<2>(key, after)?;
    Ok(EntityRef {
        kind: kind.to_owned(),
        key: key.to_owned(),
    })
}
