//! Entity operations of the operation table.

mod get;
mod list;
mod relate;
mod resolve;
mod unmerge;

use std::time::Duration;

use lore::protocol::Position;
use lore::protocol::entities::{Entity, EntityName};
use lored_recognise::{canonical_key, shown_name};

use super::feature::Entities;
use super::relevance::{is_high, is_recent};
use super::top_entities::ScoredEntity;
use super::view;
use crate::clock::{Micros, format_time};
use crate::error::Refusal;
use crate::events::entities::EntityRef;
use crate::hint::{Tool, hint};
use crate::operation::{Context, Operation};
use crate::sessions::Line;
use crate::store::{Error, Rows};

/// Entity operations.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<list::ListEntities>(),
    Operation::of::<get::GetEntity>(),
    Operation::of::<relate::RelateEntities>(),
    Operation::of::<resolve::ResolveEntity>(),
    Operation::of::<unmerge::UnmergeEntity>(),
];

/// Maximum time that `at_least` waits for the follower.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Maximum length of a kind and of a relation name, in bytes.
const KIND_BYTES_MAX: usize = 64;

/// Converts an entity row to its wire form.
pub fn entity(
    rows: &dyn Rows,
    lines: &[Line],
    scored: ScoredEntity,
    now: Micros,
) -> Result<Entity, Error> {
    let ScoredEntity { entity, row, score } = scored;
    let parent = row.parent.as_ref();
    Ok(Entity {
        name: row.name,
        id: row.id,
        slug: row.slug,
        mentions: row.mentions,
        first_mentioned: format_time(row.first_at),
        last_mentioned: format_time(row.last_at),
        // Two digits are precise enough and the same for all callers.
        relevance: (score * 100.0).round() / 100.0,
        high: is_high(score),
        recent: is_recent(row.last_at, now),
        parent: parent
            .map(|parent| named(rows, lines, parent))
            .transpose()?,
        resolved: row.data.is_some(),
        sessions: None,
        kind: entity.kind,
        key: entity.key,
    })
}

/// Returns an entity's kind and its name as last written.
pub fn named(rows: &dyn Rows, lines: &[Line], entity: &EntityRef) -> Result<EntityName, Error> {
    let row = view::get(rows, lines, entity)?;
    Ok(EntityName {
        kind: entity.kind.clone(),
        name: row.map_or_else(|| entity.key.clone(), |row| row.name),
    })
}

/// Rejects an invalid kind or relation name.
fn check_word(argument: &str, word: &str) -> Result<(), Refusal> {
    let is_word = !word.is_empty()
        && word.len() <= KIND_BYTES_MAX
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if is_word {
        return Ok(());
    }
    let shown: String = word.chars().take(KIND_BYTES_MAX).collect();
    Err(Refusal::invalid(format!(
        "`{argument}` is {shown:?}; it has 1 to {KIND_BYTES_MAX} lower-case letters, digits and `_`"
    ))
    .hint(hint!["Kinds are `device`, `file_path` and the like."; Tool::ListEntities, " shows those in use."]))
}

/// Returns the entity that a caller names, and its sanitised name.
fn entity_of(argument: &str, given: &EntityName) -> Result<(EntityRef, String), Refusal> {
    check_word(&format!("{argument}.kind"), &given.kind)?;
    let name = name_of(argument, &given.name)?;
    let entity = EntityRef {
        kind: given.kind.clone(),
        key: canonical_key(&given.kind, &given.name),
    };
    Ok((entity, name))
}

/// Returns a sanitised name.
fn name_of(argument: &str, given: &str) -> Result<String, Refusal> {
    shown_name(given).ok_or_else(|| {
        Refusal::invalid(format!(
            "the name in `{argument}` is empty or too long; it has 1 to {} bytes",
            lored_recognise::NAME_BYTES_MAX
        ))
    })
}

/// Waits until everything up to a position has been searched.
async fn caught_up(cx: &Context, at_least: Option<Position>) -> Result<(), Refusal> {
    match at_least {
        None => Ok(()),
        Some(position) => {
            let progress = &Entities::of(cx)?.progress;
            progress
                .reaches(position, WAIT_MAX, cx.engine.clock())
                .await
        }
    }
}
