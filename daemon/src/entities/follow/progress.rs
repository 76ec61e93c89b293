//! Progress of the follower, for callers that wait for it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};

use crate::clock::{Clock, Micros};
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::log::Position;

/// Progress of the follower, for callers that wait for it.
#[derive(Debug)]
pub struct FollowProgress {
    done: watch::Sender<Position>,
    /// Notified when a caller waits: searching is then not delayed.
    asked: Notify,
    /// Followers that run: without one, waiting is in vain.
    followers: AtomicUsize,
}

impl Default for FollowProgress {
    fn default() -> Self {
        Self {
            done: watch::Sender::new(Position(0)),
            asked: Notify::new(),
            followers: AtomicUsize::new(0),
        }
    }
}

impl FollowProgress {
    /// Returns the position up to which everything has been searched.
    #[must_use]
    pub fn position(&self) -> Position {
        *self.done.borrow()
    }

    /// Returns whether a follower runs.
    pub(super) fn is_followed(&self) -> bool {
        self.followers.load(Ordering::SeqCst) > 0
    }

    /// Counts a follower while the returned guard lives.
    pub(super) fn follow(&self) -> Followed<'_> {
        self.followers.fetch_add(1, Ordering::SeqCst);
        Followed(self)
    }

    /// Notes that everything up to a position has been searched.
    pub(super) fn reached(&self, position: Position) {
        self.done.send_replace(position);
    }

    /// Waits until a caller waits.
    pub(super) fn asked(&self) -> Notified<'_> {
        self.asked.notified()
    }

    /// Waits until everything up to a position has been searched.
    ///
    /// # Errors
    /// `TIMEOUT` if that takes longer than `wait`.
    pub async fn reaches(
        &self,
        position: Position,
        wait: Duration,
        clock: &Clock,
    ) -> Result<(), Refusal> {
        let mut done = self.done.subscribe();
        self.asked.notify_one();
        let reached = done.wait_for(|done| *done >= position);
        let micros = wait.as_micros().try_into().unwrap_or(Micros::MAX);
        let is_reached = tokio::select! {
            biased;
            reached = reached => reached.is_ok(),
            () = clock.pass(micros, async { tokio::time::sleep(wait).await }) => false,
        };
        match is_reached {
            true => Ok(()),
            false => Err(Refusal::new(
                Code::Timeout,
                format!(
                    "entities up to position {position} were not recognised in {} ms; they are up \
                     to {}",
                    wait.as_millis(),
                    self.position()
                ),
            )
            .hint(
                hint!["Ask again."; "Or leave ", arg("at_least"), " out for what is known by now."],
            )),
        }
    }
}

/// Counts a running follower.
#[derive(Debug)]
pub(super) struct Followed<'p>(&'p FollowProgress);

impl Drop for Followed<'_> {
    fn drop(&mut self) {
        self.0.followers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::entities::follow::SETTLE_MAX;

    /// A message waits until the entities of the steps before it are there, or 50 ms have passed.
    #[test]
    fn a_wait_ends_with_the_position_or_with_its_time() {
        let micros = u64::try_from(SETTLE_MAX.as_micros()).unwrap();
        for in_time in [true, false] {
            let (progress, clock) = (FollowProgress::default(), Clock::fixed(1, 1));
            let mut waiting = pin!(progress.reaches(Position(7), SETTLE_MAX, &clock));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(waiting.as_mut().poll(&mut cx).is_pending());
            progress.reached(Position(6));
            clock.advance(micros - 1);
            assert!(waiting.as_mut().poll(&mut cx).is_pending(), "neither yet");
            if in_time {
                progress.reached(Position(7));
            } else {
                clock.advance(1);
            }
            let Poll::Ready(ended) = waiting.as_mut().poll(&mut cx) else {
                panic!("the wait goes on");
            };
            assert_eq!(ended.is_ok(), in_time);
        }
    }

    #[test]
    fn a_follower_counts_while_it_runs() {
        let progress = FollowProgress::default();
        let followed = progress.follow();
        assert!(progress.is_followed());
        drop(followed);
        assert!(!progress.is_followed());
    }
}
