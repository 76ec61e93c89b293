//! Checkpoint entries of the operation table.

mod delete;
mod diff;
mod fork;
mod list;
mod load;
mod lookup;
mod mark;
mod save;
mod views;

use std::sync::Arc;

use lore::protocol::{CheckpointId, Meta, Position, SessionId};

pub use lookup::StoredCheckpoint;

use super::command::{Report, SaveResult};
use super::feature::Checkpoints;
use super::object_uses;
use super::view;
use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::checkpoints::{CheckpointEvent, CheckpointKey, CheckpointSaved};
use crate::events::{Event, unexpected};
use crate::log::{index, objects};
use crate::operation::{Context, Operation};
use crate::state::State;
use crate::store::{Error, Rows};

/// The entries.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<save::Save>(),
    Operation::of::<load::Load>(),
    Operation::of::<list::List>(),
    Operation::of::<mark::MarkCritical>(),
    Operation::of::<delete::Delete>(),
    Operation::of::<diff::Diff>(),
    Operation::of::<fork::Fork>(),
    Operation::of::<views::Compress>(),
    Operation::of::<views::Prioritize>(),
];

/// Returns the checkpoint that a write saved.
fn saved(outcome: &Outcome) -> Result<&CheckpointSaved, Error> {
    match &outcome.meta {
        Event::Checkpoint(CheckpointEvent::Saved(saved)) => Ok(saved),
        _ => Err(unexpected(&outcome.event, "a saved checkpoint")),
    }
}

fn checkpoint_id(key: &CheckpointKey) -> Result<CheckpointId, Refusal> {
    CheckpointId::new(key.to_string())
        .map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))
}

/// Returns the metadata of a read's reply.
fn meta_of_read(cx: &Context, state: &State, warnings: Vec<String>) -> Meta {
    Meta {
        position: state.position(),
        durable: cx.engine.is_durable(),
        project: None,
        warnings,
        total: None,
        session: None,
        chosen_by: None,
    }
}

/// Returns the metadata of a write's reply, with warnings about limits that are nearly reached.
async fn meta_of_write(cx: &Context, outcome: &Outcome) -> Result<Meta, Refusal> {
    let header = &outcome.event.header;
    Ok(Meta {
        position: header.position,
        durable: outcome.durable,
        project: header.project.clone(),
        warnings: limit_warnings(cx, header.session.as_deref()).await?,
        total: None,
        session: None,
        chosen_by: None,
    })
}

async fn limit_warnings(cx: &Context, session: Option<&str>) -> Result<Vec<String>, Refusal> {
    let feature = Checkpoints::of(cx)?;
    let published = cx.read(None).await?;
    let rows = &published.snapshot;
    let of_session = session.map(|session| view::of_session_row(rows, session));
    let of_session = of_session.transpose()?.map(|row| (row.count, row.bytes));
    let of_all = object_uses::totals(rows)?.bytes;
    let mut warnings = feature.limits.get().warnings(of_session, of_all);
    if let Some(session) = session {
        warnings.extend(feature.clean_up_warning(rows, session)?);
    }
    Ok(warnings)
}

/// Removes the blobs of durably deleted objects in the background, and returns the size of the objects. Blobs that
/// remain after a crash are swept when the daemon is idle.
pub(super) fn clear_up(cx: &Arc<Context>, report: &Report) -> u64 {
    let SaveResult {
        freed_bytes: bytes,
        freed_blobs: blobs,
        ..
    } = std::mem::take(&mut *report.result());
    if !blobs.is_empty() {
        let cx = Arc::clone(cx);
        drop(tokio::task::spawn_blocking(move || {
            for blob in blobs {
                let removed = cx
                    .blobs
                    .remove_unnamed(&blob.hash, || match cx.engine.published() {
                        Some(published) => is_blob_named(&published.snapshot, &blob.hash),
                        None => Ok(true),
                    });
                if let Err(error) = removed {
                    tracing::warn!(%error, "a blob was not removed");
                }
            }
        }));
    }
    cx.engine.note_freed(bytes);
    bytes
}

/// Returns whether any event or object names a blob.
pub fn is_blob_named(rows: &dyn Rows, blob: &[u8; 32]) -> Result<bool, Error> {
    Ok(index::is_blob_named(rows, blob)? || objects::is_blob_named(rows, blob)?)
}

/// Returns the state for a read of one session, at an earlier moment if one is given.
async fn state_as_of(
    cx: &Arc<Context>,
    at_least: Option<Position>,
    event_lookup: Option<(&SessionId, lore::protocol::AsOf)>,
) -> Result<State, Refusal> {
    let state = State::live(cx, at_least).await?;
    match event_lookup {
        None => Ok(state),
        Some((session, as_of)) => {
            let (cx, session) = (Arc::clone(cx), session.as_str().to_owned());
            crate::operation::blocking(move || state.back_to(&*cx.fold, &session, &as_of)).await
        }
    }
}
