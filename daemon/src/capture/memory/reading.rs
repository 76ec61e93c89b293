//! Reads the parts of events that a trail keeps.

use lored_suspicion::Origin;
use serde_json::Value;

use super::entries::{CallEnd, TrailEvent};
use crate::budget;
use crate::error::Refusal;
use crate::events::capture::{Following, Observation, ObservationDetails};
use crate::events::steps::Text;
use crate::log::LoggedEvent;
use crate::state::State;
use crate::store::{Blobs, Error};
use crate::trust;

/// Bytes of a result, and of what a call writes, that are kept: as many from its end.
const RESULT_BYTES_MAX: usize = 3 << 10;
/// Longer texts in files of their own are not read for this.
const BLOB_BYTES_MAX: u64 = 1 << 20;

/// Returns what an observation says that stands alone.
pub(super) fn observed(
    state: &State,
    event: &LoggedEvent,
    meta: &Observation,
    details: ObservationDetails,
) -> Result<Option<TrailEvent>, Error> {
    Ok(Some(match meta.what.as_str() {
        "start" => TrailEvent::Started,
        "end" => TrailEvent::Ended,
        "turn-end" => TrailEvent::TurnEnded,
        "compaction-end" => TrailEvent::Compacted,
        "call" => TrailEvent::Began {
            command: details.command,
            edits: details.edits,
        },
        "plan" if is_left_out(state, event, &details)? => return Ok(None),
        "plan" => TrailEvent::Planned {
            items: details.plan,
            is_whole: details.is_whole_plan,
            text: details.text,
        },
        _ => return Ok(None),
    }))
}

/// Returns the end of a call whose step is forgotten: a retention rule forgets large results and keeps what was done.
/// A call without an exit status counts as a success, because a failure is kept unless it is very large.
pub(super) fn forgotten_call(
    meta: &Observation,
    details: ObservationDetails,
) -> Option<TrailEvent> {
    (meta.following == Some(Following::Step)).then(|| {
        TrailEvent::Called(Box::new(CallEnd {
            is_failure: details.exit_status.is_some_and(|status| status != 0),
            command: details.command,
            edits: details.edits,
            reads: details.reads,
            exit_status: details.exit_status,
            is_interrupted: details.is_interrupted,
            ..CallEnd::default()
        }))
    })
}

/// Whether a plan is given to no model: an agent may repeat what a page said.
fn is_left_out(
    state: &State,
    event: &LoggedEvent,
    details: &ObservationDetails,
) -> Result<bool, Error> {
    let items = details.plan.iter().map(|item| item.text.as_str());
    for text in items.chain(details.text.as_deref()) {
        let place = (event.scope(), event.position());
        if trust::is_left_out(state, place, text, Origin::Agent)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the beginning and the end of what an edit writes, from its parameters.
pub(super) fn written(blobs: &Blobs, parameters: Option<Text>) -> Result<String, Refusal> {
    let Some(parameters) = parameters else {
        return Ok(String::new());
    };
    let parameters = beginning(blobs, parameters, BLOB_BYTES_MAX as usize)?;
    let parsed: Option<Value> = serde_json::from_str(&parameters).ok();
    let written = parsed.as_ref().and_then(|value| {
        let of_parts = || {
            let parts = value.get("edits")?.as_array()?;
            let parts: Vec<&str> = parts.iter().filter_map(new_text).collect();
            (!parts.is_empty()).then(|| parts.join("\n"))
        };
        new_text(value).map(str::to_owned).or_else(of_parts)
    });
    Ok(shortened(written.unwrap_or(parameters)))
}

/// Returns the text that a call writes, by the names that hosts give it.
fn new_text(parameters: &Value) -> Option<&str> {
    let mut names = [
        "content",
        "new_string",
        "newString",
        "new_str",
        "patch",
        "input",
    ]
    .iter();
    names.find_map(|name| parameters.get(name)?.as_str())
}

/// Returns the beginning of a text.
pub(super) fn beginning(blobs: &Blobs, text: Text, bytes_max: usize) -> Result<String, Refusal> {
    if text.blob().is_some() && text.bytes() > BLOB_BYTES_MAX {
        return Ok(String::new());
    }
    let mut text = budget::passing(|| text.read(blobs))?;
    text.truncate(text.floor_char_boundary(bytes_max));
    Ok(text)
}

/// Returns the beginning and the end of a text: errors stand at either.
pub(super) fn ends(blobs: &Blobs, text: Option<Text>) -> Result<String, Refusal> {
    let Some(text) = text else {
        return Ok(String::new());
    };
    if text.blob().is_some() && text.bytes() > BLOB_BYTES_MAX {
        return Ok(String::new());
    }
    Ok(shortened(budget::passing(|| text.read(blobs))?))
}

fn shortened(text: String) -> String {
    if text.len() <= 2 * RESULT_BYTES_MAX {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(RESULT_BYTES_MAX));
    let tail = text.get(text.ceil_char_boundary(text.len() - RESULT_BYTES_MAX)..);
    let [head, tail] = [head, tail].map(Option::unwrap_or_default);
    format!("{head}\n…\n{tail}")
}
