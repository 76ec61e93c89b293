//! The command that records a judgement.

use std::sync::Arc;

use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::trust::{SuspicionReviewed, TrustEvent};
use crate::events::{NewEvent, empty_body};
use crate::log::{EventScope, LoggedEvent, Position, forgotten};
use crate::sessions;
use crate::store::Error;

/// Records what a person says about an event, in the stream of that event.
pub struct RecordJudgement {
    /// The judgement.
    pub reviewed: SuspicionReviewed,
    /// Salt of the body.
    pub salt: [u8; 16],
}

impl Command for RecordJudgement {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let position = self.reviewed.event;
        let judged = on.at(Position(position))?;
        let is_there = |event: &Arc<LoggedEvent>| -> Result<bool, Error> {
            let header = &event.header;
            let is_forgotten = sessions::is_forgotten(on.rows, header)?
                || forgotten::is_forgotten(on.rows, header)?;
            Ok(event.payload.is_some() && !is_forgotten)
        };
        let judged = match judged {
            Some(event) if is_there(&event)? => Some(event),
            _ => None,
        };
        let Some(judged) = judged else {
            return Err(Refusal::new(
                Code::NotFound,
                format!("no event with a text is at position {position}"),
            )
            .hint("`lore review` lists suspicious texts, and `lore log` all events."));
        };
        let event = TrustEvent::Reviewed(self.reviewed);
        let body = empty_body(self.salt);
        Ok(vec![match judged.scope() {
            EventScope::Session(session) => {
                let project = judged.header.project.clone();
                NewEvent::in_session(session.to_owned(), project, event, body)
            }
            EventScope::Project(project) => NewEvent::in_project(project, event, body),
            EventScope::Global => NewEvent::global(event, body),
        }])
    }
}
