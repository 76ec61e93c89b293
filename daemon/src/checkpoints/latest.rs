//! What a session's latest checkpoint says under some of its keys, for rooms that tell it on.

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
    /// Which checkpoint.
    pub checkpoint: CheckpointKey,
    /// Where its event is.
    pub position: Position,
    /// Keys, each with its value as JSON.
    pub values: Vec<(String, String)>,
    /// What was said about the checkpoint: its `summary`, if it has one.
    pub summary: Option<String>,
}

/// The critical keys of a session that are `wanted`, as its latest checkpoint has them; `None` when it has
/// no checkpoint. Values are read: off the event loop.
///
/// # Errors
/// `CORRUPT` when the checkpoint is damaged, naming a good one.
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

/// The id of the checkpoint that an event saved, if it did.
pub fn saved_by(event: &LoggedEvent) -> Result<Option<String>, Error> {
    Ok(match CheckpointEvent::of(event)? {
        Some(CheckpointEvent::Saved(saved)) => Some(saved.checkpoint.to_string()),
        Some(CheckpointEvent::Deleted(_) | CheckpointEvent::KeyMarked(_)) | None => None,
    })
}

/// Where a checkpoint is, by its id.
pub fn position_of(state: &State, checkpoint: &str) -> Result<Option<Position>, Refusal> {
    let Some(key) = CheckpointKey::parse(checkpoint) else {
        return Ok(None);
    };
    Ok(view::get(state, &key)?.map(|(_, row)| row.position))
}
