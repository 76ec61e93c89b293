//! Folds a stream again from its remaining events after some events were forgotten.
//!
//! Its rows therefore equal a fold of the log without the forgotten content, whatever they were before. A replay
//! gives the same rows at the tombstone, whether the content is already erased or not.

use std::collections::BTreeSet;

use crate::capture;
use crate::checkpoints::{self, CheckpointKey};
use crate::documents;
use crate::engine::EventLookup;
use crate::entities;
use crate::events::Event;
use crate::log::{
    EventScope, EventsForgotten, Log, LoggedEvent, Position, RecordKey, forgotten, index, names,
};
use crate::messages;
use crate::packs;
use crate::projects;
use crate::sessions;
use crate::steps;
use crate::store::{Error, RowsMut};
use crate::trust;

/// Folds the stream of a tombstone again, up to the tombstone.
pub(super) fn fold(
    rows: &mut dyn RowsMut,
    event_lookup: &dyn EventLookup,
    tombstone: &LoggedEvent,
    reported: &EventsForgotten,
) -> Result<(), Error> {
    let scope = tombstone.scope();
    let end = Position(tombstone.position().0.saturating_sub(1));
    let places = Log::new(rows).stream(scope, Position(0), end, usize::MAX)?;
    match scope {
        EventScope::Session(session) => {
            let there = checkpoints::ids_of(rows, session)?;
            clear_session(rows, session)?;
            fold_again(rows, event_lookup, scope, places, &there)?;
            entities_without_undone(rows, event_lookup, tombstone)?;
            checkpoints::flush(rows, session)?;
            index::note_step(rows, session, reported.last_step)
        }
        EventScope::Project(project) => {
            clear_outside(rows, Some(project), &places)?;
            projects::forget(rows, project)?;
            documents::forget(rows, project, tombstone.position())?;
            fold_again(rows, event_lookup, scope, places, &BTreeSet::new())
        }
        EventScope::Global => {
            clear_outside(rows, None, &places)?;
            fold_again(rows, event_lookup, scope, places, &BTreeSet::new())
        }
    }
}

/// Folds the remaining events of a stream. In a session a forgotten event still counts by its header; outside
/// sessions headers have no effect.
fn fold_again(
    rows: &mut dyn RowsMut,
    event_lookup: &dyn EventLookup,
    scope: EventScope<'_>,
    places: Vec<(Position, RecordKey)>,
    there: &BTreeSet<CheckpointKey>,
) -> Result<(), Error> {
    for (position, record) in places {
        let is_forgotten = forgotten::covers(rows, scope, position)?;
        if is_forgotten && !matches!(scope, EventScope::Session(_)) {
            continue;
        }
        let event = event_lookup.event(record, position)?;
        if !event.header.kind.records_forgetting() {
            let left = is_forgotten.then(|| event.without_content());
            let left = left.as_ref().unwrap_or(&event);
            let meta = Event::of(left)?;
            super::apply(rows, left, meta.as_ref(), record, Some(there))?;
        }
    }
    Ok(())
}

/// Folds the entities of a session again, from the events up to this one that are not undone: nothing is known from
/// others. What was searched for entities stays so.
///
/// # Errors
/// When a row or an event cannot be read.
pub(super) fn entities_without_undone(
    rows: &mut dyn RowsMut,
    event_lookup: &dyn EventLookup,
    last: &LoggedEvent,
) -> Result<(), Error> {
    let scope = last.scope();
    let EventScope::Session(session) = scope else {
        return Ok(());
    };
    if trust::last_judgement(rows)? == Position(0) {
        return Ok(());
    }
    let end = Position(last.position().0.saturating_sub(1));
    let places = Log::new(rows).stream(scope, Position(0), end, usize::MAX)?;
    entities::forget(rows, session)?;
    for (position, record) in places {
        if forgotten::covers(rows, scope, position)? {
            continue;
        }
        let event = event_lookup.event(record, position)?;
        let meta = Event::of(&event)?;
        match &meta {
            Some(Event::Entity(entity)) if trust::is_undone(rows, scope, position)? => {
                entities::note_searched(rows, session, entity)?;
            }
            Some(Event::Message(_) | Event::Entity(_))
                if !trust::is_undone(rows, scope, position)? =>
            {
                super::apply_entities(rows, &event, meta.as_ref(), record)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes each view's rows of a session, except for rows that others depend on.
fn clear_session(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    names::forget(rows, session)?;
    index::forget(rows, session);
    steps::forget(rows, session)?;
    messages::forget(rows, session)?;
    entities::forget(rows, session)?;
    packs::forget_own(rows, session)?;
    trust::forget(rows, session)?;
    capture::forget(rows, session)?;
    checkpoints::forget(rows, session)?;
    sessions::forget(rows, session)
}

/// Removes each view's rows of a stream outside sessions.
fn clear_outside(
    rows: &mut dyn RowsMut,
    project: Option<&str>,
    places: &[(Position, RecordKey)],
) -> Result<(), Error> {
    let positions: BTreeSet<Position> = places.iter().map(|(position, _)| *position).collect();
    names::forget_at(rows, &positions)?;
    packs::forget_outside(rows, project, &positions)?;
    let scope = project.map_or(EventScope::Global, EventScope::Project);
    trust::forget_outside(rows, scope)?;
    steps::forget_registrations(rows, scope)
}
