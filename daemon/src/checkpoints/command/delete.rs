//! Deletion of checkpoints, on request or by a clean-up.

use super::{
    Report, SaveSkipped, decided_twice, deleted, empty_body, holders, not_found, nothing_recorded,
    release,
};
use crate::checkpoints::view;
use crate::engine::{Command, DecisionContext};
use crate::error::Refusal;
use crate::events::NewEvent;
use crate::events::checkpoints::{
    CheckpointEvent, CheckpointKey, CheckpointsDeleted, DeletionCause,
};
use crate::log::{Body, Hash};
use crate::sessions;
use crate::store::{Error, RowsMut};

/// Command: deletes checkpoints of one session.
pub struct DeleteCheckpoints {
    pub session: String,
    pub checkpoints: Vec<CheckpointKey>,
    /// The cause. On request each checkpoint must exist; otherwise those that may not be deleted automatically stay.
    pub cause: DeletionCause,
    /// Critical keys whose newest holder is deleted, each with the position of the next holder (0: none).
    pub holders: Vec<(String, u64)>,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
    pub report: Report,
    /// Objects of the deleted checkpoints.
    pub let_go: Vec<Hash>,
}

impl DeleteCheckpoints {
    /// Creates the command; its event has an empty payload with this salt.
    pub fn new(
        session: &str,
        checkpoints: Vec<CheckpointKey>,
        cause: DeletionCause,
        salt: [u8; 16],
    ) -> Self {
        Self {
            session: session.to_owned(),
            checkpoints,
            cause,
            holders: Vec::new(),
            body: Some(empty_body(salt)),
            report: Report::default(),
            let_go: Vec::new(),
        }
    }
}

impl Command for DeleteCheckpoints {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let is_asked = self.cause == DeletionCause::Asked;
        let held = holders(on.rows, &self.session)?;
        let mut rows = Vec::new();
        for checkpoint in &self.checkpoints {
            let found = view::get(on.rows, checkpoint)?;
            match found.filter(|(session, _)| *session == self.session) {
                Some((_, row)) if is_asked => rows.push(row),
                Some((_, row)) if !row.is_kept && !held.contains(&row.position.0) => rows.push(row),
                None if is_asked => return Err(not_found(&checkpoint.to_string())),
                Some(_) | None => {}
            }
        }
        if rows.is_empty() {
            self.report.result().instead = Some(SaveSkipped::Stale);
            return Err(nothing_recorded());
        }
        let (gone, objects) = deleted(on, &rows)?;
        self.let_go = objects;
        let deleted = CheckpointsDeleted {
            gone,
            cause: self.cause,
            holders: std::mem::take(&mut self.holders),
        };
        let project = sessions::get(on.rows, &self.session)?.and_then(|row| row.project);
        let body = self.body.take().ok_or_else(decided_twice)?;
        let deleted = CheckpointEvent::Deleted(deleted);
        let event = NewEvent::in_session(&self.session, project, deleted, body);
        Ok(vec![event])
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        release(rows, &self.let_go, &self.report)
    }
}
