//! How entities are related: what belongs to what, what is mentioned together, what was related by
//! hand. Each relation has two rows, one from either end.
//!
//! Key: `r` session 0 kind 0 key 0 relation 0 other's kind 0 other's key. The relation as seen from
//! the other end begins with `<`. A relation that is told again has, from one end, a row with `t` in
//! place of `r` and behind it 0 and the position (u64), with how many times (u64): so it is known how
//! often it was told by when.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{EntityFold, SPACE, keys};
use crate::events::entities::{EntitiesRelated, EntityRef};
use crate::log::{Position, codec};
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows, after_prefix};

/// A child's relation to what it belongs to; the other end's is `<parent`, shown as `child`.
pub const PARENT: &str = "parent";
/// Of two that one text mentions: the same from both ends.
pub const MENTIONED_WITH: &str = "mentioned_with";

/// A relation of one entity to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationRow {
    /// How often it was told.
    pub count: u64,
    /// Position of the first time.
    pub first: u64,
    /// Position of the last.
    pub last: u64,
}

/// A relation as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// How: `parent`, `child`, `mentioned_with`, or as it was named by hand (`<` before the name
    /// when it was told from the other end).
    pub relation: String,
    /// To what.
    pub to: EntityRef,
    /// How often it was told.
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

/// The relations of an entity, with those that a fork shares, at most `limit`, in order of their
/// names.
pub fn related(
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
            Ok(if of_line.len() == limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
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

/// The relation's name as it is shown.
fn sanitized(relation: String) -> String {
    if relation.strip_prefix('<') == Some(PARENT) {
        "child".to_owned()
    } else {
        relation
    }
}

type RelationVisitor<'v> =
    &'v mut dyn FnMut(&str, EntityRef, RelationRow) -> Result<ControlFlow<()>, Error>;

/// Visits the relations of an entity in the session of a line, also those that are newer than the line.
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

/// How many relations an entity has at the end of the first line; `stored` is how many it has by now.
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

/// The beginning of the rows that tell when a relation was told again, the same for both ends.
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

/// How often a relation was told again, and where last.
#[derive(Default)]
struct RepeatCount {
    count: u64,
    last: u64,
}

/// How often a relation was told again until the end of a line.
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
    /// One entity belongs to another.
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

    /// One text mentions all of these.
    pub(super) fn mentioned_together(&mut self, entities: &[EntityRef]) -> Result<(), Error> {
        // Each entity's own row is put once, however many relations are new to it.
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

    /// Somebody relates two.
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
        // Whoever mentions one with another mentions the other with the one.
        let is_directed = related.relation != MENTIONED_WITH;
        self.record(&related.from, &related.relation, &related.to, is_directed)
    }

    /// Tells a relation; one that is directed is seen the other way from the other end.
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
            // Only with itself the rows of both ends are one.
            if is_directed || from != to {
                self.relates_to_more(to, new)?;
            }
        }
        Ok(())
    }

    /// Puts both rows of a relation. When the session tells it for the first time: how many relations
    /// are new to either end, none if a fork's parent knew it.
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
        // Both ends tell the same.
        let row = codec::encode(&row);
        self.rows.put(SPACE, &key, &row);
        let key = row_key(self.session, to, back, from);
        self.rows.put(SPACE, &key, &row);
        Ok(new)
    }

    /// So many relations of an entity are new; from now on it is known, if it was not.
    fn relates_to_more(&mut self, entity: &EntityRef, new: u64) -> Result<(), Error> {
        let mut touched = self.touch(entity, &entity.key)?;
        touched.row.relations += new;
        self.put(entity, &touched)
    }

    /// Notes that this event tells a relation again, or once more.
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
