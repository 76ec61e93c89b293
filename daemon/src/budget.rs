//! Memory budgets: what a call reserves before it reads or builds, and whether its result is still needed.
//!
//! A call has a limit of its own. Its first part is free; beyond it the call reserves from the budget of its connection,
//! and with it from the daemon's. Everything is returned when the call has ended and its reply is written.
//!
//! Readers do not get a budget as an argument: the work of a call runs within its budget ([`CallBudget::run`],
//! [`CallBudget::run_blocking`]), and readers reserve from the [`current`] one. So no operation can forget it. Work outside of a call,
//! such as that of followers, has no budget.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::locks::lock_unpoisoned;

tokio::task_local! {
    static CURRENT: CallBudget;
}

/// Calls reserve from their connection in steps of this many bytes. The first step is free.
const STEP_BYTES: usize = 1 << 20;

/// Number of times that a text is in memory at once: as it was read, in the reply, and in the reply's JSON.
const TEXT_COPIES: usize = 3;

/// The reason why a call may not go on. The first one becomes its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// The call would take more than its limit.
    #[error("the call would take more than {bytes_max} bytes of memory")]
    Call {
        /// The limit, in bytes.
        bytes_max: usize,
    },
    /// The calls of the connection have reserved all of its memory.
    #[error("the calls of this connection use all of its {bytes_max} bytes of memory")]
    Connection {
        /// The limit, in bytes.
        bytes_max: usize,
    },
    /// The calls of all connections have reserved all memory.
    #[error("the calls in flight use all of the daemon's {bytes_max} bytes of memory for them")]
    Daemon {
        /// The limit, in bytes.
        bytes_max: usize,
    },
    /// The caller has disconnected.
    #[error("the caller has disconnected")]
    Disconnected,
    /// The daemon stops.
    #[error("the daemon is stopping")]
    Stopping,
}

impl From<Shortage> for crate::store::Error {
    /// The call's budget remembers the reason, which becomes its answer.
    fn from(_: Shortage) -> Self {
        Self::OverBudget
    }
}

/// Memory that several calls share: those of a connection, or of the daemon.
#[derive(Debug)]
pub struct SharedBudget {
    bytes_max: usize,
    /// Maximum memory of one call, in bytes.
    call_bytes_max: usize,
    used: AtomicUsize,
    /// The daemon's budget, in that of a connection.
    around: Option<Arc<SharedBudget>>,
    is_stopping: AtomicBool,
}

impl SharedBudget {
    /// Creates the budget of a daemon, in bytes.
    #[must_use]
    pub fn of_daemon(bytes_max: usize, call_bytes_max: usize) -> Arc<Self> {
        Arc::new(Self {
            bytes_max,
            call_bytes_max,
            used: AtomicUsize::new(0),
            around: None,
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Creates the budget of a connection within the daemon's, in bytes.
    #[must_use]
    pub fn of_connection(self: &Arc<Self>, bytes_max: usize, call_bytes_max: usize) -> Arc<Self> {
        Arc::new(Self {
            bytes_max,
            call_bytes_max,
            used: AtomicUsize::new(0),
            around: Some(Arc::clone(self)),
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Ends the work of all calls: each gives up at its next reservation or check.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the reserved memory, in bytes.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn is_stopping(&self) -> bool {
        let around = self.around.as_ref();
        self.is_stopping.load(Ordering::Relaxed)
            || around.is_some_and(|around| around.is_stopping())
    }

    fn reserve(&self, bytes: usize) -> Result<(), Shortage> {
        let bytes_max = self.bytes_max;
        let add = |used: usize| used.checked_add(bytes).filter(|used| *used <= bytes_max);
        if self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .is_err()
        {
            return Err(match self.around {
                Some(_) => Shortage::Connection { bytes_max },
                None => Shortage::Daemon { bytes_max },
            });
        }
        let around = self
            .around
            .as_ref()
            .map_or(Ok(()), |around| around.reserve(bytes));
        around.inspect_err(|_| {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        })
    }

    fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(around) = &self.around {
            around.release(bytes);
        }
    }
}

/// The budget of one call. Clones share it; it is returned with the last one.
#[derive(Clone, Debug)]
pub struct CallBudget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bytes_max: usize,
    used: AtomicUsize,
    /// Memory reserved from `shared`, in bytes.
    reserved: Mutex<usize>,
    shared: Arc<SharedBudget>,
    has_ended: AtomicBool,
    shortage: OnceLock<Shortage>,
    /// The budget that this one is a passing part of.
    around: Option<CallBudget>,
}

/// Ends the work of a call when dropped: the caller has its answer, or has disconnected.
#[derive(Debug)]
pub struct EndOnDrop(CallBudget);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.0.has_ended.store(true, Ordering::Relaxed);
    }
}

impl CallBudget {
    /// Creates the budget of a call that takes at most `bytes_max`, and at most what the settings allow.
    #[must_use]
    pub fn new(shared: &Arc<SharedBudget>, bytes_max: usize) -> Self {
        let bytes_max = bytes_max.min(shared.call_bytes_max);
        Self::within(Arc::clone(shared), bytes_max, None)
    }

    fn within(shared: Arc<SharedBudget>, bytes_max: usize, around: Option<Self>) -> Self {
        Self(Arc::new(Inner {
            bytes_max,
            used: AtomicUsize::new(0),
            reserved: Mutex::new(0),
            shared,
            has_ended: AtomicBool::new(false),
            shortage: OnceLock::new(),
            around,
        }))
    }

    /// Ends the work of the call when the returned value is dropped.
    #[must_use]
    pub fn end_on_drop(&self) -> EndOnDrop {
        EndOnDrop(self.clone())
    }

    /// Runs a future within the budget.
    pub async fn run<F: Future>(&self, work: F) -> F::Output {
        CURRENT.scope(self.clone(), work).await
    }

    /// Runs work on a thread for blocking work within the budget.
    pub fn run_blocking<T>(&self, work: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self.clone(), work)
    }

    /// Returns the memory that the call has reserved, in bytes.
    #[must_use]
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the first reason why the call may not go on.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        self.0.shortage.get().copied()
    }

    /// Reserves memory until the call ends.
    ///
    /// # Errors
    /// [`Shortage`]: a limit would be exceeded, or the result of the work is not needed any more. Nothing was reserved.
    pub fn reserve(&self, bytes: usize) -> Result<(), Shortage> {
        self.check()?;
        if let Some(around) = &self.0.around {
            around.reserve(bytes)?;
            self.0.used.fetch_add(bytes, Ordering::Relaxed);
            return Ok(());
        }
        let used = self
            .0
            .used
            .fetch_add(bytes, Ordering::Relaxed)
            .saturating_add(bytes);
        let reserved = match used {
            used if used > self.0.bytes_max => Err(Shortage::Call {
                bytes_max: self.0.bytes_max,
            }),
            used if used <= STEP_BYTES => Ok(()),
            used => self.reserve_shared(used),
        };
        reserved.map_err(|shortage| {
            self.0.used.fetch_sub(bytes, Ordering::Relaxed);
            *self.0.shortage.get_or_init(|| shortage)
        })
    }

    /// Reserves from the connection what is used beyond the free part.
    fn reserve_shared(&self, used: usize) -> Result<(), Shortage> {
        let wanted = used.next_multiple_of(STEP_BYTES) - STEP_BYTES;
        let mut reserved = lock_unpoisoned(&self.0.reserved);
        let more = wanted.saturating_sub(*reserved);
        if more > 0 {
            self.0.shared.reserve(more)?;
            *reserved += more;
        }
        Ok(())
    }

    /// Refuses to go on once the result of the work is not needed any more.
    ///
    /// # Errors
    /// [`Shortage::Disconnected`] and [`Shortage::Stopping`].
    pub fn check(&self) -> Result<(), Shortage> {
        if let Some(around) = &self.0.around {
            return around.check();
        }
        let shortage = if self.0.has_ended.load(Ordering::Relaxed) {
            Shortage::Disconnected
        } else if self.0.shared.is_stopping() {
            Shortage::Stopping
        } else {
            return Ok(());
        };
        Err(*self.0.shortage.get_or_init(|| shortage))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        match &self.around {
            Some(around) => {
                let used = self.used.load(Ordering::Relaxed);
                around.0.used.fetch_sub(used, Ordering::Relaxed);
            }
            None => self.shared.release(*lock_unpoisoned(&self.reserved)),
        }
    }
}

/// Returns the budget of the call whose work this is; `None` outside of a call.
#[must_use]
pub fn current() -> Option<CallBudget> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Reserves memory until the call ends, from the budget of the current call.
///
/// # Errors
/// [`Shortage`]; never outside of a call.
pub fn reserve(bytes: usize) -> Result<(), Shortage> {
    CURRENT
        .try_with(|budget| budget.reserve(bytes))
        .unwrap_or(Ok(()))
}

/// Reserves memory for a text that may become part of the reply.
///
/// # Errors
/// [`Shortage`]; never outside of a call.
pub fn reserve_text(bytes: u64) -> Result<(), Shortage> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    reserve(bytes.saturating_mul(TEXT_COPIES))
}

/// Refuses to go on once the result of the current call is not needed any more. Long loops call it in each turn.
///
/// # Errors
/// [`Shortage::Disconnected`] and [`Shortage::Stopping`].
pub fn check() -> Result<(), Shortage> {
    CURRENT.try_with(CallBudget::check).unwrap_or(Ok(()))
}

/// Runs work whose reservations end with it, because it holds nothing that it read: for walks that shorten, count or
/// compare each text.
pub fn passing<T>(work: impl FnOnce() -> T) -> T {
    let Some(around) = current() else {
        return work();
    };
    let shared = Arc::clone(&around.0.shared);
    CallBudget::within(shared, usize::MAX, Some(around)).run_blocking(work)
}

/// Runs two pieces of a call's work at once, the first on a thread of its own, both within the call's budget. If the system
/// gives no thread, they run in sequence.
pub fn at_once<A: Send, B>(one: impl Fn() -> A + Send + Sync, other: impl FnOnce() -> B) -> (A, B) {
    let budget = current();
    std::thread::scope(|scope| {
        let beside = || match &budget {
            Some(budget) => budget.run_blocking(&one),
            None => one(),
        };
        let spawned = std::thread::Builder::new().spawn_scoped(scope, beside);
        let other = other();
        match spawned.map(|thread| thread.join()) {
            Ok(Ok(one)) => (one, other),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => (one(), other),
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn connection(daemon: &Arc<SharedBudget>) -> Arc<SharedBudget> {
        daemon.of_connection(6 * MIB, 4 * MIB)
    }

    /// Each of the three limits refuses by its own name, and what was reserved is free again when its call ends.
    #[test]
    fn each_limit_holds() {
        let daemon = SharedBudget::of_daemon(8 * MIB, 4 * MIB);
        let (one, other) = (connection(&daemon), connection(&daemon));
        let call = CallBudget::new(&one, usize::MAX);
        assert_eq!(call.reserve(4 * MIB), Ok(()));
        let of_call = Shortage::Call { bytes_max: 4 * MIB };
        assert_eq!(call.reserve(1), Err(of_call));
        assert_eq!(
            (one.used(), daemon.used()),
            (3 * MIB, 3 * MIB),
            "the first part is free"
        );
        let second = CallBudget::new(&one, usize::MAX);
        assert_eq!(second.reserve(4 * MIB), Ok(()));
        let third = CallBudget::new(&one, usize::MAX);
        let of_connection = Shortage::Connection { bytes_max: 6 * MIB };
        assert_eq!(third.reserve(2 * MIB), Err(of_connection));
        assert_eq!(third.shortage(), Some(of_connection));
        assert_eq!(third.reserve(MIB), Ok(()), "the free part is always there");
        let of_other = CallBudget::new(&other, usize::MAX);
        assert_eq!(of_other.reserve(3 * MIB), Ok(()));
        assert_eq!(
            of_other.reserve(MIB),
            Err(Shortage::Daemon { bytes_max: 8 * MIB })
        );
        drop(call);
        assert_eq!(of_other.reserve(MIB), Ok(()));
        drop((second, third, of_other));
        assert_eq!((one.used(), other.used(), daemon.used()), (0, 0, 0));
    }

    /// An operation may declare less than the settings allow.
    #[test]
    fn a_call_is_limited_by_its_operation() {
        let daemon = SharedBudget::of_daemon(8 * MIB, 4 * MIB);
        let call = CallBudget::new(&daemon, MIB);
        assert_eq!(call.reserve(MIB), Ok(()));
        assert_eq!(call.reserve(1), Err(Shortage::Call { bytes_max: MIB }));
    }

    /// What passes is free again after its walk, and counts while it lasts.
    #[test]
    fn passing_reservations_end_with_their_work() {
        let daemon = SharedBudget::of_daemon(8 * MIB, 4 * MIB);
        let call = CallBudget::new(&daemon, usize::MAX);
        call.run_blocking(|| {
            for _ in 0..100 {
                assert_eq!(passing(|| reserve(3 * MIB)), Ok(()));
            }
            assert!(passing(|| reserve(5 * MIB)).is_err());
            assert_eq!(reserve(4 * MIB), Ok(()));
            assert!(passing(|| reserve(1)).is_err());
        });
        assert_eq!(
            passing(|| reserve(usize::MAX)),
            Ok(()),
            "work outside of a call has no budget"
        );
    }

    /// Both pieces of work reserve from the call, and a panic of one is the call's.
    #[test]
    fn work_at_once_shares_the_budget_of_its_call() {
        let daemon = SharedBudget::of_daemon(8 * MIB, 4 * MIB);
        let call = CallBudget::new(&daemon, usize::MAX);
        let both = call.run_blocking(|| at_once(|| reserve(3 * MIB), || reserve(MIB)));
        assert_eq!(both, (Ok(()), Ok(())));
        assert_eq!(call.used(), 4 * MIB);
        assert!(
            call.run_blocking(|| at_once(|| reserve(1), || ()).0)
                .is_err()
        );
        assert_eq!(at_once(|| reserve(usize::MAX), || 7), (Ok(()), 7));
        let panics = std::panic::catch_unwind(|| at_once(|| panic!("damaged"), || 7));
        assert!(panics.is_err());
    }

    /// Work ends when its caller has gone, or the daemon stops: also work on other threads.
    #[test]
    fn work_ends_when_nothing_waits_for_it() {
        let daemon = SharedBudget::of_daemon(8 * MIB, 4 * MIB);
        let connection = connection(&daemon);
        let call = CallBudget::new(&connection, usize::MAX);
        assert_eq!(call.run_blocking(check), Ok(()));
        drop(call.end_on_drop());
        assert_eq!(call.run_blocking(check), Err(Shortage::Disconnected));
        let call = CallBudget::new(&connection, usize::MAX);
        daemon.stop();
        assert_eq!(
            call.run_blocking(|| passing(check)),
            Err(Shortage::Stopping)
        );
        assert_eq!(call.run_blocking(|| reserve(1)), Err(Shortage::Stopping));
        assert_eq!(call.shortage(), Some(Shortage::Stopping));
        assert_eq!(check(), Ok(()));
    }
}
