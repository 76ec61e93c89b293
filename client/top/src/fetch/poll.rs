//! Polls the daemon's status and session list.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use lore::connection::Error;
use lore::protocol::sessions::ListSessionsArgs;
use lore::protocol::status::StatusArgs;

use super::{Caller, PAUSE_MAX, PAUSE_MIN, lost};
use crate::input::{Input, Inputs};
use crate::model::Update;

/// Limit on the listed sessions; the newest are listed.
const SESSIONS: u64 = 200;
/// The pause after a poll is at least this multiple of its duration, so that polling costs the daemon little.
const REST: u32 = 5;

/// Polling commands of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Poll now.
    Now,
    /// Poll now, and at this interval from then on.
    Every(Duration),
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
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
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
