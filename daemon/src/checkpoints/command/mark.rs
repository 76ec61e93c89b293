//! Marks keys of a session as critical.

use super::{decided_twice, marked};
use crate::checkpoints::limits::Limits;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::checkpoints::{CheckpointEvent, KeyMarked};
use crate::hint::{arg, hint};
use crate::log::Body;
use crate::sessions;

/// Command: marks a key as critical, or removes the mark.
pub struct MarkKey {
    /// Session, which must exist.
    pub session: String,
    pub key: String,
    pub is_unmarked: bool,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
}

impl Command for MarkKey {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        sessions::find(on.rows, &self.session)?;
        let max = Limits::MARKS_MAX;
        let marks = marked(on.rows, &self.session)?;
        if !self.is_unmarked && marks.len() >= max && !marks.contains(&self.key) {
            return Err(Refusal::new(
                Code::StorageQuotaExceeded,
                format!(
                    "the session `{}` has {max} critical keys, the most it may have",
                    self.session
                ),
            )
            .hint(hint![
                "Take marks back that are no longer needed, with ",
                arg("unmark"),
                "."
            ]));
        }
        let marked = KeyMarked {
            key: self.key.clone(),
            is_unmarked: self.is_unmarked,
            held_by: None,
        };
        let project = sessions::get(on.rows, &self.session)?.and_then(|row| row.project);
        let body = self.body.take().ok_or_else(decided_twice)?;
        let marked = CheckpointEvent::KeyMarked(marked);
        let event = NewEvent::in_session(&self.session, project, marked, body);
        Ok(vec![event])
    }
}
