//! Sessions: each holds one piece of work, across agents and restarts.

mod access;
mod checks;
mod command;
mod host;
mod lineage;
mod named_project;
pub mod operations;
mod select;
mod settings;
mod tombstone;
mod view;
mod wanted;

pub use crate::events::sessions::{
    LeaseReleased, Parent, SessionClosed, SessionCreated, SessionEvent, SessionForgotten,
    SessionLeased, SessionOrigin, SessionUpdated, merged,
};
pub use access::AccessTimes;
pub use checks::{fenced, find, open, was_forgotten};
pub use command::{BeginSession, CreateSession};
pub use host::HostSession;
pub use lineage::{Line, SharedSteps, lineage};
pub use named_project::{CURRENT, RegisteredProjects, current_or, has_session, named_project};
pub use select::{PreparedSession, ResolvedSession, SessionSelector, fresh_id, session_of};
pub use settings::SessionSettings;
pub use tombstone::{
    Tombstone, all_forgotten, forgotten, is_forgotten, is_tombstone, is_unerased, unerased,
};
pub use view::{
    Counts, Details, EventEffects, Lease, ModelUse, SPACE, SessionFilter, SessionRow, agents,
    apply, continued_by, continued_from, counts, details, exists, forget, forks_of, get, id_after,
    ids, last_of, leases, model_use, newest, of_host, of_project, project_counts,
};
pub use wanted::{ContentCheck, WantedContent, newest_of, newest_with};

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{
        AcquireLease, RecordSessionChange, ReleaseLease, SessionChange,
    };
    pub(crate) use super::view::lease;
    pub(crate) use crate::events::sessions::{SessionClosed, SessionUpdated};
}
