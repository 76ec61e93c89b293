//! Entities that another system confirmed: their names count in texts even if they are everyday words.
//!
//! Key: `v` session 0 kind 0 key. Value: the position (u64) of the first answer.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::{EntityFold, SPACE, keys};
use crate::events::entities::EntityRef;
use crate::log::Position;
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows, after_prefix};

/// Returns kind and key of the entities that another system confirmed to a session or to those whose past it shares.
pub fn confirmed(rows: &dyn Rows, lines: &[Line]) -> Result<HashSet<(String, String)>, Error> {
    let mut found = HashSet::new();
    for line in lines {
        let low = keys::prefix(b'v', &line.session);
        let high = after_prefix(&low);
        rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
            if Position(keys::decode_number(key, value)?) <= line.up_to {
                let entity = keys::entity(key, low.len())?;
                found.insert((entity.kind, entity.key));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// Notes that another system confirmed an entity.
pub(super) fn note(folding: &mut EntityFold<'_>, entity: &EntityRef) -> Result<(), Error> {
    let key = keys::of_entity(b'v', folding.session, &entity.kind, &entity.key);
    if folding.rows.get(SPACE, &key)?.is_none() {
        let position = folding.event.position().0;
        folding.rows.put(SPACE, &key, &position.to_be_bytes());
    }
    Ok(())
}
