//! The sum of all rooms: what an event of any kind does to the rows.

mod again;

use std::collections::BTreeSet;

use crate::checkpoints::{self, CheckpointFact, CheckpointKey};
use crate::documents::{self, DocumentFact};
use crate::engine::{Fold, Past};
use crate::entities::{self, EntityFact, Source};
use crate::log::{
    BLOB_NAMES, EventsErased, EventsForgotten, FORGOTTEN, Header, INDEX, RecordKey, Stamped,
    forgotten, index, names,
};
use crate::messages::{self, MessageFact};
use crate::packs::{self, PackFact};
use crate::projects::{self, ProjectFact};
use crate::quotes;
use crate::sessions::{self, Meaning};
use crate::steps::{self, StepFact};
use crate::store::{Error, Rows, RowsMut, Space};

/// Folds every kind of event: the log's index first, then each view.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rooms;

const SPACES: [Space; 12] = [
    // First, so that it is emptied first when all are folded anew: the index is read from it.
    BLOB_NAMES,
    INDEX,
    sessions::SPACE,
    steps::SPACE,
    checkpoints::SPACE,
    messages::SPACE,
    entities::SPACE,
    packs::SPACE,
    quotes::SPACE,
    projects::SPACE,
    documents::SPACE,
    FORGOTTEN,
];

impl Fold for Rooms {
    fn spaces(&self) -> &'static [Space] {
        &SPACES
    }

    fn apply(
        &self,
        rows: &mut dyn RowsMut,
        past: &dyn Past,
        event: &Stamped,
        record: RecordKey,
    ) -> Result<(), Error> {
        index::apply(rows, event, record);
        if let Some(erased) = EventsErased::of(event)? {
            forgotten::note_erased(rows, erased);
            return Ok(());
        }
        if let Some(told) = EventsForgotten::of(event)? {
            forgotten::note(rows, event, &told)?;
            return again::fold(rows, past, event, &told);
        }
        if let (Some(session), true) = (&event.header.session, sessions::is_tombstone(event)) {
            forget(rows, session)?;
        }
        apply(rows, event, record, None)
    }

    fn is_forgotten(&self, rows: &dyn Rows, header: &Header) -> Result<bool, Error> {
        Ok(sessions::is_forgotten(rows, header)? || forgotten::is_forgotten(rows, header)?)
    }
}

/// Folds what an event says into the room that it is of. When its stream is folded again, the
/// checkpoints that are still there are given.
fn apply(
    rows: &mut dyn RowsMut,
    event: &Stamped,
    record: RecordKey,
    again: Option<&BTreeSet<CheckpointKey>>,
) -> Result<(), Error> {
    let fact = StepFact::of(event)?;
    let mut is_step = false;
    if let (Some(StepFact::Recorded(numbered)), Some(session)) = (&fact, &event.header.session) {
        is_step = true;
        index::note_step(rows, session, numbered.step)?;
        for blob in &numbered.blobs {
            names::name(rows, blob, event)?;
        }
    }
    let pack = PackFact::of(event)?;
    sessions::apply(
        rows,
        event,
        Meaning {
            is_step,
            is_no_change: pack.as_ref().is_some_and(PackFact::is_no_change),
            is_again: again.is_some(),
        },
    )?;
    if let Some(fact) = pack {
        return packs::apply(rows, event, &fact, record);
    }
    if let Some(fact) = &fact {
        if is_step {
            messages::apply_step(rows, event, record)?;
        }
        return steps::apply(rows, event, fact, record);
    }
    if let Some(fact) = MessageFact::of(event)? {
        return apply_message(rows, event, &fact, record);
    }
    if let Some(fact) = EntityFact::of(event)? {
        return entities::apply(rows, event, &fact, record);
    }
    if let Some(mut fact) = CheckpointFact::of(event)? {
        if let Some(there) = again {
            fact.leave_out_objects_but_of(there);
        }
        return checkpoints::apply(rows, event, &fact, record);
    }
    if let Some(fact) = ProjectFact::of(event)? {
        for blob in fact.blobs() {
            names::name(rows, blob, event)?;
        }
        return projects::apply(rows, event, fact, record);
    }
    match DocumentFact::of(event)? {
        Some(fact) => {
            for blob in fact.blobs() {
                names::name(rows, blob, event)?;
            }
            documents::apply(rows, event, fact, record)
        }
        None => Ok(()),
    }
}

fn apply_message(
    rows: &mut dyn RowsMut,
    event: &Stamped,
    fact: &MessageFact,
    record: RecordKey,
) -> Result<(), Error> {
    for blob in fact.blobs() {
        names::name(rows, blob, event)?;
    }
    let (source, mentions) = match fact {
        MessageFact::Said(said) => (Source::Message(said.id.clone()), &said.mentions),
        MessageFact::Executed(tool) => (Source::Tool(tool.id.clone()), &tool.mentions),
    };
    entities::apply_mentions(rows, event, &source, mentions)?;
    messages::apply(rows, event, fact, record)
}

/// Removes what each room has of a session, one line per room. Whatever is left must be what a fold
/// of the log without the session's content makes, byte for byte.
fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    names::forget(rows, session)?;
    index::forget(rows, session);
    steps::forget(rows, session)?;
    messages::forget(rows, session)?;
    entities::forget(rows, session)?;
    packs::forget(rows, session)?;
    checkpoints::forget(rows, session)
}
