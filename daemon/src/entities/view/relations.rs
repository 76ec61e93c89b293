//! Relations of entities: parents, entities mentioned together, and relations recorded by hand. Each relation has
//! two rows, one per end.
//!
//! Key: `r` session 0 kind 0 key 0 relation 0 other's kind 0 other's key. Seen from the other end, the relation
//! begins with `<`. A repeated relation has, from one end, a row with `t` instead of `r`, then 0 and the position
//! (u64); its value is the number of repetitions (u64). So the count at any position is known.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{EntityFold, Merges, SPACE, keys};
use crate::events::entities::{EntitiesRelated, EntityRef};
use crate::log::{Position, codec};
use crate::rows::until;
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows, after_prefix};

/// Relation of a child to its parent; from the other end it is `<parent`, shown as `child`.
pub const PARENT: &str = "parent";
/// Relation of two entities that one text mentions: symmetric.
pub const MENTIONED_WITH: &str = "mentioned_with";

/// Relation of one entity to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationRow {
    /// Number of times the relation was recorded.
    pub count: u64,
    /// Position of the first time.
    pub first: u64,
    /// Position of the last time.
    pub last: u64,
}

/// Relation as returned to callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Relation name: `parent`, `child`, `mentioned_with`, or the name given by hand, with `<` before it if it was
    /// recorded from the other end.
    pub relation: String,
    /// Related entity.
    pub to: EntityRef,
    /// Number of times the relation was recorded.
    pub count: u64,
    /// Position of the last time.
    pub last: Position,
}

fn row_key(session: &str, from: &EntityRef, relation: &str, to: &EntityRef) -> Vec<u8> {
    let mut key = keys::rows_of_entity(b'r', session, from);
    key.extend(relation.as_bytes());
    key.push(0);
    keys::push_entity(&mut key, to);
    key
}

/// Returns at most `limit` relations of an entity in order of their names, including those that a fork shares and
/// those of entities merged with it.
pub fn related(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
    limit: usize,
) -> Result<Vec<Related>, Error> {
    let merges = Merges::of(rows, lines)?;
    if merges.is_empty() {
        return related_alone(rows, lines, entity, limit);
    }
    let root = merges.root(entity);
    let mut found: Vec<Related> = Vec::new();
    for member in merges.all_of(entity) {
        for mut one in related_alone(rows, lines, &member, limit)? {
            one.to = merges.root(&one.to);
            if one.to == root {
                continue;
            }
            let known = found
                .iter_mut()
                .find(|known| known.relation == one.relation && known.to == one.to);
            match known {
                Some(known) => {
                    known.count += one.count;
                    known.last = known.last.max(one.last);
                }
                None => found.push(one),
            }
        }
    }
    found.sort_by(|a, b| (&a.relation, &a.to).cmp(&(&b.relation, &b.to)));
    found.truncate(limit);
    Ok(found)
}

fn related_alone(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
    limit: usize,
) -> Result<Vec<Related>, Error> {
    let mut found: Vec<Related> = Vec::new();
    for line in lines {
        let mut of_line = Vec::new();
        walk(rows, line, entity, &mut |relation, to, row| {
            if Position(row.first) > line.up_to {
                return Ok(ControlFlow::Continue(()));
            }
            of_line.push((relation.to_owned(), to, row));
            Ok(until(of_line.len() == limit))
        })?;
        for (relation, to, row) in of_line {
            let (count, last) = if Position(row.last) <= line.up_to {
                (row.count, row.last)
            } else {
                let again = repeated(rows, line, entity, &relation, &to)?;
                (1 + again.count, again.last.max(row.first))
            };
            let relation = sanitized(relation);
            let last = Position(last);
            match found
                .iter_mut()
                .find(|known| known.relation == relation && known.to == to)
            {
                Some(known) => known.count += count,
                None => found.push(Related {
                    relation,
                    to,
                    count,
                    last,
                }),
            }
        }
    }
    found.sort_by(|a, b| (&a.relation, &a.to).cmp(&(&b.relation, &b.to)));
    found.truncate(limit);
    Ok(found)
}

/// Returns the relation name as shown to callers.
fn sanitized(relation: String) -> String {
    if relation.strip_prefix('<') == Some(PARENT) {
        "child".to_owned()
    } else {
        relation
    }
}

type RelationVisitor<'v> =
    &'v mut dyn FnMut(&str, EntityRef, RelationRow) -> Result<ControlFlow<()>, Error>;

/// Visits the relations of an entity in the session of a line, including those newer than the line.
fn walk(
    rows: &dyn Rows,
    line: &Line,
    entity: &EntityRef,
    visit: RelationVisitor<'_>,
) -> Result<(), Error> {
    let low = keys::rows_of_entity(b'r', &line.session, entity);
    rows.scan(
        SPACE,
        &low,
        &after_prefix(&low),
        Direction::Forward,
        &mut |key, value| {
            let [relation, kind, to] = keys::texts::<3>(key, low.len())?;
            let to = EntityRef {
                kind: kind.to_owned(),
                key: to.to_owned(),
            };
            visit(relation, to, keys::decode(key, value)?)
        },
    )
}

/// Returns the number of relations of an entity at the end of the first line; `stored` is the current number.
pub(super) fn count(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
    stored: u64,
) -> Result<u64, Error> {
    let Some((line, shared)) = lines.split_first() else {
        return Ok(0);
    };
    if line.before().is_none() {
        return Ok(stored);
    }
    let mut later = 0;
    walk(rows, line, entity, &mut |relation, to, row| {
        let is_later = Position(row.first) > line.up_to;
        later += u64::from(is_later && !is_known(rows, shared, entity, relation, &to)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(stored.saturating_sub(later))
}

/// Returns whether one of these lines holds a relation.
fn is_known(
    rows: &dyn Rows,
    lines: &[Line],
    from: &EntityRef,
    relation: &str,
    to: &EntityRef,
) -> Result<bool, Error> {
    for line in lines {
        let key = row_key(&line.session, from, relation, to);
        if let Some(value) = rows.get(SPACE, &key)?
            && Position(keys::decode::<RelationRow>(&key, &value)?.first) <= line.up_to
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the prefix of the rows of a relation's repetitions, the same for both ends.
fn again_prefix(session: &str, from: &EntityRef, relation: &str, to: &EntityRef) -> Vec<u8> {
    let (from, relation, to) = match relation.strip_prefix('<') {
        Some(relation) => (to, relation, from),
        None if relation == MENTIONED_WITH && to < from => (to, relation, from),
        None => (from, relation, to),
    };
    let mut key = row_key(session, from, relation, to);
    if let Some(tag) = key.first_mut() {
        *tag = b't';
    }
    key.push(0);
    key
}

/// Number of repetitions of a relation, and the position of the last.
#[derive(Default)]
struct RepeatCount {
    count: u64,
    last: u64,
}

/// Returns the repetitions of a relation up to the end of a line.
fn repeated(
    rows: &dyn Rows,
    line: &Line,
    from: &EntityRef,
    relation: &str,
    to: &EntityRef,
) -> Result<RepeatCount, Error> {
    let low = again_prefix(&line.session, from, relation, to);
    let high = keys::end_of_line(line, &low);
    let mut again = RepeatCount::default();
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        again.count += keys::decode_number(key, value)?;
        let at = key.last_chunk::<8>().copied().unwrap_or_default();
        again.last = u64::from_be_bytes(at);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(again)
}

impl EntityFold<'_> {
    /// Records that one entity belongs to another.
    pub(super) fn belongs(&mut self, child: &EntityRef, parent: &EntityRef) -> Result<(), Error> {
        if child == parent {
            return Ok(());
        }
        self.record(child, PARENT, parent, true)?;
        let mut touched = self.touch(child, &child.key)?;
        if touched.row.parent.as_ref() != Some(parent) {
            touched.row.parent = Some(parent.clone());
            self.put(child, &touched)?;
        }
        Ok(())
    }

    /// Records that one text mentions all of these entities.
    pub(super) fn mentioned_together(&mut self, entities: &[EntityRef]) -> Result<(), Error> {
        // Each entity's own row is written once, however many of its relations are new.
        let mut new: Vec<u64> = vec![0; entities.len()];
        for (at, one) in entities.iter().enumerate() {
            for (beside, other) in entities.iter().enumerate().skip(at + 1) {
                let reported = self.record_rows(one, MENTIONED_WITH, other, MENTIONED_WITH)?;
                for end in [at, beside] {
                    if let Some(new) = new.get_mut(end) {
                        *new += reported.unwrap_or(0);
                    }
                }
            }
        }
        for (entity, new) in entities.iter().zip(new).filter(|(_, new)| *new > 0) {
            self.relates_to_more(entity, new)?;
        }
        Ok(())
    }

    /// Records a relation given by hand.
    pub(super) fn relate_by_hand(&mut self, related: &EntitiesRelated) -> Result<(), Error> {
        for (entity, name) in [
            (&related.from, &related.from_name),
            (&related.to, &related.to_name),
        ] {
            let touched = self.touch(entity, name)?;
            if touched.own.is_none() {
                self.put(entity, &touched)?;
            }
        }
        if related.relation == PARENT {
            return self.belongs(&related.from, &related.to);
        }
        // `mentioned_with` is symmetric.
        let is_directed = related.relation != MENTIONED_WITH;
        self.record(&related.from, &related.relation, &related.to, is_directed)
    }

    /// Records a relation. A directed relation is inverted at the other end.
    fn record(
        &mut self,
        from: &EntityRef,
        relation: &str,
        to: &EntityRef,
        is_directed: bool,
    ) -> Result<(), Error> {
        let back = if is_directed {
            format!("<{relation}")
        } else {
            relation.to_owned()
        };
        if let Some(new) = self.record_rows(from, relation, to, &back)? {
            self.relates_to_more(from, new)?;
            // Only a relation of an entity with itself has the same row at both ends.
            if is_directed || from != to {
                self.relates_to_more(to, new)?;
            }
        }
        Ok(())
    }

    /// Writes both rows of a relation. If it is new in the session, returns the number of new relations of either
    /// end: none if a fork's parent knew it.
    fn record_rows(
        &mut self,
        from: &EntityRef,
        relation: &str,
        to: &EntityRef,
        back: &str,
    ) -> Result<Option<u64>, Error> {
        let key = row_key(self.session, from, relation, to);
        let now = self.event.position().0;
        let (row, new) = match self.rows.get(SPACE, &key)? {
            Some(value) => {
                let row: RelationRow = keys::decode(&key, &value)?;
                self.note_again(from, relation, to)?;
                let (count, last) = (row.count + 1, now);
                (RelationRow { count, last, ..row }, None)
            }
            None => {
                let shared = self.lines.get(1..).unwrap_or_default();
                let is_new = !is_known(self.rows, shared, from, relation, to)?;
                let row = RelationRow {
                    count: 1,
                    first: now,
                    last: now,
                };
                (row, Some(u64::from(is_new)))
            }
        };
        // Both ends have the same value.
        let row = codec::encode(&row);
        self.rows.put(SPACE, &key, &row);
        let key = row_key(self.session, to, back, from);
        self.rows.put(SPACE, &key, &row);
        Ok(new)
    }

    /// Adds new relations to an entity's count; records the entity if it was unknown.
    fn relates_to_more(&mut self, entity: &EntityRef, new: u64) -> Result<(), Error> {
        let mut touched = self.touch(entity, &entity.key)?;
        touched.row.relations += new;
        self.put(entity, &touched)
    }

    /// Records that this event repeats a relation.
    fn note_again(
        &mut self,
        from: &EntityRef,
        relation: &str,
        to: &EntityRef,
    ) -> Result<(), Error> {
        let mut key = again_prefix(self.session, from, relation, to);
        key.extend(self.event.position().0.to_be_bytes());
        let times = keys::number(self.rows, &key)?;
        self.rows.put(SPACE, &key, &(times + 1).to_be_bytes());
        Ok(())
    }
}
