//! Marks: keys that are critical in a session.

use super::{decided_twice, marked};
use crate::checkpoints::event::KeyMarked;
use crate::checkpoints::limits::Limits;
use crate::engine::{Command, Decide};
use crate::error::{Code, Refusal};
use crate::log::{Body, NewEvent, codec};
use crate::sessions;

/// Wants a key marked critical, or the mark taken back.
pub struct MarkKey {
    /// In which session, which has to be there.
    pub session: String,
    /// The top-level key.
    pub key: String,
    /// Take the mark back.
    pub is_unmarked: bool,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
}

impl Command for MarkKey {
    fn decide(&mut self, on: &Decide<'_>) -> Result<Vec<NewEvent>, Refusal> {
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
            .hint("Take marks back with `unmark` that are no longer needed."));
        }
        let marked = KeyMarked {
            key: self.key.clone(),
            is_unmarked: self.is_unmarked,
            held_by: None,
        };
        Ok(vec![NewEvent {
            kind: KeyMarked::KIND,
            session: Some(self.session.clone()),
            project: sessions::get(on.rows, &self.session)?.and_then(|row| row.project),
            fact: codec::encode(&marked),
            body: self.body.take().ok_or_else(decided_twice)?,
            origin: None,
        }])
    }
}
