//! The view of suspicious events, of what people say about events, and of undone events.
//!
//! | key | value |
//! | --- | --- |
//! | `s` session 0 position (u64) · `p` project or source 0 position | [`SuspectRow`] |
//! | `u` stream first (u64) | undone events of a stream: see [`PositionSet`] |
//! | `l` | position of the last judgement or undoing (u64), whether its event still has its content or not |
//!
//! Values are CBOR; positions are big-endian. There is no row for an event that is neither suspicious nor judged.

use serde::{Deserialize, Serialize};

use lored_suspicion::{Origin, is_suspicious};

use crate::events::Event;
use crate::events::trust::{Judgement, TrustEvent};
use crate::log::{EventKind, EventScope, LoggedEvent, Position, PositionSet, codec};
use crate::rows::{self, key_in};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, remove_all};

/// The keyspace of this view, version 2: undone events.
pub const SPACE: Keyspace = Keyspace::new("trust.2");

/// The key of the position of the last judgement or undoing.
const LAST: &[u8] = b"l";

/// The row of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspectRow {
    /// What made it suspicious when it was recorded, as names of kinds; empty if nothing did.
    pub kinds: Vec<String>,
    /// What a person says.
    pub judgement: Judgement,
    /// The project of its session.
    pub project: Option<String>,
}

fn prefix(scope: EventScope<'_>) -> Vec<u8> {
    match scope {
        EventScope::Session(session) => key_in(b's', session, ""),
        EventScope::Project(project) => key_in(b'p', project, ""),
        EventScope::Global => key_in(b'p', "", ""),
    }
}

fn key(scope: EventScope<'_>, position: Position) -> Vec<u8> {
    let mut key = prefix(scope);
    key.extend(position.0.to_be_bytes());
    key
}

/// Folds an event.
///
/// # Errors
/// When a row is damaged.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    meta: Option<&Event>,
) -> Result<(), Error> {
    if matches!(
        event.header.kind.known(),
        Some(EventKind::SuspicionReviewed | EventKind::EventsUndone | EventKind::EventsRedone)
    ) {
        let last = last_judgement(rows)?.max(event.position());
        rows.put(SPACE, LAST, &last.0.to_be_bytes());
    }
    let Some(meta) = meta else {
        return Ok(());
    };
    if let Event::Trust(TrustEvent::Undone(undone)) = meta {
        let set = undone_of(event.scope());
        return undone
            .ranges
            .iter()
            .try_for_each(|(first, last)| set.add(rows, *first, *last));
    }
    if let Event::Trust(TrustEvent::Redone(redone)) = meta {
        let set = undone_of(event.scope());
        return redone
            .ranges
            .iter()
            .try_for_each(|(first, last)| set.subtract(rows, *first, *last));
    }
    if let Event::Trust(TrustEvent::Reviewed(reviewed)) = meta {
        let key = key(event.scope(), Position(reviewed.event));
        let known: Option<SuspectRow> = rows::read_cbor(rows, SPACE, &key)?;
        let row = SuspectRow {
            judgement: reviewed.judgement,
            ..known.unwrap_or(SuspectRow {
                kinds: Vec::new(),
                judgement: Judgement::Open,
                project: event.header.project.clone(),
            })
        };
        match row.kinds.is_empty() && row.judgement == Judgement::Open {
            true => rows.remove(SPACE, &key),
            false => rows.put(SPACE, &key, &codec::encode(&row)),
        }
        return Ok(());
    }
    let kinds = meta.suspect();
    if !kinds.is_empty() {
        let row = SuspectRow {
            kinds: kinds.to_vec(),
            judgement: Judgement::Open,
            project: event.header.project.clone(),
        };
        let key = key(event.scope(), event.position());
        rows.put(SPACE, &key, &codec::encode(&row));
    }
    Ok(())
}

/// Removes the rows of a session.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    forget_outside(rows, EventScope::Session(session))
}

/// Removes the rows of a stream outside sessions.
pub fn forget_outside(rows: &mut dyn RowsMut, scope: EventScope<'_>) -> Result<(), Error> {
    undone_of(scope).clear(rows)?;
    remove_all(rows, SPACE, &prefix(scope))
}

/// Returns the undone events of a stream.
fn undone_of(scope: EventScope<'_>) -> PositionSet {
    PositionSet::of(SPACE, b'u', scope)
}

/// Whether an event was undone: it is given to no model, not found, and no entity is known from it.
///
/// # Errors
/// When a row cannot be read.
pub fn is_undone(
    rows: &dyn Rows,
    scope: EventScope<'_>,
    position: Position,
) -> Result<bool, Error> {
    // In most stores nothing ever was.
    if last_judgement(rows)? == Position(0) {
        return Ok(false);
    }
    undone_of(scope).has(rows, position)
}

/// Returns what a person says about an event.
///
/// # Errors
/// When a row cannot be read.
pub fn judgement(
    rows: &dyn Rows,
    scope: EventScope<'_>,
    position: Position,
) -> Result<Judgement, Error> {
    // In most stores no person ever judged.
    if last_judgement(rows)? == Position(0) {
        return Ok(Judgement::Open);
    }
    let row: Option<SuspectRow> = rows::read_cbor(rows, SPACE, &key(scope, position))?;
    Ok(row.map_or(Judgement::Open, |row| row.judgement))
}

/// Returns the position of the last judgement or undoing, 0 without one: what was made of texts before it is to be made
/// again.
///
/// # Errors
/// When the row cannot be read.
pub fn last_judgement(rows: &dyn Rows) -> Result<Position, Error> {
    let last = rows::read(rows, SPACE, LAST, rows::position)?;
    Ok(last.unwrap_or(Position(0)))
}

/// Whether a text of an event is left out of what models are given: it was undone, a person has rejected it, or it is
/// suspicious and no person has accepted it.
///
/// # Errors
/// When a row cannot be read.
pub fn is_left_out(
    rows: &dyn Rows,
    (scope, position): (EventScope<'_>, Position),
    text: &str,
    origin: Origin,
) -> Result<bool, Error> {
    if is_undone(rows, scope, position)? {
        return Ok(true);
    }
    Ok(match judgement(rows, scope, position)? {
        Judgement::Accepted => false,
        Judgement::Rejected => true,
        Judgement::Open => is_suspicious(text, origin),
    })
}

/// Visits the suspicious and the judged events until the visitor ends it, stream by stream: the position and the row of
/// each.
///
/// # Errors
/// When a row cannot be read.
pub fn suspects(rows: &dyn Rows, visit: &mut dyn FnMut(Position, SuspectRow)) -> Result<(), Error> {
    for tag in [b"s", b"p"] {
        rows::walk(rows, SPACE, tag, Direction::Forward, &mut |key, value| {
            let position = key.last_chunk::<8>()?;
            let row = codec::decode(value).ok()?;
            visit(Position(u64::from_be_bytes(*position)), row);
            Some(rows::until(false))
        })?;
    }
    Ok(())
}
