//! A session's steps as variables see them: read from the log on first use, kept in the cache.

use std::cell::Cell;
use std::sync::Arc;

use super::extract::{Extractor, ExtractorSet, FieldMapping};
use super::resolve::{History, StepData};
use super::view::{self, StepAttempt};
use crate::error::Refusal;
use crate::events;
use crate::events::steps::{
    ExtractorRegistered, FieldMappingRegistered, StepEvent, StepRecorded, Text,
};
use crate::log::{EventScope, Hash, LoggedEvent, Position};
use crate::operation::Context;
use crate::sessions::{self, Line};
use crate::state::State;
use crate::store::{Error, Rows};

/// What a step costs in the cache besides its result, in bytes.
const STEP_BYTES: usize = 1024;
/// What parsed and extracted data costs, per byte of result.
const PARSED_FACTOR: usize = 8;

/// What is derived from results on the event loop in one call, in bytes of result; more goes to a
/// thread for blocking work. A small read saves two thread hops this way.
const INLINE_BYTES_MAX: usize = 16 * 1024;

/// Where the reading is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Where nothing may take long.
    EventLoop,
    /// On a thread for blocking work.
    Thread,
}

/// Why a step was not read.
#[derive(Debug)]
pub enum StepReadError {
    /// It cannot be.
    Fault(Error),
    /// The caller is told.
    Refused(Refusal),
    /// It would take longer than the event loop may be held up.
    TooLong,
}

impl From<Error> for StepReadError {
    fn from(error: Error) -> Self {
        Self::Fault(error)
    }
}

impl From<Refusal> for StepReadError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The steps of one session in one state.
pub struct SessionSteps<'c> {
    /// Blobs and cache.
    pub cx: &'c Context,
    /// The rows.
    pub state: &'c State,
    /// It and those whose past it shares.
    pub lines: Vec<Line>,
    /// The extractors that reach it.
    pub set: Arc<ExtractorSet>,
    /// Bytes of results that may still be derived from; `None` off the event loop.
    left: Cell<Option<usize>>,
}

impl<'c> SessionSteps<'c> {
    /// The steps of a session, read with the extractors that reach it.
    ///
    /// # Errors
    /// When the registrations cannot be read.
    pub fn of(
        cx: &'c Context,
        state: &'c State,
        session: &'c str,
        on: On,
    ) -> Result<Self, Refusal> {
        let lines = sessions::lineage(state, session)?;
        Ok(Self {
            set: set_of(cx, state, &lines)?,
            lines,
            cx,
            state,
            left: Cell::new(match on {
                On::EventLoop => Some(INLINE_BYTES_MAX),
                On::Thread => None,
            }),
        })
    }

    /// One attempt, with what is derived from it.
    ///
    /// # Errors
    /// When the event or its blob cannot be read, or not on the event loop.
    pub fn data(&self, attempt: &StepAttempt) -> Result<Arc<StepData>, StepReadError> {
        let key = (attempt.position, Hash(self.set.hash()));
        if let Some(data) = self.cx.cache.get::<StepData>(&key) {
            return Ok(data);
        }
        let event = self.event(attempt)?;
        let body: StepRecorded = events::body(&event)?;
        self.afford(&body)?;
        let data = Arc::new(self.derive(attempt, body)?);
        // It holds the set: one too large for the cache would stay there with it, uncounted.
        let set = self.set.bytes();
        let set = if self.cx.cache.keeps(set) { 0 } else { set };
        let bytes = STEP_BYTES + PARSED_FACTOR * data.raw.len() + set;
        self.cx.cache.put(key, Arc::clone(&data), bytes);
        Ok(data)
    }

    /// On the event loop, takes the cost of a result from what is left.
    fn afford(&self, body: &StepRecorded) -> Result<(), StepReadError> {
        if let Some(left) = self.left.get() {
            let bytes = body.result.as_ref().map_or(0, Text::bytes);
            let left = usize::try_from(bytes)
                .ok()
                .and_then(|bytes| left.checked_sub(bytes.max(256)))
                .ok_or(StepReadError::TooLong)?;
            self.left.set(Some(left));
        }
        Ok(())
    }

    fn derive(&self, attempt: &StepAttempt, body: StepRecorded) -> Result<StepData, Error> {
        let read = |text: Option<Text>| text.map(|text| text.read(&self.cx.blobs)).transpose();
        let raw = read(body.result)?.unwrap_or_default();
        let error = read(body.error)?;
        Ok(StepData::new(
            attempt.step,
            attempt.attempt,
            attempt.position.0,
            raw,
            Arc::clone(&self.set),
        )
        .with_outcome(attempt.success, error))
    }

    /// The event of an attempt.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn event(&self, attempt: &StepAttempt) -> Result<LoggedEvent, Error> {
        self.state.log().event(attempt.record, attempt.position)
    }
}

impl History for SessionSteps<'_> {
    type Error = StepReadError;

    fn last(&self) -> Result<Option<u32>, StepReadError> {
        Ok(view::last_before(self.state, &self.lines, u32::MAX)?)
    }

    fn step(&self, step: u32) -> Result<Option<Arc<StepData>>, StepReadError> {
        view::answering(self.state, &self.lines, step)?
            .map(|answering| self.data(&answering.attempt))
            .transpose()
    }
}

/// The extractors and mappings that reach a session: built in, global, its project's, its own; a
/// later one of the same name replaces an earlier one.
fn set_of(cx: &Context, state: &State, lines: &[Line]) -> Result<Arc<ExtractorSet>, Refusal> {
    let session = lines.first().map_or("", |line| &line.session);
    let project = sessions::get(state, session)?.and_then(|row| row.project);
    let last = view::last_registrations(state, lines, project.as_deref())?;
    if last == [0; 3] {
        return Ok(built_in());
    }
    let newest = Position(last.into_iter().max().unwrap_or(0));
    // Where a scope has none, it does not matter which one it is: all sessions share the global set.
    let [of_session, of_project, _] = last;
    let own = (of_session > 0).then_some(session);
    let shared = project.as_deref().filter(|_| of_project > 0);
    let named = format!("extractors {last:?} {own:?} {shared:?}");
    let key = (newest, Hash::of(named.as_bytes()));
    if let Some(set) = cx.cache.get::<ExtractorSet>(&key) {
        return Ok(set);
    }
    let mut extractors = Vec::new();
    let mut mappings = Vec::new();
    let all = Position(u64::MAX);
    let of_project = project.as_deref().map(EventScope::Project);
    let around = [Some(EventScope::Global), of_project].into_iter().flatten();
    let own = lines.iter().rev();
    let own = own.map(|line| (EventScope::Session(&line.session), line.up_to));
    for (scope, up_to) in around.map(|scope| (scope, all)).chain(own) {
        for registered in registered(state, scope, up_to)? {
            match registered.what {
                Registrations::Extractor(extractor) => extractors.push(extractor),
                Registrations::Mapping(mapping) => mappings.push(mapping),
            }
        }
    }
    let set = ExtractorSet::new(&extractors, &mappings)
        .map(Arc::new)
        .map_err(|error| {
            let message = format!("a registered extractor is no longer valid: {error}");
            Refusal::new(crate::error::Code::Corrupt, message)
        })?;
    cx.cache.put(key, Arc::clone(&set), set.bytes());
    Ok(set)
}

fn built_in() -> Arc<ExtractorSet> {
    static BUILT_IN: std::sync::LazyLock<Arc<ExtractorSet>> =
        std::sync::LazyLock::new(Arc::default);
    Arc::clone(&BUILT_IN)
}

/// What was registered.
pub enum Registrations {
    /// An extractor.
    Extractor(Extractor),
    /// Other names of a field.
    Mapping(FieldMapping),
}

/// A registration and where it stands.
pub struct Registration {
    /// Position of its event.
    pub position: Position,
    /// What it says.
    pub what: Registrations,
}

/// The registrations of one scope up to a position, oldest first.
///
/// # Errors
/// When an event cannot be read.
pub fn registered(
    state: &State,
    scope: EventScope<'_>,
    up_to: Position,
) -> Result<Vec<Registration>, Error> {
    let mut found = Vec::new();
    for (position, record) in view::registrations(state as &dyn Rows, scope, up_to)? {
        let event = state.log().event(record, position)?;
        if let Some(what) = registered_by(&event)? {
            found.push(Registration { position, what });
        }
    }
    Ok(found)
}

/// What an event registered; `None` once its content is forgotten.
///
/// # Errors
/// When its content does not decode.
pub fn registered_by(event: &LoggedEvent) -> Result<Option<Registrations>, Error> {
    Ok(match StepEvent::of(event)? {
        Some(StepEvent::ExtractorRegistered) => {
            let body: ExtractorRegistered = events::body(event)?;
            Some(Registrations::Extractor(Extractor {
                name: body.name,
                pattern: body.pattern,
                group: body.group,
                fields: body.fields,
            }))
        }
        Some(StepEvent::MappingRegistered) => {
            let body: FieldMappingRegistered = events::body(event)?;
            Some(Registrations::Mapping(FieldMapping {
                field: body.field,
                aliases: body.aliases,
            }))
        }
        Some(StepEvent::Recorded(_)) | None => None,
    })
}
