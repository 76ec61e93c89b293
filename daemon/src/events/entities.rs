//! Events of entities: found in texts, related by hand, resolved.

use serde::{Deserialize, Serialize};

use crate::clock::Micros;

pub use super::EntityEvent;

/// Identifies an entity: its kind, and its canonical key within that kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityRef {
    /// Kind: `device`, `file_path` and the like.
    pub kind: String,
    /// Canonical name.
    pub key: String,
}

/// The way in which an entity was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MentionSource {
    /// By a pattern of its name.
    Pattern,
    /// By an already known name.
    Known,
    /// By a part or a misspelling of a known name.
    Near,
    /// By a word that refers to it.
    Reference,
    /// By a field of a JSON value.
    Json,
}

words!(MentionSource { Pattern Known Near Reference Json });

/// An entity that a text names: once per text, however often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// Kind of the entity.
    pub kind: String,
    /// Canonical name.
    pub key: String,
    /// Name as written in the text.
    pub name: String,
    /// The way in which it was recognised.
    pub how: MentionSource,
    /// First occurrence, in bytes: start and end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u32, u32)>,
    /// ID in another system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name in the URLs of that system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Parents of the entity, according to the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<EntityRef>,
    /// Whether it occurs only in the data of another entity: it is known, but the text is not about it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
    /// How well the text names it, in hundredths, if only a part or a misspelling of its name is there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub score: u8,
    /// How prominent the text makes it, in hundredths: the subject of a sentence 100.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: u8,
    /// Other names: a title, a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Words that the text says of it, such as its role and its state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
const fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// An entity that a text may refer to: evidence for context packs, no mention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossibleMention {
    /// Kind of the entity.
    pub kind: String,
    /// Canonical name.
    pub key: String,
    /// Name as last written.
    pub name: String,
    /// How prominent it is, in hundredths.
    pub score: u8,
}

impl PossibleMention {
    /// Returns the entity's reference.
    #[must_use]
    pub fn entity(&self) -> EntityRef {
        EntityRef {
            kind: self.kind.clone(),
            key: self.key.clone(),
        }
    }
}

impl Mention {
    /// Returns the entity's reference.
    #[must_use]
    pub fn entity(&self) -> EntityRef {
        EntityRef {
            kind: self.kind.clone(),
            key: self.key.clone(),
        }
    }
}

/// The source of a mention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A message, by its ID.
    Message(String),
    /// An attempt of a step.
    Step {
        /// Step number.
        step: u32,
        /// Attempt number.
        attempt: u32,
    },
    /// A tool execution, by its ID.
    Tool(String),
}

/// Entities were found in earlier events. All fields are metadata, because the writer decides them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntitiesExtracted {
    /// Version of the recognition rules.
    #[serde(with = "serde_bytes")]
    pub rules: Vec<u8>,
    /// The searched texts and their entities.
    pub found: Vec<TextEntities>,
}

/// The entities found in one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEntities {
    /// The searched text.
    pub source: Source,
    /// The entities that it mentions.
    pub mentions: Vec<Mention>,
}

/// Two entities were related by hand. All fields are metadata, because the writer decides them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntitiesRelated {
    /// Start of the relation.
    pub from: EntityRef,
    /// Name of the start as written.
    pub from_name: String,
    /// The relation: `connected_to` and the like.
    pub relation: String,
    /// Target of the relation.
    pub to: EntityRef,
    /// Name of the target as written.
    pub to_name: String,
}

/// An entity was looked up in another system. This is the metadata; the body holds the system's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityResolved {
    /// The entity.
    pub entity: EntityRef,
    /// Name in the other system.
    pub name: String,
    /// ID in the other system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name in the other system's URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Name of the resolver.
    pub resolver: String,
    /// Time until which the data counts as fresh.
    pub expires: Micros,
    /// Parents of the entity, according to the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<EntityRef>,
    /// Other entities that the data names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<Mention>,
}

/// The body of an [`EntityResolved`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityData {
    /// The other system's data: JSON, as text.
    pub data: String,
}

/// What shows that two entities are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeBasis {
    /// The slug of one is the name of the other.
    Slug,
    /// Both have the same name.
    Name,
    /// One system gives both the same id.
    Id,
}

words!(MergeBasis { Slug Name Id });

/// Two entities that are one, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntityMerge {
    /// The entity that became known later.
    pub from: EntityRef,
    /// The entity that it belongs to, known before.
    pub into: EntityRef,
    /// What shows that they are one.
    pub by: MergeBasis,
    /// The slug, the name or the id.
    pub value: String,
}

/// Entities turned out to be one, or were separated again. All fields are metadata, because the writer decides them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityMerges {
    /// The merges, or those that are undone.
    pub merges: Vec<EntityMerge>,
}
