//! Prepares an imported session for recording: blobs, packing, encoding and hashing, all work that
//! needs no decision.

use super::command::{PreparedEvent, PreparedEvents, imported};
use super::hex;
use super::lines::Payload;
use super::payloads::{
    Created, Found, Mention, Message, Pruned, Related, Resolved, Source, Step, Tool, ToolUse,
    Updated,
};
use super::read::{ImportedEvent, ParsedSession};
use crate::canonical::Canonical;
use crate::checkpoints::{CheckpointKey, ImportBuilder, Limits};
use crate::clock::{Clock, parse_time};
use crate::entities::{
    self, EntitiesExtracted, EntitiesRelated, EntityData, EntityEvent, EntityRef, EntityResolved,
};
use crate::error::Refusal;
use crate::events::{BlobHash, Event};
use crate::log::{Body, codec};
use crate::messages::{
    self, MessageEvent, MessageMeta, MessageRecorded, ToolCallMeta, ToolRecorded,
};
use crate::packs::{ContextPruned, ContextUnpruned, Item, PackEvent};
use crate::sessions::{SessionClosed, SessionCreated, SessionEvent, SessionOrigin, SessionUpdated};
use crate::steps::{
    ExtractorRegistered, FieldMappingRegistered, StepAssigned, StepEvent, StepRecorded, Text,
};
use crate::store::{BlobRef, Blobs, Error};
use crate::tokens::Tokens;

/// Dependencies of the preparation.
pub struct ImportContext<'w> {
    /// Stores large texts.
    pub blobs: &'w Blobs,
    /// Source of salts, and of new ids for checkpoints whose ids are taken.
    pub clock: &'w Clock,
    /// Counts the tokens of messages without a token count.
    pub tokens: &'w Tokens,
    /// Limits of checkpoints.
    pub limits: &'w Limits,
}

impl ImportContext<'_> {
    /// Prepares a session's events, except those that `there` marks as existing. Events beyond its end are new.
    ///
    /// # Errors
    /// When a blob cannot be written.
    pub fn prepare(
        &self,
        imported: ParsedSession,
        there: &[bool],
    ) -> Result<PreparedEvents, Refusal> {
        let mut making = SessionImportBuilder {
            shop: self,
            bringing: ImportBuilder::new(self.blobs, self.clock, self.limits),
            ready: PreparedEvents::default(),
        };
        for (index, event) in imported.events.into_iter().enumerate() {
            match there.get(index) {
                Some(true) => making.know(&event),
                Some(false) | None => making.add(event)?,
            }
        }
        let mut ready = making.ready;
        ready.imported = making.bringing.done();
        Ok(ready)
    }
}

/// Collects the prepared events.
struct SessionImportBuilder<'m> {
    shop: &'m ImportContext<'m>,
    bringing: ImportBuilder<'m>,
    ready: PreparedEvents,
}

impl SessionImportBuilder<'_> {
    /// Registers an existing event, because later events may depend on it.
    fn know(&mut self, event: &ImportedEvent) {
        if let Payload::CheckpointSaved(one) = &event.payload
            && let Some(checkpoint) = CheckpointKey::parse(&one.checkpoint)
        {
            let entries = event.context.as_ref().map(|context| &context.entries);
            let keys = entries.into_iter().flatten().map(|entry| &entry.key);
            self.bringing.know(checkpoint, keys.cloned());
        } else if let Payload::KeyMarked(mark) = &event.payload {
            self.bringing.know_mark(&mark.key, mark.unmarked);
        }
    }

    fn add(&mut self, event: ImportedEvent) -> Result<(), Refusal> {
        let ImportedEvent {
            origin,
            payload,
            context,
        } = event;
        let (event, body) = match payload {
            Payload::SessionCreated(created) => begun(*created),
            Payload::SessionUpdated(updated) => set(*updated),
            Payload::SessionClosed(closed) => {
                let reason = closed.reason;
                (
                    SessionEvent::Closed.into(),
                    codec::encode(&SessionClosed { reason }),
                )
            }
            Payload::MessageRecorded(message) => self.message(*message)?,
            Payload::ToolRecorded(tool) => self.tool(*tool)?,
            Payload::StepRecorded(step) => self.step(*step)?,
            Payload::ExtractorRegistered(extractor) => {
                let registered = ExtractorRegistered {
                    name: extractor.name,
                    pattern: extractor.pattern,
                    group: extractor.group,
                    fields: extractor.fields,
                };
                (
                    StepEvent::ExtractorRegistered.into(),
                    codec::encode(&registered),
                )
            }
            Payload::FieldMappingRegistered(mapping) => {
                let registered = FieldMappingRegistered {
                    field: mapping.field,
                    aliases: mapping.aliases,
                };
                (
                    StepEvent::MappingRegistered.into(),
                    codec::encode(&registered),
                )
            }
            Payload::EntitiesFound(found) => found_in(*found),
            Payload::EntitiesRelated(related) => related_by_hand(*related),
            Payload::EntityResolved(one) => resolved(*one),
            Payload::ContextPruned(one) => pruned(*one),
            Payload::ContextUnpruned(one) => {
                let unpruned = ContextUnpruned {
                    tokens_before: one.tokens_before,
                    tokens_after: one.tokens_after,
                };
                (PackEvent::Unpruned(unpruned).into(), empty())
            }
            Payload::CheckpointSaved(one) => {
                let context = context.unwrap_or_else(Canonical::default);
                let metadata = one.metadata.map(|metadata| metadata.into_string());
                let key = |id: &str| CheckpointKey::parse(id);
                let from = one.forked_from.as_deref().and_then(key);
                // The id was validated before.
                if let Some(checkpoint) = key(&one.checkpoint) {
                    self.bringing.save(checkpoint, from, &context, metadata)?;
                    self.ready.events.push(PreparedEvent::OfCheckpoints(origin));
                }
                return Ok(());
            }
            Payload::KeyMarked(mark) => {
                self.bringing.mark(mark.key, mark.unmarked);
                self.ready.events.push(PreparedEvent::OfCheckpoints(origin));
                return Ok(());
            }
        };
        let body = Body::new(body, self.shop.clock.random());
        let event = imported(event, body, origin);
        self.ready.bytes += event.bytes();
        self.ready
            .events
            .push(PreparedEvent::Event(Box::new(event)));
        Ok(())
    }

    /// Stores a text in an event's form.
    fn keep(&mut self, text: String, named: &mut Vec<BlobHash>) -> Result<Text, Error> {
        let text = Text::keep(self.shop.blobs, text, &mut self.ready.blobs)?;
        named.extend(text.blob().map(|BlobRef { hash, .. }| BlobHash::from(hash)));
        Ok(text)
    }

    fn keep_some(
        &mut self,
        text: Option<String>,
        named: &mut Vec<BlobHash>,
    ) -> Result<Option<Text>, Error> {
        text.map(|text| self.keep(text, named)).transpose()
    }

    fn message(&mut self, message: Message) -> Result<Parts, Refusal> {
        let tokens = message
            .tokens
            .unwrap_or_else(|| self.tokens(&message.content, &message.quoted));
        let mut blobs = Vec::new();
        let content = self.keep(message.content, &mut blobs)?;
        let mut tools = Vec::with_capacity(message.tools.len());
        for ToolUse {
            name,
            status,
            result,
        } in message.tools
        {
            tools.push(messages::ToolUse {
                name,
                status: status.map(Into::into),
                result: self.keep_some(result, &mut blobs)?,
            });
        }
        let said = MessageMeta {
            id: message.message,
            sender: message.sender.into(),
            kind: message.kind.into(),
            tokens,
            tools: u32::try_from(tools.len()).unwrap_or(u32::MAX),
            rules: hex::bytes(&message.rules).unwrap_or_default(),
            known_at: 0,
            mentions: mentions(message.mentions),
            blobs,
        };
        let recorded = MessageRecorded {
            content,
            tools,
            pack: message.pack,
            quoted: message.quoted,
        };
        Ok((MessageEvent::Message(said).into(), codec::encode(&recorded)))
    }

    fn tokens(&self, content: &str, quoted: &[(u32, u32)]) -> u32 {
        let new = messages::quotations::without(content, quoted);
        u32::try_from(self.shop.tokens.count(&new)).unwrap_or(u32::MAX)
    }

    fn tool(&mut self, tool: Tool) -> Result<Parts, Refusal> {
        let mut blobs = Vec::new();
        let parameters = tool.parameters.map(|object| object.into_string());
        let recorded = ToolRecorded {
            tool: tool.tool,
            parameters: self.keep_some(parameters, &mut blobs)?,
            result: self.keep_some(tool.result, &mut blobs)?,
            error: self.keep_some(tool.error, &mut blobs)?,
        };
        let executed = ToolCallMeta {
            id: tool.execution,
            status: tool.status.into(),
            rules: hex::bytes(&tool.rules).unwrap_or_default(),
            mentions: mentions(tool.mentions),
            blobs,
        };
        Ok((
            MessageEvent::ToolCall(executed).into(),
            codec::encode(&recorded),
        ))
    }

    fn step(&mut self, step: Step) -> Result<Parts, Refusal> {
        let mut blobs = Vec::new();
        let parameters = step.parameters.map(|object| object.into_string());
        let recorded = StepRecorded {
            tool: step.tool,
            parameters: self.keep_some(parameters, &mut blobs)?,
            purpose: step.purpose,
            result: self.keep_some(step.result, &mut blobs)?,
            error: self.keep_some(step.error, &mut blobs)?,
        };
        let numbered = StepAssigned {
            step: step.step,
            attempt: step.attempt,
            success: step.success,
            blobs,
        };
        Ok((
            StepEvent::Recorded(numbered).into(),
            codec::encode(&recorded),
        ))
    }
}

/// Metadata and body of an event.
type Parts = (Event, Vec<u8>);

fn empty() -> Vec<u8> {
    codec::EMPTY.to_vec()
}

fn begun(created: Created) -> Parts {
    let body = SessionCreated {
        title: created.title,
        user: created.user,
        topic: created.topic,
        tags: created.tags,
        preferences: created.preferences.map(|object| object.into_string()),
    };
    let created = SessionEvent::Created(SessionOrigin::default());
    (created.into(), codec::encode(&body))
}

fn set(updated: Updated) -> Parts {
    let body = SessionUpdated {
        title: updated.title,
        topic: updated.topic,
        tags: updated.tags,
        add_tags: updated.add_tags,
        remove_tags: updated.remove_tags,
        preferences: updated.preferences.map(|object| object.into_string()),
    };
    (SessionEvent::Updated.into(), codec::encode(&body))
}

fn found_in(found: Found) -> Parts {
    let one = |one: super::payloads::FoundIn| entities::TextEntities {
        source: match one.source {
            Source::Message(message) => entities::Source::Message(message),
            Source::Step { step, attempt } => entities::Source::Step { step, attempt },
            Source::Tool(execution) => entities::Source::Tool(execution),
        },
        mentions: mentions(one.mentions),
    };
    let found = EntitiesExtracted {
        rules: hex::bytes(&found.rules).unwrap_or_default(),
        found: found.found.into_iter().map(one).collect(),
    };
    (EntityEvent::Extracted(found).into(), empty())
}

fn related_by_hand(related: Related) -> Parts {
    let related = EntitiesRelated {
        from: entity(related.from.kind, related.from.key),
        from_name: related.from.name,
        relation: related.relation,
        to: entity(related.to.kind, related.to.key),
        to_name: related.to.name,
    };
    (EntityEvent::Related(related).into(), empty())
}

fn resolved(one: Resolved) -> Parts {
    let resolved = EntityResolved {
        entity: entity(one.entity.kind, one.entity.key),
        name: one.entity.name,
        id: one.id,
        slug: one.slug,
        resolver: one.resolver,
        expires: parse_time(&one.expires).unwrap_or_default(),
        parents: references(one.parents),
        around: mentions(one.around),
    };
    let data = one.data.map(|data| data.as_str().to_owned());
    let body = EntityData {
        data: data.unwrap_or_default(),
    };
    (EntityEvent::Resolved(resolved).into(), codec::encode(&body))
}

fn entity(kind: String, key: String) -> EntityRef {
    EntityRef { kind, key }
}

fn references(reported: Vec<super::payloads::EntityRef>) -> Vec<EntityRef> {
    let one = |reported: super::payloads::EntityRef| entity(reported.kind, reported.key);
    reported.into_iter().map(one).collect()
}

fn pruned(one: Pruned) -> Parts {
    let tool = |source| match source {
        Source::Message(message) => Item::Message(message),
        Source::Step { step, attempt } => Item::Step { step, attempt },
        Source::Tool(execution) => Item::Tool(execution),
    };
    let (messages, tools, entities) = one.went;
    let pruned = ContextPruned {
        strategy: one.strategy.into(),
        tokens_before: one.tokens_before,
        tokens_after: one.tokens_after,
        messages: one.messages,
        tools: one.tools.into_iter().map(tool).collect(),
        entities: references(one.entities),
        went: [messages, tools, entities],
    };
    (PackEvent::Pruned(pruned).into(), empty())
}

fn mentions(reported: Vec<Mention>) -> Vec<entities::Mention> {
    let one = |reported: Mention| entities::Mention {
        kind: reported.kind,
        key: reported.key,
        name: reported.name,
        how: reported.how.into(),
        span: reported.span,
        id: reported.id,
        slug: reported.slug,
        parents: references(reported.parents),
        nested: reported.nested,
    };
    reported.into_iter().map(one).collect()
}
