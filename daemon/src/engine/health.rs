//! The write state: whether writes are accepted and, if not, the reason and a remedy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use tokio::sync::watch;

use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::locks::unpoisoned;
use crate::log::Position;

/// Whether writes are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// Writes are accepted.
    Open,
    /// The disk is full: writes are refused until there is space, reads continue.
    Full {
        /// The observed problem.
        reason: String,
    },
    /// Acknowledged events are missing or damaged: writes are refused until a person has acted.
    Damaged {
        /// The missing or damaged events, and the location of the copies.
        reason: String,
    },
    /// A write or sync failed: writes are refused, and the daemon is about to exit for its restart.
    Failed {
        /// The failure.
        reason: String,
    },
}

/// A verification of the whole log, its views, blobs and objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verification {
    /// End of the log that was verified.
    pub position: Position,
    /// When it ended, in microseconds since 1970.
    pub at: Micros,
    /// Number of findings.
    pub findings: u64,
}

/// The write state, shared by the writer, the transports and `status`.
#[derive(Clone, Debug)]
pub struct Health {
    state: Arc<RwLock<WriteState>>,
    /// A commit or sync failed, and the store was not reopened yet: events may exist that are not published.
    is_uncertain: Arc<AtomicBool>,
    /// Damage that reads or a verification have met; writes go on.
    met: Arc<RwLock<Option<String>>>,
    /// The last verification of everything.
    verified: Arc<RwLock<Option<Verification>>>,
    /// Whether [`Self::warning`] has something to say, so that a reply need not take a lock to know.
    warns: Arc<AtomicBool>,
    failed: watch::Sender<bool>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            state: Arc::new(RwLock::new(WriteState::Open)),
            is_uncertain: Arc::default(),
            met: Arc::default(),
            verified: Arc::default(),
            warns: Arc::default(),
            failed: watch::Sender::new(false),
        }
    }
}

impl Health {
    /// Returns the current state.
    #[must_use]
    pub fn get(&self) -> WriteState {
        unpoisoned(self.state.read()).clone()
    }

    /// Returns whether all events of the log are published. A refused write has certainly no event then.
    #[must_use]
    pub fn is_log_certain(&self) -> bool {
        let is_damaged = matches!(
            self.get(),
            WriteState::Damaged { .. } | WriteState::Failed { .. }
        );
        !is_damaged && !self.is_uncertain.load(Ordering::Acquire)
    }

    pub(super) fn set_uncertain(&self, is_uncertain: bool) {
        self.is_uncertain.store(is_uncertain, Ordering::Release);
    }

    pub(super) fn set(&self, state: WriteState) {
        let failed = matches!(state, WriteState::Failed { .. });
        let mut now = unpoisoned(self.state.write());
        // Logged once per change, not per refused write, because the log must not grow on a full disk.
        if std::mem::discriminant(&*now) != std::mem::discriminant(&state) {
            tracing::warn!(?state, "whether writes are taken has changed");
        }
        *now = state;
        drop(now);
        self.note_warning();
        if failed {
            self.failed.send_replace(true);
        }
    }

    /// Notes damage that a read or a verification has met; the first one is kept. With `None` a verification has found
    /// that there is none any more.
    pub fn note_damage(&self, met: Option<&str>) {
        let mut now = unpoisoned(self.met.write());
        match met {
            None => *now = None,
            Some(_) if now.is_some() => return,
            Some(met) => {
                tracing::error!(damage = met, "damage was found");
                *now = Some(met.to_owned());
            }
        }
        drop(now);
        self.note_warning();
    }

    /// Notes a verification of everything that has ended.
    pub fn note_verified(&self, verification: Verification) {
        *unpoisoned(self.verified.write()) = Some(verification);
    }

    /// Returns the last verification of everything since the start; `None` if there was none.
    #[must_use]
    pub fn verified(&self) -> Option<Verification> {
        *unpoisoned(self.verified.read())
    }

    /// Returns what every reply should warn of: acknowledged events are missing or damaged. `None` when all is well.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        if !self.warns.load(Ordering::Relaxed) {
            return None;
        }
        if let WriteState::Damaged { reason } = self.get() {
            return Some(format!(
                "the log is damaged, so this may be incomplete: {reason}. Stop the daemon and run `lored repair`."
            ));
        }
        unpoisoned(self.met.read()).as_deref().map(met_damage)
    }

    fn note_warning(&self) {
        let is_damaged = matches!(self.get(), WriteState::Damaged { .. });
        let has_met = unpoisoned(self.met.read()).is_some();
        self.warns.store(is_damaged || has_met, Ordering::Relaxed);
    }

    /// Waits until a write or sync has failed for good.
    pub async fn failed(&self) {
        // The sender is a field of `self`, so waiting cannot fail.
        let _ = self.failed.subscribe().wait_for(|failed| *failed).await;
    }

    /// Returns the refusal of a write in this state; `None` when writes are accepted.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let unavailable = |message: String| Refusal::new(Code::StorageUnavailable, message);
        match self.get() {
            WriteState::Open => None,
            WriteState::Full { reason } => {
                Some(unavailable(format!("nothing was recorded: {reason}")).hint(
                    "Free some space; writes then continue automatically. Reads are served meanwhile.",
                ))
            }
            WriteState::Damaged { reason } => Some(
                unavailable(format!("writes are refused: {reason}"))
                    .hint("Stop the daemon and run `lored repair` to see and accept what is lost."),
            ),
            WriteState::Failed { reason } => Some(
                unavailable(format!("a write to the disk failed: {reason}")).hint(
                    hint![
                        "The daemon restarts into recovery.";
                        "Repeat the call with the same ", arg("key"), "."
                    ],
                ),
            ),
        }
    }
}

/// Beginning of the warning about damage that a read or a verification has met.
pub const DAMAGE_MET: &str = "stored data is damaged";

/// Returns the warning about damage that was met.
pub(super) fn met_damage(met: &str) -> String {
    format!("{DAMAGE_MET}, so this may be incomplete: {met}. Run `lored verify` for the extent.")
}
