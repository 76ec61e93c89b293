//! A session as a whole, over all feature modules: its content, what it shares, its changes, and its transfer to
//! another store.

mod log_transfer;
pub mod operations;
pub mod resource;
mod session;

use crate::error::Refusal;

pub use log_transfer::schema as whole_schema;
pub use session::schema as export_schema;

/// Parses an exported session as an import does, and returns its number of events.
pub fn check_import(content: &str) -> Result<usize, Refusal> {
    session::read(content).map(|imported| imported.events.len())
}

/// Parses a part of an exported log as an import does, and returns its number of sessions.
pub fn check_whole(content: &str) -> Result<usize, Refusal> {
    log_transfer::read(content, 1).map(|part| part.sessions.len())
}
