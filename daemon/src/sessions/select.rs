//! Which session a call is about: the one it names, the connection's, the caller's last, a new one.

use lore::protocol::SessionId;

use super::tombstone::{Tombstone, forgotten};
use super::view::{self, Lease, SessionRow};
use crate::clock::{Clock, Micros, format_time};
use crate::engine::DecisionContext;
use crate::error::{Code, Refusal};
use crate::events::sessions::{SessionCreated, SessionEvent, SessionOrigin};
use crate::events::{Event, NewEvent};
use crate::log::{Actor, Body, Header, Position};
use crate::operation::Caller;
use crate::store::{Error, Rows};

/// A caller's last session counts as its current one for this long: 24 h.
const CURRENT_MICROS: Micros = 24 * 3600 * 1_000_000;
/// How many leases a session has at most.
pub(super) const LEASES_MAX: usize = 64;
/// How many ids are compared to find near ones.
const NEAR_AMONG: usize = 2000;

/// What a call says about its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSelector {
    /// Named in the call, or else by the connection.
    pub session: Option<String>,
    /// The caller's project.
    pub project: Option<String>,
    /// The token of a lease that must still be held.
    pub fence: Option<Position>,
}

/// What a write says about its session, prepared before the queue.
#[derive(Clone, Debug)]
pub enum PreparedSession {
    /// A session that has to be there.
    Named {
        /// Its id.
        session: String,
        /// The project that events carry.
        project: Option<String>,
        /// The token of a lease that must still be held.
        fence: Option<Position>,
    },
    /// The caller's last one, or else a new one.
    Current {
        /// The caller's project.
        project: Option<String>,
        /// What a new session would need.
        new_id: String,
        /// Likewise.
        new_body: Body,
        /// The token of a lease that must still be held.
        fence: Option<Position>,
    },
    /// A new one.
    New {
        /// The caller's project.
        project: Option<String>,
        /// Its id, which nothing may have yet.
        id: String,
        /// The payload of the event that makes it.
        body: Body,
    },
}

/// The session chosen, and the event that makes it when it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSession {
    /// Its id.
    pub session: String,
    /// The project that events in it carry.
    pub project: Option<String>,
    /// To be appended first.
    pub created: Option<NewEvent>,
}

/// A fresh id: a letter for what it names, `-` and 80 random bits in base 32.
#[must_use]
pub fn fresh_id(letter: char, clock: &Clock) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bits = clock
        .random::<10>()
        .iter()
        .fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let digit = |at: u32| {
        let index = (bits >> (5 * at)) & 31;
        DIGITS
            .get(index as usize)
            .map_or('0', |digit| char::from(*digit))
    };
    std::iter::once(letter)
        .chain(std::iter::once('-'))
        .chain((0..16).rev().map(digit))
        .collect()
}

/// The session of a recorded event, as it goes over the wire.
///
/// # Errors
/// `CORRUPT` when the event has none, or one that is no id.
pub fn session_of(header: &Header) -> Result<SessionId, Refusal> {
    SessionId::new(header.session.clone().unwrap_or_default()).map_err(|error| {
        Refusal::new(
            Code::Corrupt,
            format!("the session of the event at {}: {error}", header.position),
        )
    })
}

impl ResolvedSession {
    /// The events of a write: the one that makes the session, if it is new, and the write's own.
    #[must_use]
    pub fn events(self, event: impl Into<Event>, body: Body) -> Vec<NewEvent> {
        let own = NewEvent::in_session(self.session, self.project, event, body);
        self.created.into_iter().chain([own]).collect()
    }
}

impl PreparedSession {
    /// Prepares.
    #[must_use]
    pub fn prepare(selector: SessionSelector, clock: &Clock) -> Self {
        let SessionSelector {
            session,
            project,
            fence,
        } = selector;
        match session {
            Some(session) => Self::Named {
                session,
                project,
                fence,
            },
            None => Self::Current {
                fence,
                project,
                new_id: fresh_id('s', clock),
                new_body: SessionCreated::default().prepare(clock.random()),
            },
        }
    }

    /// A new session, under a fresh id if none is given.
    #[must_use]
    pub fn fresh(id: Option<String>, project: Option<String>, clock: &Clock) -> Self {
        Self::New {
            project,
            id: id.unwrap_or_else(|| fresh_id('s', clock)),
            body: SessionCreated::default().prepare(clock.random()),
        }
    }

    /// Decides, on the writer.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named one does not exist, `SESSION_CLOSED` when it was closed,
    /// `CONFLICT` when the new one does exist, or the lease is lost.
    pub fn decide(&self, on: &DecisionContext<'_>) -> Result<ResolvedSession, Refusal> {
        match self {
            Self::Named {
                session,
                project,
                fence,
            } => {
                open(on.rows, session)?;
                fenced(on.rows, on.now, session, *fence)?;
                Ok(ResolvedSession {
                    session: session.clone(),
                    project: project.clone(),
                    created: None,
                })
            }
            Self::Current {
                project,
                new_id,
                new_body,
                fence,
            } => {
                let last = current(on.rows, on.actor, project.as_deref(), on.now)?;
                fenced(on.rows, on.now, last.as_deref().unwrap_or_default(), *fence)?;
                let event = |session: &String| {
                    let created = SessionEvent::Created(SessionOrigin::default());
                    let body = new_body.clone();
                    NewEvent::in_session(session, project.clone(), created, body)
                };
                Ok(ResolvedSession {
                    created: last.is_none().then(|| event(new_id)),
                    session: last.unwrap_or_else(|| new_id.clone()),
                    project: project.clone(),
                })
            }
            Self::New { project, id, body } => {
                check_free(on.rows, id)?;
                let created = SessionEvent::Created(SessionOrigin::default());
                let event = NewEvent::in_session(id, project.clone(), created, body.clone());
                Ok(ResolvedSession {
                    session: id.clone(),
                    project: project.clone(),
                    created: Some(event),
                })
            }
        }
    }
}

impl SessionSelector {
    /// What a caller wishes: the session named in the call, or else by its connection.
    #[must_use]
    pub fn of(caller: &Caller, named: Option<&SessionId>) -> Self {
        Self {
            session: named
                .map(|session| session.as_str().to_owned())
                .or_else(|| caller.session.clone()),
            project: caller.project.clone(),
            fence: None,
        }
    }

    /// The same for a write that gives the token of a lease.
    #[must_use]
    pub fn fenced(self, fence: Option<Position>) -> Self {
        Self { fence, ..self }
    }

    /// The session that a read is about.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named one does not exist, or none is named and the caller has
    /// none.
    pub fn find(&self, rows: &dyn Rows, actor: &Actor, now: Micros) -> Result<String, Refusal> {
        if let Some(session) = &self.session {
            return find(rows, session);
        }
        current(rows, actor, self.project.as_deref(), now)?.ok_or_else(|| {
            Refusal::new(
                Code::SessionNotFound,
                "the call names no session, and this caller has recorded nothing in this project \
                 in the last 24 hours",
            )
            .hint("Name a `session`, or record a step first: its reply returns the session.")
        })
    }
}

/// Refuses the id of a session that is there, or that was and is forgotten, where a new one is wanted.
///
/// # Errors
/// `CONFLICT`.
pub(super) fn check_free(rows: &dyn Rows, session: &str) -> Result<(), Refusal> {
    let conflict = |message: String| Refusal::new(Code::Conflict, message);
    if view::exists(rows, session)? {
        let message = format!("there is already a session `{session}`");
        return Err(conflict(message)
            .hint("Use it as it is, choose another id, or name none for a fresh one."));
    }
    match forgotten(rows, session)? {
        None => Ok(()),
        Some(tombstone) => Err(conflict(format!(
            "there was a session `{session}`, forgotten on {}; its id is not used again",
            format_time(tombstone.at)
        ))
        .hint("Choose another id, or name none for a fresh one.")),
    }
}

/// The session of this id was forgotten.
#[must_use]
pub fn was_forgotten(session: &str, tombstone: &Tombstone) -> Refusal {
    Refusal::new(
        Code::SessionNotFound,
        format!(
            "the session `{session}` was forgotten on {}, at position {}; what it held is gone",
            format_time(tombstone.at),
            tombstone.position
        ),
    )
    .hint("Leave `session` out to use your current one, or make another with `create_session`.")
}

/// The session of this id, which has to be there.
///
/// # Errors
/// `SESSION_NOT_FOUND`, naming near ones.
pub fn find(rows: &dyn Rows, session: &str) -> Result<String, Refusal> {
    if view::exists(rows, session)? {
        Ok(session.to_owned())
    } else {
        Err(not_found(rows, session)?)
    }
}

/// The session of this id, which must take what is recorded.
///
/// # Errors
/// `SESSION_NOT_FOUND`, naming near ones; `SESSION_CLOSED`.
pub fn open(rows: &dyn Rows, session: &str) -> Result<SessionRow, Refusal> {
    match view::get(rows, session)? {
        Some(row) if row.closed == 0 => Ok(row),
        Some(_) => Err(Refusal::new(
            Code::SessionClosed,
            format!("the session `{session}` was closed; nothing more is recorded in it"),
        )
        .hint("Go on in a fork of it, `fork_session`, or in a new session.")),
        None => Err(not_found(rows, session)?),
    }
}

/// Refuses a write that gives the token of a lease that is not held any more.
///
/// # Errors
/// `CONFLICT`, saying who holds it now.
pub fn fenced(
    rows: &dyn Rows,
    now: Micros,
    session: &str,
    fence: Option<Position>,
) -> Result<(), Refusal> {
    let Some(token) = fence else { return Ok(()) };
    let leases = view::leases(rows, session, LEASES_MAX)?;
    let held = |(_, lease): &(String, Lease)| lease.token == token.0 && lease.holds(now);
    if leases.iter().any(held) {
        return Ok(());
    }
    let other = leases.iter().find(|(_, lease)| lease.holds(now));
    let who = other.map_or_else(String::new, |(name, lease)| {
        format!("; `{name}` is now held by {}", lease.describe())
    });
    Err(Refusal::new(
        Code::Conflict,
        format!("the lease with the token {token} is no longer held{who}"),
    )
    .hint("Take it again with `lease_session`, look at what has changed, then repeat the call."))
}

/// The caller's last session, while it counts as the current one and takes what is recorded.
fn current(
    rows: &dyn Rows,
    actor: &Actor,
    project: Option<&str>,
    now: Micros,
) -> Result<Option<String>, Error> {
    let last = view::last_of(rows, actor, project)?;
    let Some((session, _)) = last.filter(|(_, at)| now.saturating_sub(*at) < CURRENT_MICROS) else {
        return Ok(None);
    };
    // A forgotten one is nobody's current session.
    let is_open = view::get(rows, &session)?.is_some_and(|row| row.closed == 0);
    Ok(is_open.then_some(session))
}

fn not_found(rows: &dyn Rows, session: &str) -> Result<Refusal, Error> {
    if let Some(tombstone) = forgotten(rows, session)? {
        return Ok(was_forgotten(session, &tombstone));
    }
    let ids = view::ids(rows, NEAR_AMONG)?;
    let near = lore::protocol::several_nearest(session, ids.iter().map(String::as_str), 3);
    let hint = if near.is_empty() {
        "Leave `session` out to use your current one, or make it with `create_session`.".to_owned()
    } else {
        format!(
            "Near to it: {}. Or make it with `create_session`.",
            near.join(", ")
        )
    };
    Ok(Refusal::new(
        Code::SessionNotFound,
        format!("there is no session `{session}`"),
    )
    .hint(hint))
}
