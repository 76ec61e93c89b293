//! Decisions about sessions.

use super::choose::taken;
use super::event::SessionCreated;
use super::view;
use crate::engine::{Command, Decide};
use crate::error::Refusal;
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
            return Err(taken(&self.session));
        }
        Ok(vec![SessionCreated::event(
            self.session.clone(),
            self.project.clone(),
            self.body.clone(),
        )])
    }
}
