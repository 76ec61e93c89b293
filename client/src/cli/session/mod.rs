//! `lore session …`: one piece of work as a whole.

mod change;
mod diff;
mod export;
mod forget;
mod fork;
mod import;
mod lease;
mod list;
mod metrics;
mod prune;
mod show;

use clap::Subcommand;

use super::{Caller, End, Failure};

pub use diff::compare;

/// One piece of work as a whole: find it, shape it, share it, take it elsewhere, end it
#[derive(Debug, Subcommand)]
pub enum Session {
    /// List sessions, the newest first
    List(list::List),
    /// Show all that a session is
    Show(show::Show),
    /// Begin a session
    Create(change::Create),
    /// Change what is said about a session; what is not named stays
    Update(change::Update),
    /// End a session: nothing more is recorded in it
    Close(change::Close),
    /// Begin a session that shares the past of another
    Fork(fork::Fork),
    /// Tell what changed from one moment of a session to another
    Diff(diff::Diff),
    /// Take a lease: work on a session alone, for a while
    Lease(lease::Lease),
    /// Give a lease back
    Release(lease::Release),
    /// Shrink what context packs are made from; the log keeps everything
    Prune(prune::Prune),
    /// Undo the pruning of a session
    Unprune(prune::Unprune),
    /// Show how the size of a session went
    Metrics(metrics::Metrics),
    /// Write a session out as JSON lines, or as Markdown for people
    Export(export::Export),
    /// Record a session that was exported, here or elsewhere: all of it, or nothing
    Import(import::Import),
    /// Forget what a session holds, for good
    Forget(forget::Forget),
}

impl Session {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::List(list) => list.run(caller),
            Self::Show(show) => show.run(caller),
            Self::Create(create) => create.run(caller),
            Self::Update(update) => update.run(caller),
            Self::Close(close) => close.run(caller),
            Self::Fork(fork) => fork.run(caller),
            Self::Diff(diff) => diff.run(caller),
            Self::Lease(lease) => lease.run(caller),
            Self::Release(release) => release.run(caller),
            Self::Prune(prune) => prune.run(caller),
            Self::Unprune(unprune) => unprune.run(caller),
            Self::Metrics(metrics) => metrics.run(caller),
            Self::Export(export) => export.run(caller),
            Self::Import(import) => import.run(caller),
            Self::Forget(forget) => forget.run(caller),
        }
    }
}
