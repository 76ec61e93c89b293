//! Sessions: what one piece of work belongs to, across agents and restarts.

mod access;
mod choose;
mod command;
mod event;
pub mod operations;
mod view;

pub use access::LastAccess;
pub use choose::{Choice, Chosen, Wish, named as find, session_of};
pub use event::SessionCreated;
pub use view::{Counts, SPACE, SessionRow, apply, counts, exists, get, last_of, project_counts};

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) use command::CreateSession;
