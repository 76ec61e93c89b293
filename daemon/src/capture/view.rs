//! The view of pauses, in which nothing is recorded, and of marks, by which hooks and transcripts meet.
//!
//! | key | value |
//! | --- | --- |
//! | `a` | the last pause everywhere: start and end, in microseconds since 1970 (u64 each) |
//! | `p` project | the last pause in a project |
//! | `m` session 0 content (u64) window (u64) | the observations with this content in a window of time: see [`super::marks`] |
//!
//! All numbers are big-endian. A pause that is over stays: reports may wait in the spool.

use std::ops::ControlFlow;

use super::marks;
use crate::clock::Micros;
use crate::events::capture::CaptureEvent;
use crate::log::{LoggedEvent, Position};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix};

/// The keyspace of this view, version 2: marks.
pub const SPACE: Keyspace = Keyspace::new("capture.2");

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePause {
    /// The project; `None`: everywhere.
    pub project: Option<String>,
    /// Its start.
    pub since: Micros,
    /// Its end; `u64::MAX` without one.
    pub until: Micros,
}

impl CapturePause {
    /// Whether a time is within it. Hosts and hooks report milliseconds, so it starts with that of its event.
    #[must_use]
    pub const fn holds(&self, at: Micros) -> bool {
        self.since - self.since % 1000 <= at && at < self.until
    }

    fn put(&self, rows: &mut dyn RowsMut) {
        let value = [self.since.to_be_bytes(), self.until.to_be_bytes()].concat();
        rows.put(SPACE, &key(self.project.as_deref()), &value);
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self, Error> {
        let parse = || {
            let project = match key.split_first()? {
                (b'p', project) => Some(std::str::from_utf8(project).ok()?.to_owned()),
                _ => None,
            };
            let (since, until) = value.split_first_chunk::<8>()?;
            Some(Self {
                project,
                since: u64::from_be_bytes(*since),
                until: u64::from_be_bytes(*until.first_chunk::<8>()?),
            })
        };
        parse().ok_or_else(|| Error::corrupt(SPACE.name(), key, "not a row of this view"))
    }
}

fn key(project: Option<&str>) -> Vec<u8> {
    match project {
        None => b"a".to_vec(),
        Some(project) => [b"p", project.as_bytes()].concat(),
    }
}

/// Folds an event of capture.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    meta: &CaptureEvent,
) -> Result<(), Error> {
    let project = event.header.project.as_deref();
    match meta {
        // What was observed is read from the log.
        CaptureEvent::Observed(observed) => {
            if let (Some(mark), Some(session)) = (observed.mark, &event.header.session) {
                marks::note(rows, session, mark, event.position())?;
            }
        }
        CaptureEvent::Repeated(repeated) => {
            if let Some(session) = &event.header.session {
                marks::note_met(rows, session, repeated.mark, Position(repeated.of))?;
            }
        }
        CaptureEvent::Paused(paused) => CapturePause {
            project: project.map(str::to_owned),
            since: event.header.time,
            until: paused.until.unwrap_or(Micros::MAX),
        }
        .put(rows),
        CaptureEvent::Resumed => {
            if let Some(pause) = pause_of(rows, project)?
                && pause.until > event.header.time
            {
                let until = event.header.time;
                CapturePause { until, ..pause }.put(rows);
            }
        }
    }
    Ok(())
}

fn pause_of(rows: &dyn Rows, project: Option<&str>) -> Result<Option<CapturePause>, Error> {
    let key = key(project);
    let row = rows.get(SPACE, &key)?;
    row.map(|row| CapturePause::decode(&key, &row)).transpose()
}

/// Whether what was reported in a project at a time is not recorded.
///
/// # Errors
/// When a row cannot be read.
pub(super) fn is_paused(rows: &dyn Rows, project: Option<&str>, at: Micros) -> Result<bool, Error> {
    if pause_of(rows, None)?.is_some_and(|pause| pause.holds(at)) {
        return Ok(true);
    }
    let own = match project {
        Some(_) => pause_of(rows, project)?,
        None => None,
    };
    Ok(own.is_some_and(|pause| pause.holds(at)))
}

/// Returns the pauses at a time: everywhere, and in projects.
///
/// # Errors
/// When a row cannot be read.
pub fn pauses(rows: &dyn Rows, at: Micros) -> Result<Vec<CapturePause>, Error> {
    let mut found = Vec::new();
    let end = after_prefix(b"p");
    rows.scan(SPACE, b"a", &end, Direction::Forward, &mut |key, value| {
        let pause = CapturePause::decode(key, value)?;
        if pause.holds(at) {
            found.push(pause);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
