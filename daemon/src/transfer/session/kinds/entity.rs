//! Kinds of entities: found in texts, related by hand, resolved.

use lore::protocol::RawJson;

use super::mirror::{Mirror, object};
use super::{LinePayload, Parts, SessionImportBuilder};
use crate::clock::{format_time, parse_time};
use crate::entities::{
    self, EntitiesExtracted, EntitiesRelated, EntityData, EntityEvent, EntityMerges,
    EntityResolved, MentionSource, MergeBasis, TextEntities,
};
use crate::error::Refusal;
use crate::events::body;
use crate::log::{LoggedEvent, codec};
use crate::store::Error;
use crate::transfer::session::check::{Checker, name, optional, references, rules, word};
use crate::transfer::session::export::{corrupt, in_one_line};
use crate::transfer::session::hex;
use crate::transfer::session::markdown::{Section, escaped};
use crate::transfer::session::read::sanitized;

object! {
    /// Entities were found in earlier lines.
    Found {
        /// Version of the rules that found them, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// The searched texts and the entities found in them.
        found: Vec<FoundIn>,
    }
}

object! {
    /// Entities found in one text.
    FoundIn = TextEntities {
        /// The searched text.
        source: Source,
        /// The entities found.
        mentions: Vec<Mention>,
    }
}

impl From<EntitiesExtracted> for Found {
    fn from(stored: EntitiesExtracted) -> Self {
        Self {
            rules: hex::digits(&stored.rules),
            found: stored.found.mirror(),
        }
    }
}

impl LinePayload for Found {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        rules(&self.rules)?;
        for one in &self.found {
            one.source.check(earlier)?;
            earlier.mentions(&one.mentions)?;
        }
        Ok(())
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let found = EntitiesExtracted {
            rules: hex::bytes(&self.rules).unwrap_or_default(),
            found: self.found.mirror(),
        };
        let event = EntityEvent::Extracted(found).into();
        Ok(Some((event, codec::EMPTY.to_vec())))
    }
}

/// Reference to an earlier line.
#[derive(
    Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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
    /// The execution of a tool, by its id.
    Tool(String),
}

impl Source {
    /// Checks that the line exists.
    fn check(&self, earlier: &Checker) -> Result<(), String> {
        let (is_there, what) = match self {
            Self::Message(message) => (
                earlier.messages.contains(message),
                format!("message {}", sanitized(message)),
            ),
            Self::Tool(execution) => (
                earlier.executions.contains(execution),
                format!("execution {}", sanitized(execution)),
            ),
            Self::Step { step, attempt } => (
                earlier
                    .attempts
                    .get(step)
                    .is_some_and(|last| attempt <= last),
                format!("attempt {attempt} of step {step}"),
            ),
        };
        match is_there {
            true => Ok(()),
            false => Err(format!("`source` names no earlier line: {what} not found")),
        }
    }
}

impl Mirror<Source> for entities::Source {
    fn mirror(self) -> Source {
        match self {
            Self::Message(message) => Source::Message(message),
            Self::Step { step, attempt } => Source::Step { step, attempt },
            Self::Tool(execution) => Source::Tool(execution),
        }
    }
}

impl Mirror<entities::Source> for Source {
    fn mirror(self) -> entities::Source {
        match self {
            Self::Message(message) => entities::Source::Message(message),
            Self::Step { step, attempt } => entities::Source::Step { step, attempt },
            Self::Tool(execution) => entities::Source::Tool(execution),
        }
    }
}

object! {
    /// Two entities were related manually.
    Related {
        /// First entity.
        from: Entity,
        /// Relation: `connected_to` and the like; `parent` makes the first entity belong to the second.
        relation: String,
        /// Second entity.
        to: Entity,
    }
}

impl From<EntitiesRelated> for Related {
    fn from(stored: EntitiesRelated) -> Self {
        Self {
            from: Entity::of(stored.from, stored.from_name),
            relation: stored.relation,
            to: Entity::of(stored.to, stored.to_name),
        }
    }
}

impl LinePayload for Related {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        word("relation", &self.relation)?;
        self.from.check()?;
        self.to.check()
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let (from, from_name) = self.from.stored();
        let (to, to_name) = self.to.stored();
        let related = EntitiesRelated {
            from,
            from_name,
            relation: self.relation,
            to,
            to_name,
        };
        let event = EntityEvent::Related(related).into();
        Ok(Some((event, codec::EMPTY.to_vec())))
    }

    fn render(&self, to: &mut Section<'_>) {
        let texts = [&self.from.name, &self.relation, &self.to.name];
        to.note(&texts.map(|text| escaped(text)).join(" "));
    }
}

object! {
    /// An entity was looked up in another system.
    Resolved {
        /// The entity, with its name in that system.
        entity: Entity,
        /// Its id in that system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        id: Option<String>,
        /// Its name in URLs of that system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        slug: Option<String>,
        /// The resolver.
        resolver: String,
        /// Expiry time of the data, RFC 3339.
        expires: String,
        /// Entities that it belongs to, according to the data.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<EntityRef>,
        /// Other entities named in the data.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        around: Vec<Mention>,
        /// Data of that system about it: any JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawJson")]
        data: Option<RawJson>,
    }
}

impl Resolved {
    /// Exports the event.
    pub fn export(event: &LoggedEvent, resolved: EntityResolved) -> Result<Self, Error> {
        let EntityData { data } = body(event)?;
        let data = match in_one_line(data) {
            none if none.is_empty() => None,
            // Text that is not JSON, which no resolver returns, is exported as a string.
            text => Some(
                RawJson::parse(text.clone())
                    .or_else(|_| RawJson::parse(serde_json::Value::from(text).to_string()))
                    .map_err(|error| corrupt(event, error.to_string()))?,
            ),
        };
        Ok(Self {
            entity: Entity::of(resolved.entity, resolved.name),
            id: resolved.id,
            slug: resolved.slug,
            resolver: resolved.resolver,
            expires: format_time(resolved.expires),
            parents: resolved.parents.mirror(),
            around: resolved.around.mirror(),
            data,
        })
    }
}

impl LinePayload for Resolved {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        self.entity.check()?;
        name("resolver", &self.resolver)?;
        optional("id", self.id.as_deref())?;
        optional("slug", self.slug.as_deref())?;
        parse_time(&self.expires).ok_or_else(|| {
            format!(
                "`expires` is not an RFC 3339 time: {}",
                sanitized(&self.expires)
            )
        })?;
        references("parents", &self.parents)?;
        earlier.mentions(&self.around)
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let (entity, name) = self.entity.stored();
        let resolved = EntityResolved {
            entity,
            name,
            id: self.id,
            slug: self.slug,
            resolver: self.resolver,
            expires: parse_time(&self.expires).unwrap_or_default(),
            parents: self.parents.mirror(),
            around: self.around.mirror(),
        };
        let data = self.data.map(|data| data.as_str().to_owned());
        let body = EntityData {
            data: data.unwrap_or_default(),
        };
        let event = EntityEvent::Resolved(resolved).into();
        Ok(Some((event, codec::encode(&body))))
    }
}

object! {
    /// Entities turned out to be one.
    Merged = EntityMerges {
        /// The merges.
        merges: Vec<Merge>,
    }
}

object! {
    /// Merged entities were separated.
    Unmerged {
        /// The merges that are undone.
        merges: Vec<Merge>,
    }
}

object! {
    /// Two entities that are one, and why.
    Merge = entities::EntityMerge {
        /// The entity that became known later.
        from: EntityRef,
        /// The entity that it belongs to.
        into: EntityRef,
        /// What shows that they are one.
        by: MergeBasis,
        /// The slug, the name or the id.
        value: String,
    }
}

fn check_merges(merges: &[Merge]) -> Result<(), String> {
    for merge in merges {
        references("from", std::slice::from_ref(&merge.from))?;
        references("into", std::slice::from_ref(&merge.into))?;
        name("value", &merge.value)?;
        if merge.from.kind != merge.into.kind || merge.from.key == merge.into.key {
            return Err("`from` and `into` are two entities of one kind".to_owned());
        }
    }
    Ok(())
}

impl LinePayload for Merged {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        check_merges(&self.merges)
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let event = EntityEvent::Merged(self.mirror()).into();
        Ok(Some((event, codec::EMPTY.to_vec())))
    }
}

impl LinePayload for Unmerged {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        check_merges(&self.merges)
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let merges = self.merges.mirror();
        let event = EntityEvent::Unmerged(EntityMerges { merges }).into();
        Ok(Some((event, codec::EMPTY.to_vec())))
    }

    fn render(&self, to: &mut Section<'_>) {
        for merge in &self.merges {
            let (from, into) = (escaped(&merge.from.key), escaped(&merge.into.key));
            to.note(&format!("{from} is not {into}"));
        }
    }
}

object! {
    /// An entity.
    Entity {
        /// Its kind: `device`, `file_path` and the like.
        kind: String,
        /// Its canonical name, which identifies it.
        key: String,
        /// Its name as it was written.
        name: String,
    }
}

impl Entity {
    fn of(entity: entities::EntityRef, name: String) -> Self {
        Self {
            kind: entity.kind,
            key: entity.key,
            name,
        }
    }

    fn stored(self) -> (entities::EntityRef, String) {
        let Self { kind, key, name } = self;
        (entities::EntityRef { kind, key }, name)
    }

    fn check(&self) -> Result<(), String> {
        word("kind", &self.kind)?;
        name("key", &self.key)?;
        name("name", &self.name)
    }
}

object! {
    /// Reference to an entity.
    EntityRef = entities::EntityRef {
        /// Its kind.
        kind: String,
        /// Its canonical name.
        key: String,
    }
}

object! {
    /// A mention of an entity in a text.
    Mention = entities::Mention {
        /// Its kind: `device`, `file_path` and the like.
        kind: String,
        /// Its canonical name, which identifies it.
        key: String,
        /// Its name as it was written.
        name: String,
        /// How it was recognised.
        how: MentionSource,
        /// Range of the first mention, in bytes: start and end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "(u32, u32)")]
        span: Option<(u32, u32)>,
        /// The id that another system gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        id: Option<String>,
        /// Its name in URLs of that system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        slug: Option<String>,
        /// Entities that it belongs to, according to the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<EntityRef>,
        /// Whether it is only in the data of another entity.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nested: bool,
        /// How well the text names it, in hundredths, if only a part or a misspelling of its name is there.
        #[serde(default, skip_serializing_if = "is_zero")]
        score: u8,
        /// How prominent the text makes it, in hundredths.
        #[serde(default, skip_serializing_if = "is_zero")]
        weight: u8,
        /// Other names of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        aliases: Vec<String>,
        /// Words that the text says of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        words: Vec<String>,
    }
}

object! {
    /// An entity that a message may refer to.
    PossibleMention = entities::PossibleMention {
        /// Its kind.
        kind: String,
        /// Its canonical name.
        key: String,
        /// Its name.
        name: String,
        /// How prominent it is, in hundredths.
        score: u8,
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
const fn is_zero(number: &u8) -> bool {
    *number == 0
}
