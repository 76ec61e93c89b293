//! Earlier descriptions of an entity: name, id, slug, parent and data before each change. A fork reads them as of
//! its fork position, even if its parent has changed since.
//!
//! Key: `h` session 0 kind 0 key 0 position (u64) of the event that changed the description. Value: [`Version`],
//! the state before that event.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::entity::{DataRow, EntityRow};
use super::{EntityFold, SPACE, keys};
use crate::events::entities::EntityRef;
use crate::log::codec;
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows, after_prefix};

/// Description of an entity: all that may change, except mentions and relations, which have their own rows.
#[derive(PartialEq, Serialize, Deserialize)]
struct Version {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slug: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<EntityRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<DataRow>,
}

impl Version {
    fn of(row: &EntityRow) -> Self {
        Self {
            name: row.name.clone(),
            id: row.id.clone(),
            slug: row.slug.clone(),
            aliases: row.aliases.clone(),
            parent: row.parent.clone(),
            data: row.data.clone(),
        }
    }
}

/// Stores the description that an event changes, as of before the event.
pub(super) fn keep(
    folding: &mut EntityFold<'_>,
    entity: &EntityRef,
    before: &EntityRow,
    row: &EntityRow,
) -> Result<(), Error> {
    let version = Version::of(before);
    if version == Version::of(row) {
        return Ok(());
    }
    let mut key = keys::rows_of_entity(b'h', folding.session, entity);
    key.extend(folding.event.position().0.to_be_bytes());
    // If one event makes several changes, the first one stores the state before it.
    if folding.rows.get(SPACE, &key)?.is_none() {
        folding.rows.put(SPACE, &key, &codec::encode(&version));
    }
    Ok(())
}

/// Returns the row with its description as of the end of a line.
pub(super) fn as_of(
    rows: &dyn Rows,
    line: &Line,
    entity: &EntityRef,
    row: EntityRow,
) -> Result<EntityRow, Error> {
    let Some(end) = line.before() else {
        return Ok(row);
    };
    let prefix = keys::rows_of_entity(b'h', &line.session, entity);
    let low = [prefix.as_slice(), &end.0.to_be_bytes()].concat();
    let high = after_prefix(&prefix);
    let mut found: Option<Version> = None;
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        found = Some(keys::decode(key, value)?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(match found {
        None => row,
        Some(Version {
            name,
            id,
            slug,
            aliases,
            parent,
            data,
        }) => EntityRow {
            name,
            id,
            slug,
            aliases,
            parent,
            data,
            ..row
        },
    })
}
