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
pub use get::{
    GetSessionArgs, GetSessionReply, LeaseHeld, ModelUse, Pruning, TokenUsage, ToolExecution,
};
pub use lease::{LeaseSessionArgs, LeaseSessionReply, ReleaseSessionArgs, ReleaseSessionReply};
pub use list::{ListSessionsArgs, ListSessionsReply, SessionSummary};
pub use metrics::{MetricsArgs, MetricsPoint, MetricsReply};
pub use transfer::{
    ExportFormat, ExportSessionArgs, ExportSessionReply, ImportSessionArgs, ImportSessionReply,
};

use lore_wire::wire;

use super::{Position, SessionId};

/// State of a session.
#[wire]
pub enum SessionState {
    /// An event was recorded in it recently.
    Active,
    /// No event was recorded in it for a day, or the configured time; a write reactivates it.
    Expired,
    /// Closed: no further events are recorded.
    Closed,
}

/// States to list.
#[wire]
pub enum StateFilter {
    /// Active sessions.
    Active,
    /// Expired sessions.
    Expired,
    /// Closed sessions.
    Closed,
    /// All sessions.
    Any,
}

/// Origin of a forked session.
#[wire]
#[derive(Eq)]
pub struct SessionParent {
    /// The session whose past it shares.
    pub session: SessionId,
    /// The last shared position.
    pub position: Position,
}
