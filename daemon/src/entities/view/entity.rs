//! Row of an entity in a session, and its mentions.

use std::ops::ControlFlow;

use lored_recognise::canonical_key;
use serde::{Deserialize, Serialize};

use super::{EntityFold, Merges, SPACE, confirmed, keys, lists, names, relations, versions};
use crate::clock::Micros;
use crate::events::entities::{EntityRef, EntityResolved, Mention, Source};
use crate::log::{Position, RecordKey, codec};
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows};

/// Maximum number of other names of an entity.
const ALIASES_MAX: usize = 8;

/// Entity as a session knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityRow {
    /// Name as last written.
    pub name: String,
    /// Id assigned by another system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name in URLs of that system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Other names: titles, numbers, earlier names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Number of messages, steps and tool executions that mention it.
    pub mentions: u64,
    /// State taken from the parent, if the row began in a fork as a copy of the parent's row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Shared>,
    /// Position of the first mention.
    pub first: u64,
    /// Time of the first mention.
    pub first_at: Micros,
    /// Position of the last mention.
    pub last: u64,
    /// Time of the last mention.
    pub last_at: Micros,
    /// Number of relations, including parents and children.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub relations: u64,
    /// Parent entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntityRef>,
    /// Location of the data from another system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataRow>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// State of the parent's row on which a fork's row is based.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Position of the first event of the fork that touches the entity.
    pub at: u64,
    /// Mentions before that event.
    pub mentions: u64,
    /// Position of the last mention before that event.
    pub last: u64,
    /// Time of the last mention before that event.
    pub last_at: Micros,
}

impl EntityRow {
    /// Returns the number of mentions before the fork, in the parent's session.
    #[must_use]
    pub fn inherited(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.mentions)
    }

    /// Returns the row of two entities that are one. What was said last of a field applies.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        let (old, new) = if self.last <= other.last {
            (self, other)
        } else {
            (other, self)
        };
        let mut aliases = new.aliases;
        // The names of both remain names of the one.
        for name in old.aliases.into_iter().chain([old.name]) {
            if name != new.name && !aliases.contains(&name) {
                aliases.push(name);
            }
        }
        let shared = match (old.shared, new.shared) {
            (Some(a), Some(b)) => Some(Shared {
                at: a.at.min(b.at),
                mentions: a.mentions + b.mentions,
                last: a.last.max(b.last),
                last_at: a.last_at.max(b.last_at),
            }),
            (one, other) => one.or(other),
        };
        Self {
            name: new.name,
            aliases,
            shared,
            mentions: old.mentions + new.mentions,
            relations: old.relations + new.relations,
            first: old.first.min(new.first),
            first_at: old.first_at.min(new.first_at),
            last: new.last,
            last_at: new.last_at,
            id: new.id.or(old.id),
            slug: new.slug.or(old.slug),
            parent: new.parent.or(old.parent),
            data: new.data.or(old.data),
        }
    }

    /// Returns the position of the first event of the session that touches the entity.
    fn began(&self) -> Position {
        Position(self.shared.as_ref().map_or(self.first, |shared| shared.at))
    }
}

/// Location of the answer of another system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRow {
    /// Position of the event that holds the answer.
    pub position: u64,
    /// Record of the event.
    pub record: u64,
    /// Time until which the answer is fresh.
    pub expires: Micros,
    /// Resolver that returned it.
    pub resolver: String,
}

/// Mention of an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionRow {
    /// Source that contains the mention.
    pub source: Source,
    /// Start and end of the mention in the source, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u32, u32)>,
    /// Time of the mention.
    pub at: Micros,
}

/// Returns a session's own row of an entity.
fn own(rows: &dyn Rows, session: &str, entity: &EntityRef) -> Result<Option<EntityRow>, Error> {
    let key = keys::of_entity(b'e', session, &entity.kind, &entity.key);
    rows.get(SPACE, &key)?
        .map(|value| keys::decode(&key, &value))
        .transpose()
}

/// Returns an entity as a session knows it, including the state shared with its parent and the entities merged with
/// it.
pub fn get(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
) -> Result<Option<EntityRow>, Error> {
    let merges = Merges::of(rows, lines)?;
    let mut found: Option<EntityRow> = None;
    for member in merges.all_of(entity) {
        if let Some(row) = get_alone(rows, lines, &member)? {
            found = Some(match found {
                None => row,
                Some(known) => known.joined(row),
            });
        }
    }
    Ok(found)
}

/// Returns an entity without those merged with it.
pub fn get_alone(
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

/// Returns the row of the first line as of the end of that line; `None` if the line had no row of its own then.
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

/// Returns at most `limit` mentions of an entity, the newest first.
pub fn mentions_of(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
    limit: usize,
) -> Result<Vec<(Position, MentionRow)>, Error> {
    let members = Merges::of(rows, lines)?.all_of(entity);
    let mut found = Vec::new();
    for member in &members {
        let mut of_member = Vec::new();
        for line in lines {
            walk_mentions(
                rows,
                line,
                member,
                Direction::Backward,
                &mut |position, mention| {
                    if of_member.len() == limit {
                        return Ok(ControlFlow::Break(()));
                    }
                    of_member.push((position, mention));
                    Ok(ControlFlow::Continue(()))
                },
            )?;
        }
        found.extend(of_member);
    }
    if members.len() > 1 {
        found.sort_by(|(a, _), (b, _)| b.cmp(a));
        found.truncate(limit);
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

/// Entity touched by an event.
pub(super) struct AffectedEntity {
    /// The session's own row before the event.
    pub(super) own: Option<EntityRow>,
    /// The row after the event.
    pub(super) row: EntityRow,
}

impl EntityFold<'_> {
    /// Returns an entity's row before this event, or a new row.
    pub(super) fn touch(&self, entity: &EntityRef, name: &str) -> Result<AffectedEntity, Error> {
        let own = own(self.rows, self.session, entity)?;
        if let Some(row) = own.clone() {
            return Ok(AffectedEntity { own, row });
        }
        let shared = self.lines.get(1..).unwrap_or_default();
        if let Some(row) = get_alone(self.rows, shared, entity)? {
            // First touch in a fork: the row continues the parent's row.
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
            aliases: Vec::new(),
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

    /// Writes an entity's row and its list entries.
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
            Some(own) => {
                let is_renamed = canonical_key(&entity.kind, &own.name)
                    != canonical_key(&entity.kind, &row.name);
                if is_renamed || own.slug != row.slug || own.aliases != row.aliases {
                    names::begin(self, entity, row)?;
                }
                Ok(())
            }
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
        // A reference is not a name, and a misspelling is none either.
        let is_name = !matches!(
            mention.how,
            crate::events::entities::MentionSource::Reference
                | crate::events::entities::MentionSource::Near
        );
        if is_name {
            row.name.clone_from(&mention.name);
        }
        if mention.id.is_some() {
            row.id.clone_from(&mention.id);
        }
        if mention.slug.is_some() {
            row.slug.clone_from(&mention.slug);
        }
        for alias in &mention.aliases {
            if row.aliases.len() < ALIASES_MAX && !row.aliases.contains(alias) {
                row.aliases.push(alias.clone());
            }
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
        confirmed::note(self, entity)?;
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
