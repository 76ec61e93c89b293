//! Checks of a session that a call names: it exists, is open, its id is free, and the caller's lease is held.

use super::tombstone::{Tombstone, forgotten};
use super::view::{self, Lease, SessionRow};
use crate::clock::{Micros, format_time};
use crate::error::{Code, Refusal};
use crate::hint::{Tool, arg, aside, hint, with};
use crate::log::Position;
use crate::store::{Error, Rows};

/// Limit on the leases of a session.
pub(super) const LEASES_MAX: usize = 64;
/// Limit on the ids that are compared to find similar ones.
const NEAR_AMONG: usize = 2000;

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
