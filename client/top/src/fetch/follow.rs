//! Follows the log with repeated long polls.

use std::thread;

use lore::connection::Error;
use lore::protocol::Position;
use lore::protocol::log::{FollowEventsArgs, FollowEventsReply};
use lore::protocol::status::{StatusArgs, StatusReply};

use super::{Caller, PAUSE_MAX, PAUSE_MIN};
use crate::clock::UnixMicros;
use crate::input::{Input, Inputs};
use crate::model::event::{Entry, KEPT};
use crate::model::{Page, Update};

/// Number of earlier events that are shown at first.
const BEFORE: u64 = KEPT as u64 / 2;
/// Limit on the events of one reply.
const PAGE: u64 = 200;
/// Long poll duration, in milliseconds.
const WAIT_MS: u64 = 20_000;

/// Follows the log until the receiver is gone.
pub fn follow(caller: Caller, inputs: &Inputs) {
    let mut follower = Follower::new(caller);
    let mut pause = PAUSE_MIN;
    let mut is_deaf = false;
    loop {
        let reported = match follower.next(WAIT_MS) {
            Ok(reported) => {
                pause = PAUSE_MIN;
                let again = is_deaf.then_some(Update::Deaf(None));
                is_deaf = false;
                again.into_iter().chain(reported.learned).collect()
            }
            Err(error) => {
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
                // The polling thread reports a lost daemon.
                match error {
                    Error::Refused(body) => {
                        is_deaf = true;
                        vec![Update::Deaf(Some(body.message))]
                    }
                    Error::NotListening { .. }
                    | Error::Unreachable { .. }
                    | Error::Start(_)
                    | Error::Place(_)
                    | Error::Waits
                    | Error::Broken(_)
                    | Error::Frame(_) => Vec::new(),
                }
            }
        };
        for learned in reported {
            if inputs.send(Input::Learned(learned)).is_err() {
                return;
            }
        }
    }
}

/// A reader of the log.
#[derive(Debug)]
pub struct Follower {
    caller: Caller,
    place: Option<LogPosition>,
}

/// Outcome of one call.
#[derive(Debug)]
pub struct PageUpdate {
    /// Updates, in order.
    pub learned: Vec<Update>,
    /// Whether the end of the log was reached.
    pub caught_up: bool,
}

/// Read position in the log.
#[derive(Debug)]
struct LogPosition {
    /// Id of the log's store.
    store: String,
    /// Next position to read.
    next: u64,
    /// Newest position at connection time: later events are new.
    old: u64,
}

impl Follower {
    /// Creates a reader that begins with the last events.
    pub const fn new(caller: Caller) -> Self {
        Self {
            caller,
            place: None,
        }
    }

    /// Returns the next events; waits up to `wait_ms` for the first one.
    ///
    /// # Errors
    /// When the daemon cannot be called.
    pub fn next(&mut self, wait_ms: u64) -> Result<PageUpdate, Error> {
        let mut learned = Vec::new();
        if self.place.is_none() || !self.caller.is_connected() {
            let status: StatusReply = self.caller.call("status", &StatusArgs::default())?;
            let (place, is_other) = LogPosition::on(self.place.take(), &status);
            learned.extend(is_other.then_some(Update::OtherLog));
            self.place = Some(place);
        }
        let from = self.place.as_ref().map(|place| Position(place.next));
        let args = FollowEventsArgs {
            from,
            limit: Some(PAGE),
            wait_ms: Some(wait_ms),
            ..FollowEventsArgs::default()
        };
        let reply: FollowEventsReply = match self.caller.call("follow_events", &args) {
            Ok(reply) => reply,
            // Updates from before the error are still delivered.
            Err(_) if !learned.is_empty() => {
                return Ok(PageUpdate {
                    learned,
                    caught_up: false,
                });
            }
            Err(error) => return Err(error),
        };
        let page = self.place.as_mut().map(|place| place.take(&reply));
        learned.extend(page.map(Update::Events));
        Ok(PageUpdate {
            learned,
            caught_up: reply.caught_up,
        })
    }
}

impl LogPosition {
    /// Returns the position to continue from after a reconnect, and whether the log is a different one.
    fn on(known: Option<Self>, status: &StatusReply) -> (Self, bool) {
        let newest = status.position.0;
        let had_one = known.is_some();
        let same = known.filter(|place| place.store == status.store && place.next <= newest + 1);
        let is_other = had_one && same.is_none();
        let next = same.map_or_else(
            || (newest + 1).saturating_sub(BEFORE).max(1),
            |place| place.next,
        );
        let place = Self {
            store: status.store.clone(),
            next,
            old: newest,
        };
        (place, is_other)
    }

    /// Converts a reply; skips events that would fall out of the list at once.
    fn take(&mut self, reply: &FollowEventsReply) -> Page {
        let entries: Vec<Entry> = reply.events.iter().map(Entry::of).collect();
        let is_news = entries
            .first()
            .is_some_and(|entry| entry.position > self.old);
        self.next = reply.next.0;
        let behind = (reply.position.0 + 1).saturating_sub(self.next);
        let skipped = behind.saturating_sub(KEPT as u64);
        self.next += skipped;
        Page {
            entries,
            skipped,
            live: is_news.then(UnixMicros::now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::status;

    #[test]
    fn another_log_is_begun_anew() {
        let mut now = status();
        now.position = Position(5_000);
        let (first, is_other) = LogPosition::on(None, &now);
        assert_eq!((first.next, is_other), (4_001, false));
        now.position = Position(5_100);
        let (again, is_other) = LogPosition::on(Some(first), &now);
        assert_eq!((again.next, again.old, is_other), (4_001, 5_100, false));
        now.position = Position(3);
        let (older, is_other) = LogPosition::on(Some(again), &now);
        assert_eq!((older.next, is_other), (1, true));
        now.store = "another".to_owned();
        let (other, is_other) = LogPosition::on(Some(older), &now);
        assert_eq!((other.next, is_other), (1, true));
    }

    #[test]
    fn who_is_far_behind_passes_over_what_nobody_would_see() {
        let mut place = LogPosition {
            store: String::new(),
            next: 1,
            old: 0,
        };
        let reply = FollowEventsReply {
            events: Vec::new(),
            next: Position(201),
            caught_up: false,
            position: Position(10_200),
            durable: true,
            warnings: Vec::new(),
        };
        let page = place.take(&reply);
        assert_eq!((page.skipped, place.next), (8_000, 8_201));
    }
}
