//! Lists of entities by rank, by kind and by name.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use super::entity::{EntityRow, as_of, get_alone};
use super::{EntityFold, Merges, SPACE, get, keys};
use crate::events::entities::EntityRef;
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows, after_prefix};

/// Entity with its row.
pub type EntityEntry = (EntityRef, EntityRow);

fn rank_key(session: &str, entity: &EntityRef, row: &EntityRow) -> Vec<u8> {
    let mut key = keys::prefix(b'o', session);
    // The greatest first.
    key.extend((!row.mentions).to_be_bytes());
    key.extend((!row.last).to_be_bytes());
    keys::push_entity(&mut key, entity);
    key
}

/// Moves an entity to its new rank.
pub(super) fn move_rank(
    folding: &mut EntityFold<'_>,
    entity: &EntityRef,
    before: Option<&EntityRow>,
    row: &EntityRow,
) {
    if let Some(before) = before {
        if (before.mentions, before.last) == (row.mentions, row.last) {
            return;
        }
        let key = rank_key(folding.session, entity, before);
        folding.rows.remove(SPACE, &key);
    }
    let key = rank_key(folding.session, entity, row);
    folding.rows.put(SPACE, &key, &[]);
}

/// Adds a new entity to the session's lists.
pub(super) fn begin(folding: &mut EntityFold<'_>, entity: &EntityRef) -> Result<(), Error> {
    let key = keys::of_kind(b'c', folding.session, &entity.kind);
    let count = keys::number(folding.rows, &key)? + 1;
    folding.rows.put(SPACE, &key, &count.to_be_bytes());
    if count == 1 {
        let key = keys::of_kind(b'k', folding.session, &entity.kind);
        folding.rows.put(SPACE, &key, &[]);
    }
    Ok(())
}

/// Returns the only line of a session whose rows tell all: no fork, and nothing merged.
fn only_line<'l>(rows: &dyn Rows, lines: &'l [Line]) -> Result<Option<&'l Line>, Error> {
    Ok(match lines {
        [line] if Merges::of(rows, lines)?.is_empty() => Some(line),
        _ => None,
    })
}

/// Returns the number of entities of each kind that a session knows.
pub fn kinds(rows: &dyn Rows, lines: &[Line]) -> Result<BTreeMap<String, u64>, Error> {
    let mut found = BTreeMap::new();
    let Some(line) = only_line(rows, lines)? else {
        walk(rows, lines, None, &mut |entity, _| {
            *found.entry(entity.kind).or_default() += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        return Ok(found);
    };
    let low = keys::prefix(b'k', &line.session);
    rows.scan(
        SPACE,
        &low,
        &after_prefix(&low),
        Direction::Forward,
        &mut |key, _| {
            let [kind] = keys::texts::<1>(key, low.len())?;
            // Stored apart from the kind's row: a scan reads all recently written versions of a row.
            let count = keys::number(rows, &keys::of_kind(b'c', &line.session, kind))?;
            found.insert(kind.to_owned(), count);
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Returns the number of entities that a session knows.
pub fn count(rows: &dyn Rows, lines: &[Line]) -> Result<u64, Error> {
    Ok(kinds(rows, lines)?.values().sum())
}

/// Visits the entities of a session, optionally of one kind, in order of kind and key. In a fork, shared entities
/// follow its own. Entities that are one are visited once. `Break` stops the walk.
pub fn walk(
    rows: &dyn Rows,
    lines: &[Line],
    kind: Option<&str>,
    visit: &mut dyn FnMut(EntityRef, EntityRow) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let merges = Merges::of(rows, lines)?;
    let mut seen: HashSet<EntityRef> = HashSet::new();
    let is_fork = lines.len() > 1;
    for (at, line) in lines.iter().enumerate() {
        let from_here = lines.get(at..).unwrap_or_default();
        let start = keys::prefix(b'e', &line.session);
        let low = match kind {
            None => start.clone(),
            Some(kind) => {
                let mut low = keys::of_kind(b'e', &line.session, kind);
                low.push(0);
                low
            }
        };
        let mut is_over = false;
        rows.scan(
            SPACE,
            &low,
            &after_prefix(&low),
            Direction::Forward,
            &mut |key, value| {
                let entity = keys::entity(key, start.len())?;
                if is_fork && seen.contains(&entity) {
                    return Ok(ControlFlow::Continue(()));
                }
                let row = keys::decode(key, value)?;
                let Some(mut row) = as_of(rows, from_here, &entity, row)? else {
                    return Ok(ControlFlow::Continue(()));
                };
                if is_fork {
                    seen.insert(entity.clone());
                }
                if !merges.is_empty() {
                    if merges.root(&entity) != entity {
                        return Ok(ControlFlow::Continue(()));
                    }
                    for member in merges.all_of(&entity).into_iter().skip(1) {
                        if let Some(other) = get_alone(rows, lines, &member)? {
                            row = row.joined(other);
                        }
                    }
                }
                let flow = visit(entity, row)?;
                is_over = flow == ControlFlow::Break(());
                Ok(flow)
            },
        )?;
        if is_over {
            break;
        }
    }
    Ok(())
}

/// Returns at most `each` entities of a session for each number of mentions, the last mentioned first. For every
/// score that grows with mentions and recency, the `each` greatest are among them. The other entities are not
/// read, unless the session is a fork.
///
/// `is_enough` decides whether the entities found suffice if all others have fewer mentions than the given
/// number.
pub fn ranked(
    rows: &dyn Rows,
    lines: &[Line],
    each: usize,
    is_enough: &dyn Fn(&[EntityEntry], u64) -> bool,
) -> Result<Vec<EntityEntry>, Error> {
    let mut found = Vec::new();
    let Some(line) = only_line(rows, lines)? else {
        walk(rows, lines, None, &mut |entity, row| {
            found.push((entity, row));
            Ok(ControlFlow::Continue(()))
        })?;
        return Ok(found);
    };
    let prefix = keys::prefix(b'o', &line.session);
    let end = after_prefix(&prefix);
    let mut low = prefix.clone();
    loop {
        let mut level: Option<[u8; 8]> = None;
        let mut entities: Vec<EntityRef> = Vec::new();
        rows.scan(SPACE, &low, &end, Direction::Forward, &mut |key, _| {
            let mentions = key
                .get(prefix.len()..)
                .and_then(|rest| rest.first_chunk::<8>())
                .ok_or_else(|| Error::corrupt(SPACE.name(), key, "not a rank"))?;
            if *level.get_or_insert(*mentions) != *mentions || entities.len() == each {
                return Ok(ControlFlow::Break(()));
            }
            entities.push(keys::entity(key, prefix.len() + 16)?);
            Ok(ControlFlow::Continue(()))
        })?;
        let Some(level) = level else { break };
        for entity in entities {
            if let Some(row) = get(rows, lines, &entity)? {
                found.push((entity, row));
            }
        }
        let level = u64::from_be_bytes(level);
        // Until compaction, a scan to the next level passes all entities that ever were on it.
        if is_enough(&found, !level) {
            break;
        }
        // The next lower number of mentions: keys store the inverse, so it is the next greater key.
        let Some(next) = level.checked_add(1) else {
            break;
        };
        low = prefix.clone();
        low.extend(next.to_be_bytes());
    }
    Ok(found)
}
