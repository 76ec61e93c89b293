//! Failures: what a failed command says, what mended it, and whether a new failure is the same one.

mod command;
mod effect;
mod matching;
mod repair;
mod signature;

pub use command::{Command, command, commands};
pub use effect::Effect;
pub use matching::{Confidence, KNOWN_MAX, KnownFailure, RepairMatch, match_failure};
pub use repair::{Action, Event, Repair, repair};
pub use signature::{Signature, signature};
