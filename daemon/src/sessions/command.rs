//! Session commands.

use super::checks::{LEASES_MAX, check_free, find, open};
use super::host::HostSession;
use super::lineage::{FORKS_DEEP_MAX, lineage};
use super::select::{PreparedSession, SessionSelector, host_of_new};
use super::view::{self, Details};
use crate::clock::{Clock, Micros};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::sessions::{
    LeaseReleased, Parent, SessionEvent, SessionLeased, SessionOrigin, SessionUpdated,
};
use crate::hint::{arg, hint};
use crate::log::{Body, Position};

/// Limit on the tags of a session.
pub(super) const TAGS_MAX: usize = 64;
/// Limit on a session's preferences, in bytes of JSON.
pub(crate) const PREFERENCES_BYTES_MAX: usize = 16 * 1024;

/// Command: creates a session with a given id.
pub struct CreateSession {
    /// Session id, from the caller or generated.
    pub session: String,
    /// The caller's project.
    pub project: Option<String>,
    /// User on whose behalf it is created; also in the payload.
    pub user: Option<String>,
    /// Parent session whose past it shares.
    pub parent: Option<Parent>,
    /// The host session of the caller, whose own session it becomes if that has none.
    pub host: Option<HostSession>,
    /// Payload of the event.
    pub body: Body,
}

impl Command for CreateSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        check_free(on.rows, &self.session)?;
        if let Some(parent) = &self.parent {
            find(on.rows, &parent.session)?;
            if lineage(on.rows, &parent.session)?.len() >= FORKS_DEEP_MAX {
                return Err(Refusal::invalid(format!(
                    "`{}` is a fork of a fork, {FORKS_DEEP_MAX} deep; deeper ones cannot be made",
                    parent.session
                ))
                .hint("Fork one of its parents, or begin a new session."));
            }
        }
        let preferences = match (&self.user, &self.parent) {
            (Some(user), None) => view::preferences_of(on.rows, user)?,
            _ => None,
        };
        let created = SessionEvent::Created(SessionOrigin {
            preferences,
            parent: self.parent.clone(),
            host: self
                .host
                .as_ref()
                .map_or(Ok(None), |host| host_of_new(on, host))?,
        });
        let (session, project) = (&self.session, self.project.clone());
        let body = self.body.clone();
        Ok(vec![NewEvent::in_session(session, project, created, body)])
    }
}

/// Command: begins the session of a caller that has none, without anything in it.
pub struct BeginSession(PreparedSession);

impl BeginSession {
    /// Prepares the command.
    #[must_use]
    pub fn new(selector: SessionSelector, clock: &Clock) -> Self {
        let id = selector.host.as_ref().and_then(HostSession::named);
        let id = id.map(str::to_owned);
        Self(PreparedSession::fresh(id, selector, clock))
    }
}

impl Command for BeginSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        Ok(self.0.decide(on)?.created.into_iter().collect())
    }
}

/// Command: records a session change whose event is written as it was received.
pub struct RecordSessionChange {
    pub choice: PreparedSession,
    pub what: SessionChange,
    /// Payload of the event.
    pub body: Body,
}

/// A session change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    Updated(Box<SessionUpdated>),
    Closed,
}

impl Command for RecordSessionChange {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        let event = match &self.what {
            SessionChange::Updated(updated) => {
                let mut details = view::details(on.rows, &selected.session)?;
                details.set(updated);
                check_size(&details)?;
                SessionEvent::Updated
            }
            SessionChange::Closed => SessionEvent::Closed,
        };
        Ok(selected.events(event, self.body.clone()))
    }
}

/// Refuses an update that would make the accumulated fields too large.
fn check_size(details: &Details) -> Result<(), Refusal> {
    let tags = details.tags.len();
    if tags > TAGS_MAX {
        return Err(Refusal::invalid(format!(
            "the session would have {tags} tags; it has at most {TAGS_MAX}"
        ))
        .hint(hint![
            "Take some away with ",
            arg("remove_tags"),
            ", or set them all with ",
            arg("tags"),
            "."
        ]));
    }
    let bytes = details.preferences.as_ref().map_or(0, String::len);
    if bytes > PREFERENCES_BYTES_MAX {
        return Err(Refusal::invalid(format!(
            "the session's `preferences` would have {bytes} bytes as JSON; they have at most \
             {PREFERENCES_BYTES_MAX} bytes"
        ))
        .hint("Take some away: null in place of a value removes it."));
    }
    Ok(())
}

/// Command: takes or renews a lease of a session.
pub struct AcquireLease {
    pub choice: PreparedSession,
    pub name: String,
    /// Duration, in microseconds.
    pub micros: Micros,
    /// Token of the lease to renew.
    pub token: Option<Position>,
    /// Empty payload with a salt.
    pub body: Body,
}

impl Command for AcquireLease {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        let before = view::lease(on.rows, &selected.session, &self.name)?;
        let is_renewed = |token: u64| self.token == Some(Position(token));
        match &before {
            Some(lease) if is_renewed(lease.token) => {}
            Some(lease) if lease.holds(on.now) => {
                let why = format!("is held by {}", lease.describe());
                return Err(self.refused(&selected.session, &why));
            }
            Some(_) | None if self.token.is_some() => {
                let why = "has ended for this token, and what it guarded may have changed";
                return Err(self.refused(&selected.session, why));
            }
            Some(_) | None => {}
        }
        let held = view::leases(on.rows, &selected.session, usize::MAX)?;
        let held = held.iter().filter(|(_, lease)| lease.holds(on.now));
        if before.is_none() && held.count() >= LEASES_MAX {
            return Err(Refusal::invalid(format!(
                "a session has at most {LEASES_MAX} leases at a time"
            ))
            .hint("Release one that is not needed."));
        }
        let leased = SessionLeased {
            name: self.name.clone(),
            until: on.now.saturating_add(self.micros),
            token: self.token.map(|token| token.0),
        };
        Ok(selected.events(SessionEvent::Leased(leased), self.body.clone()))
    }
}

impl AcquireLease {
    fn refused(&self, session: &str, why: &str) -> Refusal {
        Refusal::new(
            Code::Conflict,
            format!("the lease `{}` of `{session}` {why}", self.name),
        )
        .hint(hint![
            "Wait until it ends or is released.";
            "To renew one, give the ", arg("token"), " that it came with."
        ])
    }
}

/// Command: releases a lease.
pub struct ReleaseLease {
    /// Session id.
    pub session: String,
    pub project: Option<String>,
    /// Token that proves the lease.
    pub token: Position,
    /// Empty payload with a salt.
    pub body: Body,
}

impl Command for ReleaseLease {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        open(on.rows, &self.session)?;
        let leases = view::leases(on.rows, &self.session, usize::MAX)?;
        let mut held = leases.into_iter();
        let found = held.find(|(_, lease)| lease.token == self.token.0 && lease.holds(on.now));
        let Some((name, _)) = found else {
            return Err(Refusal::new(
                Code::NotFound,
                format!(
                    "no lease of `{}` is held under the token {}",
                    self.session, self.token
                ),
            )
            .hint("It has ended by itself, or was released; nothing is left to do."));
        };
        let released = LeaseReleased {
            name,
            token: self.token.0,
        };
        Ok(vec![NewEvent::in_session(
            &self.session,
            self.project.clone(),
            SessionEvent::Released(released),
            self.body.clone(),
        )])
    }
}
