//! `follow_events`: reads new events from a position on; a call may wait for them (long poll).
//!
//! A waiting call holds only a position and its filter: no snapshot and no thread. Each published commit wakes it.
//! It then reads the new events once, and continues to wait if none matches.

use std::sync::Arc;
use std::time::Duration;

use lore::protocol::Position;
use lore::protocol::log::{FollowEventsArgs, FollowEventsReply};
use tokio::time::Instant;

use super::cursors::Cursors;
use super::page::{Filter, OwnFilter, Page};
use super::poll;
use crate::engine::PublishedState;
use crate::error::Refusal;
use crate::hint::{arg, hint};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::sessions;

/// Maximum wait of one call, in milliseconds; larger values are reduced to this.
const WAIT_MS_MAX: u64 = 30_000;
/// At most this many new events are read without a thread hop, because the hop would cost more.
const QUICK_MAX: u64 = 32;

/// `follow_events`.
pub struct FollowEvents;

impl Op for FollowEvents {
    type Args = FollowEventsArgs;
    type Reply = FollowEventsReply;
    const NAME: &'static str = "follow_events";
    const TITLE: &'static str = "Follow the log";
    const DESCRIPTION: &'static str = "Returns events as they are recorded, filtered, from a position, a named cursor or the \
        caller's own last event on. Waits up to `wait_ms` for the next one. Call it again with \
        `from` = `next` to miss and repeat nothing.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;
    const WAITS: bool = true;

    async fn call(call: Call<FollowEventsArgs>) -> Result<FollowEventsReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        if args.project.is_some() {
            let published = cx.read(None).await?;
            let rows = &published.snapshot;
            args.project = sessions::named_project(&cx, rows, &caller, args.project)?;
        }
        let wait_ms = args.wait_ms.unwrap_or(0).min(WAIT_MS_MAX);
        if wait_ms > 0 {
            caller.wait_permit.check()?;
        }
        let deadline = Instant::now() + Duration::from_millis(wait_ms);
        let start = FollowStart::of(&args)?;
        let (limit, filter) = (args.limit, filter(args, &caller));
        filter.check()?;
        let filter = Arc::new(filter);
        let mut from = start.position(&cx, &caller).await?;
        loop {
            let (page, position) = read(&cx, from, limit, &filter).await?;
            let caught_up = page.next > position;
            let goes_on = page.events.is_empty()
                && match caught_up {
                    true => {
                        let comes = cx.engine.reached(page.next);
                        wait_ms > 0 && caller.wait_permit.wait(deadline, comes).await
                    }
                    false => !caller.wait_permit.is_over() && Instant::now() < deadline,
                };
            if !goes_on {
                return Ok(FollowEventsReply {
                    events: page.events,
                    next: page.next,
                    caught_up,
                    position,
                    durable: cx.engine.is_durable(),
                    warnings: Vec::new(),
                });
            }
            from = page.next;
        }
    }
}

fn filter(args: FollowEventsArgs, caller: &Caller) -> Filter {
    let others = args.others == Some(true) || args.since_last_turn == Some(true);
    Filter {
        session: args.session,
        project: args.project,
        agent: args.agent,
        not_agent: args.not_agent,
        kinds: args.kinds,
        not_own: others.then(|| OwnFilter::of(caller)),
    }
}

/// Reads a page of the current state and returns it with that state's position. The state is dropped.
async fn read(
    cx: &Context,
    from: Position,
    limit: Option<u64>,
    filter: &Arc<Filter>,
) -> Result<(Page, Position), Refusal> {
    let published = cx.read(None).await?;
    let position = published.tail.position;
    if position.0.saturating_sub(from.0) < QUICK_MAX {
        return Ok((Page::read(&published, from, limit, filter)?, position));
    }
    let filter = Arc::clone(filter);
    let page = blocking(move || Ok(Page::read(&published, from, limit, &filter)?)).await?;
    Ok((page, position))
}

/// Start position of a reader.
enum FollowStart {
    From(Position),
    Cursor(String),
    LastTurn,
}

impl FollowStart {
    fn of(args: &FollowEventsArgs) -> Result<Self, Refusal> {
        match (args.from, &args.cursor, args.since_last_turn) {
            (from, None, None | Some(false)) => Ok(Self::From(from.unwrap_or(Position(1)))),
            (None, Some(name), None | Some(false)) => Ok(Self::Cursor(name.clone())),
            (None, None, Some(true)) => Ok(Self::LastTurn),
            _ => Err(Refusal::invalid(
                "`from`, `cursor` and `since_last_turn` exclude one another",
            )
            .hint(hint![
                "Begin with one of them, and go on with ",
                arg("from"),
                ": the end of the last reply."
            ])),
        }
    }

    async fn position(&self, cx: &Context, caller: &Caller) -> Result<Position, Refusal> {
        let published = cx.read(None).await?;
        let tail = published.tail.position;
        match self {
            Self::From(from) => reachable("`from`", *from, tail),
            Self::Cursor(name) => {
                let cursors = Cursors::of(cx)?;
                let cursor = cursors.get(caller.actor.uid, name, cx.engine.store_id())?;
                reachable(&format!("the cursor `{name}`"), cursor, tail)
            }
            Self::LastTurn => {
                let own = OwnFilter::of(caller);
                let caller = caller.clone();
                let after =
                    move |published: &PublishedState| poll::behind(published, &caller, &own);
                blocking(move || Ok(after(&published)?)).await
            }
        }
    }
}

/// Checks that a reader may continue from a position: at most one after the end of the log.
pub(super) fn reachable(
    what: &str,
    position: Position,
    tail: Position,
) -> Result<Position, Refusal> {
    if position.0 <= tail.0 + 1 {
        return Ok(position);
    }
    Err(Refusal::invalid(format!(
        "{what} is {position}, which the log has not reached; it is at {tail}"
    ))
    .hint("A position is of one store; give one that a reply of this store has returned."))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context as Task, Poll, Wake, Waker};

    use lore::protocol::Args;

    use super::*;
    use crate::api::TABLE;
    use crate::config::Config;
    use crate::daemon::Daemon;
    use crate::daemon::tests::paths;

    /// Counts how often a call was woken.
    #[derive(Default)]
    struct WakeCounter(AtomicUsize);

    impl Wake for WakeCounter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A waiting call does no work until a commit: no timer and no other reads wake it. A commit that does not match
    /// costs one read; the next matching commit gives the answer.
    #[tokio::test]
    async fn a_waiting_call_is_woken_by_commits_alone() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon::open(&Config::new(), &paths(folder.path())).unwrap();
        let cx = daemon.context().unwrap();
        let create = |session: &str| {
            let args = Args::Json(format!(r#"{{"session":"{session}"}}"#).into_bytes());
            let create = TABLE.get("create_session").unwrap();
            create.call(Arc::clone(cx), Caller::default(), args)
        };
        let args = FollowEventsArgs {
            session: Some("two".parse().unwrap()),
            wait_ms: Some(WAIT_MS_MAX),
            ..FollowEventsArgs::default()
        };
        let call = Call::of::<FollowEvents>(Arc::clone(cx), Caller::default(), args).unwrap();
        let mut call = pin!(FollowEvents::call(call));
        let wakes = Arc::new(WakeCounter::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut poll = || call.as_mut().poll(&mut Task::from_waker(&waker));
        let woken = || wakes.0.swap(0, Ordering::Relaxed);
        assert!(poll().is_pending());
        for _ in 0..100 {
            cx.read(None).await.unwrap();
            tokio::task::yield_now().await;
        }
        assert_eq!(woken(), 0);
        create("one").await.unwrap();
        assert_eq!(woken(), 1);
        assert!(poll().is_pending());
        create("two").await.unwrap();
        assert_eq!(woken(), 1);
        let Poll::Ready(reply) = poll() else {
            panic!("it was answered")
        };
        let reply = reply.unwrap();
        assert_eq!(reply.events.len(), 1);
        assert_eq!((reply.next, reply.caught_up), (Position(3), true));
    }
}
