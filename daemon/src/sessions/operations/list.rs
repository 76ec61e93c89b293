//! `list_sessions`.

use std::ops::ControlFlow;

use lore::protocol::Position;
use lore::protocol::sessions::{
    ListSessionsArgs, ListSessionsReply, SessionState, SessionSummary, StateFilter,
};

use super::{parent, session_id};
use crate::budget;
use crate::clock::{Micros, format_time};
use crate::error::Refusal;
use crate::events::body;
use crate::events::messages::MessageRecorded;
use crate::log::{EventKind, EventScope, Log};
use crate::operation::cursor::{Cursor, List, list_limit};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::sessions::view::{self, Details, ListPlace, SessionFilter, SessionRow};
use crate::sessions::{SessionSettings, SharedSteps, lineage, named_project};
use crate::store::{Blobs, Error, Rows};

const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;
/// Limit on the sessions examined for one page; filters that rarely match get a `next` instead of a long wait.
const LOOKED_AT_MAX: usize = 20_000;
/// Number of first events among which a session's first message is looked for.
const FIRST_EVENTS: usize = 8;
/// Length of the beginning of a first message, in characters.
const FIRST_MESSAGE_CHARS: usize = 120;
/// Limit on the agents in a summary.
const AGENTS_MAX: usize = 20;

pub struct ListSessions;

impl Op for ListSessions {
    type Args = ListSessionsArgs;
    type Reply = ListSessionsReply;
    const NAME: &'static str = "list_sessions";
    const TITLE: &'static str = "List sessions";
    const DESCRIPTION: &'static str = "Lists sessions, the newest first, by user, project, agent, state and tags. Expired ones are \
        listed only if `state` asks for them.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListSessionsArgs>) -> Result<ListSessionsReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let limit = list_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let published = cx.read(args.at_least).await?;
        let tail = published.tail.position;
        let store = cx.engine.store_id();
        let read = |next: &str| Cursor::read(next, "next", List::Sessions, store, tail);
        let before = args.next.as_deref().map(read).transpose()?;
        let now = cx.engine.clock().now();
        blocking(move || {
            let rows = &published.snapshot;
            args.project = named_project(&cx, rows, &caller, args.project)?;
            let before = before.map(|cursor| place_of(rows, cursor.position));
            let before = before.transpose()?;
            let mut page = Page {
                rows,
                blobs: &cx.blobs,
                args: &args,
                settings: &SessionSettings::of(&cx),
                shared_steps: cx.extensions.get::<SharedSteps>().copied(),
                now,
                limit,
                found: Vec::new(),
                looked_at: 0,
                last: None,
                next: None,
            };
            view::newest(rows, within(&args), before, &mut |session, created| {
                page.look_at(session, created)
            })?;
            let found = page.found.into_iter();
            let next = page.next.map(|place| Cursor::behind(place.position));
            Ok(ListSessionsReply {
                sessions: found
                    .map(ListedSession::summary)
                    .collect::<Result<_, _>>()?,
                next: next.map(|cursor| cursor.text(List::Sessions, cx.engine.store_id())),
                position: published.tail.position,
                durable: cx.engine.is_durable(),
                warnings: Vec::new(),
            })
        })
        .await
    }
}

/// Returns the place of the session that began at a position. Its header stays, also when it was forgotten.
fn place_of(rows: &dyn Rows, position: Position) -> Result<ListPlace, Refusal> {
    let event = Log::new(rows).at(position)?;
    let place = event.map(|event| ListPlace::of(&event.header));
    place.ok_or_else(|| Refusal::invalid("`next` is not of a page of this list"))
}

/// Returns the narrowest list that contains all requested sessions.
fn within(args: &ListSessionsArgs) -> SessionFilter<'_> {
    match (&args.user, &args.project) {
        (Some(user), _) => SessionFilter::User(user),
        (None, Some(project)) => SessionFilter::Project(project),
        (None, None) => SessionFilter::All,
    }
}

struct Page<'p> {
    rows: &'p dyn Rows,
    blobs: &'p Blobs,
    args: &'p ListSessionsArgs,
    settings: &'p SessionSettings,
    /// Counts what forks share.
    shared_steps: Option<SharedSteps>,
    now: Micros,
    limit: usize,
    found: Vec<ListedSession>,
    looked_at: usize,
    /// Last examined session.
    last: Option<ListPlace>,
    next: Option<ListPlace>,
}

/// A session on the page.
struct ListedSession {
    session: String,
    state: SessionState,
    row: SessionRow,
    first_message: Option<String>,
    details: Details,
    agents: Vec<String>,
    /// Number of its step attempts, with those that it shares.
    steps: u64,
}

impl Page<'_> {
    fn look_at(&mut self, session: &str, created: ListPlace) -> Result<ControlFlow<()>, Error> {
        if self.found.len() == self.limit || self.looked_at == LOOKED_AT_MAX {
            self.next = self.last;
            return Ok(ControlFlow::Break(()));
        }
        self.looked_at += 1;
        self.last = Some(created);
        if let Some(row) = view::get(self.rows, session)?
            && let Some(state) = self.state(&row)
        {
            let details = view::details(self.rows, session)?;
            let first_message = match (&details.title, &details.topic) {
                (None, None) => self.first_message(session)?,
                _ => None,
            };
            let listed = ListedSession {
                state,
                first_message,
                details,
                agents: view::agents(self.rows, session, AGENTS_MAX)?,
                steps: row.steps + self.shared_steps(session, &row)?,
                session: session.to_owned(),
                row,
            };
            if self.takes(&listed) {
                self.found.push(listed);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the number of step attempts that a fork shares.
    fn shared_steps(&self, session: &str, row: &SessionRow) -> Result<u64, Error> {
        match self.shared_steps {
            Some(SharedSteps(count)) if row.forked != 0 => {
                count(self.rows, &lineage(self.rows, session)?)
            }
            Some(_) | None => Ok(0),
        }
    }

    /// Returns the beginning of the session's first message, if it is among its first events.
    fn first_message(&self, session: &str) -> Result<Option<String>, Error> {
        let log = Log::new(self.rows);
        let scope = EventScope::Session(session);
        let first = log.stream(scope, Position(0), Position(u64::MAX - 1), FIRST_EVENTS)?;
        for (position, record) in first {
            let Some(event) = log.whole(record, position)? else {
                continue;
            };
            if event.header.kind == EventKind::MessageRecorded && event.payload.is_some() {
                let content = body::<MessageRecorded>(&event)?.content;
                let content = budget::passing(|| content.read(self.blobs))?;
                let words = content
                    .chars()
                    .take(FIRST_MESSAGE_CHARS)
                    .collect::<String>();
                let words: Vec<&str> = words.split_whitespace().collect();
                return Ok((!words.is_empty()).then(|| words.join(" ")));
            }
        }
        Ok(None)
    }

    /// Returns the session's state if it matches the filter.
    fn state(&self, row: &SessionRow) -> Option<SessionState> {
        let state = self.settings.state(row, self.now);
        let is_wanted = match self.args.state {
            None => !self.settings.is_past(row, self.now),
            Some(StateFilter::Any) => true,
            Some(StateFilter::Active) => state == SessionState::Active,
            Some(StateFilter::Expired) => state == SessionState::Expired,
            Some(StateFilter::Closed) => state == SessionState::Closed,
        };
        is_wanted.then_some(state)
    }

    fn takes(&self, listed: &ListedSession) -> bool {
        let args = self.args;
        let project = args.project.as_ref();
        let agent = args.by_agent.as_ref();
        project.is_none_or(|project| listed.row.project.as_ref() == Some(project))
            && agent.is_none_or(|agent| listed.agents.contains(agent))
            && args
                .tags
                .iter()
                .all(|tag| listed.details.tags.contains(tag))
    }
}

impl ListedSession {
    fn summary(self) -> Result<SessionSummary, Refusal> {
        Ok(SessionSummary {
            session: session_id(&self.session)?,
            state: self.state,
            parent: parent(self.details.parent.as_ref())?,
            user: self.details.user,
            project: self.row.project,
            title: self.details.title,
            topic: self.details.topic,
            first_message: self.first_message,
            tags: self.details.tags,
            agents: self.agents,
            created_at: format_time(self.row.created_at),
            last_activity: format_time(self.row.used_at),
            steps: self.steps,
        })
    }
}
