//! Converts a stored event to a line of the export.

use lore::protocol::{Body, RawObject};

use super::kinds::Mirror;
use super::kinds::{
    Checkpoint, Closed, Created, Extractor, Found, Mapping, Mark, Merged, Message, Payload, Pruned,
    Related, Resolved, Step, Tool, Unmerged, Unpruned, Updated,
};
use crate::cache::Cache;
use crate::checkpoints::{self, CheckpointData, CheckpointEvent};
use crate::entities::EntityEvent;
use crate::events::forgetting::ForgettingEvent;
use crate::events::{Event, body};
use crate::log::{LOG, LoggedEvent, Position};
use crate::messages::MessageEvent;
use crate::packs::PackEvent;
use crate::sessions::{SessionClosed, SessionEvent};
use crate::steps::{ExtractorRegistered, FieldMappingRegistered, StepEvent, Text};
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

impl ExportedEvent {
    /// Returns the omission of a damaged event, or of one whose content is damaged.
    pub(super) fn unreadable(position: Position, error: &Error) -> Self {
        Self::Left(format!(
            "the event at position {position} cannot be read and is not exported: {error}"
        ))
    }
}

impl ExportSource<'_> {
    /// Converts an event for the export. An event whose content is damaged is omitted with the reason: an export is also
    /// what saves the rest of a damaged store.
    pub fn export(&self, event: &LoggedEvent) -> Result<ExportedEvent, Error> {
        match self.convert(event) {
            Err(error @ Error::Corrupt { .. }) => {
                Ok(ExportedEvent::unreadable(event.position(), &error))
            }
            converted => converted,
        }
    }

    /// Converts an event for the export; damaged content is an error.
    pub(super) fn convert(&self, event: &LoggedEvent) -> Result<ExportedEvent, Error> {
        let Some(meta) = Event::of(event)? else {
            return Ok(match &event.payload {
                Some(_) => not_exported(event),
                None => ExportedEvent::Forgotten,
            });
        };
        Ok(ExportedEvent::Line(match meta {
            Event::Session(SessionEvent::Created(origin)) => {
                Created::export(event, &origin)?.into()
            }
            Event::Session(SessionEvent::Updated) => Updated::export(event)?.into(),
            Event::Session(SessionEvent::Closed) => {
                let closed: Closed = body::<SessionClosed>(event)?.mirror();
                closed.into()
            }
            Event::Message(MessageEvent::Message(meta)) => {
                Message::export(self, event, meta)?.into()
            }
            Event::Message(MessageEvent::ToolCall(meta)) => Tool::export(self, event, meta)?.into(),
            Event::Step(StepEvent::Recorded(meta)) => Step::export(self, event, &meta)?.into(),
            Event::Step(StepEvent::ExtractorRegistered) => {
                let extractor: Extractor = body::<ExtractorRegistered>(event)?.mirror();
                extractor.into()
            }
            Event::Step(StepEvent::MappingRegistered) => {
                let mapping: Mapping = body::<FieldMappingRegistered>(event)?.mirror();
                mapping.into()
            }
            Event::Entity(EntityEvent::Extracted(found)) => Found::from(found).into(),
            Event::Entity(EntityEvent::Related(related)) => Related::from(related).into(),
            Event::Entity(EntityEvent::Merged(merged)) => {
                let merged: Merged = merged.mirror();
                merged.into()
            }
            Event::Entity(EntityEvent::Unmerged(undone)) => Unmerged {
                merges: undone.merges.mirror(),
            }
            .into(),
            Event::Entity(EntityEvent::Resolved(one)) => Resolved::export(event, one)?.into(),
            Event::Checkpoint(CheckpointEvent::Saved(_)) => return self.checkpoint(event),
            Event::Checkpoint(CheckpointEvent::KeyMarked(marked)) => Mark::from(marked).into(),
            Event::Pack(PackEvent::Pruned(one)) => Pruned::from(one).into(),
            Event::Pack(PackEvent::Unpruned(one)) => {
                let unpruned: Unpruned = one.mirror();
                unpruned.into()
            }
            Event::Session(
                SessionEvent::Leased(_)
                | SessionEvent::Released(_)
                | SessionEvent::Forgotten(_)
                | SessionEvent::Erased,
            )
            | Event::Checkpoint(CheckpointEvent::Deleted(_))
            | Event::Pack(PackEvent::Built(_))
            | Event::Capture(_)
            | Event::Trust(_)
            | Event::Forgetting(ForgettingEvent::Events(_) | ForgettingEvent::EventsErased(_)) => {
                return Ok(ExportedEvent::Local);
            }
            Event::Forgetting(ForgettingEvent::Content(_))
            | Event::Project(_)
            | Event::Document(_) => return Ok(not_exported(event)),
        }))
    }

    /// Reads a text of an event, if there is one.
    pub(super) fn read(&self, text: Option<Text>) -> Result<Option<String>, Error> {
        text.map(|text| text.read(self.blobs)).transpose()
    }

    fn checkpoint(&self, event: &LoggedEvent) -> Result<ExportedEvent, Error> {
        Ok(
            match checkpoints::take(self.rows, self.blobs, self.cache, event)? {
                CheckpointData::Whole(saved, context, metadata) => ExportedEvent::Line(
                    Checkpoint::export(event, &saved, &context, metadata)?.into(),
                ),
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
pub(super) fn object(
    event: &LoggedEvent,
    text: Option<String>,
) -> Result<Option<RawObject>, Error> {
    text.map(|text| one_object(event, text)).transpose()
}

pub(super) fn one_object(event: &LoggedEvent, text: String) -> Result<RawObject, Error> {
    RawObject::parse(&in_one_line(text))
        .map_err(|reason| corrupt(event, format!("in a {}: {reason}", event.header.kind)))
}

pub(super) fn corrupt(event: &LoggedEvent, reason: String) -> Error {
    Error::corrupt(LOG.name(), &event.position().0.to_be_bytes(), reason)
}

/// Removes line breaks between JSON tokens, if there are any.
pub(super) fn in_one_line(text: String) -> String {
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
