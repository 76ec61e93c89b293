//! Which session a call is about: the one it names, the connection's, the caller's last, a new one.

use lore::protocol::SessionId;

use super::event::SessionCreated;
use super::view;
use crate::clock::{Clock, Micros};
use crate::engine::Decide;
use crate::error::{Code, Refusal};
use crate::log::{Actor, Body, Header, NewEvent};
use crate::operation::Caller;
use crate::store::{Error, Rows};

/// A caller's last session counts as its current one for this long: 24 h.
const CURRENT_MICROS: Micros = 24 * 3600 * 1_000_000;
/// How many ids are compared to find near ones.
const NEAR_AMONG: usize = 2000;

/// What a call says about its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Named in the call, or else by the connection.
    pub session: Option<String>,
    /// The caller's project.
    pub project: Option<String>,
}

/// What a write says about its session, prepared before the queue.
#[derive(Clone, Debug)]
pub enum Choice {
    /// A session that has to be there.
    Named {
        /// Its id.
        session: String,
        /// The project that events carry.
        project: Option<String>,
    },
    /// The caller's last one, or else a new one.
    Current {
        /// The caller's project.
        project: Option<String>,
        /// What a new session would need.
        new_id: String,
        /// Likewise.
        new_body: Body,
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
pub struct Chosen {
    /// Its id.
    pub session: String,
    /// The project that events in it carry.
    pub project: Option<String>,
    /// To be appended first.
    pub created: Option<NewEvent>,
}

/// A fresh session id: `s-` and 80 random bits in base 32.
#[must_use]
pub(super) fn new_id(clock: &Clock) -> String {
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
    std::iter::once('s')
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

impl Choice {
    /// Prepares.
    #[must_use]
    pub fn prepare(wish: Wish, clock: &Clock) -> Self {
        let Wish { session, project } = wish;
        match session {
            Some(session) => Self::Named { session, project },
            None => Self::Current {
                project,
                new_id: new_id(clock),
                new_body: SessionCreated::default().prepare(clock.random()),
            },
        }
    }

    /// A new session, under a fresh id if none is given.
    #[must_use]
    pub fn fresh(id: Option<String>, project: Option<String>, clock: &Clock) -> Self {
        Self::New {
            project,
            id: id.unwrap_or_else(|| new_id(clock)),
            body: SessionCreated::default().prepare(clock.random()),
        }
    }

    /// Decides, on the writer.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named one does not exist, `CONFLICT` when the new one does.
    pub fn decide(&self, on: &Decide<'_>) -> Result<Chosen, Refusal> {
        match self {
            Self::Named { session, project } => Ok(Chosen {
                session: named(on.rows, session)?,
                project: project.clone(),
                created: None,
            }),
            Self::Current {
                project,
                new_id,
                new_body,
            } => {
                let last = current(on.rows, on.actor, project.as_deref(), on.now)?;
                let event = |session: &String| {
                    SessionCreated::event(session.clone(), project.clone(), new_body.clone())
                };
                Ok(Chosen {
                    created: last.is_none().then(|| event(new_id)),
                    session: last.unwrap_or_else(|| new_id.clone()),
                    project: project.clone(),
                })
            }
            Self::New { project, id, body } => {
                if view::exists(on.rows, id)? {
                    return Err(taken(id));
                }
                let event = SessionCreated::event(id.clone(), project.clone(), body.clone());
                Ok(Chosen {
                    session: id.clone(),
                    project: project.clone(),
                    created: Some(event),
                })
            }
        }
    }
}

impl Wish {
    /// What a caller wishes: the session named in the call, or else by its connection.
    #[must_use]
    pub fn of(caller: &Caller, named: Option<&SessionId>) -> Self {
        Self {
            session: named
                .map(|session| session.as_str().to_owned())
                .or_else(|| caller.session.clone()),
            project: caller.project.clone(),
        }
    }

    /// The session that a read is about.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named one does not exist, or none is named and the caller has
    /// none.
    pub fn find(&self, rows: &dyn Rows, actor: &Actor, now: Micros) -> Result<String, Refusal> {
        if let Some(session) = &self.session {
            return named(rows, session);
        }
        current(rows, actor, self.project.as_deref(), now)?.ok_or_else(|| {
            Refusal::new(
                Code::SessionNotFound,
                "the call names no session, and this caller has recorded nothing in this project \
                 in the last 24 hours",
            )
            .hint("Name a `session`, or record a step first: its reply tells the session.")
        })
    }
}

/// There is a session of this id already, where a new one was wanted.
pub(super) fn taken(session: &str) -> Refusal {
    Refusal::new(
        Code::Conflict,
        format!("there is already a session `{session}`"),
    )
    .hint("Use it as it is, choose another id, or name none for a fresh one.")
}

/// The session of this id, which has to be there.
///
/// # Errors
/// `SESSION_NOT_FOUND`, naming near ones.
pub fn named(rows: &dyn Rows, session: &str) -> Result<String, Refusal> {
    if view::exists(rows, session)? {
        Ok(session.to_owned())
    } else {
        Err(not_found(rows, session)?)
    }
}

/// The caller's last session, while it counts as the current one.
fn current(
    rows: &dyn Rows,
    actor: &Actor,
    project: Option<&str>,
    now: Micros,
) -> Result<Option<String>, Error> {
    let last = view::last_of(rows, actor, project)?;
    Ok(last
        .filter(|(_, at)| now.saturating_sub(*at) < CURRENT_MICROS)
        .map(|(session, _)| session))
}

fn not_found(rows: &dyn Rows, session: &str) -> Result<Refusal, Error> {
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
