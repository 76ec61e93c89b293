//! `read_events`: the log as it is, page by page.

use std::ops::ControlFlow;
use std::sync::Arc;

use lore::protocol::log::{Event, ReadEventsArgs, ReadEventsReply};
use lore::protocol::{Position, SessionId};
use serde_json::{Map, Value};

use crate::clock::format_time;
use crate::engine::Published;
use crate::error::Refusal;
use crate::log::{Log, ScopeOf, Stamped, codec};
use crate::operation::{Access, Caller, Context, Op, blocking};
use crate::store::Error;

const LIMIT_DEFAULT: u64 = 50;
const LIMIT_MAX: u64 = 1000;
/// Events in a page that is read without a thread of its own.
const QUICK_MAX: u64 = 20;
/// A page ends once its payloads are larger than this, in bytes: a model's reply stays readable.
const PAGE_BYTES: usize = 64 * 1024;
/// Events looked at for one page; filters that match rarely get a `next` instead of a long wait.
const LOOKED_AT_MAX: usize = 20_000;

/// `read_events`.
pub struct ReadEvents;

impl Op for ReadEvents {
    type Args = ReadEventsArgs;
    type Reply = ReadEventsReply;
    const NAME: &'static str = "read_events";
    const TITLE: &'static str = "Read the log";
    const SENTENCE: &'static str = "Reads events of the log from a position on: what happened, \
        when, by which agent, in which session.";
    const ACCESS: Access = Access::Read;

    async fn call(
        cx: Arc<Context>,
        _caller: Caller,
        args: ReadEventsArgs,
    ) -> Result<ReadEventsReply, Refusal> {
        let published = cx.read(args.at_least).await?;
        let durable = cx.engine.is_durable();
        if is_quick(&args) {
            return page(&published, &args, durable);
        }
        blocking(move || page(&published, &args, durable)).await
    }
}

/// A small page without filters is read on the event loop: a thread hop would cost more.
fn is_quick(args: &ReadEventsArgs) -> bool {
    args.limit.is_some_and(|limit| limit <= QUICK_MAX)
        && args.project.is_none()
        && args.agent.is_none()
        && args.kinds.is_empty()
        && args.session.is_none()
}

fn page(
    published: &Published,
    args: &ReadEventsArgs,
    durable: bool,
) -> Result<ReadEventsReply, Refusal> {
    let limit = args.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX) as usize;
    let from = Position(args.from.map_or(1, |from| from.0.max(1)));
    let log = Log::new(&published.snapshot);
    let mut page = Page {
        args,
        limit,
        events: Vec::new(),
        bytes: 0,
        looked_at: 0,
        next: None,
    };
    match &args.session {
        Some(session) => {
            let scope = ScopeOf::Session(session.as_str());
            let after = Position(from.0 - 1);
            let found = log.stream(scope, after, Position(u64::MAX - 1), LOOKED_AT_MAX + 1)?;
            for (position, record) in found {
                if page.add(log.event(record, position)?)? == ControlFlow::Break(()) {
                    break;
                }
            }
        }
        None => log.walk(from, &mut |event, _| page.add(event))?,
    }
    Ok(ReadEventsReply {
        events: page.events,
        next: page.next,
        position: published.tail.position,
        durable,
        warnings: Vec::new(),
    })
}

struct Page<'a> {
    args: &'a ReadEventsArgs,
    limit: usize,
    events: Vec<Event>,
    bytes: usize,
    looked_at: usize,
    next: Option<Position>,
}

impl Page<'_> {
    fn add(&mut self, event: Stamped) -> Result<ControlFlow<()>, Error> {
        let is_full = self.events.len() == self.limit || self.bytes > PAGE_BYTES;
        if is_full || self.looked_at == LOOKED_AT_MAX {
            self.next = Some(event.position());
            return Ok(ControlFlow::Break(()));
        }
        self.looked_at += 1;
        if self.wants(&event) {
            self.bytes += event
                .payload
                .as_ref()
                .map_or(0, |payload| payload.body.len());
            self.events.push(told(event)?);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn wants(&self, event: &Stamped) -> bool {
        let header = &event.header;
        let project = self.args.project.as_ref();
        let agent = self.args.agent.as_ref();
        project.is_none_or(|project| header.project.as_ref() == Some(project))
            && agent.is_none_or(|agent| header.actor.agent == *agent)
            && (self.args.kinds.is_empty() || self.args.kinds.contains(&header.kind))
    }
}

/// An event as it goes over the wire.
fn told(event: Stamped) -> Result<Event, Error> {
    let payload = match &event.payload {
        Some(payload) => {
            let decode = |bytes: &[u8]| {
                codec::to_json(bytes).map_err(|reason| {
                    let key = event.position().0.to_be_bytes();
                    Error::corrupt(crate::log::LOG.name(), &key, reason)
                })
            };
            let mut map: Map<String, Value> = decode(&payload.fact)?;
            map.extend(decode(&payload.body)?);
            Value::Object(map)
        }
        None => Value::Null,
    };
    let header = event.header;
    Ok(Event {
        position: header.position,
        time: format_time(header.time),
        kind: header.kind,
        agent: header.actor.agent,
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
