//! Values of a session's latest checkpoint, for other feature modules.

use super::operations::StoredCheckpoint;
use super::values::Values;
use super::view;
use crate::error::{Code, Refusal};
use crate::events::checkpoints::{CheckpointEvent, CheckpointKey};
use crate::log::{LoggedEvent, Position};
use crate::operation::Context;
use crate::state::State;
use crate::store::Error;

/// Some values of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latest {
    /// Checkpoint id.
    pub checkpoint: CheckpointKey,
    /// Position of its event.
    pub position: Position,
    /// Keys, each with its value as JSON.
    pub values: Vec<(String, String)>,
    /// The `summary` of its metadata, if any.
    pub summary: Option<String>,
}

/// Returns the `wanted` critical keys of a session with their values in its latest checkpoint; `None` without a
/// checkpoint. Reads values, so it must be called off the event loop.
///
/// # Errors
/// `CORRUPT` when the checkpoint is damaged, with the newest good one.
pub fn latest(
    cx: &Context,
    state: &State,
    session: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Option<Latest>, Refusal> {
    let found = match StoredCheckpoint::latest(state, session) {
        Err(refusal) if refusal.code == Code::CheckpointNotFound => return Ok(None),
        found => found?,
    };
    let marks = view::critical_keys(state, &found.session)?;
    let mut keys: Vec<String> = marks.into_iter().map(|(key, _)| key).collect();
    keys.retain(|key| wanted(key));
    let mut values = Vec::new();
    if !keys.is_empty() {
        let context = Values::of(cx, state)
            .only(&found.manifest, &keys)
            .map_err(|error| found.unreadable(cx, state, &error))?;
        values.extend(keys.into_iter().filter_map(|key| {
            let value = context.value(&key)?.to_owned();
            Some((key, value))
        }));
    }
    let metadata = found.metadata()?;
    let summary = metadata.map.get("summary");
    Ok(Some(Latest {
        checkpoint: found.row.checkpoint,
        position: found.row.position,
        values,
        summary: summary.and_then(|text| text.as_str()).map(str::to_owned),
    }))
}

/// Returns the id of the checkpoint that an event saved, if any.
pub fn saved_by(event: &LoggedEvent) -> Result<Option<String>, Error> {
    Ok(match CheckpointEvent::of(event)? {
        Some(CheckpointEvent::Saved(saved)) => Some(saved.checkpoint.to_string()),
        Some(CheckpointEvent::Deleted(_) | CheckpointEvent::KeyMarked(_)) | None => None,
    })
}

/// Returns the position of a checkpoint.
pub fn position_of(state: &State, checkpoint: &str) -> Result<Option<Position>, Refusal> {
    let key = CheckpointKey::parse(checkpoint);
    let place = key.map(|key| view::place_of(state, &key)).transpose()?;
    Ok(place.flatten().map(|(_, position)| position))
}
