//! The most relevant entities of a working set, with their known data.

use lore::protocol::names::WhyLeftOut;

use super::candidates::Topic;
use super::{ENTITIES, SessionSnapshot};
use crate::clock::Micros;
use crate::entities::{self, EntityRef, EntityRow, ScoredEntity, relevance};
use crate::error::Refusal;
use crate::events;
use crate::events::entities::EntityData;
use crate::events::packs::Item;
use crate::log::{Position, RecordKey};
use crate::packs::assembly::{Omission, PackEntity, Relation, summary};
use crate::store::Error;

/// Maximum number of listed relations of an entity.
const RELATIONS: usize = 6;

/// Number of entities up to which entities beside the topic are added.
const OTHERS: usize = 3;

const HOUR_MICROS: Micros = 3600 * 1_000_000;
/// Ages of a mention after which the score drops.
const FALLS_AFTER: [Micros; 2] = [HOUR_MICROS, 6 * HOUR_MICROS];

/// The entity kinds of NetBox.
const NETBOX: &str = "device site rack manufacturer device_type device_role interface cable power_port \
    power_outlet power_feed ip_address prefix vlan vrf tenant tenant_group contact cluster virtual_machine \
    vm_interface";

/// The retrieved entities.
pub struct Entities {
    /// Entities, the most relevant first.
    pub known: Vec<PackEntity>,
    /// Relevant entities that are not included.
    pub left_out: Vec<Omission>,
    /// Time until which the result stays the same.
    pub until: Micros,
}

/// Retrieves the most relevant entities of a session's working set: those that the message names (`named`), those of
/// the topic, and only a few others.
pub fn of(
    of: &SessionSnapshot<'_>,
    named: &[EntityRef],
    topic: &Topic,
    now: Micros,
) -> Result<Entities, Refusal> {
    let mut left_out = Vec::new();
    let mut in_mind = Vec::new();
    for (at, one) in scored(of, named, now)?.into_iter().enumerate() {
        let last = Position(one.row.last);
        if named.contains(&one.entity) || of.working.has_entity(last, &one.entity) {
            in_mind.push(one);
        } else if at < ENTITIES {
            let source = of.source(Item::Entity(one.entity), last);
            left_out.push(super::left_out(&source, WhyLeftOut::Pruned));
        }
    }
    let scored = by_topic(in_mind, |one| named.contains(&one.entity), topic);
    let until = scored.iter().map(|one| changes(&one.row, now)).min();
    let known = scored.into_iter().map(|one| known(of, one, now));
    Ok(Entities {
        known: known.collect::<Result<_, _>>()?,
        left_out,
        until: until.unwrap_or(Micros::MAX),
    })
}

/// Selects entities: first those that are named, then those of the topic, then a few others; each in the given order.
pub fn by_topic(
    scored: Vec<ScoredEntity>,
    is_named: impl Fn(&ScoredEntity) -> bool,
    topic: &Topic,
) -> Vec<ScoredEntity> {
    let (mut named, others): (Vec<_>, Vec<_>) = scored.into_iter().partition(|one| is_named(one));
    let is_of_topic = |one: &ScoredEntity| topic.has(&one.row.name, Position(one.row.last));
    let (of_topic, others): (Vec<_>, Vec<_>) = others.into_iter().partition(is_of_topic);
    named.extend(of_topic);
    let room = OTHERS.saturating_sub(named.len());
    named.extend(others.into_iter().take(room));
    named.truncate(ENTITIES);
    named
}

/// Returns all candidates, the most relevant first.
pub fn scored(
    of: &SessionSnapshot<'_>,
    named: &[EntityRef],
    now: Micros,
) -> Result<Vec<ScoredEntity>, Refusal> {
    let is_enough = |found: &[(EntityRef, EntityRow)], fewer_than: u64| {
        let in_mind = found.iter().filter(|(entity, row)| {
            of.working.has_entity(Position(row.last), entity)
                && entities::surpasses(row, fewer_than, now)
        });
        in_mind.count() >= ENTITIES
    };
    let named = entities::roots(of.state, &of.lines, named)?;
    let mut found = entities::ranked(of.state, &of.lines, ENTITIES, &is_enough)?;
    let kept = of.working.pruned.iter();
    let kept: Vec<EntityRef> = kept
        .flat_map(|(_, row)| row.pruned.entities.iter().cloned())
        .collect();
    let kept = entities::roots(of.state, &of.lines, &kept)?;
    for entity in named.iter().chain(&kept) {
        if !found.iter().any(|(known, _)| known == entity)
            && let Some(row) = entities::get(of.state, &of.lines, entity)?
        {
            found.push((entity.clone(), row));
        }
    }
    let mut scored: Vec<ScoredEntity> = found
        .into_iter()
        .map(|(entity, row)| ScoredEntity {
            score: relevance::pack_score(row.mentions, row.last_at, named.contains(&entity), now),
            entity,
            row,
        })
        .collect();
    entities::sort(&mut scored);
    Ok(scored)
}

/// Returns the time at which an entity's score drops or its data expires.
pub fn changes(row: &EntityRow, now: Micros) -> Micros {
    let falls = FALLS_AFTER.iter();
    // The last microsecond of the interval still belongs to it.
    let falls = falls.map(|after| row.last_at.saturating_add(*after).saturating_add(1));
    let expires = row.data.as_ref().map(|data| data.expires);
    let next = falls.chain(expires).filter(|time| *time > now).min();
    next.unwrap_or(Micros::MAX)
}

/// Loads the details and relations of an entity.
pub fn known(
    of: &SessionSnapshot<'_>,
    scored: ScoredEntity,
    now: Micros,
) -> Result<PackEntity, Refusal> {
    let ScoredEntity { entity, row, .. } = scored;
    let relations = relations(of, &entity, &row)?;
    Ok(PackEntity {
        source: of.source(Item::Entity(entity.clone()), Position(row.last)),
        is_netbox: NETBOX.split(' ').any(|kind| kind == entity.kind),
        kind: entity.kind,
        details: details(of, &row, now)?,
        more_relations: row.relations.saturating_sub(relations.len() as u64),
        relations,
        name: row.name,
        id: row.id,
        mentions: row.mentions,
        last_mentioned: row.last_at,
    })
}

/// Returns a summary of the data that another system reported, while it is fresh.
fn details(
    of: &SessionSnapshot<'_>,
    row: &EntityRow,
    now: Micros,
) -> Result<Option<String>, Error> {
    let Some(data) = row.data.as_ref().filter(|data| data.expires > now) else {
        return Ok(None);
    };
    let (record, position) = (RecordKey(Position(data.record)), Position(data.position));
    let event = of.state.log().event(record, position)?;
    if event.payload.is_none() {
        return Ok(None);
    }
    let data = serde_json::from_str(&events::body::<EntityData>(&event)?.data);
    Ok(data.ok().as_ref().and_then(summary))
}

/// Lists the relations: the parent first, then the others by name.
fn relations(
    of: &SessionSnapshot<'_>,
    entity: &EntityRef,
    row: &EntityRow,
) -> Result<Vec<Relation>, Error> {
    let mut reported: Vec<(String, EntityRef)> = Vec::new();
    let parent = row.parent.clone();
    reported.extend(parent.map(|parent| ("parent".to_owned(), parent)));
    // One more because the parent is among them.
    for related in entities::related(of.state, &of.lines, entity, RELATIONS + 1)? {
        let one = (related.relation, related.to);
        if reported.len() < RELATIONS && !reported.contains(&one) {
            reported.push(one);
        }
    }
    let named = reported.into_iter().map(|(kind, to)| {
        let row = entities::get(of.state, &of.lines, &to)?;
        let name = row.map_or(to.key, |row| row.name);
        Ok(Relation { kind, name })
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = 100 * HOUR_MICROS;

    fn row(last_at: Micros, expires: Option<Micros>) -> EntityRow {
        EntityRow {
            name: "switch-nyc-01".to_owned(),
            id: None,
            slug: None,
            aliases: Vec::new(),
            mentions: 1,
            shared: None,
            first: 1,
            first_at: last_at,
            last: 1,
            last_at,
            relations: 0,
            parent: None,
            data: expires.map(|expires| crate::entities::DataRow {
                position: 2,
                record: 2,
                expires,
                resolver: "netbox".to_owned(),
            }),
        }
    }

    /// The result of [`changes`] is the first moment with a different score, to the microsecond.
    #[test]
    fn a_score_is_what_it_was_until_it_changes() {
        let score =
            |row: &EntityRow, now| relevance::pack_score(row.mentions, row.last_at, false, now);
        for age in [0, 1, HOUR_MICROS, HOUR_MICROS + 1, 6 * HOUR_MICROS] {
            let row = row(NOW - age, None);
            let change = changes(&row, NOW);
            let before = score(&row, NOW);
            assert!(
                (score(&row, change - 1) - before).abs() < f64::EPSILON,
                "{age}"
            );
            assert!(score(&row, change) < before, "{age}");
        }
        assert_eq!(
            changes(&row(NOW - 6 * HOUR_MICROS - 1, None), NOW),
            Micros::MAX
        );
    }

    #[test]
    fn data_that_expires_is_a_change() {
        assert_eq!(changes(&row(NOW, Some(NOW + 5)), NOW), NOW + 5);
        let old = NOW - 9 * HOUR_MICROS;
        assert_eq!(
            changes(&row(old, Some(NOW)), NOW),
            Micros::MAX,
            "it is expired"
        );
    }
}
