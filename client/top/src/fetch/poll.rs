//! Looks at the daemon again and again: how it is, which sessions there are.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use lore::connection::Error;
use lore::protocol::sessions::ListSessionsArgs;
use lore::protocol::status::StatusArgs;

use super::{Caller, PAUSE_MAX, PAUSE_MIN, lost};
use crate::input::{Input, Inputs};
use crate::model::Update;

/// Sessions that are listed, the newest.
const SESSIONS: u64 = 200;
/// A look that took long is followed by so many times as long a pause, so that looking costs the
/// daemon little.
const REST: u32 = 5;

/// What a person wants of the looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Look now.
    Now,
    /// Look now, and so often from then on.
    Every(Duration),
}

/// Looks until nobody wants to know.
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

/// One look.
///
/// # Errors
/// Why the daemon cannot be asked.
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
