//! Converts a stored event to a line of the export.

use lore::protocol::{Body, RawJson, RawObject};

use super::hex;
use super::lines::Payload;
use super::payloads::{
    Checkpoint, Closed, Created, Entity, EntityRef, Extractor, Found, FoundIn, Mapping, Mark,
    Mention, Message, Pruned, Related, Resolved, Source, Step, Tool, ToolUse, Unpruned, Updated,
};
use crate::cache::Cache;
use crate::checkpoints::{self, CheckpointData, CheckpointEvent};
use crate::clock::format_time;
use crate::entities::{
    self, EntitiesExtracted, EntitiesRelated, EntityData, EntityEvent, EntityResolved,
};
use crate::events::forgetting::ForgettingEvent;
use crate::events::{Event, body};
use crate::log::{LOG, LoggedEvent};
use crate::messages::{MessageEvent, MessageMeta, MessageRecorded, ToolCallMeta, ToolRecorded};
use crate::packs::{ContextPruned, Item, PackEvent};
use crate::sessions::{
    SessionClosed, SessionCreated, SessionEvent, SessionOrigin, SessionUpdated, merged,
};
use crate::steps::{
    ExtractorRegistered, FieldMappingRegistered, StepAssigned, StepEvent, StepRecorded, Text,
};
use crate::store::{Blobs, Error, Rows};

/// Data source of an export.
#[derive(Clone, Copy)]
pub struct ExportSource<'s> {
    /// The rows, including the log.
    pub rows: &'s dyn Rows,
    /// The blob store.
    pub blobs: &'s Blobs,
    /// Cache of decoded data.
    pub cache: &'s Cache,
}

/// Export result of an event.
pub enum ExportedEvent {
    /// A line.
    Line(Payload),
    /// Not exported: the event is local to this log.
    Local,
    /// Not exported: the content was forgotten on purpose.
    Forgotten,
    /// Not exported: a deleted checkpoint.
    Deleted,
    /// Not exported, with a reason to report.
    Left(String),
}

impl ExportSource<'_> {
    /// Converts an event for the export.
    pub fn export(&self, event: &LoggedEvent) -> Result<ExportedEvent, Error> {
        let Some(meta) = Event::of(event)? else {
            return Ok(match &event.payload {
                Some(_) => not_exported(event),
                None => ExportedEvent::Forgotten,
            });
        };
        Ok(ExportedEvent::Line(match meta {
            Event::Session(SessionEvent::Created(origin)) => {
                Payload::SessionCreated(Box::new(created(event, &origin)?))
            }
            Event::Session(SessionEvent::Updated) => {
                Payload::SessionUpdated(Box::new(updated(event)?))
            }
            Event::Session(SessionEvent::Closed) => {
                let SessionClosed { reason } = body(event)?;
                Payload::SessionClosed(Box::new(Closed { reason }))
            }
            Event::Message(MessageEvent::Message(said)) => {
                Payload::MessageRecorded(Box::new(self.message(event, said)?))
            }
            Event::Message(MessageEvent::ToolCall(call)) => {
                Payload::ToolRecorded(Box::new(self.tool(event, call)?))
            }
            Event::Step(StepEvent::Recorded(assigned)) => {
                Payload::StepRecorded(Box::new(self.step(event, &assigned)?))
            }
            Event::Step(StepEvent::ExtractorRegistered) => {
                Payload::ExtractorRegistered(Box::new(body::<ExtractorRegistered>(event)?.into()))
            }
            Event::Step(StepEvent::MappingRegistered) => {
                let FieldMappingRegistered { field, aliases } = body(event)?;
                Payload::FieldMappingRegistered(Box::new(Mapping { field, aliases }))
            }
            Event::Entity(EntityEvent::Extracted(found)) => {
                Payload::EntitiesFound(Box::new(found.into()))
            }
            Event::Entity(EntityEvent::Related(related)) => {
                Payload::EntitiesRelated(Box::new(related.into()))
            }
            Event::Entity(EntityEvent::Resolved(one)) => {
                Payload::EntityResolved(Box::new(resolved(event, one)?))
            }
            Event::Checkpoint(CheckpointEvent::Saved(_)) => return self.checkpoint(event),
            Event::Checkpoint(CheckpointEvent::KeyMarked(marked)) => {
                Payload::KeyMarked(Box::new(Mark {
                    key: marked.key,
                    unmarked: marked.is_unmarked,
                }))
            }
            Event::Pack(PackEvent::Pruned(one)) => Payload::ContextPruned(Box::new(pruned(one))),
            Event::Pack(PackEvent::Unpruned(one)) => Payload::ContextUnpruned(Box::new(Unpruned {
                tokens_before: one.tokens_before,
                tokens_after: one.tokens_after,
            })),
            Event::Session(
                SessionEvent::Leased(_)
                | SessionEvent::Released(_)
                | SessionEvent::Forgotten(_)
                | SessionEvent::Erased,
            )
            | Event::Checkpoint(CheckpointEvent::Deleted(_))
            | Event::Pack(PackEvent::Built(_))
            | Event::Forgetting(ForgettingEvent::Events(_) | ForgettingEvent::EventsErased(_)) => {
                return Ok(ExportedEvent::Local);
            }
            Event::Forgetting(ForgettingEvent::Content(_))
            | Event::Project(_)
            | Event::Document(_) => return Ok(not_exported(event)),
        }))
    }

    fn read(&self, text: Option<Text>) -> Result<Option<String>, Error> {
        text.map(|text| text.read(self.blobs)).transpose()
    }

    fn message(&self, event: &LoggedEvent, said: MessageMeta) -> Result<Message, Error> {
        let body: MessageRecorded = body(event)?;
        let mut tools = Vec::with_capacity(body.tools.len());
        for tool in body.tools {
            tools.push(ToolUse {
                name: tool.name,
                status: tool.status.map(Into::into),
                result: self.read(tool.result)?,
            });
        }
        Ok(Message {
            message: said.id,
            sender: said.sender.into(),
            kind: said.kind.into(),
            content: body.content.read(self.blobs)?,
            tools,
            pack: body.pack,
            quoted: body.quoted,
            tokens: Some(said.tokens),
            rules: hex::digits(&said.rules),
            mentions: mentions(said.mentions),
        })
    }

    fn tool(&self, event: &LoggedEvent, executed: ToolCallMeta) -> Result<Tool, Error> {
        let body: ToolRecorded = body(event)?;
        Ok(Tool {
            execution: executed.id,
            status: executed.status.into(),
            tool: body.tool,
            parameters: object(event, self.read(body.parameters)?)?,
            result: self.read(body.result)?,
            error: self.read(body.error)?,
            rules: hex::digits(&executed.rules),
            mentions: mentions(executed.mentions),
        })
    }

    fn step(&self, event: &LoggedEvent, numbered: &StepAssigned) -> Result<Step, Error> {
        let body: StepRecorded = body(event)?;
        Ok(Step {
            step: numbered.step,
            attempt: numbered.attempt,
            success: numbered.success,
            tool: body.tool,
            parameters: object(event, self.read(body.parameters)?)?,
            purpose: body.purpose,
            result: self.read(body.result)?,
            error: self.read(body.error)?,
        })
    }

    fn checkpoint(&self, event: &LoggedEvent) -> Result<ExportedEvent, Error> {
        Ok(
            match checkpoints::take(self.rows, self.blobs, self.cache, event)? {
                CheckpointData::Whole(saved, context, metadata) => {
                    ExportedEvent::Line(Payload::CheckpointSaved(Box::new(Checkpoint {
                        checkpoint: saved.checkpoint.to_string(),
                        hash: Some(saved.context_hash().to_string()),
                        context: one_object(event, context.text.clone())?,
                        metadata: object(event, metadata)?,
                        forked_from: saved.forked_from.map(|from| from.to_string()),
                    })))
                }
                CheckpointData::Deleted => ExportedEvent::Deleted,
                CheckpointData::Damaged(checkpoint, error) => ExportedEvent::Left(format!(
                    "the checkpoint `{checkpoint}` cannot be read and is not exported: {error}"
                )),
            },
        )
    }
}

/// Handles an event that a session export does not support: of a newer version, or never part of a session.
fn not_exported(event: &LoggedEvent) -> ExportedEvent {
    let kind = &event.header.kind;
    ExportedEvent::Left(format!("events of the kind {kind} are not exported"))
}

/// Parses a JSON object that an event stores as text, and puts it on one line.
fn object(event: &LoggedEvent, text: Option<String>) -> Result<Option<RawObject>, Error> {
    text.map(|text| one_object(event, text)).transpose()
}

fn one_object(event: &LoggedEvent, text: String) -> Result<RawObject, Error> {
    RawObject::parse(&in_one_line(text)).map_err(|reason| {
        let key = event.position().0.to_be_bytes();
        Error::corrupt(
            LOG.name(),
            &key,
            format!("in a {}: {reason}", event.header.kind),
        )
    })
}

/// Removes line breaks between JSON tokens, if there are any.
fn in_one_line(text: String) -> String {
    if !text.contains(['\n', '\r']) {
        return text;
    }
    // Any JSON except a string is compacted; digits and key order stay unchanged.
    match serde_json::from_str::<Body>(&text) {
        Ok(compact) if !text.trim_start().starts_with('"') => compact.0,
        Ok(_) => text.trim().to_owned(),
        Err(_) => text,
    }
}

fn created(event: &LoggedEvent, begun: &SessionOrigin) -> Result<Created, Error> {
    let created: SessionCreated = body(event)?;
    let preferences = match (&begun.preferences, created.preferences) {
        (None, own) => own,
        (Some(before), own) => merged(Some(before), own.as_deref()),
    };
    Ok(Created {
        title: created.title,
        user: created.user,
        topic: created.topic,
        tags: created.tags,
        preferences: object(event, preferences)?,
    })
}

fn updated(event: &LoggedEvent) -> Result<Updated, Error> {
    let updated: SessionUpdated = body(event)?;
    Ok(Updated {
        title: updated.title,
        topic: updated.topic,
        tags: updated.tags,
        add_tags: updated.add_tags,
        remove_tags: updated.remove_tags,
        preferences: object(event, updated.preferences)?,
    })
}

fn resolved(event: &LoggedEvent, resolved: EntityResolved) -> Result<Resolved, Error> {
    let EntityData { data } = body(event)?;
    let data = match in_one_line(data) {
        none if none.is_empty() => None,
        // Text that is not JSON, which no resolver returns, is exported as a string.
        text => Some(
            RawJson::parse(text.clone())
                .or_else(|_| RawJson::parse(serde_json::Value::from(text).to_string())),
        ),
    };
    let data = data.transpose().map_err(|error| {
        let key = event.position().0.to_be_bytes();
        Error::corrupt(LOG.name(), &key, error.to_string())
    })?;
    Ok(Resolved {
        entity: Entity {
            kind: resolved.entity.kind,
            key: resolved.entity.key,
            name: resolved.name,
        },
        id: resolved.id,
        slug: resolved.slug,
        resolver: resolved.resolver,
        expires: format_time(resolved.expires),
        parents: resolved.parents.into_iter().map(reference).collect(),
        around: mentions(resolved.around),
        data,
    })
}

impl From<ExtractorRegistered> for Extractor {
    fn from(stored: ExtractorRegistered) -> Self {
        Self {
            name: stored.name,
            pattern: stored.pattern,
            group: stored.group,
            fields: stored.fields,
        }
    }
}

impl From<EntitiesExtracted> for Found {
    fn from(stored: EntitiesExtracted) -> Self {
        let found = stored.found.into_iter().map(|one| FoundIn {
            source: match one.source {
                entities::Source::Message(message) => Source::Message(message),
                entities::Source::Step { step, attempt } => Source::Step { step, attempt },
                entities::Source::Tool(execution) => Source::Tool(execution),
            },
            mentions: mentions(one.mentions),
        });
        Self {
            found: found.collect(),
            rules: hex::digits(&stored.rules),
        }
    }
}

impl From<EntitiesRelated> for Related {
    fn from(stored: EntitiesRelated) -> Self {
        let entity = |of: entities::EntityRef, name: String| Entity {
            kind: of.kind,
            key: of.key,
            name,
        };
        Self {
            from: entity(stored.from, stored.from_name),
            relation: stored.relation,
            to: entity(stored.to, stored.to_name),
        }
    }
}

fn reference(stored: entities::EntityRef) -> EntityRef {
    EntityRef {
        kind: stored.kind,
        key: stored.key,
    }
}

fn pruned(stored: ContextPruned) -> Pruned {
    let tool = |item| match item {
        Item::Step { step, attempt } => Some(Source::Step { step, attempt }),
        Item::Tool(execution) => Some(Source::Tool(execution)),
        // A message's tools belong to the message.
        Item::Message(message) => Some(Source::Message(message)),
        Item::Entity(_)
        | Item::Checkpoint(_)
        | Item::Topic
        | Item::ContextFile(_)
        | Item::Document { .. } => None,
    };
    let [messages, tools, entities] = stored.went;
    Pruned {
        strategy: stored.strategy.into(),
        tokens_before: stored.tokens_before,
        tokens_after: stored.tokens_after,
        messages: stored.messages,
        tools: stored.tools.into_iter().filter_map(tool).collect(),
        entities: stored.entities.into_iter().map(reference).collect(),
        went: (messages, tools, entities),
    }
}

fn mentions(stored: Vec<entities::Mention>) -> Vec<Mention> {
    let one = |stored: entities::Mention| Mention {
        kind: stored.kind,
        key: stored.key,
        name: stored.name,
        how: stored.how.into(),
        span: stored.span,
        id: stored.id,
        slug: stored.slug,
        parents: stored.parents.into_iter().map(reference).collect(),
        nested: stored.nested,
    };
    stored.into_iter().map(one).collect()
}
