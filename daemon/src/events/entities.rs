//! What happens to entities: they are found, related by hand, resolved.

use serde::{Deserialize, Serialize};

use crate::clock::Micros;

/// What names an entity: its kind, and its canonical key within that kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityRef {
    /// Its kind: `device`, `file_path` and the like.
    pub kind: String,
    /// Its canonical name.
    pub key: String,
}

/// How an entity was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MentionSource {
    /// By the form of its name.
    Pattern,
    /// By its name, which was known already.
    Known,
    /// By a word that refers to it.
    Reference,
    /// By a field of a JSON value.
    Json,
}

/// An entity that a text names: once for each text, however often it stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// Its kind.
    pub kind: String,
    /// Its canonical name.
    pub key: String,
    /// As it was written.
    pub name: String,
    /// How it was recognised.
    pub how: MentionSource,
    /// Where it stands first, in bytes: start and end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u32, u32)>,
    /// The id that another system gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name in addresses of that system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// What it belongs to, as the text says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<EntityRef>,
    /// Whether it stands only in the data of another one: it is known, but the text is not about it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
}

impl Mention {
    /// Which entity.
    #[must_use]
    pub fn entity(&self) -> EntityRef {
        EntityRef {
            kind: self.kind.clone(),
            key: self.key.clone(),
        }
    }
}

/// What a mention stands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A message, by its id.
    Message(String),
    /// An attempt of a step.
    Step {
        /// Step number.
        step: u32,
        /// Attempt.
        attempt: u32,
    },
    /// An execution of a tool, by its id.
    Tool(String),
}

/// Entities were found in what had been recorded before. All of it is decided, so it is the fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntitiesExtracted {
    /// The version of the rules that found them.
    #[serde(with = "serde_bytes")]
    pub rules: Vec<u8>,
    /// What was searched, and what stands in it.
    pub found: Vec<TextEntities>,
}

/// What was found in one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEntities {
    /// In which.
    pub source: Source,
    /// What.
    pub mentions: Vec<Mention>,
}

/// Two entities were related by hand. All of it is decided, so it is the fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntitiesRelated {
    /// From this one.
    pub from: EntityRef,
    /// Its name as it was written.
    pub from_name: String,
    /// How: `connected_to` and the like.
    pub relation: String,
    /// To this one.
    pub to: EntityRef,
    /// Its name as it was written.
    pub to_name: String,
}

/// An entity was looked up in another system. The fact; what that system says of it is the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityResolved {
    /// Which.
    pub entity: EntityRef,
    /// Its name there.
    pub name: String,
    /// Its id there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name in addresses there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Who said so.
    pub resolver: String,
    /// Until when the data counts as fresh.
    pub expires: Micros,
    /// What it belongs to, as the data says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<EntityRef>,
    /// The others that the data names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<Mention>,
}

/// The body of an [`EntityResolved`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityData {
    /// What the other system says of it: JSON, as text.
    pub data: String,
}

/// The metadata of an event of entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityEvent {
    /// Entities were found.
    Extracted(EntitiesExtracted),
    /// Two were related.
    Related(EntitiesRelated),
    /// One was looked up.
    Resolved(EntityResolved),
}
