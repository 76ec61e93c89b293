//! Decisions about sessions.

use super::event::SessionCreated;
use super::view;
use crate::engine::{Command, Decide};
use crate::error::{Code, Refusal};
use crate::log::{Body, NewEvent};

/// Wants a session of a given id.
pub struct CreateSession {
    /// Chosen by the caller, or fresh.
    pub session: String,
    /// The caller's project.
    pub project: Option<String>,
    /// The payload of the event.
    pub body: Body,
}

impl Command for CreateSession {
    fn decide(&mut self, on: &Decide<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if view::exists(on.rows, &self.session)? {
            return Err(Refusal::new(
                Code::Conflict,
                format!("there is already a session `{}`", self.session),
            )
            .hint("Use it as it is, choose another id, or leave `session` out for a fresh one."));
        }
        Ok(vec![SessionCreated::event(
            self.session.clone(),
            self.project.clone(),
            self.body.clone(),
        )])
    }
}
