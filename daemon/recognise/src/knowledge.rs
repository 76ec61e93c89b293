//! The knowledge that recognition uses besides a text, and the knowledge that a text adds.

use super::{Gazetteer, KnownName, PastText, TextSource};
use std::sync::Arc;

/// Input to recognition besides the text. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knowledge<'a> {
    /// Names that the session knows, the most specific gazetteer first.
    pub gazetteers: &'a [&'a Gazetteer],
    /// Names that other sessions of the project know. One bare word never carries over from there.
    pub project: Option<&'a Gazetteer>,
    /// Earlier texts of the conversation, the latest first. Some fifty are enough.
    pub past: &'a [PastText],
    /// The kind of a result's objects, if the call states it and the result does not; see
    /// [`PackSet::kind_of`](super::PackSet::kind_of).
    pub objects: Option<&'a str>,
    /// Who wrote the text. References and partial names are resolved in texts of people and agents, not in tool
    /// output.
    pub source: TextSource,
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
