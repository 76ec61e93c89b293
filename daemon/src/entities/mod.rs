//! Entities: the objects that messages and results mention, with their mentions and relations.

mod command;
mod feature;
pub mod follow;
mod merging;
pub mod operations;
mod position_cache;
mod recognition;
pub mod relevance;
mod resolution;
mod snippet;
mod top_entities;
mod view;

use crate::sessions::WantedContent;

pub use crate::events::entities::{
    EntitiesExtracted, EntitiesRelated, EntityData, EntityEvent, EntityMerge, EntityMerges,
    EntityRef, EntityResolved, Mention, MentionSource, MergeBasis, PossibleMention, Source,
    TextEntities,
};
pub use feature::Entities;
pub use recognition::{MENTIONS_MAX, MergedMatches, Recognition, SessionContext, recognised};
pub use top_entities::{ScoredEntity, most_relevant, sort, surpasses};
#[cfg(test)]
pub use view::recent;
pub use view::{
    DataRow, EntityEntry, EntityRow, FoldedText, MentionRow, NameOwner, RELATED_AMONG_MAX, Related,
    SPACE, apply, apply_mentions, count, forget, get, kinds, known_since, mentions_of, names,
    note_searched, ranked, related, roots, walk,
};

/// Asks for a session with entities.
#[must_use]
pub const fn content() -> WantedContent {
    WantedContent::new("entities", |rows, lines, _| {
        Ok(!kinds(rows, lines)?.is_empty())
    })
}

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{RecordEntityEvent, RecordExtraction, RecordResolution};
    pub(crate) use super::view::searched;
}
