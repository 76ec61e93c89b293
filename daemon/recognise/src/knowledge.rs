//! The knowledge that recognition uses besides a text, and the knowledge that a text adds.

use super::{Gazetteer, KnownName, PastText, TextSource};
use std::collections::HashSet;
use std::sync::Arc;

/// Input to recognition besides the text. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knowledge<'a> {
    /// Names that the session knows, the most specific gazetteer first.
    pub gazetteers: &'a [&'a Gazetteer],
    /// Names that other sessions of the project know. One bare word never carries over from there.
    pub project: Option<&'a Gazetteer>,
    /// Earlier texts of the conversation, the latest first. Some fifty are enough.
    pub past: &'a [Arc<PastText>],
    /// The kind of a result's objects, if the call states it and the result does not; see
    /// [`PackSet::kind_of`](super::PackSet::kind_of).
    pub objects: Option<&'a str>,
    /// Who wrote the text. References and partial names are resolved in texts of people and agents, not in tool
    /// output.
    pub source: TextSource,
    /// Entities that turned out to be others.
    pub same: &'a [SameEntity],
    /// Kind and key of the entities that another system confirmed: their names may be everyday words.
    pub confirmed: Option<&'a HashSet<(String, String)>>,
}

/// An entity that turned out to be another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameEntity {
    /// The kind of both.
    pub kind: Arc<str>,
    /// The canonical key of the entity.
    pub key: String,
    /// The canonical key of the one that stands for it.
    pub root: String,
}

impl Knowledge<'_> {
    /// Returns whether another system confirmed an entity.
    pub(super) fn is_confirmed(&self, name: &KnownName) -> bool {
        let entity = (name.kind.to_string(), name.key.to_string());
        self.confirmed.is_some_and(|all| all.contains(&entity))
    }

    /// Returns the key of the entity that stands for another.
    pub(super) fn root<'k>(&'k self, kind: &str, key: &'k str) -> &'k str {
        let mut same = self.same.iter();
        same.find(|same| *same.kind == *kind && same.key == key)
            .map_or(key, |same| &same.root)
    }
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
