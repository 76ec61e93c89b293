//! The sessions there are, and which one each caller was in last.
//!
//! | key | value |
//! | --- | --- |
//! | `s` session | [`SessionRow`] |
//! | `c` hash of uid, agent, project | time and session of that caller's last event |
//! | `p` project · `t` | [`Counts`] of a project · of the store |

use std::ops::ControlFlow;

use super::event::SessionCreated;
use crate::clock::Micros;
use crate::log::{Actor, Hash, Stamped};
use crate::store::{Direction, Error, Rows, RowsMut, Space, after_prefix};

/// The rows of this view, version 1.
pub const SPACE: Space = Space::new("sessions.1");

/// A session as the view keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Position of its first event.
    pub created: u64,
    /// Time of its first event.
    pub created_at: Micros,
    /// Time of its last event.
    pub last_activity: Micros,
    /// Project it was made in.
    pub project: Option<String>,
    /// Recorded step attempts.
    pub steps: u64,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions.
    pub sessions: u64,
    /// Recorded step attempts.
    pub steps: u64,
}

struct CallerRow {
    session: String,
    at: Micros,
}

/// A row of fixed numbers (big-endian) and one text behind them: written for every event, so kept
/// simpler than CBOR.
trait Row: Sized {
    fn encode(&self) -> Vec<u8>;
    fn decode(value: &[u8]) -> Option<Self>;
}

fn numbers_and_text<const N: usize>(numbers: [u64; N], text: &str) -> Vec<u8> {
    let mut value = Vec::with_capacity(8 * N + text.len());
    numbers
        .iter()
        .for_each(|number| value.extend(number.to_be_bytes()));
    value.extend(text.as_bytes());
    value
}

fn split<const N: usize>(value: &[u8]) -> Option<([u64; N], &str)> {
    let (numbers, text) = value.split_at_checked(8 * N)?;
    let mut found = [0; N];
    for (number, bytes) in found.iter_mut().zip(numbers.as_chunks::<8>().0) {
        *number = u64::from_be_bytes(*bytes);
    }
    Some((found, std::str::from_utf8(text).ok()?))
}

impl Row for SessionRow {
    fn encode(&self) -> Vec<u8> {
        let numbers = [
            self.created,
            self.created_at,
            self.last_activity,
            self.steps,
        ];
        // No project's id is empty.
        numbers_and_text(numbers, self.project.as_deref().unwrap_or_default())
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let ([created, created_at, last_activity, steps], project) = split(value)?;
        Some(Self {
            created,
            created_at,
            last_activity,
            project: Some(project.to_owned()).filter(|project| !project.is_empty()),
            steps,
        })
    }
}

impl Row for CallerRow {
    fn encode(&self) -> Vec<u8> {
        numbers_and_text([self.at], &self.session)
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let ([at], session) = split(value)?;
        Some(Self {
            session: session.to_owned(),
            at,
        })
    }
}

impl Row for Counts {
    fn encode(&self) -> Vec<u8> {
        numbers_and_text([self.sessions, self.steps], "")
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let ([sessions, steps], _) = split(value)?;
        Some(Self { sessions, steps })
    }
}

fn key(tag: u8, name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + name.len());
    key.push(tag);
    key.extend(name);
    key
}

fn caller_key(actor: &Actor, project: Option<&str>) -> Vec<u8> {
    let mut name = actor.uid.to_be_bytes().to_vec();
    for part in [actor.agent.as_str(), project.unwrap_or_default()] {
        name.extend(part.as_bytes());
        name.push(0);
    }
    key(b'c', &Hash::of(&name).0)
}

fn read<T: Row>(rows: &dyn Rows, key: &[u8]) -> Result<Option<T>, Error> {
    rows.get(SPACE, key)?
        .map(|value| {
            T::decode(&value)
                .ok_or_else(|| Error::corrupt(SPACE.name(), key, "not a row of this kind"))
        })
        .transpose()
}

/// Folds an event: its session's row, its caller's row, the counts.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn apply(rows: &mut dyn RowsMut, event: &Stamped, is_step: bool) -> Result<(), Error> {
    let Some(session) = &event.header.session else {
        return Ok(());
    };
    let header = &event.header;
    let is_new = header.kind == SessionCreated::KIND;
    let session_key = key(b's', session.as_bytes());
    let mut row = match read::<SessionRow>(rows, &session_key)? {
        Some(row) => row,
        None => SessionRow {
            created: header.position.0,
            created_at: header.time,
            last_activity: header.time,
            project: header.project.clone(),
            steps: 0,
        },
    };
    row.last_activity = header.time;
    row.steps += u64::from(is_step);
    rows.put(SPACE, &session_key, &row.encode());
    let caller = CallerRow {
        session: session.clone(),
        at: header.time,
    };
    let caller_key = caller_key(&header.actor, header.project.as_deref());
    rows.put(SPACE, &caller_key, &caller.encode());
    let mut count = |key: Vec<u8>| -> Result<(), Error> {
        let mut counts = read::<Counts>(rows, &key)?.unwrap_or_default();
        counts.sessions += u64::from(is_new);
        counts.steps += u64::from(is_step);
        rows.put(SPACE, &key, &counts.encode());
        Ok(())
    };
    count(key(b't', &[]))?;
    match &row.project {
        Some(project) => count(key(b'p', project.as_bytes())),
        None => Ok(()),
    }
}

/// A session, if there is one of this id.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn get(rows: &dyn Rows, session: &str) -> Result<Option<SessionRow>, Error> {
    read(rows, &key(b's', session.as_bytes()))
}

/// Whether there is a session of this id.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn exists(rows: &dyn Rows, session: &str) -> Result<bool, Error> {
    Ok(rows.get(SPACE, &key(b's', session.as_bytes()))?.is_some())
}

/// The session of a caller's last event in a project, and when that was.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn last_of(
    rows: &dyn Rows,
    actor: &Actor,
    project: Option<&str>,
) -> Result<Option<(String, Micros)>, Error> {
    let row = read::<CallerRow>(rows, &caller_key(actor, project))?;
    Ok(row.map(|row| (row.session, row.at)))
}

/// What the store holds.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn counts(rows: &dyn Rows) -> Result<Counts, Error> {
    Ok(read(rows, &key(b't', &[]))?.unwrap_or_default())
}

/// What a project holds.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn project_counts(rows: &dyn Rows, project: &str) -> Result<Counts, Error> {
    Ok(read(rows, &key(b'p', project.as_bytes()))?.unwrap_or_default())
}

/// Ids of sessions, in order, at most `limit`.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn ids(rows: &dyn Rows, limit: usize) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    rows.scan(
        SPACE,
        b"s",
        &after_prefix(b"s"),
        Direction::Forward,
        &mut |key, _| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            if let Some(name) = key.get(1..) {
                found.push(String::from_utf8_lossy(name).into_owned());
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}
