//! A session's steps as variables see them: read from the log on first use, then cached.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use super::extract::{Extractor, ExtractorSet, FieldMapping, MINED_BYTES_MAX};
use super::resolve::{History, StepData};
use super::view::{self, StepAttempt};
use crate::budget;
use crate::cache::Key;
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

/// Maximum memory of the values of one call, in bytes: about what a reply of the largest size takes.
const VALUES_BYTES_MAX: usize = 64 << 20;
/// Maximum memory of the large results that one call holds, in bytes. The last one is held whatever its size.
const LARGE_BYTES_MAX: usize = 64 << 20;

/// Cache cost of a step in addition to its result, in bytes.
const STEP_BYTES: usize = 1024;
/// Cache cost of parsed and extracted data, per byte of result.
const PARSED_FACTOR: usize = 8;

/// Maximum size of the results that one call parses on the event loop, in bytes.
///
/// Larger work goes to a thread for blocking work. A small read saves two thread hops this way.
const INLINE_BYTES_MAX: usize = 16 * 1024;

/// Where steps are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// On the event loop, where no work may take long.
    EventLoop,
    /// On a thread for blocking work.
    Thread,
}

/// Reason why a step was not read.
#[derive(Debug)]
pub enum StepReadError {
    /// The read failed.
    Fault(Error),
    /// The request is refused.
    Refused(Refusal),
    /// The read would block the event loop for too long.
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
    /// Context with the blobs and the cache.
    pub cx: &'c Context,
    /// State with the rows.
    pub state: &'c State,
    /// The session and the sessions whose history it shares.
    pub lines: Vec<Line>,
    /// Extractors that apply to the session.
    pub set: Arc<ExtractorSet>,
    /// Bytes of results that may still be parsed; `None` off the event loop.
    left: Cell<Option<usize>>,
    /// The large results that were read last. Held for the call, because the cache may not keep all of them.
    large: RefCell<VecDeque<(StepAttempt, Arc<StepData>)>>,
    /// Warnings of large results that are no longer held.
    size_warnings: RefCell<Vec<String>>,
    /// Memory that values of the call may still take, in bytes.
    values_left: Cell<usize>,
}

impl<'c> SessionSteps<'c> {
    /// Opens the steps of a session, with the extractors that apply to it.
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
            large: RefCell::default(),
            size_warnings: RefCell::default(),
            values_left: Cell::new(VALUES_BYTES_MAX),
        })
    }

    /// Returns one attempt with its derived data.
    ///
    /// # Errors
    /// [`StepReadError::TooLong`] on the event loop, when the result is too large to parse there.
    pub fn data(&self, attempt: &StepAttempt) -> Result<Arc<StepData>, StepReadError> {
        let held = self.large.borrow();
        if let Some((_, data)) = held.iter().find(|(known, _)| known == attempt) {
            return Ok(Arc::clone(data));
        }
        drop(held);
        let key = (attempt.position, Hash(self.set.hash()));
        let data = match self.cx.cache.get::<StepData>(&key) {
            Some(data) => data,
            None => {
                let event = self.event(attempt)?;
                let body: StepRecorded = events::body(&event)?;
                let bytes = body.result.as_ref().map_or(0, Text::bytes);
                self.afford(bytes)?;
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                if !self.cx.cache.keeps(PARSED_FACTOR.saturating_mul(bytes)) {
                    self.cx.cache.discard_oversized();
                }
                let data = Arc::new(self.derive(attempt, body)?);
                self.keep(key, &data);
                data
            }
        };
        if data.raw.len() > MINED_BYTES_MAX {
            self.hold(*attempt, Arc::clone(&data));
        }
        Ok(data)
    }

    /// Holds a large result for the call, and gives up those that were read first when they take too much.
    fn hold(&self, attempt: StepAttempt, data: Arc<StepData>) {
        let mut held = self.large.borrow_mut();
        held.push_back((attempt, data));
        let mut bytes: usize = held.iter().map(|(_, data)| data.held_bytes()).sum();
        while held.len() > 1 && bytes > LARGE_BYTES_MAX {
            let Some((_, data)) = held.pop_front() else {
                break;
            };
            bytes -= data.held_bytes();
            add_new(&mut self.size_warnings.borrow_mut(), data.size_warning());
        }
    }

    /// Stores derived data in the cache.
    fn keep(&self, key: Key, data: &Arc<StepData>) {
        // The cached data holds the set. A set that is too large for the cache would otherwise stay in memory uncounted.
        let set = self.set.bytes();
        let set = if self.cx.cache.keeps(set) { 0 } else { set };
        let bytes = STEP_BYTES + PARSED_FACTOR * data.raw.len() + set;
        if self.cx.cache.keeps(bytes) {
            self.cx.cache.put(key, Arc::clone(data), bytes);
            return;
        }
        // The estimate is that of many small values. A large result is measured; it is read on a thread of its own.
        let bytes = STEP_BYTES + data.derived_bytes() + set;
        if self.cx.cache.keeps(bytes) {
            self.cx.cache.put(key, Arc::clone(data), bytes);
        } else {
            self.cx.cache.put_oversized(key, Arc::clone(data), bytes);
        }
    }

    /// Returns a warning for each result that was read and is too large to be searched completely.
    pub fn size_warnings(&self) -> Vec<String> {
        let mut warnings = self.size_warnings.borrow().clone();
        for (_, data) in self.large.borrow().iter() {
            add_new(&mut warnings, data.size_warning());
        }
        warnings
    }

    /// Charges the size of a result to the bytes left on the event loop.
    fn afford(&self, bytes: u64) -> Result<(), StepReadError> {
        if let Some(left) = self.left.get() {
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

    /// Reads the event of an attempt.
    pub fn event(&self, attempt: &StepAttempt) -> Result<LoggedEvent, Error> {
        self.state.log().event(attempt.record, attempt.position)
    }
}

fn add_new(warnings: &mut Vec<String>, warning: Option<String>) {
    warnings.extend(warning.filter(|new| !warnings.contains(new)));
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

    fn reserve(&self, bytes: usize) -> bool {
        if budget::reserve(bytes).is_err() {
            return false;
        }
        let left = self.values_left.get().checked_sub(bytes);
        self.values_left
            .set(left.unwrap_or_else(|| self.values_left.get()));
        left.is_some()
    }
}

/// Returns the extractors and mappings that apply to a session: built-in, global, of its project, and its own.
///
/// A later one of the same name replaces an earlier one.
fn set_of(cx: &Context, state: &State, lines: &[Line]) -> Result<Arc<ExtractorSet>, Refusal> {
    let session = lines.first().map_or("", |line| &line.session);
    let project = sessions::get(state, session)?.and_then(|row| row.project);
    let last = view::last_registrations(state, lines, project.as_deref())?;
    if last == [0; 3] {
        return Ok(built_in());
    }
    let newest = Position(last.into_iter().max().unwrap_or(0));
    // Scopes without registrations are not part of the cache key, so that their sessions share the global set.
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

/// The content of a registration.
pub enum Registrations {
    /// An extractor.
    Extractor(Extractor),
    /// Aliases of a field.
    Mapping(FieldMapping),
}

/// A registration with its log position.
pub struct Registration {
    /// Position of its event.
    pub position: Position,
    /// Content of the registration.
    pub what: Registrations,
}

/// Lists the registrations of one scope up to a position, oldest first.
pub fn registered(
    state: &State,
    scope: EventScope<'_>,
    up_to: Position,
) -> Result<Vec<Registration>, Error> {
    let mut found = Vec::new();
    for (position, record) in view::registrations(state as &dyn Rows, scope, up_to)? {
        let Some(event) = state.log().whole(record, position)? else {
            continue;
        };
        if let Some(what) = registered_by(&event)? {
            found.push(Registration { position, what });
        }
    }
    Ok(found)
}

/// Returns the registration of an event; `None` for any other event and for forgotten content.
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
