//! The view of recorded steps, their events, and the registrations of each scope.
//!
//! | key | value |
//! | --- | --- |
//! | `a` session 0 step (u32) | the [`StepAttempt`] that answers, and the number of attempts (u32) |
//! | `r` session 0 step (u32) attempt (u32) | a [`StepAttempt`] that does not answer |
//! | `x` stream position (u64) | record (u64) of a registration |
//! | `y` stream | position (u64) of its last registration |
//!
//! All numbers are big-endian. Functions that read rows return [`Error`] when a row cannot be read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::events::steps::{StepAssigned, StepEvent};
use crate::log::index::stream_prefix;
use crate::log::{EventScope, LoggedEvent, Position, RecordKey};
use crate::rows::until;
use crate::sessions::Line;
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix, remove_all};

/// Keyspace of this view, version 1.
pub const SPACE: Keyspace = Keyspace::new("steps.1");

/// One recorded attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepAttempt {
    /// Step number.
    pub step: u32,
    /// Attempt number.
    pub attempt: u32,
    /// Log position of the event.
    pub position: Position,
    /// Record that contains the event.
    pub record: RecordKey,
    /// Whether the attempt succeeded.
    pub success: bool,
}

/// The attempt of a step that variables use: the latest successful one, else the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerAttempt {
    /// The attempt.
    pub attempt: StepAttempt,
    /// Number of attempts of the step.
    pub attempts: u32,
}

fn step_prefix(tag: u8, session: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(session.len() + 10);
    key.push(tag);
    key.extend(session.as_bytes());
    key.push(0);
    key
}

fn step_key(tag: u8, session: &str, step: u32) -> Vec<u8> {
    let mut key = step_prefix(tag, session);
    key.extend(step.to_be_bytes());
    key
}

fn registrations_key(tag: u8, scope: EventScope<'_>) -> Vec<u8> {
    let mut key = vec![tag];
    key.extend(stream_prefix(scope));
    key
}

const ATTEMPT_BYTES: usize = 8 + 8 + 4 + 1;

fn encode(attempt: &StepAttempt) -> Vec<u8> {
    let mut value = Vec::with_capacity(ATTEMPT_BYTES + 4);
    value.extend(attempt.record.to_bytes());
    value.extend(attempt.position.0.to_be_bytes());
    value.extend(attempt.attempt.to_be_bytes());
    value.push(u8::from(attempt.success));
    value
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}

fn decode(key: &[u8], step: u32, value: &[u8]) -> Result<StepAttempt, Error> {
    let parse = || {
        Some(StepAttempt {
            step,
            record: RecordKey(Position(number(value.get(..8)?)?)),
            position: Position(number(value.get(8..16)?)?),
            attempt: u32::from_be_bytes(value.get(16..20)?.try_into().ok()?),
            success: *value.get(20)? != 0,
        })
    };
    parse().ok_or_else(|| Error::corrupt(SPACE.name(), key, "not an attempt row"))
}

fn decode_answering(key: &[u8], step: u32, value: &[u8]) -> Result<AnswerAttempt, Error> {
    let attempt = decode(key, step, value)?;
    let attempts = value
        .get(ATTEMPT_BYTES..)
        .and_then(|rest| rest.try_into().ok())
        .map(u32::from_be_bytes)
        .ok_or_else(|| Error::corrupt(SPACE.name(), key, "not an answer row"))?;
    Ok(AnswerAttempt { attempt, attempts })
}

/// Folds a step event into the view.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    step: &StepEvent,
    record: RecordKey,
) -> Result<(), Error> {
    match step {
        StepEvent::Recorded(numbered) => {
            let Some(session) = &event.header.session else {
                return Ok(());
            };
            let attempt = StepAttempt {
                step: numbered.step,
                attempt: numbered.attempt,
                position: event.position(),
                record,
                success: numbered.success,
            };
            apply_attempt(rows, session, numbered, &attempt)
        }
        StepEvent::ExtractorRegistered | StepEvent::MappingRegistered => {
            let mut key = registrations_key(b'x', event.scope());
            key.extend(event.position().0.to_be_bytes());
            rows.put(SPACE, &key, &record.to_bytes());
            let last = registrations_key(b'y', event.scope());
            rows.put(SPACE, &last, &event.position().0.to_be_bytes());
            Ok(())
        }
    }
}

/// Removes all rows of a session: its attempts and its registrations.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for tag in [b'a', b'r'] {
        remove_all(rows, SPACE, &step_prefix(tag, session))?;
    }
    forget_registrations(rows, EventScope::Session(session))
}

/// Removes the registrations of a scope.
pub fn forget_registrations(rows: &mut dyn RowsMut, scope: EventScope<'_>) -> Result<(), Error> {
    remove_all(rows, SPACE, &registrations_key(b'x', scope))?;
    rows.remove(SPACE, &registrations_key(b'y', scope));
    Ok(())
}

fn apply_attempt(
    rows: &mut dyn RowsMut,
    session: &str,
    numbered: &StepAssigned,
    attempt: &StepAttempt,
) -> Result<(), Error> {
    let key = step_key(b'a', session, numbered.step);
    // A first attempt has no earlier attempt to read.
    let found = match numbered.attempt {
        0 | 1 => None,
        _ => rows.get(SPACE, &key)?,
    };
    let before = found
        .map(|value| decode_answering(&key, numbered.step, &value))
        .transpose()?
        .map(|answering| answering.attempt);
    let (answers, other) = match before {
        Some(before) if before.success && !attempt.success => (before, Some(*attempt)),
        before => (*attempt, before),
    };
    if let Some(other) = other {
        let mut key = step_key(b'r', session, numbered.step);
        key.extend(other.attempt.to_be_bytes());
        rows.put(SPACE, &key, &encode(&other));
    }
    let mut value = encode(&answers);
    value.extend(numbered.attempt.to_be_bytes());
    rows.put(SPACE, &key, &value);
    Ok(())
}

/// Returns the number of attempts of a step; 0 if it was never recorded.
pub fn attempts(rows: &dyn Rows, lines: &[Line], step: u32) -> Result<u32, Error> {
    Ok(answering(rows, lines, step)?.map_or(0, |answering| answering.attempts))
}

/// Returns the attempt of a step that answers, and the number of attempts, over all lines that a session shares.
pub fn answering(
    rows: &dyn Rows,
    lines: &[Line],
    step: u32,
) -> Result<Option<AnswerAttempt>, Error> {
    let Some((own, shared)) = lines.split_first() else {
        return Ok(None);
    };
    let mut found = own_answer(rows, &own.session, step)?;
    for line in shared {
        for attempt in attempts_of(rows, line, step)? {
            let last = found.map_or(0, |found| found.attempts);
            let rank = |attempt: &StepAttempt| (attempt.success, attempt.attempt);
            let best = match found {
                Some(found) if rank(&found.attempt) > rank(&attempt) => found.attempt,
                Some(_) | None => attempt,
            };
            found = Some(AnswerAttempt {
                attempt: best,
                attempts: last.max(attempt.attempt),
            });
        }
    }
    Ok(found)
}

/// Returns the answering attempt among a session's own attempts.
fn own_answer(rows: &dyn Rows, session: &str, step: u32) -> Result<Option<AnswerAttempt>, Error> {
    let key = step_key(b'a', session, step);
    rows.get(SPACE, &key)?
        .map(|value| decode_answering(&key, step, &value))
        .transpose()
}

/// Returns the attempts of a step within one line of a session.
fn attempts_of(rows: &dyn Rows, line: &Line, step: u32) -> Result<Vec<StepAttempt>, Error> {
    let mut found = Vec::new();
    if let Some(answer) = own_answer(rows, &line.session, step)? {
        found.push(answer.attempt);
        let prefix = step_key(b'r', &line.session, step);
        rows.scan(
            SPACE,
            &prefix,
            &after_prefix(&prefix),
            Direction::Forward,
            &mut |key, value| {
                found.push(decode(key, step, value)?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
    }
    found.retain(|attempt| attempt.position <= line.up_to);
    Ok(found)
}

/// Returns one attempt of a step.
pub fn attempt(
    rows: &dyn Rows,
    lines: &[Line],
    step: u32,
    attempt: u32,
) -> Result<Option<StepAttempt>, Error> {
    for line in lines {
        let is_it = |found: &StepAttempt| found.attempt == attempt && found.position <= line.up_to;
        let answer = own_answer(rows, &line.session, step)?.map(|answer| answer.attempt);
        let mut key = step_key(b'r', &line.session, step);
        key.extend(attempt.to_be_bytes());
        let found = match answer.filter(is_it) {
            Some(answer) => Some(answer),
            None => rows
                .get(SPACE, &key)?
                .map(|value| decode(&key, step, &value))
                .transpose()?
                .filter(is_it),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Returns the number of attempts that a fork shares with the sessions that it comes from; 0 for any other session.
pub fn shared_attempts(rows: &dyn Rows, lines: &[Line]) -> Result<u64, Error> {
    let mut count = 0;
    for line in lines.iter().skip(1) {
        let prefixes = [b'a', b'r'].map(|tag| step_prefix(tag, &line.session));
        for prefix in prefixes {
            let high = after_prefix(&prefix);
            rows.scan(
                SPACE,
                &prefix,
                &high,
                Direction::Forward,
                &mut |key, value| {
                    // The number only names the attempt here.
                    let attempt = decode(key, 0, value)?;
                    count += u64::from(attempt.position <= line.up_to);
                    Ok(ControlFlow::Continue(()))
                },
            )?;
        }
    }
    Ok(count)
}

fn step_of(key: &[u8]) -> Result<u32, Error> {
    key.last_chunk::<4>()
        .map(|bytes| u32::from_be_bytes(*bytes))
        .ok_or_else(|| Error::corrupt(SPACE.name(), key, "not an answer row"))
}

/// Lists the answering attempts of a session's steps with numbers from `from` on, in order.
pub fn steps(
    rows: &dyn Rows,
    lines: &[Line],
    from: u32,
    limit: usize,
) -> Result<Vec<AnswerAttempt>, Error> {
    let (Some((own, shared)), mut found) = (lines.split_first(), Vec::new()) else {
        return Ok(Vec::new());
    };
    let mut numbers = BTreeSet::new();
    for line in shared {
        numbers.extend(numbers_of(rows, line, from, limit)?);
    }
    let low = step_key(b'a', &own.session, from);
    let high = after_prefix(&step_prefix(b'a', &own.session));
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        if found.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        found.push(decode_answering(key, step_of(key)?, value)?);
        Ok(ControlFlow::Continue(()))
    })?;
    if numbers.is_empty() {
        return Ok(found);
    }
    numbers.extend(found.iter().map(|answering| answering.attempt.step));
    let numbers = numbers.into_iter().take(limit);
    let all: Result<Vec<_>, Error> = numbers.map(|step| answering(rows, lines, step)).collect();
    Ok(all?.into_iter().flatten().collect())
}

/// Lists the step numbers of a shared line, from `from` on, at most `limit`.
fn numbers_of(rows: &dyn Rows, line: &Line, from: u32, limit: usize) -> Result<Vec<u32>, Error> {
    let low = step_key(b'a', &line.session, from);
    let high = after_prefix(&step_prefix(b'a', &line.session));
    let mut found = Vec::new();
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, _| {
        let step = step_of(key)?;
        if !attempts_of(rows, line, step)?.is_empty() {
            found.push(step);
        }
        Ok(until(found.len() == limit))
    })?;
    Ok(found)
}

/// Returns a session's highest step number below `before`, if it has one.
pub fn last_before(rows: &dyn Rows, lines: &[Line], before: u32) -> Result<Option<u32>, Error> {
    let mut last = None;
    for (at, line) in lines.iter().enumerate() {
        let low = step_prefix(b'a', &line.session);
        let high = step_key(b'a', &line.session, before);
        rows.scan(SPACE, &low, &high, Direction::Backward, &mut |key, _| {
            let step = step_of(key)?;
            if at > 0 && attempts_of(rows, line, step)?.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            last = last.max(Some(step));
            Ok(ControlFlow::Break(()))
        })?;
    }
    Ok(last)
}

/// Returns the positions of the last registrations that apply to a session.
///
/// They are those of the session and the lines it shares, of its project, and of the global scope. Equal positions
/// mean an equal set.
pub fn last_registrations(
    rows: &dyn Rows,
    lines: &[Line],
    project: Option<&str>,
) -> Result<[u64; 3], Error> {
    let last = |scope| -> Result<u64, Error> {
        let value = rows.get(SPACE, &registrations_key(b'y', scope))?;
        Ok(value.and_then(|value| number(&value)).unwrap_or(0))
    };
    let mut of_session = 0;
    for line in lines {
        // A parent's later registrations do not apply here. Counting them only causes the set to be read again.
        of_session = of_session.max(last(EventScope::Session(&line.session))?);
    }
    Ok([
        of_session,
        project.map_or(Ok(0), |project| last(EventScope::Project(project)))?,
        last(EventScope::Global)?,
    ])
}

/// Lists the registrations of one scope up to a position, oldest first.
pub fn registrations(
    rows: &dyn Rows,
    scope: EventScope<'_>,
    up_to: Position,
) -> Result<Vec<(Position, RecordKey)>, Error> {
    let prefix = registrations_key(b'x', scope);
    let mut found = Vec::new();
    rows.scan(
        SPACE,
        &prefix,
        &after_prefix(&prefix),
        Direction::Forward,
        &mut |key, value| {
            let (position, record) = crate::log::index::decode_stream(key, value)?;
            if position > up_to {
                return Ok(ControlFlow::Break(()));
            }
            found.push((position, record));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}
