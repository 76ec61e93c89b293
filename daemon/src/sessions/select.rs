//! Selects the session of a call: the named one, the connection's, the caller's last, or a new one.

use lore::protocol::SessionId;

use super::tombstone::{Tombstone, forgotten};
use super::view::{self, Lease, SessionRow};
use crate::clock::{Clock, Micros, format_time};
use crate::engine::DecisionContext;
use crate::error::{Code, Refusal};
use crate::events::sessions::{SessionCreated, SessionEvent, SessionOrigin};
use crate::events::{Event, NewEvent};
use crate::hint::{Tool, arg, aside, hint, with};
use crate::log::{Actor, Body, Header, Position};
use crate::operation::Caller;
use crate::store::{Error, Rows};

/// Time for which a caller's last session is its current one: 24 h.
const CURRENT_MICROS: Micros = 24 * 3600 * 1_000_000;
/// Limit on the leases of a session.
pub(super) const LEASES_MAX: usize = 64;
/// Limit on the ids that are compared to find similar ones.
const NEAR_AMONG: usize = 2000;

/// The session arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSelector {
    /// Session from the call, or else from the connection.
    pub session: Option<String>,
    /// The caller's project.
    pub project: Option<String>,
    /// Token of a lease that must still be held.
    pub fence: Option<Position>,
}

/// The session of a write, prepared before the command is queued.
#[derive(Clone, Debug)]
pub struct PreparedSession {
    choice: SessionChoice,
    /// Project of the events.
    project: Option<String>,
    /// Token of a lease that must still be held.
    pub fence: Option<Position>,
}

#[derive(Clone, Debug)]
enum SessionChoice {
    /// An existing session.
    Named(String),
    /// The caller's last session, or else a new one with this id and creation event.
    Current(String, Body),
    /// A new session with this id, which must be free, and this creation event.
    New(String, Body),
}

/// The resolved session, and the creation event when it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSession {
    /// Session id.
    pub session: String,
    /// Project of the events in it.
    pub project: Option<String>,
    /// Creation event, to be appended first.
    pub created: Option<NewEvent>,
}

/// Generates an id: a letter for its type, `-` and 80 random bits in base 32.
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

/// Returns the session of a recorded event in its wire format.
///
/// # Errors
/// `CORRUPT` when the event has no session, or an invalid id.
pub fn session_of(header: &Header) -> Result<SessionId, Refusal> {
    SessionId::new(header.session.clone().unwrap_or_default()).map_err(|error| {
        Refusal::new(
            Code::Corrupt,
            format!("the session of the event at {}: {error}", header.position),
        )
    })
}

impl ResolvedSession {
    /// Returns the events of a write: the creation event if the session is new, and the write's own events.
    #[must_use]
    pub fn events(self, event: impl Into<Event>, body: Body) -> Vec<NewEvent> {
        let own = NewEvent::in_session(self.session, self.project, event, body);
        self.created.into_iter().chain([own]).collect()
    }
}

impl PreparedSession {
    /// Prepares the session of a write.
    #[must_use]
    pub fn prepare(selector: SessionSelector, clock: &Clock) -> Self {
        let choice = match selector.session {
            Some(session) => SessionChoice::Named(session),
            None => SessionChoice::Current(fresh_id('s', clock), creation(clock)),
        };
        Self {
            choice,
            project: selector.project,
            fence: selector.fence,
        }
    }

    /// Prepares a new session; generates an id if none is given.
    #[must_use]
    pub fn fresh(id: Option<String>, project: Option<String>, clock: &Clock) -> Self {
        let id = id.unwrap_or_else(|| fresh_id('s', clock));
        Self {
            choice: SessionChoice::New(id, creation(clock)),
            project,
            fence: None,
        }
    }

    /// Resolves the session on the writer thread.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named session does not exist, `SESSION_CLOSED` when it was closed, `CONFLICT` when
    /// the new session already exists or the lease is lost.
    pub fn decide(&self, on: &DecisionContext<'_>) -> Result<ResolvedSession, Refusal> {
        let project = self.project.as_deref();
        let (session, new_body) = match &self.choice {
            SessionChoice::Named(session) => {
                open(on.rows, session)?;
                (session.clone(), None)
            }
            SessionChoice::Current(id, body) => {
                match current(on.rows, on.actor, project, on.now)? {
                    Some(last) => (last, None),
                    None => (id.clone(), Some(body)),
                }
            }
            SessionChoice::New(id, body) => {
                check_free(on.rows, id)?;
                (id.clone(), Some(body))
            }
        };
        // A new session has no leases.
        fenced(on.rows, on.now, &session, self.fence)?;
        let created = new_body.map(|body| {
            let created = SessionEvent::Created(SessionOrigin::default());
            NewEvent::in_session(&session, self.project.clone(), created, body.clone())
        });
        Ok(ResolvedSession {
            session,
            project: self.project.clone(),
            created,
        })
    }
}

fn creation(clock: &Clock) -> Body {
    SessionCreated::default().prepare(clock.random())
}

impl SessionSelector {
    /// Builds the selector: the session named in the call, or else the connection's.
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

    /// Builds the selector of a write that carries a lease token.
    #[must_use]
    pub fn fenced(self, fence: Option<Position>) -> Self {
        Self { fence, ..self }
    }

    /// Finds the session of a read.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named session does not exist, or none is named and the caller has none.
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
            .hint(hint!["Record something first", aside(Tool::RecordStep), ": its reply returns the session."; "Or name a ", arg("session"), "."])
        })
    }
}

/// Refuses the id of an existing or forgotten session for a new session.
///
/// # Errors
/// `CONFLICT`.
pub(super) fn check_free(rows: &dyn Rows, session: &str) -> Result<(), Refusal> {
    let conflict = |message: String| Refusal::new(Code::Conflict, message);
    if view::exists(rows, session)? {
        let message = format!("there is already a session `{session}`");
        return Err(conflict(message).hint(
            "Use the existing session, choose another id, or omit the id for a new session.",
        ));
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

/// Builds the refusal for a forgotten session.
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
    .hint(hint!["Leave ", arg("session"), " out, and the call finds its session by itself."; Tool::CreateSession, " makes another one."])
}

/// Checks that the session exists and returns its id.
///
/// # Errors
/// `SESSION_NOT_FOUND`, with similar ids.
pub fn find(rows: &dyn Rows, session: &str) -> Result<String, Refusal> {
    if view::exists(rows, session)? {
        Ok(session.to_owned())
    } else {
        Err(not_found(rows, session)?)
    }
}

/// Returns the session, which must be open for writes.
///
/// # Errors
/// `SESSION_NOT_FOUND`, with similar ids; `SESSION_CLOSED`.
pub fn open(rows: &dyn Rows, session: &str) -> Result<SessionRow, Refusal> {
    match view::get(rows, session)? {
        Some(row) if row.closed == 0 => Ok(row),
        Some(_) => Err(Refusal::new(
            Code::SessionClosed,
            format!("the session `{session}` was closed; nothing more is recorded in it"),
        )
        .hint(hint![
            "Continue in a fork",
            aside(Tool::ForkSession),
            " or in a new session."
        ])),
        None => Err(not_found(rows, session)?),
    }
}

/// Refuses a write with the token of a lease that is no longer held.
///
/// # Errors
/// `CONFLICT`, with the current holder.
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
    .hint(hint![
        "Take it again",
        with(Tool::LeaseSession),
        ", look at what has changed, then repeat the call."
    ]))
}

/// Returns the caller's last session while it is current and open.
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
    // A forgotten session is not a current session.
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
        hint!["Leave ", arg("session"), " out, and the call finds its session by itself."; Tool::CreateSession, " makes one with an id of your own."]
    } else {
        hint![format!("Near to it: {}.", near.join(", ")); Tool::CreateSession, " makes one with an id of your own."]
    };
    Ok(Refusal::new(
        Code::SessionNotFound,
        format!("session `{session}` not found"),
    )
    .hint(hint))
}
