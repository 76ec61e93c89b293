//! The command that undoes events, or redoes undone ones.

use crate::engine::{Command, DecisionContext};
use crate::error::Refusal;
use crate::events::trust::{TrustEvent, UndoneEvents};
use crate::events::{NewEvent, empty_body};
use crate::log::StreamName;
use crate::sessions;

/// Events of one stream.
#[derive(Clone, Debug)]
pub struct StreamChange {
    /// The stream.
    pub stream: StreamName,
    /// The events.
    pub events: UndoneEvents,
}

/// Undoes events of streams, or redoes them: in one commit.
pub struct UndoEvents {
    /// The events, by stream.
    pub changes: Vec<StreamChange>,
    /// Whether they are redone.
    pub is_redo: bool,
    /// Salt of the bodies.
    pub salt: [u8; 16],
}

impl Command for UndoEvents {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let mut events = Vec::new();
        for change in &self.changes {
            let undone = change.events.clone();
            let event = match self.is_redo {
                true => TrustEvent::Redone(undone),
                false => TrustEvent::Undone(undone),
            };
            let body = empty_body(self.salt);
            events.push(match &change.stream {
                // A session that was forgotten meanwhile has nothing left to undo.
                StreamName::Session(session) => match sessions::get(on.rows, session)? {
                    Some(row) => NewEvent::in_session(session.clone(), row.project, event, body),
                    None => continue,
                },
                StreamName::Project(project) => NewEvent::in_project(project, event, body),
                StreamName::Global => NewEvent::global(event, body),
            });
        }
        if events.is_empty() {
            return Err(Refusal::new(
                crate::error::Code::Conflict,
                "what was to be undone has been forgotten meanwhile",
            ));
        }
        Ok(events)
    }
}
