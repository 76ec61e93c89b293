//! The sum of all rooms: what an event of any kind does to the rows.

use crate::checkpoints::{self, CheckpointFact};
use crate::engine::Fold;
use crate::log::{INDEX, RecordKey, Stamped, index};
use crate::sessions;
use crate::steps::{self, StepFact};
use crate::store::{Error, RowsMut, Space};

/// Folds every kind of event: the log's index first, then each view.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rooms;

const SPACES: [Space; 4] = [INDEX, sessions::SPACE, steps::SPACE, checkpoints::SPACE];

impl Fold for Rooms {
    fn spaces(&self) -> &'static [Space] {
        &SPACES
    }

    fn apply(
        &self,
        rows: &mut dyn RowsMut,
        event: &Stamped,
        record: RecordKey,
    ) -> Result<(), Error> {
        index::apply(rows, event, record);
        let fact = StepFact::of(event)?;
        let mut is_step = false;
        if let (Some(StepFact::Recorded(numbered)), Some(session)) = (&fact, &event.header.session)
        {
            is_step = true;
            index::note_step(rows, session, numbered.step)?;
            for blob in &numbered.blobs {
                index::name_blob(rows, blob, event.position())?;
            }
        }
        sessions::apply(rows, event, is_step)?;
        if let Some(fact) = &fact {
            return steps::apply(rows, event, fact, record);
        }
        match CheckpointFact::of(event)? {
            Some(fact) => checkpoints::apply(rows, event, &fact, record),
            None => Ok(()),
        }
    }
}
