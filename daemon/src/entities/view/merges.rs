//! Entities that turned out to be one. Their rows stay apart, so that a merge can be undone; readers join them.
//!
//! Key: `a` session 0 position (u64) place (u32), in the order of the events. Value: [`MergeRow`]. In a fork, the merges
//! of its parent up to the fork come first.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{EntityFold, SPACE, keys};
use crate::events::entities::{EntityMerge, EntityRef};
use crate::log::codec;
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows};

/// Maximum number of merges between an entity and the one that stands for it.
const DEPTH_MAX: usize = 32;

/// A merge, or its end.
#[derive(Serialize, Deserialize)]
struct MergeRow {
    merge: EntityMerge,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_undone: bool,
}

/// The merges of a session.
#[derive(Default)]
pub struct Merges {
    /// Merges in force, by the entity that belongs to another.
    of: HashMap<EntityRef, EntityMerge>,
    /// Merges that were undone, and do not happen again by the same evidence.
    undone: HashSet<EntityMerge>,
}

impl Merges {
    /// Reads the merges of a session and of those whose past it shares.
    pub fn of(rows: &dyn Rows, lines: &[Line]) -> Result<Self, Error> {
        let mut merges = Self::default();
        // The oldest first: a session follows its parent.
        for line in lines.iter().rev() {
            let low = keys::prefix(b'a', &line.session);
            let high = keys::end_of_line(line, &low);
            rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
                let row: MergeRow = keys::decode(key, value)?;
                merges.take(row.merge, row.is_undone);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(merges)
    }

    /// Adds a merge or its end.
    pub fn take(&mut self, merge: EntityMerge, is_undone: bool) {
        if is_undone {
            self.of
                .retain(|_, known| known.from != merge.from || known.into != merge.into);
            self.undone.insert(merge);
        } else if self.root(&merge.from) != self.root(&merge.into) {
            self.of.insert(merge.from.clone(), merge);
        }
    }

    /// Reports whether nothing is merged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Reports whether a merge was undone: the same evidence does not merge these entities again.
    #[must_use]
    pub fn was_undone(&self, merge: &EntityMerge) -> bool {
        let swapped = EntityMerge {
            from: merge.into.clone(),
            into: merge.from.clone(),
            ..merge.clone()
        };
        self.undone.contains(merge) || self.undone.contains(&swapped)
    }

    /// Returns the entity that stands for all those merged with this one.
    #[must_use]
    pub fn root(&self, entity: &EntityRef) -> EntityRef {
        let mut root = entity;
        for _ in 0..DEPTH_MAX {
            match self.of.get(root) {
                Some(merge) => root = &merge.into,
                None => break,
            }
        }
        root.clone()
    }

    /// Returns an entity with all that are merged with it, the one that stands for them first.
    #[must_use]
    pub fn all_of(&self, entity: &EntityRef) -> Vec<EntityRef> {
        if self.is_empty() {
            return vec![entity.clone()];
        }
        let root = self.root(entity);
        let mut members: Vec<EntityRef> = self
            .of
            .keys()
            .filter(|one| **one != root && self.root(one) == root)
            .cloned()
            .collect();
        members.sort();
        members.insert(0, root);
        members
    }

    /// Returns the merges that an entity is part of.
    #[must_use]
    pub fn that_join(&self, entity: &EntityRef) -> Vec<EntityMerge> {
        let root = self.root(entity);
        let mut found: Vec<EntityMerge> = self
            .of
            .values()
            .filter(|merge| self.root(&merge.from) == root)
            .cloned()
            .collect();
        found.sort_by(|a, b| a.from.cmp(&b.from));
        found
    }

    /// Returns each merged entity with the one that stands for it.
    pub fn pairs(&self) -> impl Iterator<Item = (&EntityRef, EntityRef)> {
        self.of.keys().map(|one| (one, self.root(one)))
    }
}

/// Returns the entities that stand for these, each once.
pub fn roots(
    rows: &dyn Rows,
    lines: &[Line],
    entities: &[EntityRef],
) -> Result<Vec<EntityRef>, Error> {
    let merges = Merges::of(rows, lines)?;
    let mut found: Vec<EntityRef> = Vec::new();
    for entity in entities {
        let root = merges.root(entity);
        if !found.contains(&root) {
            found.push(root);
        }
    }
    Ok(found)
}

/// Folds merges, or their ends.
pub(super) fn note(folding: &mut EntityFold<'_>, merges: &[EntityMerge], is_undone: bool) {
    for (place, merge) in (0_u32..).zip(merges) {
        let mut key = keys::prefix(b'a', folding.session);
        key.extend(folding.event.position().0.to_be_bytes());
        key.extend(place.to_be_bytes());
        let row = MergeRow {
            merge: merge.clone(),
            is_undone,
        };
        folding.rows.put(SPACE, &key, &codec::encode(&row));
    }
}
