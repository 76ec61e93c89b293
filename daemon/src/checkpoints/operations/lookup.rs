//! A stored checkpoint, and the errors when it cannot be read.

use std::ops::ControlFlow;
use std::sync::Arc;

use lore::protocol::{CheckpointId, SessionId};

use super::checkpoint_id;
use crate::canonical::Canonical;
use crate::checkpoints::command;
use crate::checkpoints::metadata::Metadata;
use crate::checkpoints::values::Values;
use crate::checkpoints::view::{self, CheckpointRow};
use crate::error::{Code, Refusal};
use crate::events;
use crate::events::checkpoints::{CheckpointDescribed, CheckpointKey, CheckpointSaved};
use crate::hint::{Tool, hint};
use crate::log::{Log, LoggedEvent};
use crate::operation::Context;
use crate::sessions::{lineage, operations::session_id};
use crate::state::State;
use crate::store::{Direction, Error};

/// A checkpoint with its event.
pub struct StoredCheckpoint {
    /// Its session.
    pub session: String,
    /// Its row.
    pub row: CheckpointRow,
    /// The event that saved it.
    pub event: LoggedEvent,
    /// The manifest in the event.
    pub manifest: CheckpointSaved,
}

impl StoredCheckpoint {
    /// Returns the checkpoint with this id.
    ///
    /// # Errors
    /// `CHECKPOINT_NOT_FOUND`.
    pub fn of(state: &State, checkpoint: &CheckpointId) -> Result<Self, Refusal> {
        let found = match CheckpointKey::parse(checkpoint.as_str()) {
            Some(key) => view::get(state, &key)?,
            None => None,
        };
        let (session, row) = found.ok_or_else(|| command::not_found(checkpoint.as_str()))?;
        Ok(Self::at(&state.log(), session, row)?)
    }

    /// Returns the latest checkpoint of a session; for a fork without checkpoints, the latest one that it shares with its
    /// parent.
    ///
    /// # Errors
    /// `CHECKPOINT_NOT_FOUND` when there is none.
    pub fn latest(state: &State, session: &str) -> Result<Self, Refusal> {
        for line in lineage(state, session)? {
            if let Some(row) = view::newest(state, &line.session, line.before())? {
                return Ok(Self::at(&state.log(), line.session, row)?);
            }
        }
        Err(Refusal::new(
            Code::CheckpointNotFound,
            format!("the session `{session}` has no checkpoint"),
        )
        .hint(hint!["Save one with ", Tool::CheckpointSave, "."]))
    }

    /// Reads the checkpoint of a row.
    pub fn at(log: &Log<'_>, session: String, row: CheckpointRow) -> Result<Self, Error> {
        let event = log.event(row.record, row.position)?;
        Ok(Self {
            manifest: events::meta(&event)?,
            session,
            row,
            event,
        })
    }

    /// Returns its metadata.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        let described: CheckpointDescribed = events::body(&self.event)?;
        Ok(Metadata::stored(&described))
    }

    /// Returns its id in the wire format.
    pub fn checkpoint_id(&self) -> Result<CheckpointId, Refusal> {
        checkpoint_id(&self.row.checkpoint)
    }

    /// Returns its session in the wire format.
    pub fn session_id(&self) -> Result<SessionId, Refusal> {
        session_id(&self.session)
    }

    /// Returns its whole context.
    ///
    /// # Errors
    /// `CORRUPT` when it is damaged, `CHECKPOINT_NOT_FOUND` when it was deleted in the meantime.
    pub fn context(&self, cx: &Context, state: &State) -> Result<Arc<Canonical>, Refusal> {
        Values::of(cx, state)
            .context(&self.manifest)
            .map_err(|error| self.unreadable(cx, state, &error))
    }

    /// Returns its top-level keys; errors as [`Self::context`].
    pub fn keys(&self, cx: &Context, state: &State) -> Result<Vec<String>, Refusal> {
        Values::of(cx, state)
            .keys(&self.manifest)
            .map_err(|error| self.unreadable(cx, state, &error))
    }

    /// Returns whether it was deleted in the meantime.
    pub fn is_deleted(&self, cx: &Context) -> bool {
        let newest = cx.engine.published();
        newest.is_some_and(|newest| {
            let place = view::place_of(&newest.snapshot, &self.row.checkpoint);
            matches!(place, Ok(None))
        })
    }

    /// Builds the refusal for a deleted checkpoint.
    pub fn deleted(&self) -> Refusal {
        let checkpoint = self.row.checkpoint;
        Refusal::new(
            Code::CheckpointNotFound,
            format!("the checkpoint `{checkpoint}` was deleted"),
        )
        .hint(hint![
            Tool::CheckpointList,
            " lists those that the session still has."
        ])
    }

    /// Builds the refusal for an unreadable checkpoint: deleted in the meantime, or damaged. A damaged one is not deleted;
    /// the refusal names the newest good checkpoint of its session.
    pub fn unreadable(&self, cx: &Context, state: &State, error: &Error) -> Refusal {
        if !matches!(error, Error::Corrupt { .. }) {
            return Refusal::new(Code::StorageUnavailable, error.to_string())
                .hint("Try again; the daemon's log says more.");
        }
        if self.is_deleted(cx) {
            return self.deleted();
        }
        let refusal = Refusal::new(
            Code::Corrupt,
            format!(
                "the checkpoint `{}` cannot be read: {error}",
                self.row.checkpoint
            ),
        );
        let session = &self.session;
        match newest_good(cx, state, session) {
            Ok(Some(good)) => refusal
                .hint(format!(
                    "Nothing was deleted. The newest good checkpoint of the session `{session}` is \
                     `{good}`."
                ))
                .details(serde_json::json!({ "newestGood": good.to_string() })),
            Ok(None) | Err(_) => refusal.hint(format!(
                "Nothing was deleted. The session `{session}` has no good checkpoint; run `lored \
                 verify` for the extent."
            )),
        }
    }
}

fn newest_good(cx: &Context, state: &State, session: &str) -> Result<Option<CheckpointKey>, Error> {
    let values = Values::of(cx, state);
    let log = state.log();
    let mut good = None;
    view::walk(state, session, None, Direction::Backward, &mut |row| {
        let checkpoint = row.checkpoint;
        let loads = StoredCheckpoint::at(&log, session.to_owned(), row)
            .and_then(|found| values.context(&found.manifest));
        Ok(match loads {
            Ok(_) => {
                good = Some(checkpoint);
                ControlFlow::Break(())
            }
            Err(_) => ControlFlow::Continue(()),
        })
    })?;
    Ok(good)
}
