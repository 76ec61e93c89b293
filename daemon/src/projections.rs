//! The projections: the effect of each kind of event on the rows of the log's index and of every view.

mod refold;

use std::collections::BTreeSet;

use crate::capture;
use crate::checkpoints::{self, CheckpointKey};
use crate::citations;
use crate::documents;
use crate::engine::{EventLookup, Fold};
use crate::entities::{self, Source};
use crate::events::Event;
use crate::events::forgetting::ForgettingEvent;
use crate::events::trust::TrustEvent;
use crate::log::{
    BLOB_NAMES, FORGOTTEN, Header, INDEX, LoggedEvent, RecordKey, forgotten, index, names,
};
use crate::messages::{self, MessageEvent};
use crate::packs;
use crate::projects;
use crate::sessions::{self, EventEffects, SessionEvent};
use crate::steps::{self, StepEvent};
use crate::store::{Error, Keyspace, Rows, RowsMut};
use crate::trust;

/// Folds every kind of event: the log's index first, then each view.
#[derive(Clone, Copy, Debug, Default)]
pub struct Projections;

const SPACES: [Keyspace; 14] = [
    // First, so that a rebuild empties it first: the index is rebuilt from it.
    BLOB_NAMES,
    INDEX,
    sessions::SPACE,
    steps::SPACE,
    checkpoints::SPACE,
    messages::SPACE,
    entities::SPACE,
    packs::SPACE,
    citations::SPACE,
    projects::SPACE,
    documents::SPACE,
    capture::SPACE,
    trust::SPACE,
    FORGOTTEN,
];

impl Fold for Projections {
    fn keyspaces(&self) -> &'static [Keyspace] {
        &SPACES
    }

    fn apply(
        &self,
        rows: &mut dyn RowsMut,
        event_lookup: &dyn EventLookup,
        event: &LoggedEvent,
        meta: Option<&Event>,
        record: RecordKey,
    ) -> Result<(), Error> {
        index::apply(rows, event, record);
        match meta {
            Some(Event::Forgetting(reported)) => match reported {
                ForgettingEvent::EventsErased(erased) => {
                    forgotten::note_erased(rows, *erased);
                    return Ok(());
                }
                ForgettingEvent::Events(reported) => {
                    forgotten::note(rows, event, reported)?;
                    return refold::fold(rows, event_lookup, event, reported);
                }
                ForgettingEvent::Content(_) => {}
            },
            Some(Event::Session(SessionEvent::Forgotten(_))) => {
                if let Some(session) = &event.header.session {
                    forget(rows, session)?;
                }
                forgotten::note_session(rows, event.position());
            }
            Some(Event::Trust(TrustEvent::Undone(_) | TrustEvent::Redone(_))) => {
                apply(rows, event, meta, record, None)?;
                return refold::entities_without_undone(rows, event_lookup, event);
            }
            Some(_) | None => {}
        }
        apply(rows, event, meta, record, None)
    }

    fn is_forgotten(&self, rows: &dyn Rows, header: &Header) -> Result<bool, Error> {
        Ok(sessions::is_forgotten(rows, header)? || forgotten::is_forgotten(rows, header)?)
    }
}

/// Folds the metadata of an event into the views. When a stream is refolded, `again` lists its remaining
/// checkpoints.
fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    meta: Option<&Event>,
    record: RecordKey,
    again: Option<&BTreeSet<CheckpointKey>>,
) -> Result<(), Error> {
    for blob in meta.map_or(&[][..], Event::blobs) {
        names::name(rows, blob, event)?;
    }
    let mut effects = EventEffects {
        is_again: again.is_some(),
        ..EventEffects::default()
    };
    match meta {
        Some(Event::Step(StepEvent::Recorded(assigned))) => {
            if let Some(session) = &event.header.session {
                effects.is_step = true;
                index::note_step(rows, session, assigned.step)?;
            }
        }
        Some(Event::Pack(pack)) => effects.is_no_change = pack.is_no_change(),
        // A person who judges a text does not work in its session.
        Some(Event::Trust(_)) => effects.is_no_change = true,
        Some(_) | None => {}
    }
    sessions::apply(rows, event, meta, effects)?;
    trust::apply(rows, event, meta)?;
    match meta {
        Some(Event::Step(step)) => {
            if effects.is_step {
                messages::apply_step(rows, event, record)?;
            }
            steps::apply(rows, event, step, record)
        }
        Some(Event::Message(message)) => {
            apply_entities(rows, event, meta, record)?;
            messages::apply(rows, event, message, record)
        }
        Some(Event::Entity(_)) => apply_entities(rows, event, meta, record),
        Some(Event::Pack(pack)) => packs::apply(rows, event, pack, record),
        Some(Event::Checkpoint(checkpoint)) => match again {
            Some(there) => {
                let checkpoint = checkpoint.clone().with_objects_of(there);
                checkpoints::apply(rows, event, &checkpoint, record)
            }
            None => checkpoints::apply(rows, event, checkpoint, record),
        },
        Some(Event::Project(project)) => projects::apply(rows, event, project, record),
        Some(Event::Document(document)) => documents::apply(rows, event, document, record),
        Some(Event::Capture(event_of_capture)) => capture::apply(rows, event, event_of_capture),
        // Session events are folded above by `sessions::apply`, judgements by `trust::apply`, and forgetting before this
        // function.
        Some(Event::Session(_) | Event::Trust(_) | Event::Forgetting(_)) | None => Ok(()),
    }
}

/// Folds what an event says of entities.
fn apply_entities(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    meta: Option<&Event>,
    record: RecordKey,
) -> Result<(), Error> {
    match meta {
        Some(Event::Message(MessageEvent::Message(said))) => {
            let text = entities::FoldedText {
                source: messages::text_source(said.sender),
                marked: &said.marked,
            };
            let source = Source::Message(said.id.clone());
            entities::apply_mentions(rows, event, &source, &said.mentions, text)
        }
        Some(Event::Message(MessageEvent::ToolCall(call))) => {
            let text = entities::FoldedText::default();
            let source = Source::Tool(call.id.clone());
            entities::apply_mentions(rows, event, &source, &call.mentions, text)
        }
        Some(Event::Entity(entity)) => entities::apply(rows, event, entity, record),
        Some(_) | None => Ok(()),
    }
}

/// Removes a session from each view, one line per view. The remaining rows must equal, byte for byte, those of a
/// fold of the log without the session's content.
fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    names::forget(rows, session)?;
    index::forget(rows, session);
    steps::forget(rows, session)?;
    messages::forget(rows, session)?;
    entities::forget(rows, session)?;
    packs::forget(rows, session)?;
    trust::forget(rows, session)?;
    capture::forget(rows, session)?;
    checkpoints::forget(rows, session)
}
