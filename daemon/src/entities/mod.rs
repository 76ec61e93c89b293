//! Entities: the things that messages and results are about, how often, where, and how they are
//! related.

mod command;
pub mod follow;
pub mod operations;
mod recognition;
pub mod relevance;
mod resolution;
mod room;
mod snippet;
mod top;
mod view;

pub use crate::events::entities::{
    EntitiesExtracted, EntitiesRelated, EntityData, EntityEvent, EntityRef, EntityResolved, Found,
    How, Mention, Source,
};
pub use recognition::{Finds, Knowing, MENTIONS_MAX, Recognition, recognised};
pub use room::Room;
pub use top::{Scored, most_relevant, sort, surpasses};
pub use view::{
    DataRow, EntityRow, MentionRow, Named, NamesOf, RELATED_AMONG_MAX, Ranked, Recent, Related,
    SPACE, apply, apply_mentions, count, forget, get, kinds, known_since, mentions_of, names,
    ranked, recent, related, walk,
};

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{Note, NoteFound, NoteResolved};
    pub(crate) use super::view::searched;
}
