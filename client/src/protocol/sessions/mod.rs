//! Wire types of the sessions.

mod change;
mod create;
mod diff;
mod forget;
mod fork;
mod get;
mod lease;
mod list;
mod metrics;
mod transfer;

pub use change::{CloseSessionArgs, CloseSessionReply, UpdateSessionArgs, UpdateSessionReply};
pub use create::{CreateSessionArgs, CreateSessionReply};
pub use diff::{DiffSessionArgs, DiffSessionReply, EntityChange, FieldChange, ValueChange};
pub use forget::{ForgetSessionArgs, ForgetSessionReply};
pub use fork::{ForkSessionArgs, ForkSessionReply};
pub use get::{GetSessionArgs, GetSessionReply, LeaseHeld, Pruning, TokenUsage, ToolExecution};
pub use lease::{LeaseSessionArgs, LeaseSessionReply, ReleaseSessionArgs, ReleaseSessionReply};
pub use list::{ListSessionsArgs, ListSessionsReply, SessionSummary};
pub use metrics::{MetricsArgs, MetricsPoint, MetricsReply};
pub use transfer::{
    ExportFormat, ExportSessionArgs, ExportSessionReply, ImportSessionArgs, ImportSessionReply,
};

use serde::{Deserialize, Serialize};

use super::{Position, SessionId};

/// Whether a session is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SessionState {
    /// Something was recorded in it lately.
    Active,
    /// Nothing was recorded in it for a day, or as long as the config says; a write revives it.
    Expired,
    /// It was closed: nothing more is recorded in it.
    Closed,
}

/// Which states a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StateFilter {
    /// Active ones.
    Active,
    /// Expired ones.
    Expired,
    /// Closed ones.
    Closed,
    /// All.
    Any,
}

/// Where a session was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionParent {
    /// The session it shares its past with.
    pub session: SessionId,
    /// The last position that is shared.
    pub position: Position,
}
