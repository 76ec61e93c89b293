//! The wire protocol: frames, ids, errors, and one file of types per family of operations.
//!
//! docs/protocol.md documents it for authors of clients in other languages.

mod agent;
mod args;
mod body;
mod cbor;
pub mod checkpoints;
mod common;
pub mod coordination;
pub mod diagnose;
pub mod documents;
pub mod entities;
mod error;
pub mod facts;
pub mod frame;
pub mod hint;
pub mod hooks;
mod id;
mod json;
mod lenient_numbers;
pub mod log;
pub mod messages;
pub mod names;
mod nearest;
pub mod packs;
pub mod page;
pub mod projects;
mod raw;
mod reply;
pub mod review;
pub mod search;
pub mod sessions;
pub mod status;
pub mod steps;
pub mod tools;
mod toolset;
pub mod trace;
pub mod undo;

pub use agent::{AGENT_BYTES_MAX, agent_name, printable};
pub use args::Args;
pub use body::Body;
pub use common::{CommonArgs, CommonReply};
pub use error::{Code, ErrorBody};
pub use id::{AsOf, CheckpointId, CursorName, IdError, Position, SessionId};
pub use json::{DEPTH_MAX, VALUES_MAX, within_limits};
pub use nearest::{nearest, several_nearest};
pub use raw::{RawJson, RawObject};
pub use reply::{ChosenBy, Meta, Reply};
pub use toolset::{TOOLS_META, Toolset};

/// Version of the compact protocol in this library.
pub const PROTOCOL_VERSION: u64 = 1;

// The types of this module implement these traits; re-exported for callers without their own serde.
pub use serde::{Deserialize, Serialize};
