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

use lore_wire::wire;

use super::{Position, SessionId};

/// Whether a session is in use.
#[wire]
pub enum SessionState {
    /// Something was recorded in it lately.
    Active,
    /// Nothing was recorded in it for a day, or as long as the config says; a write revives it.
    Expired,
    /// It was closed: nothing more is recorded in it.
    Closed,
}

/// Which states a list shows.
#[wire]
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
#[wire]
#[derive(Eq)]
pub struct SessionParent {
    /// The session whose past it shares.
    pub session: SessionId,
    /// The last shared position.
    pub position: Position,
}
