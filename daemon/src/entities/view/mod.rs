//! Entities of each session: their mentions, their lists and their relations.
//!
//! | key | value |
//! | --- | --- |
//! | `e` session 0 kind 0 key | [`EntityRow`] |
//! | `m` session 0 kind 0 key 0 position (u64) place (u32) | [`MentionRow`] |
//! | `r` session 0 relation of an entity to another, see [`relations`] | `RelationRow` |
//! | `o` session 0 rank (u64) newest (u64) kind 0 key | empty: entities by mentions, then by the last mention |
//! | `k` session 0 kind | empty: existing kinds |
//! | `c` session 0 kind | number of entities of the kind (u64) |
//! | `f` session | position (u64) of the last step in which entities were found |
//! | `h` session 0 kind 0 key 0 position (u64) | earlier description of the entity, see [`versions`] |
//! | `t` session 0 relation of an entity to another 0 position (u64) | repeated relation, see [`relations`] |
//! | `a` session 0 position (u64) place (u32) | merge of two entities, or its end, see [`merges`] |
//! | `v` session 0 kind 0 key | position (u64) at which another system first confirmed the entity |
//! | `l` session 0 position (u64) place (u32) | mentions of a text or message, for words that refer to them, see [`mod@recent`] |
//! | `w` session 0 position (u64) kind 0 key | name at that position and other names, a zero byte between them |
//! | `n` project 0 position (u64) kind 0 key 0 session | as `w` |
//!
//! Reading fails if a row cannot be read or is damaged, or with the error of a visitor.
//!
//! All numbers are big-endian. A fork starts without rows of its own. When it first touches an entity, its row
//! starts as a copy of the parent's row at the fork; readers walk the lineage.

mod confirmed;
mod entity;
mod keys;
mod lists;
mod merges;
mod names;
mod recent;
mod relations;
mod searched;
mod versions;

pub use confirmed::confirmed;
pub use entity::{DataRow, EntityRow, MentionRow, get, get_alone, mentions_of};
pub use lists::{EntityEntry, count, kinds, ranked, walk};
pub use merges::{Merges, roots};
pub use names::{NameOwner, known_since, names};
#[cfg(test)]
pub use recent::recent;
pub use recent::{FoldedText, most_recent, recent_since};
pub use relations::{Related, related};
pub use searched::searched;

use crate::events::entities::{EntityEvent, EntityRef, Mention, Source, TextEntities};
use crate::log::{LoggedEvent, RecordKey};
use crate::sessions::{Line, lineage};
use crate::store::{Error, Keyspace, RowsMut, remove_all};

/// Keyspace of this view, version 2.
pub const SPACE: Keyspace = Keyspace::new("entities.2");

/// Maximum number of entities of one text that are related to each other: the first ones.
pub const RELATED_AMONG_MAX: usize = 16;

/// State of a fold.
pub(super) struct EntityFold<'f> {
    pub(super) rows: &'f mut dyn RowsMut,
    pub(super) event: &'f LoggedEvent,
    pub(super) session: &'f str,
    /// The session and its ancestors, each up to its fork.
    pub(super) lines: Vec<Line>,
}

impl<'f> EntityFold<'f> {
    fn of(
        rows: &'f mut dyn RowsMut,
        event: &'f LoggedEvent,
        session: &'f str,
    ) -> Result<Self, Error> {
        let lines = lineage(rows, session)?;
        Ok(Self {
            rows,
            event,
            session,
            lines,
        })
    }
}

/// Folds an event of this feature module.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    entity: &EntityEvent,
    record: RecordKey,
) -> Result<(), Error> {
    let Some(session) = &event.header.session else {
        return Ok(());
    };
    let mut folding = EntityFold::of(rows, event, session)?;
    match entity {
        EntityEvent::Extracted(found) => {
            searched::note(folding.rows, session, &found.found)?;
            let mut place = 0;
            for TextEntities { source, mentions } in &found.found {
                place = folding.mention(source, mentions, place, FoldedText::default())?;
            }
            Ok(())
        }
        EntityEvent::Related(related) => folding.relate_by_hand(related),
        EntityEvent::Resolved(resolved) => folding.resolve(resolved, record),
        EntityEvent::Merged(merged) => {
            merges::note(&mut folding, &merged.merges, false);
            Ok(())
        }
        EntityEvent::Unmerged(undone) => {
            merges::note(&mut folding, &undone.merges, true);
            Ok(())
        }
    }
}

/// Notes how far results were searched for entities, by an event that says nothing of entities any more.
///
/// # Errors
/// When a row cannot be read.
pub fn note_searched(
    rows: &mut dyn RowsMut,
    session: &str,
    entity: &EntityEvent,
) -> Result<(), Error> {
    match entity {
        EntityEvent::Extracted(found) => searched::note(rows, session, &found.found),
        EntityEvent::Related(_)
        | EntityEvent::Resolved(_)
        | EntityEvent::Merged(_)
        | EntityEvent::Unmerged(_) => Ok(()),
    }
}

/// Folds the mentions of a message or another text.
pub fn apply_mentions(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    source: &Source,
    mentions: &[Mention],
    text: FoldedText<'_>,
) -> Result<(), Error> {
    let Some(session) = &event.header.session else {
        return Ok(());
    };
    let mut folding = EntityFold::of(rows, event, session)?;
    folding.mention(source, mentions, 0, text).map(|_| ())
}

impl EntityFold<'_> {
    /// Folds the mentions of one text, numbered from `place` among the event's mentions; returns the next number.
    fn mention(
        &mut self,
        source: &Source,
        mentions: &[Mention],
        place: u32,
        text: FoldedText<'_>,
    ) -> Result<u32, Error> {
        let first = place;
        let mut place = place;
        for mention in mentions {
            self.mention_one(source, mention, place)?;
            place = place.saturating_add(1);
        }
        for mention in mentions {
            for parent in &mention.parents {
                self.belongs(&mention.entity(), parent)?;
            }
        }
        let mut together: Vec<EntityRef> = Vec::new();
        for mention in mentions {
            let entity = mention.entity();
            if together.len() < RELATED_AMONG_MAX && !together.contains(&entity) {
                together.push(entity);
            }
        }
        self.mentioned_together(&together)?;
        recent::note(self, mentions, first, text);
        Ok(place)
    }
}

/// Removes all rows of a session.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    names::forget(rows, session)?;
    for tag in *b"emrhtolkcav" {
        remove_all(rows, SPACE, &keys::prefix(tag, session))?;
    }
    searched::forget(rows, session);
    Ok(())
}
