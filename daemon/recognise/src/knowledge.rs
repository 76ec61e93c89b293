//! The knowledge that recognition uses besides a text, and the knowledge that a text adds.

use super::{Gazetteer, KnownName, Match, RecognitionMethod};
use std::collections::HashSet;
use std::sync::Arc;

/// Input to recognition besides the text. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knowledge<'a> {
    /// Known names, the most specific gazetteer first: the session's, then the project's.
    pub gazetteers: &'a [&'a Gazetteer],
    /// Entities mentioned in earlier texts, the latest first. A hundred are enough.
    pub recent: &'a [Mention],
    /// The last listing in earlier texts, in its order; see [`listing`].
    pub listing: &'a [Mention],
    /// The kind of a result's objects, if the call states it and the result does not; see
    /// [`PackSet::kind_of`](super::PackSet::kind_of).
    pub objects: Option<&'a str>,
    /// Whether references are resolved: for messages of people and agents, not for tool output.
    pub references: bool,
}

/// An entity that was mentioned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mention {
    /// The kind of the entity.
    pub kind: Arc<str>,
    /// The canonical key of the entity.
    pub key: String,
    /// The display name of the entity.
    pub name: String,
}

impl Mention {
    pub(super) fn of_known(known: &KnownName) -> Self {
        Self {
            kind: Arc::clone(&known.kind),
            key: known.key.to_string(),
            name: known.name.to_string(),
        }
    }
}

/// Returns the entities that a text is about, each once, in the order of their first mention. A later
/// recognition uses them as [recent](Knowledge::recent) entities.
#[must_use]
pub fn mentions(matches: &[Match]) -> Vec<Mention> {
    let mut seen = HashSet::new();
    let about = matches.iter().filter(|hit| !hit.is_nested);
    about
        .filter(|hit| seen.insert((&hit.kind, &hit.key)))
        .map(|hit| Mention {
            kind: Arc::clone(&hit.kind),
            key: hit.key.clone(),
            name: hit.name.clone(),
        })
        .collect()
}

/// Returns the entities of a listing: a text that names at least two entities of one kind. `None` for other
/// texts. Ordinals and plurals in later texts refer to it, until the next listing.
#[must_use]
pub fn listing(matches: &[Match]) -> Option<Vec<Mention>> {
    let named = matches
        .iter()
        .filter(|hit| hit.how != RecognitionMethod::Reference);
    let named: Vec<Match> = named.cloned().collect();
    let mentions = mentions(&named);
    let mut kinds = HashSet::new();
    let is_listing = mentions.iter().any(|mention| !kinds.insert(&mention.kind));
    is_listing.then_some(mentions)
}
