//! Commands that print what comes until they are interrupted: the daemon may go and come back meanwhile.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lore::connection::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::{Exit, Failure};

/// Minimum and maximum pause before reconnecting to a daemon that went away.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Whether a follower goes on after a step.
pub enum Step {
    /// With the next one.
    Next,
    /// It is done.
    Done,
}

/// Repeats a step until the step is done, the reader of the output has gone, or a signal arrives.
pub struct Follower {
    interrupt: Interrupt,
}

impl Follower {
    /// Prepares for signals.
    ///
    /// # Errors
    /// When handlers cannot be set.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: Interrupt::new()?,
        })
    }

    /// Runs the steps. A daemon that cannot be reached at first is an error; after the first contact, it may come back.
    pub fn run(
        &self,
        mut step: impl FnMut(&Interrupt) -> Result<Step, Failure>,
    ) -> Result<Exit, Failure> {
        let (mut pause, mut was_reached) = (PAUSE_MIN, false);
        while !self.interrupt.is_there() && is_read() {
            match step(&self.interrupt) {
                Ok(Step::Next) => (was_reached, pause) = (true, PAUSE_MIN),
                Ok(Step::Done) => break,
                Err(Failure::Call(error)) if was_reached && may_come_back(&error) => {
                    #[allow(clippy::disallowed_methods, reason = "built among the tests, too")]
                    thread::sleep(pause);
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(Exit::Good)
    }
}

/// Returns whether the daemon stopped or is about to stop.
pub fn may_come_back(error: &Error) -> bool {
    match error {
        Error::Broken(_)
        | Error::NotListening { .. }
        | Error::Unreachable { .. }
        | Error::Start(_) => true,
        Error::Refused(body) => body.retryable,
        Error::Place(_) | Error::Waits | Error::Frame(_) => false,
    }
}

/// Returns whether the output may still be read: a pipe without a reader reports an error.
fn is_read() -> bool {
    let stdout = io::stdout();
    let mut looked = [PollFd::new(&stdout, PollFlags::empty())];
    let none = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(&mut looked, Some(&none)) {
        Ok(_) => !looked
            .iter()
            .any(|one| one.revents().contains(PollFlags::ERR)),
        // If the poll fails, printing reports the error.
        Err(_) => true,
    }
}

/// Handles a signal: immediately while the command waits, otherwise after the current step.
pub struct Interrupt {
    is_there: Arc<AtomicBool>,
    may_end: Arc<AtomicBool>,
}

impl Interrupt {
    fn new() -> io::Result<Self> {
        let (is_there, may_end) = (Arc::default(), Arc::new(AtomicBool::new(true)));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 0, Arc::clone(&may_end))?;
            flag::register(signal, Arc::clone(&is_there))?;
        }
        Ok(Self { is_there, may_end })
    }

    fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    /// Completes a step before an interrupt takes effect.
    pub fn not_while<T>(&self, what: impl FnOnce() -> T) -> T {
        self.may_end.store(false, Ordering::SeqCst);
        let done = what();
        self.may_end.store(true, Ordering::SeqCst);
        done
    }
}
