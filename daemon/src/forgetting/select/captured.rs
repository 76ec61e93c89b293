//! Selection of large results that hooks recorded, in sessions that are no longer used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::session::{ExaminedSession, part};
use super::{Selection, SelectionContext, StreamPart};
use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::capture::{CaptureEvent, Following};
use crate::events::steps::{INLINE_BYTES_MAX, StepEvent, StepRecorded};
use crate::events::{Event, body};
use crate::forgetting::forget_command::EVENTS_MAX;
use crate::locks::lock_unpoisoned;
use crate::log::{LoggedEvent, Position};
use crate::sessions::{self, SessionRow};
use crate::store::Error;

/// Size of a step's content, in bytes, up to which it stays.
const CONTENT_BYTES_MAX: u64 = 4 << 10;
/// The same for a step that failed: its error is what the same failure is recognised by.
const FAILURE_BYTES_MAX: u64 = INLINE_BYTES_MAX as u64;
/// Limit on the events of the sessions in one selection. The rest is selected after these are forgotten.
const SELECTED_EVENTS_MAX: usize = EVENTS_MAX / 4;

/// The sessions in which nothing was found, so that no run reads them again: by the position of their first event, the
/// time of their last one.
#[derive(Debug, Default)]
pub struct ExaminedSessions(Mutex<HashMap<u64, Micros>>);

impl ExaminedSessions {
    fn has(&self, row: &SessionRow) -> bool {
        lock_unpoisoned(&self.0).get(&row.created) == Some(&row.last_activity)
    }

    fn note(&self, row: &SessionRow) {
        lock_unpoisoned(&self.0).insert(row.created, row.last_activity);
    }
}

impl SelectionContext<'_> {
    /// Selects the large results that hooks recorded in sessions without an event or a read since a moment. Sessions
    /// that are held, or shared by a fork, stay as they are.
    pub(super) fn captured(&self, before: Micros, selected: &mut Selection) -> Result<(), Refusal> {
        let mut folded = 0;
        for session in sessions::ids(self.rows, usize::MAX)? {
            let Some(row) = sessions::get(self.rows, &session)? else {
                continue;
            };
            let is_used = row.last_activity >= before
                || (self.looked_at)(&session).is_some_and(|at| at >= before);
            let is_examined = || self.examined.is_some_and(|examined| examined.has(&row));
            if row.steps == 0 || is_used || is_examined() || self.is_kept(&session)? {
                continue;
            }
            let Some((part, events)) = self.captured_in(&session, selected.up_to)? else {
                if let Some(examined) = self.examined {
                    examined.note(&row);
                }
                continue;
            };
            if events > self.events_max {
                let refused = self.too_long(&part.stream, events);
                selected.keep(refused.message);
                continue;
            }
            selected.reported.sessions_in_part += 1;
            selected.parts.push(part);
            folded += events;
            if folded >= SELECTED_EVENTS_MAX {
                break;
            }
        }
        Ok(())
    }

    fn is_kept(&self, session: &str) -> Result<bool, Refusal> {
        Ok(self.is_held(session)? || !sessions::forks_of(self.rows, session, 1)?.is_empty())
    }

    /// Returns the large results of a session as a part of it, with the number of the session's events.
    fn captured_in(
        &self,
        session: &str,
        up_to: Position,
    ) -> Result<Option<(StreamPart, usize)>, Refusal> {
        let mut observed = None;
        let ExaminedSession {
            looked, targets, ..
        } = self.examine(session, up_to, &mut |event| {
            is_large_result(&mut observed, event)
        })?;
        let Some(mut part) = part(session, &looked, &targets) else {
            return Ok(None);
        };
        part.objects = self.no_more_needed(session, &looked, &targets)?;
        Ok(Some((part, looked.len())))
    }
}

/// Returns whether an event is a large step that a hook recorded: an observation stands directly before it, at
/// `observed`.
fn is_large_result(
    observed: &mut Option<Position>,
    event: &Arc<LoggedEvent>,
) -> Result<bool, Error> {
    let before = observed.take();
    let Some(payload) = &event.payload else {
        return Ok(false);
    };
    match Event::of(event)? {
        Some(Event::Capture(CaptureEvent::Observed(meta))) => {
            *observed = (meta.following == Some(Following::Step)).then(|| event.position());
            Ok(false)
        }
        Some(Event::Step(StepEvent::Recorded(assigned))) => {
            let is_captured = before.is_some_and(|at| at.0 + 1 == event.position().0);
            let bytes_max = match assigned.success {
                true => CONTENT_BYTES_MAX,
                false => FAILURE_BYTES_MAX,
            };
            // A text in a blob is always long; the others are a part of the payload.
            let is_small = assigned.blobs.is_empty() && payload.bytes() <= bytes_max;
            if !is_captured || is_small {
                return Ok(false);
            }
            let step: StepRecorded = body(event)?;
            let texts = [&step.parameters, &step.result, &step.error];
            let bytes: u64 = texts.into_iter().flatten().map(|text| text.bytes()).sum();
            Ok(bytes > bytes_max)
        }
        Some(_) | None => Ok(false),
    }
}
