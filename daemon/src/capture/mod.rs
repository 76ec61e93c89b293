//! Capture: what hooks and transcripts of agent hosts report becomes messages, steps and observations, without a model's
//! help.
//!
//! All knowledge of hosts is in the crate `lored_hosts`, which turns payloads into observations with stable keys. An
//! observation's key is the idempotency key of its event, so a hook that runs twice, two hosts that read one hook file,
//! and a repeated delivery record once, also after a restart.

mod command;
mod feature;
mod host_processes;
mod host_sessions;
mod inject;
mod intents;
mod marks;
mod memory;
pub mod operations;
mod recent;
mod rules;
mod trace;
pub mod transcripts;
mod view;
mod whose;

pub use feature::Capture;
pub use host_sessions::{HostSessions, KnownSession};
pub use marks::forget;
pub use transcripts::{FollowedHosts, TranscriptCursors};
pub use view::{CapturePause, SPACE, apply, pauses};
