//! Decisions about steps: step numbers, attempts, and the scope of a registration.

use std::collections::BTreeSet;

use super::extract::REGISTERED_MAX;
use super::history::{Registrations, registered_by};
use super::{view, words};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::steps::{StepAssigned, StepEvent};
use crate::hint::{arg, hint};
use crate::log::{Body, EventScope, Position, index};
use crate::sessions::{PreparedSession, ResolvedSession, lineage};
use crate::store::PendingBlob;

/// The highest step number.
pub const STEP_MAX: u32 = 1_000_000;

/// Command: records a tool result as a step.
pub struct RecordStep {
    /// Target session.
    pub choice: PreparedSession,
    /// Step number; by default the next free one.
    pub step: Option<u32>,
    /// Whether the tool call succeeded.
    pub success: bool,
    /// What makes its result suspicious.
    pub suspect: Vec<String>,
    /// Event payload, taken when the command is decided.
    pub body: Option<Body>,
    /// Blobs that the payload references. They are protected from the sweep until the event is committed.
    pub blobs: Vec<PendingBlob>,
}

impl Command for RecordStep {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let ResolvedSession {
            session,
            project,
            created,
        } = self.choice.decide(on)?;
        // The number after the last one has no earlier attempts.
        let (step, before) = match self.step {
            Some(step) => {
                let lines = lineage(on.rows, &session)?;
                (step, view::attempts(on.rows, &lines, step)?)
            }
            None => (index::last_step(on.rows, &session)?.saturating_add(1), 0),
        };
        if step == 0 || step > STEP_MAX {
            return Err(Refusal::invalid(format!(
                "step numbers go from 1 to {STEP_MAX}; this would be {step}"
            ))
            .hint(hint![
                "Leave ",
                arg("step"),
                " out for the next free number, or begin a new session."
            ]));
        }
        let attempt = before.saturating_add(1);
        let assigned = StepAssigned {
            step,
            attempt,
            success: self.success,
            suspect: self.suspect.clone(),
            blobs: self
                .blobs
                .iter()
                .map(|blob| blob.reference().hash.into())
                .collect(),
        };
        let body = self.body.take().ok_or_else(decided_twice)?;
        let recorded = NewEvent::in_session(session, project, StepEvent::Recorded(assigned), body);
        Ok(created.into_iter().chain([recorded]).collect())
    }
}

fn decided_twice() -> Refusal {
    Refusal::new(Code::Internal, "a command was decided twice")
}

/// Scope of a registration.
pub enum RegistrationScope {
    /// One session.
    Session(PreparedSession),
    /// One project.
    Project(String),
    /// All sessions.
    Global,
}

/// Kind of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// An extractor.
    Extractor,
    /// A field mapping (aliases of a field).
    Mapping,
}

/// Command: registers an extractor or a field mapping.
pub struct Register {
    /// Scope of the registration.
    pub reach: RegistrationScope,
    /// Kind of the registration.
    pub what: Registration,
    /// Name of the extractor or the field.
    pub name: String,
    /// Event payload.
    pub body: Body,
}

impl Command for Register {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let (session, project, created) = match &self.reach {
            RegistrationScope::Session(choice) => {
                let selected = choice.decide(on)?;
                (Some(selected.session), selected.project, selected.created)
            }
            RegistrationScope::Project(project) => (None, Some(project.clone()), None),
            RegistrationScope::Global => (None, None, None),
        };
        let scope = match (&session, &project) {
            (Some(session), _) => EventScope::Session(session),
            (None, Some(project)) => EventScope::Project(project),
            (None, None) => EventScope::Global,
        };
        self.check_room(on, scope)?;
        let event = match self.what {
            Registration::Extractor => StepEvent::ExtractorRegistered,
            Registration::Mapping => StepEvent::MappingRegistered,
        };
        let registered = NewEvent {
            session,
            project,
            ..NewEvent::global(event, self.body.clone())
        };
        Ok(created.into_iter().chain([registered]).collect())
    }
}

impl Register {
    /// Refuses a new name when the scope is full. A registered name is replaced.
    fn check_room(&self, on: &DecisionContext<'_>, scope: EventScope<'_>) -> Result<(), Refusal> {
        let all = view::registrations(on.rows, scope, Position(u64::MAX))?;
        if all.len() < REGISTERED_MAX {
            return Ok(());
        }
        let name = words::normalise(&self.name);
        let mut others = BTreeSet::new();
        // Newest first: a name that is registered repeatedly is found at once.
        for (position, record) in all.into_iter().rev() {
            let event = on.event(record, position)?;
            let other = match (self.what, registered_by(&event)?) {
                (Registration::Extractor, Some(Registrations::Extractor(other))) => other.name,
                (Registration::Mapping, Some(Registrations::Mapping(other))) => other.field,
                (Registration::Extractor | Registration::Mapping, _) => continue,
            };
            let other = words::normalise(&other);
            if other == name {
                return Ok(());
            }
            others.insert(other);
            if others.len() == REGISTERED_MAX {
                return Err(self.one_too_many(scope));
            }
        }
        Ok(())
    }

    fn one_too_many(&self, scope: EventScope<'_>) -> Refusal {
        let what = match self.what {
            Registration::Extractor => "extractors",
            Registration::Mapping => "field mappings",
        };
        let place = match scope {
            EventScope::Session(session) => format!("the session `{session}` has"),
            EventScope::Project(_) => "the project has".to_owned(),
            EventScope::Global => "everywhere there are".to_owned(),
        };
        Refusal::new(
            Code::StorageQuotaExceeded,
            format!(
                "{place} {REGISTERED_MAX} {what} of other names, which is as many as a scope may \
                 have; `{}` was not registered",
                self.name
            ),
        )
        .hint("Register under an existing name, which replaces it, or in another scope.")
    }
}
