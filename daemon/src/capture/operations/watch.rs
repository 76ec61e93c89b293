//! The `watch` operation: what others do that matters to a session.
//!
//! A waiting call holds only a position. Each published commit wakes it; it then reads what the sessions of the project did
//! since.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lore::protocol::coordination::{WatchArgs, WatchReply, WatchedEvent, WatchedKind};
use lore::protocol::{Position as WirePosition, SessionId};
use lored_moments::one_line;
use tokio::time::Instant;

use crate::capture::Capture;
use crate::capture::inject;
use crate::capture::intents::{intents, normal};
use crate::capture::memory::{Trail, TrailEntry, TrailEvent};
use crate::error::Refusal;
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::messages;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::read_context::ReadContext;
use crate::sessions::{self, operations::session_id};
use crate::state::State;

/// Maximum wait of one call, in milliseconds; larger values are reduced to this.
const WAIT_MS_MAX: u64 = 30_000;
/// Events of a reply.
const EVENTS_MAX: usize = 200;
/// Characters of what is quoted in a line.
const QUOTE_CHARS: usize = 160;

/// The `watch` operation.
pub struct Watch;

impl Op for Watch {
    type Args = WatchArgs;
    type Reply = WatchReply;
    const NAME: &'static str = "watch";
    const TITLE: &'static str = "Watch what others do";
    const DESCRIPTION: &'static str = "Returns what other sessions of the project did that matters to yours: changes of files that you \
        use, what is to be remembered, who starts and ends. Waits up to `wait_ms`. Call it again with `after` = `position`.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;
    const WAITS: bool = true;

    async fn call(call: Call<WatchArgs>) -> Result<WatchReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let wait_ms = args.wait_ms.unwrap_or(0).min(WAIT_MS_MAX);
        if wait_ms > 0 {
            caller.wait_permit.check()?;
        }
        let deadline = Instant::now() + Duration::from_millis(wait_ms);
        let read = ReadContext {
            session: args.session.clone(),
            as_of: None,
            at_least: None,
            wanted: messages::content(),
        };
        let read = read.open(Arc::clone(&cx), caller.clone()).await?;
        let (session, mut state) = (read.session, read.state);
        let mut after = args.after.unwrap_or(state.position());
        if after > state.position() {
            return Err(Refusal::invalid(format!(
                "`after` is {after}, which the log has not reached; it is at {}",
                state.position()
            ))
            .hint("Give the `position` that the last call returned."));
        }
        loop {
            let (shared, of) = (Arc::clone(&cx), session.clone());
            let up_to = state.position();
            let (events, project) =
                blocking(move || events_after(&shared, &state, &of, after)).await?;
            let comes = cx.engine.reached(Position(up_to.0 + 1));
            let goes_on =
                events.is_empty() && wait_ms > 0 && caller.wait_permit.wait(deadline, comes).await;
            if !goes_on {
                let is_cut = events.len() == EVENTS_MAX;
                let last = events.last().map(|last| Position(last.position.0));
                return Ok(WatchReply {
                    session: Some(session_id(&session)?),
                    position: last.filter(|_| is_cut).unwrap_or(up_to),
                    events,
                    durable: cx.engine.is_durable(),
                    chosen_by: None,
                    project,
                    warnings: Vec::new(),
                });
            }
            after = up_to;
            state = State::live(&cx, None).await?;
        }
    }

    fn readable(reply: &WatchReply) -> Option<String> {
        let lines: Vec<&str> = reply.events.iter().map(|one| one.line.as_str()).collect();
        Some(match lines.is_empty() {
            true => "Nothing happened that matters here.".to_owned(),
            false => lines.join("\n"),
        })
    }
}

/// Returns what other sessions of the project of a session did after a position.
fn events_after(
    cx: &Context,
    state: &State,
    session: &str,
    after: Position,
) -> Result<(Vec<WatchedEvent>, Option<String>), Refusal> {
    let capture = Capture::of(cx)?;
    let Some(own) = capture.trails.of(cx, state, session)? else {
        return Ok((Vec::new(), None));
    };
    let watcher = {
        let own = lock_unpoisoned(&own);
        let now = cx.engine.clock().now();
        Watcher {
            session: own.session.clone(),
            parent: own.parent.clone(),
            used: used_files(&own),
            held: intents(&capture.host_processes, &own, now)
                .into_iter()
                .map(|one| one.path)
                .collect(),
            folder: own.folder.clone(),
        }
    };
    let project = lock_unpoisoned(&own).project.clone();
    let mut found = Vec::new();
    for (other, row) in sessions::newest_of(state, project.as_deref())? {
        // Its last event is before.
        if row.changed <= after.0 {
            continue;
        }
        if let Some(trail) = capture.trails.of(cx, state, &other)? {
            watcher.look_at(&lock_unpoisoned(&trail), after, &mut found)?;
        }
    }
    let generation = capture.trails.generation();
    let remembered = capture
        .remembered
        .of(cx, state, project.as_deref(), generation)?;
    for item in remembered.iter() {
        let known = &item.known;
        if known.position > after && item.session != watcher.session {
            let kind = known.sentence.kind.name();
            let line = format!(
                "{} remembers a {kind}: {}",
                name(&known.agent),
                quoted(&known.sentence.text)
            );
            found.push(event(
                known.position,
                &item.session,
                WatchedKind::Remembered,
                line,
            )?);
        }
    }
    found.sort_by_key(|one| one.position);
    found.truncate(EVENTS_MAX);
    Ok((found, project))
}

/// The session for which is watched.
struct Watcher {
    session: String,
    parent: Option<String>,
    /// Files that it read or changed.
    used: BTreeSet<String>,
    /// Files that it works on.
    held: BTreeSet<String>,
    folder: Option<String>,
}

impl Watcher {
    fn look_at(
        &self,
        trail: &Trail,
        after: Position,
        found: &mut Vec<WatchedEvent>,
    ) -> Result<(), Refusal> {
        // Subagents report to it, and it to the session that started it.
        let is_own = trail.session == self.session
            || trail.parent.as_ref() == Some(&self.session)
            || self.parent.as_ref() == Some(&trail.session);
        if is_own {
            return Ok(());
        }
        let new = trail.happened.iter().rev();
        for one in new.take_while(|one| one.position > after) {
            if let Some((what, line)) = self.line(trail, one) {
                found.push(event(one.position, &trail.session, what, line)?);
            }
        }
        if let Some((at, other)) = &trail.continued_at
            && *at > after
            && *other == self.session
        {
            let agent = inject::agent_and_task(trail).0;
            let line = format!(
                "{agent} continues this session's work in session {}",
                trail.session
            );
            found.push(event(*at, &trail.session, WatchedKind::Continues, line)?);
        }
        Ok(())
    }

    fn line(&self, trail: &Trail, one: &TrailEntry) -> Option<(WatchedKind, String)> {
        let agent = name(&one.agent);
        let task = || {
            let task = inject::agent_and_task(trail).1;
            task.map(|task| format!(" for {}", quoted(&task)))
                .unwrap_or_default()
        };
        match &one.event {
            TrailEvent::Called(call) if !call.is_failure => {
                let path = first_of(&call.edits, &self.used)?;
                let path = self.relative(&path).to_owned();
                Some((
                    WatchedKind::Changed,
                    format!("{agent} changed {path}{}", task()),
                ))
            }
            TrailEvent::Began { edits, .. } => {
                let path = first_of(edits, &self.held)?;
                let path = self.relative(&path).to_owned();
                let line =
                    format!("{agent} is about to change {path}, which this session works on");
                Some((WatchedKind::Begins, line))
            }
            TrailEvent::Started => {
                let branch = trail
                    .branch
                    .as_deref()
                    .map(|branch| format!(" on branch {branch}"));
                let line = format!("{agent} started here{}", branch.unwrap_or_default());
                Some((WatchedKind::Started, line))
            }
            TrailEvent::Ended => Some((WatchedKind::Ended, format!("{agent} ended{}", task()))),
            _ => None,
        }
    }

    /// Returns a path as the agent in the folder knows it.
    fn relative<'p>(&self, path: &'p str) -> &'p str {
        let within = self.folder.as_ref().and_then(|folder| {
            let rest = path.strip_prefix(folder.as_str())?;
            rest.strip_prefix('/')
        });
        within.unwrap_or(path)
    }
}

fn used_files(trail: &Trail) -> BTreeSet<String> {
    let calls = trail.happened.iter().filter_map(|one| match &one.event {
        TrailEvent::Called(call) => Some(call),
        _ => None,
    });
    let files = calls.flat_map(|call| call.edits.iter().chain(&call.reads));
    files.map(|path| normal(path)).collect()
}

fn first_of(files: &[String], wanted: &BTreeSet<String>) -> Option<String> {
    let mut files = files.iter().map(|path| normal(path));
    files.find(|path| wanted.contains(path))
}

fn name(agent: &str) -> &str {
    match agent {
        "" => "someone",
        agent => agent,
    }
}

fn quoted(text: &str) -> String {
    let line: String = one_line(text).chars().take(QUOTE_CHARS).collect();
    format!("\"{line}\"")
}

fn event(
    position: Position,
    session: &str,
    what: WatchedKind,
    line: String,
) -> Result<WatchedEvent, Refusal> {
    let session: SessionId = session_id(session)?;
    Ok(WatchedEvent {
        position: WirePosition(position.0),
        session,
        what,
        line: one_line(&line),
    })
}
