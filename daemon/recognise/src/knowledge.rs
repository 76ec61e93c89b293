//! What is known before a text is read, and what a text adds to it.

use super::{Gazetteer, KnownName, Match, RecognitionMethod};
use std::collections::HashSet;
use std::sync::Arc;

/// What recognition may rest on beside the text. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knowledge<'a> {
    /// Names that are known, the nearest first: the session's, the project's.
    pub gazetteers: &'a [&'a Gazetteer],
    /// Entities mentioned in earlier texts, the latest first. A hundred are enough.
    pub recent: &'a [Mention],
    /// The last listing of earlier texts, in its order; see [`listing`].
    pub listing: &'a [Mention],
    /// The kind of the objects of a result, if the call tells it and the result does not; see
    /// [`PackSet::kind_of`](super::PackSet::kind_of).
    pub objects: Option<&'a str>,
    /// Whether references are resolved: in what people and agents say, not in what tools print.
    pub references: bool,
}

/// An entity that was mentioned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mention {
    /// Its kind.
    pub kind: Arc<str>,
    /// Its canonical key.
    pub key: String,
    /// Its name, as it is shown.
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

/// The entities that a text is about, each once, in the order of their first mention: for what is
/// [recent](Knowledge::recent), in turn.
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

/// The listing that a text is, if it is one: it names two entities of one kind, or more. Ordinals and
/// plurals in later texts are about it, until another text is one.
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
