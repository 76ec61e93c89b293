//! What rests on undone events alone, in other sessions: those of subagents, and what was remembered on no other evidence.

use std::collections::{BTreeSet, HashSet};

use super::select::{Streams, UndoSelection, UndoSelector, without_body};
use crate::error::Refusal;
use crate::events;
use crate::events::capture::ObservationDetails;
use crate::events::messages::MessageRecorded;
use crate::log::{EventKind, EventScope, Position, StreamName};
use crate::messages;
use crate::sessions;
use crate::state::State;
use crate::trust;

/// What was said to be remembered that is looked at, in a project.
const REMEMBERED_MAX: usize = 5_000;

/// Sessions of subagents, by the session that started them.
#[derive(Default)]
pub(super) struct Subagents {
    parents: Option<Vec<(String, String)>>,
    taken: BTreeSet<String>,
}

impl Subagents {
    /// Adds the sessions of subagents whose parents are selected.
    pub(super) fn add(
        &mut self,
        state: &State,
        streams: &mut Streams,
        selector: &UndoSelector,
        selected: &mut UndoSelection,
    ) -> Result<bool, Refusal> {
        if self.parents.is_none() {
            self.parents = Some(subagents(state, selected)?);
        }
        let mut is_more = false;
        for (session, parent) in self.parents.iter().flatten() {
            let is_undone = selected
                .streams
                .contains_key(&StreamName::Session(parent.clone()));
            if !is_undone || !self.taken.insert(session.clone()) {
                continue;
            }
            let events = streams.events(state, session, selector.is_redo)?.to_vec();
            for event in events {
                is_more |= selected.add(event, true);
            }
        }
        Ok(is_more)
    }
}

/// Returns the sessions of subagents in the projects of the selected sessions, each with its parent.
fn subagents(state: &State, selected: &UndoSelection) -> Result<Vec<(String, String)>, Refusal> {
    let mut projects: BTreeSet<Option<String>> = BTreeSet::new();
    for stream in selected.streams.keys() {
        if let StreamName::Session(session) = stream
            && let Some(row) = sessions::get(state, session)?
        {
            projects.insert(row.project);
        }
    }
    let mut found = Vec::new();
    for session in sessions::ids(state, usize::MAX)? {
        let Some(row) = sessions::get(state, &session)? else {
            continue;
        };
        if projects.contains(&row.project)
            && let Some(parent) = parent_of(state, &session)?
        {
            found.push((session, parent));
        }
    }
    Ok(found)
}

/// Returns the session whose subagent a session is, as its first observation says.
fn parent_of(state: &State, session: &str) -> Result<Option<String>, Refusal> {
    /// Events among which the first observation is.
    const FIRST: usize = 4;
    let log = state.log();
    let scope = EventScope::Session(session);
    for (position, record) in log.stream(scope, Position(0), state.position(), FIRST)? {
        let Some(event) = log.whole(record, position)? else {
            continue;
        };
        if event.header.kind == EventKind::HostObserved && event.payload.is_some() {
            let details: ObservationDetails = events::body(&event)?;
            return Ok(details.parent);
        }
    }
    Ok(None)
}

/// Adds what was said to be remembered and stands on selected events alone.
pub(super) fn remembered(
    state: &State,
    selector: &UndoSelector,
    selected: &mut UndoSelection,
) -> Result<bool, Refusal> {
    let mut positions: HashSet<Position> = HashSet::new();
    for (stream, events) in &selected.streams {
        if matches!(stream, StreamName::Session(_)) {
            positions.extend(events.keys());
        }
    }
    let mut projects: BTreeSet<Option<String>> = BTreeSet::new();
    for events in selected.streams.values() {
        let all = events.values();
        projects.extend(all.map(|one| one.event.header.project.clone()));
    }
    let mut is_more = false;
    for project in projects {
        let rows =
            messages::remembered_since(state, project.as_deref(), Position(0), REMEMBERED_MAX)?;
        for row in rows {
            if positions.contains(&row.position) {
                continue;
            }
            let Some(event) = state.log().at(row.position)? else {
                continue;
            };
            let scope = event.scope();
            if event.payload.is_none()
                || trust::is_undone(state, scope, row.position)? != selector.is_redo
            {
                continue;
            }
            let body: MessageRecorded = events::body(&event)?;
            let rests = !body.evidence.is_empty()
                && body
                    .evidence
                    .iter()
                    .all(|at| positions.contains(&Position(*at)));
            if rests {
                is_more |= selected.add(without_body(event), true);
            }
        }
    }
    Ok(is_more)
}
