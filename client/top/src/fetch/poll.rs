//! Polls the daemon's status and session list.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use lore::connection::Error;
use lore::protocol::SessionId;
use lore::protocol::log::{ReadEventsArgs, ReadEventsReply};
use lore::protocol::sessions::ListSessionsArgs;
use lore::protocol::status::StatusArgs;

use super::{Caller, PAUSE_MAX, PAUSE_MIN, lost};
use crate::input::{Input, Inputs};
use crate::model::Update;
use crate::model::event::{Entry, KEPT};

/// Limit on the listed sessions; the newest are listed.
const SESSIONS: u64 = 200;
/// Events per page of a session.
const PAGE: u64 = 1_000;
/// Limit on the pages that are read of a session.
const PAGES_MAX: usize = 200;
/// The pause after a poll is at least this multiple of its duration, so that polling costs the daemon little.
const REST: u32 = 5;

/// Polling commands of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Poll now.
    Now,
    /// Poll now, and at this interval from then on.
    Every(Duration),
    /// Read the events of a session.
    Open(SessionId),
}

/// Polls until the receiver is gone.
pub fn poll(mut caller: Caller, mut every: Duration, orders: &Receiver<Order>, inputs: &Inputs) {
    let mut pause = PAUSE_MIN;
    loop {
        let began = Instant::now();
        let wait = match both(&mut caller, |learned| {
            inputs.send(Input::Learned(learned)).is_ok()
        }) {
            Ok(()) => {
                pause = PAUSE_MIN;
                every.max(began.elapsed() * REST)
            }
            Err(error) => {
                if inputs
                    .send(Input::Learned(Update::Lost(lost(&error))))
                    .is_err()
                {
                    return;
                }
                pause = (pause * 2).min(PAUSE_MAX);
                pause
            }
        };
        match orders.recv_timeout(wait) {
            Ok(Order::Now) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Order::Every(wanted)) => every = wanted,
            // A daemon that cannot be called is reported by the next poll.
            Ok(Order::Open(session)) => {
                if let Ok(entries) = events_of(&mut caller, &session)
                    && inputs
                        .send(Input::Learned(Update::Opened(session, entries)))
                        .is_err()
                {
                    return;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Reads the newest events of a session, in log order.
///
/// # Errors
/// When the daemon cannot be called.
fn events_of(caller: &mut Caller, session: &SessionId) -> Result<Vec<Entry>, Error> {
    let mut entries = VecDeque::new();
    let mut from = None;
    for _ in 0..PAGES_MAX {
        let args = ReadEventsArgs {
            from,
            limit: Some(PAGE),
            session: Some(session.clone()),
            ..ReadEventsArgs::default()
        };
        let reply: ReadEventsReply = caller.call("read_events", &args)?;
        entries.extend(reply.events.iter().map(Entry::of));
        entries.drain(..entries.len().saturating_sub(KEPT));
        match reply.next {
            Some(next) if from.is_none_or(|from| next > from) => from = Some(next),
            Some(_) | None => break,
        }
    }
    Ok(entries.into())
}

/// Polls once.
///
/// # Errors
/// When the daemon cannot be called.
pub fn both(caller: &mut Caller, mut take: impl FnMut(Update) -> bool) -> Result<(), Error> {
    let began = Instant::now();
    let status = caller.call("status", &StatusArgs::default())?;
    if !take(Update::Status(Box::new(status), began.elapsed())) {
        return Ok(());
    }
    let args = ListSessionsArgs {
        limit: Some(SESSIONS),
        ..ListSessionsArgs::default()
    };
    let began = Instant::now();
    let sessions = caller.call("list_sessions", &args)?;
    take(Update::Sessions(sessions, began.elapsed()));
    Ok(())
}
