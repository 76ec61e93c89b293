//! The wire: frames, names, errors, and one file of types per family of operations.
//!
//! docs/protocol.md says the same for people who write a client in another language.

mod agent;
mod args;
mod body;
mod cbor;
pub mod checkpoints;
mod common;
pub mod documents;
pub mod entities;
mod error;
pub mod frame;
mod id;
mod json;
mod lenient_numbers;
pub mod log;
pub mod messages;
mod nearest;
pub mod packs;
pub mod projects;
mod raw;
mod reply;
pub mod search;
pub mod sessions;
pub mod status;
pub mod steps;
pub mod tools;
mod toolset;

pub use agent::{AGENT_BYTES_MAX, agent_name, printable};
pub use args::Args;
pub use body::Body;
pub use common::{CommonArgs, CommonReply};
pub use error::{Code, ErrorBody};
pub use id::{AsOf, CheckpointId, CursorName, IdError, Position, SessionId};
pub use json::{DEPTH_MAX, VALUES_MAX, within_limits};
pub use nearest::{nearest, several_nearest};
pub use raw::{RawJson, RawObject};
pub use reply::{Meta, Reply};
pub use toolset::{TOOLS_META, Toolset};

/// The version of the compact protocol that this library speaks.
pub const PROTOCOL_VERSION: u64 = 1;

// What the types of this module implement; for callers that have no serde of their own.
pub use serde::{Deserialize, Serialize};
