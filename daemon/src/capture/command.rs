//! The command that records an observation, with the message or step that it is.

use super::marks;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::capture::{CaptureEvent, ContentMark, Observation, ObservationRepeated};
use crate::events::empty_body;
use crate::log::{Body, ImportOrigin};
use crate::messages::operations::MessageCommand;
use crate::sessions::PreparedSession;
use crate::steps::operations::StepCommand;

/// What an observation is recorded as.
pub(super) enum RecordedAs {
    /// An observation alone.
    Alone(PreparedSession),
    /// A message.
    Message(Box<MessageCommand>),
    /// A step.
    Step(Box<StepCommand>),
}

/// Records an observation.
pub(super) struct RecordObservation {
    /// Its metadata.
    pub observed: Observation,
    /// Its body.
    pub body: Body,
    /// The event that it is recorded with.
    pub recorded: RecordedAs,
    /// By what the report of the other origin is found, if it may have been recorded under another id.
    pub sought: Option<ContentMark>,
    /// The host's own time and agent, if the host reports what is past.
    pub past: Option<ImportOrigin>,
    /// A salt for an event without content.
    pub salt: [u8; 16],
}

impl RecordObservation {
    /// Returns the choice of its session.
    const fn choice(&self) -> &PreparedSession {
        match &self.recorded {
            RecordedAs::Alone(choice) => choice,
            RecordedAs::Message(command) => &command.choice,
            RecordedAs::Step(command) => &command.choice,
        }
    }

    /// Returns the event that the other origin reported it, if it did.
    fn repeated(&self, on: &DecisionContext<'_>) -> Result<Option<NewEvent>, Refusal> {
        let Some(sought) = self.sought else {
            return Ok(None);
        };
        let Some((session, project)) = self.choice().existing_session(on)? else {
            return Ok(None);
        };
        let found = marks::find(on.rows, &session, sought)?;
        Ok(found.map(|(of, mark)| {
            let repeated = CaptureEvent::Repeated(ObservationRepeated { of: of.0, mark });
            NewEvent::in_session(session, project, repeated, empty_body(self.salt))
        }))
    }
}

impl Command for RecordObservation {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if let Some(repeated) = self.repeated(on)? {
            return Ok(vec![repeated]);
        }
        let mut events = self.events(on)?;
        for event in &mut events {
            event.origin.clone_from(&self.past);
        }
        Ok(events)
    }
}

impl RecordObservation {
    fn events(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let observed = CaptureEvent::Observed(self.observed.clone());
        let body = self.body.clone();
        let mut events = match &mut self.recorded {
            RecordedAs::Alone(choice) => return Ok(choice.decide(on)?.events(observed, body)),
            RecordedAs::Message(command) => command.decide(on)?,
            RecordedAs::Step(command) => command.decide(on)?,
        };
        // Before its message or step: the reply is built from the last event.
        let own = events.pop().ok_or_else(nothing)?;
        let session = own.session.clone().ok_or_else(nothing)?;
        let before = NewEvent::in_session(session, own.project.clone(), observed, body);
        events.extend([before, own]);
        Ok(events)
    }
}

fn nothing() -> Refusal {
    Refusal::new(Code::Internal, "a message or step without a session")
}
