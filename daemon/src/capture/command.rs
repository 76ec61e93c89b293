//! The command that records an observation, with the message or step that it is.

use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::capture::{CaptureEvent, Observation};
use crate::log::Body;
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
}

impl Command for RecordObservation {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
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
