//! How threads of the background give way to those that serve callers.

use std::time::Duration;

use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// Longest pause, and the longest part of it: a stop waits for that.
const PAUSE_MAX: Duration = Duration::from_secs(5);
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// Lets the calling thread, and those that it starts, run when others do not need the processor.
///
/// The policy is for batch work, with the least weight, also if the daemon was started in real time. It is not the idle one:
/// a thread that holds a lock must go on, however busy the machine is.
pub fn give_way() {
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
    if let Err(error) =
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy)
    {
        tracing::debug!(%error, "the priority of a background thread cannot be lowered");
    }
}

/// Does work in a thread of its own that gives way. Its caller waits for it, so that a stop does, too; it has to be off the
/// event loop.
///
/// # Panics
/// When the work does.
pub fn giving_way<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let in_turn = || {
        give_way();
        work()
    };
    let done = std::thread::scope(|scope| scope.spawn(in_turn).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the pause after some work that leaves it a share of the time, in percent.
#[must_use]
pub fn pause(worked: Duration, share: u64) -> Duration {
    let share = u32::try_from(share.clamp(1, 100)).unwrap_or(100);
    (worked * (100 - share) / share).min(PAUSE_MAX)
}

/// Sleeps, but not on when something stops.
pub fn sleep(pause: Duration, stops: impl Fn() -> bool) {
    let mut left = pause;
    while !left.is_zero() && !stops() {
        let part = left.min(SLEEP_MAX);
        std::thread::sleep(part);
        left -= part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stop ends a pause; a pause without one would take a minute.
    #[test]
    fn a_stop_ends_a_pause() {
        sleep(Duration::from_secs(60), || true);
    }

    #[test]
    fn pauses_leave_a_share() {
        for (share, paused_ms) in [(100, 0), (50, 20), (20, 80), (25, 60), (1, 1980), (0, 1980)] {
            let paused = pause(Duration::from_millis(20), share);
            assert_eq!(paused, Duration::from_millis(paused_ms), "{share}");
        }
    }

    /// Threads inherit the policy, so the pools of libraries that such a thread starts have it, too.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_and_those_that_it_starts_give_way() {
        let policy = || thread_priority::thread_schedule_policy().ok();
        let seen = std::thread::spawn(move || {
            give_way();
            (policy(), std::thread::spawn(policy).join().ok().flatten())
        });
        let batch = Some(ThreadSchedulePolicy::Normal(
            NormalThreadSchedulePolicy::Batch,
        ));
        assert_eq!(seen.join().ok(), Some((batch, batch)));
        assert_ne!(policy(), batch);
    }
}
