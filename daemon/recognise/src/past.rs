//! Earlier texts of a conversation: what references and partial names may mean.

use super::wording::parts;
use super::{Match, Mention, RecognitionMethod};
use std::collections::HashSet;

/// Who wrote a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextSource {
    /// A person: each of their texts begins a turn.
    Person,
    /// An agent: an answer.
    Agent,
    /// A tool: a result, in which no reference is resolved.
    #[default]
    Result,
}

/// An earlier text with its entities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastText {
    /// Who wrote it.
    pub source: TextSource,
    /// The entities in the order of the text, each once.
    pub mentions: Vec<PastMention>,
    /// Everyday words that were marked as code without being known: a second text that marks one is evidence.
    pub marked: Vec<String>,
}

/// An entity in an earlier text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastMention {
    /// The entity.
    pub mention: Mention,
    /// How prominent the text makes it, in hundredths; see [`Match::weight`].
    pub weight: u8,
    /// Words that the text says of it; see [`Match::words`].
    pub words: Vec<String>,
    /// The kind and the key of the entities that it belongs to.
    pub parents: Vec<(String, String)>,
    /// Whether it is only part of other entities' data.
    pub is_nested: bool,
    /// Whether a reference stood for it, and not its name.
    pub is_reference: bool,
    /// The parts of its name, which each text that follows looks at.
    pub(super) parts: Vec<String>,
}

impl PastMention {
    /// Returns a mention of which the text says nothing else.
    #[must_use]
    pub fn new(mention: Mention, weight: u8) -> Self {
        Self {
            parts: parts(&mention.name),
            mention,
            weight,
            words: Vec::new(),
            parents: Vec::new(),
            is_nested: false,
            is_reference: false,
        }
    }
}

impl PastText {
    /// Returns a text as later texts remember it.
    #[must_use]
    pub fn of(source: TextSource, matches: &[Match], marked: &[String]) -> Self {
        let mut seen = HashSet::new();
        let mentions = matches
            .iter()
            .filter(|hit| seen.insert((&hit.kind, &hit.key)))
            .map(|hit| PastMention {
                mention: Mention {
                    kind: hit.kind.clone(),
                    key: hit.key.clone(),
                    name: hit.name.clone(),
                },
                weight: hit.weight,
                parts: parts(&hit.name),
                words: hit.words.clone(),
                parents: hit
                    .parents
                    .iter()
                    .map(|link| (link.kind.to_string(), link.key.clone()))
                    .collect(),
                is_nested: hit.is_nested,
                is_reference: hit.how == RecognitionMethod::Reference,
            })
            .collect();
        Self {
            source,
            mentions,
            marked: marked.to_vec(),
        }
    }
}
