//! The row of one entity in one session, and where it is mentioned.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{EntityFold, SPACE, keys, lists, names, relations, versions};
use crate::clock::Micros;
use crate::events::entities::{EntityRef, EntityResolved, Mention, Source};
use crate::log::{Position, RecordKey, codec};
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows};

/// An entity as a session knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityRow {
    /// Its name, as it was written last.
    pub name: String,
    /// The id that another system gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name in addresses of that system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Messages, steps and tool executions that mention it.
    pub mentions: u64,
    /// What it goes on from, when it began as a fork's own row of what its parent knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Shared>,
    /// Position of the first mention.
    pub first: u64,
    /// Its time.
    pub first_at: Micros,
    /// Position of the last mention.
    pub last: u64,
    /// Its time.
    pub last_at: Micros,
    /// How many relations it has, parents and children among them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub relations: u64,
    /// What it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntityRef>,
    /// What another system said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataRow>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What the row of a fork goes on from: what its parent knew of the entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Position of the event by which the fork touched it first.
    pub at: u64,
    /// Mentions until then.
    pub mentions: u64,
    /// Position of the last one.
    pub last: u64,
    /// Its time.
    pub last_at: Micros,
}

impl EntityRow {
    /// Mentions of a parent's session, from before the fork.
    #[must_use]
    pub fn inherited(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.mentions)
    }

    /// Position of the event by which the session touched it first.
    fn began(&self) -> Position {
        Position(self.shared.as_ref().map_or(self.first, |shared| shared.at))
    }
}

/// Where the answer of another system is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRow {
    /// Position of the event that brought it.
    pub position: u64,
    /// Its record.
    pub record: u64,
    /// Until when it counts as fresh.
    pub expires: Micros,
    /// Who said so.
    pub resolver: String,
}

/// Where an entity is mentioned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionRow {
    /// In what.
    pub source: Source,
    /// Where in it, in bytes: start and end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u32, u32)>,
    /// When.
    pub at: Micros,
}

/// A session's own row of an entity.
fn own(rows: &dyn Rows, session: &str, entity: &EntityRef) -> Result<Option<EntityRow>, Error> {
    let key = keys::of_entity(b'e', session, &entity.kind, &entity.key);
    rows.get(SPACE, &key)?
        .map(|value| keys::decode(&key, &value))
        .transpose()
}

/// An entity as a session knows it, with what it shares of its parent's past.
pub fn get(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
) -> Result<Option<EntityRow>, Error> {
    for (at, line) in lines.iter().enumerate() {
        if let Some(row) = own(rows, &line.session, entity)?
            && let Some(row) = as_of(rows, lines.get(at..).unwrap_or_default(), entity, row)?
        {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// The row of the first line as it was at the end of that line; `None` when it had none of its own
/// then.
pub(super) fn as_of(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
    row: EntityRow,
) -> Result<Option<EntityRow>, Error> {
    let Some(line) = lines.first() else {
        return Ok(None);
    };
    if line.before().is_none() {
        return Ok(Some(row));
    }
    if row.began() > line.up_to {
        return Ok(None);
    }
    let mut row = versions::as_of(rows, line, entity, row)?;
    if Position(row.last) > line.up_to {
        (row.mentions, row.last, row.last_at) = match &row.shared {
            Some(shared) => (shared.mentions, shared.last, shared.last_at),
            None => (0, row.first, row.first_at),
        };
        let visit: MentionVisitor<'_> = &mut |position, mention| {
            row.mentions += 1;
            row.last = position.0;
            row.last_at = mention.at;
            Ok(ControlFlow::Continue(()))
        };
        walk_mentions(rows, line, entity, Direction::Forward, visit)?;
    }
    row.relations = relations::count(rows, lines, entity, row.relations)?;
    Ok(Some(row))
}

/// Where an entity is mentioned, the newest first, at most `limit`.
pub fn mentions_of(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
    limit: usize,
) -> Result<Vec<(Position, MentionRow)>, Error> {
    let mut found = Vec::new();
    for line in lines {
        walk_mentions(
            rows,
            line,
            entity,
            Direction::Backward,
            &mut |position, mention| {
                if found.len() == limit {
                    return Ok(ControlFlow::Break(()));
                }
                found.push((position, mention));
                Ok(ControlFlow::Continue(()))
            },
        )?;
    }
    Ok(found)
}

pub(super) type MentionVisitor<'v> =
    &'v mut dyn FnMut(Position, MentionRow) -> Result<ControlFlow<()>, Error>;

/// Visits the mentions of one line.
pub(super) fn walk_mentions(
    rows: &dyn Rows,
    line: &Line,
    entity: &EntityRef,
    direction: Direction,
    visit: MentionVisitor<'_>,
) -> Result<(), Error> {
    let low = keys::rows_of_entity(b'm', &line.session, entity);
    let high = keys::end_of_line(line, &low);
    rows.scan(SPACE, &low, &high, direction, &mut |key, value| {
        let position = key
            .get(low.len()..)
            .and_then(|rest| rest.first_chunk::<8>())
            .ok_or_else(|| Error::corrupt(SPACE.name(), key, "not a mention"))?;
        visit(
            Position(u64::from_be_bytes(*position)),
            keys::decode(key, value)?,
        )
    })
}

/// An entity that an event touches.
pub(super) struct AffectedEntity {
    /// The session's own row before.
    pub(super) own: Option<EntityRow>,
    /// The row as it becomes.
    pub(super) row: EntityRow,
}

impl EntityFold<'_> {
    /// An entity's row before this event, begun if there was none.
    pub(super) fn touch(&self, entity: &EntityRef, name: &str) -> Result<AffectedEntity, Error> {
        let own = own(self.rows, self.session, entity)?;
        if let Some(row) = own.clone() {
            return Ok(AffectedEntity { own, row });
        }
        let shared = self.lines.get(1..).unwrap_or_default();
        if let Some(row) = get(self.rows, shared, entity)? {
            // The first touch in a fork: it goes on from what its parent knew.
            let shared = Some(Shared {
                at: self.event.position().0,
                mentions: row.mentions,
                last: row.last,
                last_at: row.last_at,
            });
            let row = EntityRow { shared, ..row };
            return Ok(AffectedEntity { own, row });
        }
        let header = &self.event.header;
        let row = EntityRow {
            name: name.to_owned(),
            id: None,
            slug: None,
            mentions: 0,
            shared: None,
            first: header.position.0,
            first_at: header.happened_at(),
            last: header.position.0,
            last_at: header.happened_at(),
            relations: 0,
            parent: None,
            data: None,
        };
        Ok(AffectedEntity { own, row })
    }

    /// Puts an entity's row, and what lists say of it.
    pub(super) fn put(
        &mut self,
        entity: &EntityRef,
        touched: &AffectedEntity,
    ) -> Result<(), Error> {
        let AffectedEntity { own, row } = touched;
        if let Some(own) = own
            .as_ref()
            .filter(|own| own.began() != self.event.position())
        {
            versions::keep(self, entity, own, row)?;
        }
        let key = keys::of_entity(b'e', self.session, &entity.kind, &entity.key);
        self.rows.put(SPACE, &key, &codec::encode(row));
        lists::move_rank(self, entity, own.as_ref(), row);
        match own {
            Some(_) => Ok(()),
            None => {
                lists::begin(self, entity)?;
                names::begin(self, entity, row)
            }
        }
    }

    pub(super) fn mention_one(
        &mut self,
        source: &Source,
        mention: &Mention,
        place: u32,
    ) -> Result<(), Error> {
        let entity = mention.entity();
        let mut touched = self.touch(&entity, &mention.name)?;
        let row = &mut touched.row;
        let header = &self.event.header;
        row.mentions += 1;
        row.last = header.position.0;
        row.last_at = header.happened_at();
        // A reference is no name.
        if mention.how != crate::events::entities::MentionSource::Reference {
            row.name.clone_from(&mention.name);
        }
        if mention.id.is_some() {
            row.id.clone_from(&mention.id);
        }
        if mention.slug.is_some() {
            row.slug.clone_from(&mention.slug);
        }
        self.put(&entity, &touched)?;
        let header = &self.event.header;
        let mut key = keys::rows_of_entity(b'm', self.session, &entity);
        key.extend(header.position.0.to_be_bytes());
        key.extend(place.to_be_bytes());
        let mention = MentionRow {
            source: source.clone(),
            span: mention.span,
            at: header.happened_at(),
        };
        self.rows.put(SPACE, &key, &codec::encode(&mention));
        Ok(())
    }

    pub(super) fn resolve(
        &mut self,
        resolved: &EntityResolved,
        record: RecordKey,
    ) -> Result<(), Error> {
        let entity = &resolved.entity;
        let mut touched = self.touch(entity, &resolved.name)?;
        let row = &mut touched.row;
        row.name.clone_from(&resolved.name);
        row.id.clone_from(&resolved.id);
        row.slug.clone_from(&resolved.slug);
        row.data = Some(DataRow {
            position: self.event.position().0,
            record: record.0.0,
            expires: resolved.expires,
            resolver: resolved.resolver.clone(),
        });
        self.put(entity, &touched)?;
        for near in &resolved.around {
            let around = near.entity();
            let mut touched = self.touch(&around, &near.name)?;
            let row = &mut touched.row;
            row.id = near.id.clone().or(row.id.take());
            row.slug = near.slug.clone().or(row.slug.take());
            self.put(&around, &touched)?;
            for parent in &near.parents {
                self.belongs(&around, parent)?;
            }
        }
        for parent in &resolved.parents {
            self.belongs(entity, parent)?;
        }
        Ok(())
    }
}
