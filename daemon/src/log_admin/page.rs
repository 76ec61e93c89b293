//! Reads a page of matching events from a position, with the position of the next page.

use std::ops::ControlFlow;

use lore::protocol::log::{Event, EventOrigin};
use lore::protocol::{Position, RawJson, SessionId};

use crate::clock::format_time;
use crate::engine::PublishedState;
use crate::error::Refusal;
use crate::log::{Actor, EventScope, Header, Log, LoggedEvent, payload_json};
use crate::operation::{AGENT_BYTES_MAX, Caller};
use crate::sessions;
use crate::store::{Error, Rows};

/// Default number of events in a page.
const LIMIT_DEFAULT: u64 = 50;
/// Maximum number of events in a page.
const LIMIT_MAX: u64 = 1000;
/// A page ends once its payloads exceed this size, in bytes, so that a model's reply stays readable.
const PAGE_BYTES: usize = 64 * 1024;
/// Maximum number of events read for one page; rare matches get a `next` instead of a long wait.
const LOOKED_AT_MAX: usize = 20_000;
/// Maximum number of kinds in a filter.
const KINDS_MAX: usize = 100;
/// Maximum length of the name of a kind or a project, in bytes.
const NAME_BYTES_MAX: usize = 1024;

/// The user, agent and project of a caller, to match its own events.
#[derive(Clone, Debug)]
pub struct OwnFilter {
    actor: Actor,
    project: Option<String>,
}

impl OwnFilter {
    /// Takes the identity of a caller.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        Self {
            actor: (*caller.actor).clone(),
            project: caller.project.clone(),
        }
    }

    /// Whether the caller wrote this event.
    #[must_use]
    pub fn has(&self, header: &Header) -> bool {
        header.actor.uid == self.actor.uid
            && header.actor.agent == self.actor.agent
            && header.project == self.project
    }
}

/// Event filter: matches every event that no field excludes.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only events of this session.
    pub session: Option<SessionId>,
    /// Only events of this project.
    pub project: Option<String>,
    /// Only events of this agent.
    pub agent: Option<String>,
    /// No events of this agent.
    pub not_agent: Option<String>,
    /// Only these kinds; empty means all.
    pub kinds: Vec<String>,
    /// No events of this caller.
    pub not_own: Option<OwnFilter>,
}

impl Filter {
    /// Checks that the filter is small enough to be retained during a long poll.
    pub fn check(&self) -> Result<(), Refusal> {
        let kinds = self
            .kinds
            .iter()
            .map(|kind| ("kinds", Some(kind), NAME_BYTES_MAX));
        let others = [
            ("project", self.project.as_ref(), NAME_BYTES_MAX),
            ("agent", self.agent.as_ref(), AGENT_BYTES_MAX),
            ("not_agent", self.not_agent.as_ref(), AGENT_BYTES_MAX),
        ];
        for (name, text, max) in kinds.chain(others) {
            let bytes = text.map_or(0, String::len);
            if bytes > max {
                return Err(Refusal::invalid(format!(
                    "`{name}` has a name of {bytes} bytes; at most {max} are possible"
                )));
            }
        }
        if self.kinds.len() > KINDS_MAX {
            return Err(Refusal::invalid(format!(
                "`kinds` has {} names; at most {KINDS_MAX} are possible",
                self.kinds.len()
            )));
        }
        Ok(())
    }

    fn wants(&self, header: &Header) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        let session = header.session.as_deref();
        self.session
            .as_ref()
            .is_none_or(|wanted| session == Some(wanted.as_str()))
            && is(&self.project, header.project.as_deref().unwrap_or_default())
            && is(&self.agent, &header.actor.agent)
            && self.not_agent.as_deref() != Some(header.actor.agent.as_str())
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == header.kind.as_str()))
            && !self.not_own.as_ref().is_some_and(|own| own.has(header))
    }
}

/// A page of events.
#[derive(Debug)]
pub struct Page {
    /// Events in log order.
    pub events: Vec<Event>,
    /// Position after the last event that was read.
    pub next: Position,
}

impl Page {
    /// Reads a page from a position, of at most `limit` events.
    pub fn read(
        published: &PublishedState,
        from: Position,
        limit: Option<u64>,
        filter: &Filter,
    ) -> Result<Self, Error> {
        let mut reading = PageReader {
            forgotten: ForgottenSessions::new(&published.snapshot),
            filter,
            limit: limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX) as usize,
            events: Vec::new(),
            bytes: 0,
            looked_at: 0,
            next: None,
        };
        let log = Log::new(&published.snapshot);
        let from = Position(from.0.max(1));
        match &filter.session {
            Some(session) => {
                let scope = EventScope::Session(session.as_str());
                let after = Position(from.0 - 1);
                let found = log.stream(scope, after, Position(u64::MAX - 1), LOOKED_AT_MAX + 1)?;
                for (position, record) in found {
                    if let Some(event) = log.whole(record, position)?
                        && reading.add(event)? == ControlFlow::Break(())
                    {
                        break;
                    }
                }
            }
            None => log.walk_whole(from, &mut |event, _| reading.add(event))?,
        }
        let end = Position(published.tail.position.0 + 1);
        Ok(Self {
            events: reading.events,
            next: reading.next.unwrap_or(end.max(from)),
        })
    }
}

struct PageReader<'a> {
    forgotten: ForgottenSessions<'a>,
    filter: &'a Filter,
    limit: usize,
    events: Vec<Event>,
    bytes: usize,
    looked_at: usize,
    next: Option<Position>,
}

impl PageReader<'_> {
    fn add(&mut self, event: LoggedEvent) -> Result<ControlFlow<()>, Error> {
        let is_full = self.events.len() == self.limit || self.bytes > PAGE_BYTES;
        if is_full || self.looked_at == LOOKED_AT_MAX {
            self.next = Some(event.position());
            return Ok(ControlFlow::Break(()));
        }
        self.looked_at += 1;
        if self.filter.wants(&event.header) {
            self.bytes += event
                .payload
                .as_ref()
                .map_or(0, |payload| payload.body.len());
            let event = match self.forgotten.has(&event.header)? {
                true => event.without_content(),
                false => event,
            };
            self.events.push(render(event)?);
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Knows which sessions were forgotten, even where their bytes still exist.
pub(super) struct ForgottenSessions<'a> {
    rows: &'a dyn Rows,
    /// The session of the last event, and whether it was forgotten: the next one is often of the same.
    last: Option<(String, bool)>,
}

impl<'a> ForgottenSessions<'a> {
    pub(super) fn new(rows: &'a dyn Rows) -> Self {
        Self { rows, last: None }
    }

    /// Returns whether the session of an event was forgotten.
    pub(super) fn has(&mut self, header: &Header) -> Result<bool, Error> {
        let Some(session) = &header.session else {
            return Ok(false);
        };
        if header.kind.records_forgetting() {
            return Ok(false);
        }
        if let Some((last, is_forgotten)) = &self.last
            && last == session
        {
            return Ok(*is_forgotten);
        }
        let is_forgotten = sessions::is_forgotten(self.rows, header)?;
        self.last = Some((session.clone(), is_forgotten));
        Ok(is_forgotten)
    }
}

/// Converts an event to the wire format.
fn render(event: LoggedEvent) -> Result<Event, Error> {
    let payload = match &event.payload {
        Some(payload) => payload_json(payload).map(RawJson::from).map_err(|reason| {
            let key = event.position().0.to_be_bytes();
            Error::corrupt(crate::log::LOG.name(), &key, reason)
        })?,
        None => RawJson::default(),
    };
    let header = event.header;
    Ok(Event {
        position: header.position,
        time: format_time(header.time),
        kind: header.kind.to_string(),
        agent: header.actor.agent,
        origin: header.origin.map(|origin| EventOrigin {
            time: format_time(origin.at),
            agent: origin.agent,
        }),
        uid: header.actor.uid.into(),
        client: header.actor.client,
        project: header.project,
        session: header
            .session
            .and_then(|session| SessionId::new(session).ok()),
        key: event.key,
        payload,
        payload_hash: event.payload_hash.to_string(),
        link: event.link.to_string(),
    })
}
